/*
 * authorized_keys - the authorized keys, and what each may do.
 * SPDX-License-Identifier: MIT
 */
#include "proto/keys/authorized_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "proto/base/memory.h"
#include "proto/hash/string_table.h"
#include "proto/keys/trusted_file.h"

enum { FIELDS = 5 };

struct authorized_keys {
	char *at; /* content of the file; entries point into it */
	uint32_t bytes;
	struct authorized_key *entries;
	uint32_t count;
	struct string_table keys; /* in file order */
};

void
authorized_keys_free(struct authorized_keys **list)
{
	if (*list == NULL)
		return;
	free((*list)->at);
	free((*list)->entries);
	string_table_clear(&(*list)->keys);
	free(*list);
	*list = NULL;
}

static struct text
key_text(const unsigned char public[Z85_KEY_BYTES])
{
	return (struct text){ (const char *)public, Z85_KEY_BYTES };
}

const struct authorized_key *
authorized_keys_find(const struct authorized_keys *list,
    const unsigned char public[Z85_KEY_BYTES])
{
	uint32_t found;

	if (list == NULL ||
	    !string_table_find(&list->keys, key_text(public), &found))
		return NULL;
	return &list->entries[found];
}

uint32_t
authorized_keys_count(const struct authorized_keys *list)
{
	return list != NULL ? list->count : 0;
}

const struct authorized_key *
authorized_keys_at(const struct authorized_keys *list, uint32_t i)
{
	return &list->entries[i];
}

struct text
authorized_keys_bytes(const struct authorized_keys *list)
{
	return (struct text){ list->at, list->bytes };
}

/* The field between two TABs; false: the line has fewer fields. */
static bool
split(struct text line, struct text fields[static FIELDS])
{
	for (int i = 0; i < FIELDS; i++) {
		const char *tab =
		    line.bytes > 0 ? memchr(line.at, '\t', line.bytes) : NULL;

		if ((tab == NULL) != (i == FIELDS - 1))
			return false;
		fields[i].at = line.at;
		fields[i].bytes =
		    tab != NULL ? (uint32_t)(tab - line.at) : line.bytes;
		line.at += fields[i].bytes + 1;
		line.bytes -= fields[i].bytes + (tab != NULL);
	}
	return true;
}

static int
parse_pattern(
    struct text *to, struct text field, const char *what, struct err *err)
{
	enum text_fault fault = text_check_name(field);

	if (fault != TEXT_OK)
		return err_set(err, "the %s %s", what, text_fault_words(fault));
	*to = field;
	return 0;
}

static int
parse_entry(struct authorized_key *entry, struct text line, struct err *err)
{
	struct text fields[FIELDS];

	if (!split(line, fields))
		return err_set(err, "expected PUBLIC, ROLE, PARTITION, NODE "
				    "and NAME, separated by one TAB");
	if (!z85_decode(entry->public, fields[0]))
		return err_set(
		    err, "the public key must be 40 characters of Z85");
	if (!key_role_parse(fields[1], &entry->role) ||
	    entry->role == KEY_SERVER)
		return err_set(err, "the role must be agent, broker or reader");
	if (parse_pattern(
		&entry->partition, fields[2], "partition pattern", err) != 0 ||
	    parse_pattern(&entry->node, fields[3], "node pattern", err) != 0)
		return -1;
	if (!keyfile_name_is_good(fields[4]))
		return err_set(err,
		    "the name must be 1 to %d letters, digits, '.', '_' and "
		    "'-', beginning with a letter or digit",
		    KEYFILE_NAME_MAX);
	entry->name = fields[4];
	return 0;
}

static int
add_line(struct authorized_keys *list, struct text line, uint32_t number,
    struct err *err)
{
	struct authorized_key *entry = &list->entries[list->count];
	uint32_t found;

	/* No key begins with '#': five such characters exceed 32 bits. */
	if (line.bytes == 0 || line.at[0] == '#')
		return 0;
	if (list->count == AUTHORIZED_KEYS_MAX)
		return err_set(
		    err, "more than %d keys in one list", AUTHORIZED_KEYS_MAX);
	if (parse_entry(entry, line, err) != 0)
		return -1;
	entry->line = number;
	found = string_table_add(&list->keys, key_text(entry->public));
	if (found < list->count)
		return err_set(err, "repeats the key of line %u",
		    list->entries[found].line);
	list->count++;
	return 0;
}

static uint32_t
count_lines(struct text bytes)
{
	uint32_t lines = 0;

	for (uint32_t i = 0; i < bytes.bytes; i++)
		lines += bytes.at[i] == '\n';
	return lines;
}

static int
add_lines(struct authorized_keys *list, struct text rest, const char *path,
    struct err *err)
{
	uint32_t number = 0;

	while (rest.bytes > 0) {
		const char *end = memchr(rest.at, '\n', rest.bytes);
		struct text line = rest;

		number++;
		if (end == NULL)
			return err_set(err,
			    "%.300s:%u: the last line has no newline; the file "
			    "may be truncated",
			    path, number);
		line.bytes = (uint32_t)(end - rest.at);
		if (add_line(list, line, number, err) != 0)
			return err_prefix(err, "%.300s:%u", path, number);
		rest.at += line.bytes + 1;
		rest.bytes -= line.bytes + 1;
	}
	return 0;
}

int
authorized_keys_parse(struct authorized_keys **to, struct text bytes,
    const char *path, struct err *err)
{
	struct authorized_keys *list;
	uint32_t lines;

	*to = NULL;
	if (bytes.bytes > AUTHORIZED_KEYS_BYTES_MAX)
		return err_set(err, "%.300s is longer than %d bytes", path,
		    AUTHORIZED_KEYS_BYTES_MAX);
	list = memory_zero(1, sizeof(*list));
	list->at = memory_text(bytes);
	list->bytes = bytes.bytes;
	lines = count_lines(bytes);
	if (lines > AUTHORIZED_KEYS_MAX)
		lines = AUTHORIZED_KEYS_MAX;
	/* One more, for the entry that exceeds the limit. */
	list->entries = memory_zero((size_t)lines + 1, sizeof(*list->entries));
	string_table_init(&list->keys);
	if (add_lines(list, authorized_keys_bytes(list), path, err) != 0) {
		authorized_keys_free(&list);
		return -1;
	}
	*to = list;
	return 0;
}

int
authorized_keys_read(
    struct authorized_keys **list, const char *path, struct err *err)
{
	bool missing;
	int fd = trusted_file_open(path, TRUSTED_FILE_LIST, &missing, err);
	ssize_t bytes;
	char *at;
	int rc;

	*list = NULL;
	if (fd < 0)
		return missing ? authorized_keys_parse(
				     list, text_of(NULL), path, err)
			       : -1;
	at = memory_zero(AUTHORIZED_KEYS_BYTES_MAX + 1, 1);
	bytes = trusted_file_read(fd, at, AUTHORIZED_KEYS_BYTES_MAX + 1);
	if (bytes < 0)
		rc = err_set(err, "%.300s: %s", path, strerror(errno));
	else
		rc = authorized_keys_parse(
		    list, (struct text){ at, (uint32_t)bytes }, path, err);
	close(fd);
	free(at);
	return rc;
}

/*
 * keys_list - list the keys, in each format.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "aggregator/keys/keys.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"

static const char *const titles[] = { "name", "role", "partition", "node",
	"public", "newest", NULL };

static const struct table_column columns[] = { { "NAME", 16, false },
	{ "ROLE", 6, false }, { "PARTITIONS", 17, false },
	{ "NODES", 11, false }, { "PUBLIC", 18, false }, { "NEWEST", 6, false },
	{ NULL, 0, false } };

static void
put_row(struct report *to, const struct authorized_key *entry, bool newest)
{
	char public[Z85_CHARACTERS];

	z85_encode(public, entry->public);
	report_text(to, entry->name);
	report_text(to, text_of(key_role_name(entry->role)));
	report_text(to, entry->partition);
	report_text(to, entry->node);
	report_text(to, (struct text){ public, sizeof(public) });
	report_flag(to, newest);
}

/* 1: it does not exist. */
static int
read_server(struct authorized_key *entry, const char *name, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];
	struct keyfile key;

	if (keys_path(path, name, ".key", err) != 0)
		return -1;
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 1;
	if (keyfile_read(&key, path, err) != 0)
		return -1;
	*entry = (struct authorized_key){ .role = key.role,
		.name = text_of(KEYS_SERVER) };
	memcpy(entry->public, key.public, sizeof(entry->public));
	keyfile_clear(&key);
	return 0;
}

/* The keys of a name one after another, in the order of the file. */
static int
by_name(const void *a, const void *b)
{
	const struct authorized_key *const *one = a, *const *other = b;
	int order = text_compare((*one)->name, (*other)->name);

	if (order != 0)
		return order;
	return (*one)->line < (*other)->line ? -1 : 1;
}

/* Sorted by name first: there may be 100,000 keys. */
static void
put_clients(struct report *to, const struct authorized_keys *list)
{
	uint32_t count = authorized_keys_count(list);
	const struct authorized_key **sorted =
	    memory_zero(count + 1, sizeof(*sorted));
	bool *newest = memory_zero(count + 1, sizeof(*newest));

	for (uint32_t i = 0; i < count; i++)
		sorted[i] = authorized_keys_at(list, i);
	qsort(sorted, count, sizeof(*sorted), by_name);
	for (uint32_t i = 0; i < count; i++)
		newest[sorted[i] - authorized_keys_at(list, 0)] =
		    i + 1 == count ||
		    !text_equal(sorted[i]->name, sorted[i + 1]->name);
	for (uint32_t i = 0; i < count; i++)
		put_row(to, authorized_keys_at(list, i), newest[i]);
	free(newest);
	free(sorted);
}

static void
put_token(struct report *to, const struct authorized_key *entry)
{
	char public[Z85_CHARACTERS];

	z85_encode(public, entry->public);
	report_text(to, entry->name);
	report_text(to, text_of("token"));
	report_text(to, entry->partition);
	report_text(to, entry->node);
	report_text(to, (struct text){ public, sizeof(public) });
	report_flag(to, true);
}

static int
put_tokens(struct report *to, struct err *err)
{
	char path[INSTANCE_PATH_BYTES];
	struct authorized_keys *list;

	if (keys_tokens_path(path, err) != 0 ||
	    authorized_keys_read(&list, path, err) != 0)
		return -1;
	for (uint32_t i = 0; i < authorized_keys_count(list); i++)
		put_token(to, authorized_keys_at(list, i));
	authorized_keys_free(&list);
	return 0;
}

int
keys_list(enum report_format format, FILE *file, struct err *err)
{
	struct report to;
	struct authorized_key server = { .line = 0 }, next = { .line = 0 };
	char path[INSTANCE_PATH_BYTES];
	struct authorized_keys *list;
	int has_server, has_next, rc;

	has_server = read_server(&server, KEYS_SERVER, err);
	has_next = read_server(&next, KEYS_SERVER_NEXT, err);
	if (has_server < 0 || has_next < 0 || keys_allow_path(path, err) != 0 ||
	    authorized_keys_read(&list, path, err) != 0)
		return -1;
	report_begin(&to, file, format, titles, columns);
	if (has_server == 0)
		put_row(&to, &server, has_next != 0);
	if (has_next == 0)
		put_row(&to, &next, true);
	put_clients(&to, list);
	rc = put_tokens(&to, err);
	report_end(&to);
	if (has_server != 0 && has_next != 0 &&
	    authorized_keys_count(list) == 0)
		log_info(
		    "no keys yet: poolscope up --listen ENDPOINT creates the "
		    "server key, poolscope keys new NAME a client key");
	authorized_keys_free(&list);
	return rc;
}

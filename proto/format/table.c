/*
 * table - names as they are shown in a terminal.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/table.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

static bool
begins_character(char c)
{
	return ((unsigned char)c & 0xC0) != 0x80;
}

unsigned
table_width(struct text t)
{
	unsigned width = 0;

	for (uint32_t i = 0; i < t.bytes; i++)
		width += begins_character(t.at[i]);
	return width;
}

/* The bytes of the first `characters` of `t`. */
static uint32_t
bytes_of(struct text t, unsigned characters)
{
	uint32_t i = 0;

	for (; i < t.bytes; i++)
		if (begins_character(t.at[i]) && characters-- == 0)
			break;
	return i;
}

/* Most names and all numbers are ASCII. */
static bool
is_plain(struct text t)
{
	uint32_t i = 0;

	while (i < t.bytes && t.at[i] >= 0x20 && t.at[i] < 0x7F)
		i++;
	return i == t.bytes;
}

/* A name must not change the order of a line, nor look like another one. */
static void
put_safe(FILE *file, struct text t)
{
	char *shown;

	if (t.bytes == 0)
		return;
	if (is_plain(t)) {
		fwrite(t.at, 1, t.bytes, file);
		return;
	}
	shown = memory_alloc(t.bytes + 1);
	memcpy(shown, t.at, t.bytes);
	fwrite(shown, 1, text_make_shown(shown, t.bytes, false), file);
	free(shown);
}

void
table_put_elided(FILE *file, struct text t, unsigned width)
{
	unsigned all = table_width(t), front, back;
	uint32_t cut;

	if (all <= width || width < 4) {
		t.bytes = bytes_of(t, width);
		put_safe(file, t);
		return;
	}
	front = (width - 2) / 2;
	back = width - 2 - front;
	put_safe(file, (struct text){ t.at, bytes_of(t, front) });
	fputs("..", file);
	cut = bytes_of(t, all - back);
	put_safe(file, (struct text){ t.at + cut, t.bytes - cut });
}

size_t
table_elide(char *to, size_t room, struct text t, unsigned width)
{
	FILE *memory = memory_must(fmemopen(to, room, "w"));

	to[0] = '\0';
	table_put_elided(memory, t, width);
	fclose(memory);
	to[room - 1] = '\0';
	return strlen(to);
}

/* ---- names ---- */

void
table_names_add(struct table_names *names, struct text name)
{
	unsigned width = table_width(name);
	uint32_t prefix = 0, suffix = 0;

	if (width > names->longest)
		names->longest = width;
	if (names->count++ == 0) {
		names->first = name;
		names->prefix = names->suffix = names->shortest = name.bytes;
		return;
	}
	while (prefix < names->prefix && prefix < name.bytes &&
	       name.at[prefix] == names->first.at[prefix])
		prefix++;
	while (suffix < names->suffix && suffix < name.bytes &&
	       name.at[name.bytes - 1 - suffix] ==
		   names->first.at[names->first.bytes - 1 - suffix])
		suffix++;
	names->prefix = prefix;
	names->suffix = suffix;
	if (name.bytes < names->shortest)
		names->shortest = name.bytes;
}

static bool
is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

void
table_names_fit(struct table_names *names, unsigned room)
{
	struct text first = names->first;

	if (names->count < 2 || names->longest <= room) {
		names->prefix = names->suffix = 0;
		return;
	}
	/* Cut between words, so that node_1 and node_12 keep the differing
	 * word complete. */
	while (names->prefix > 0 && is_word_byte(first.at[names->prefix - 1]))
		names->prefix--;
	while (names->suffix > 0 &&
	       is_word_byte(first.at[first.bytes - names->suffix]))
		names->suffix--;
	/* Every name keeps some characters, and two names never become
	 * equal. */
	if (names->prefix + names->suffix >= names->shortest)
		names->suffix = 0;
	if (names->prefix >= names->shortest)
		names->prefix = 0;
}

struct text
table_names_rest(const struct table_names *names, struct text name)
{
	struct text first = names->first;
	uint32_t cut = names->prefix + names->suffix;

	if (cut == 0 || name.bytes <= cut ||
	    memcmp(name.at, first.at, names->prefix) != 0 ||
	    memcmp(name.at + name.bytes - names->suffix,
		first.at + first.bytes - names->suffix, names->suffix) != 0)
		return name;
	return (struct text){ name.at + names->prefix, name.bytes - cut };
}

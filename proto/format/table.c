/*
 * table - columns for a terminal of 80 characters.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum { NUMBER_ROOM = 64 };

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

/* A name must not change the order of a line, nor look like another one. */
static void
put_safe(FILE *file, struct text t)
{
	char *shown = memory_alloc(t.bytes + 1);

	if (t.bytes > 0)
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

static void
put_cell(struct table *table, struct text t)
{
	const struct table_column *column = &table->columns[table->at];
	bool last = column[1].title == NULL;
	unsigned width = table_width(t);
	int pad = width < column->width ? (int)(column->width - width) : 0;

	if (table->at > 0)
		putc(' ', table->file);
	if (column->right)
		fprintf(table->file, "%*s", pad, "");
	table_put_elided(table->file, t, column->width);
	if (!column->right && !last)
		fprintf(table->file, "%*s", pad, "");
	if (last)
		putc('\n', table->file);
	table->at = last ? 0 : table->at + 1;
}

void
table_begin(struct table *table, FILE *file, const struct table_column *columns)
{
	*table = (struct table){ .file = file, .columns = columns };
	do
		put_cell(table, text_of(columns[table->at].title));
	while (table->at != 0);
}

void
table_text(struct table *table, struct text value)
{
	put_cell(table, value);
}

void
table_string(struct table *table, const char *value)
{
	put_cell(table, text_of(value));
}

void
table_none(struct table *table)
{
	table_string(table, "-");
}

/* Shortening the digits of a number would change it: a number that does not
 * fit is printed in thousands, millions ..., truncated. */
void
table_count(struct table *table, uint64_t value)
{
	unsigned room = table->columns[table->at].width;
	char text[NUMBER_ROOM];
	const char *unit = "";

	for (;;) {
		int n = snprintf(
		    text, sizeof(text), "%" PRIu64 "%.1s", value, unit);

		if (n <= (int)room || value < 1000)
			break;
		value /= 1000;
		unit = *unit == '\0' ? "kMGTPE" : unit + 1;
	}
	table_string(table, text);
}

void
table_number(struct table *table, double value)
{
	unsigned room = table->columns[table->at].width;
	char text[NUMBER_ROOM];
	int decimals = 2;

	if (!isfinite(value)) {
		table_none(table);
		return;
	}
	if (value != 0 && fabs(value) < 0.1)
		decimals = 4;
	for (; decimals >= 0; decimals--) {
		int n = snprintf(text, sizeof(text), "%.*f", decimals, value);

		if (n > 0 && (unsigned)n <= room)
			break;
	}
	if (decimals < 0)
		snprintf(text, sizeof(text), "%.0e", value);
	table_string(table, text);
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

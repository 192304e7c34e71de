/*
 * labels - names shortened to a width so that no two of a picture are equal.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/gnuplot/labels.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/format/table.h"

/* ---- characters ---- */

static uint32_t
next(struct text t, uint32_t at)
{
	uint32_t character;
	uint32_t bytes = text_character(
	    (struct text){ t.at + at, t.bytes - at }, &character);

	return at + (bytes > 0 ? bytes : 1);
}

/* The position in bytes of a character. */
static uint32_t
position(struct text t, uint32_t characters)
{
	uint32_t at = 0;

	while (characters-- > 0 && at < t.bytes)
		at = next(t, at);
	return at;
}

static uint32_t
length(struct text t)
{
	uint32_t count = 0;

	for (uint32_t at = 0; at < t.bytes; at = next(t, at))
		count++;
	return count;
}

/* ---- names that would be equal ---- */

/* What all names of a group have in common at both ends, in characters. */
struct common {
	uint32_t front, back;
};

static struct common
common_of(struct text a, struct text b)
{
	uint32_t front = 0, back = 0;
	uint32_t least = a.bytes < b.bytes ? a.bytes : b.bytes;

	while (front < least && a.at[front] == b.at[front])
		front++;
	while (back < least - front &&
	       a.at[a.bytes - 1 - back] == b.at[b.bytes - 1 - back])
		back++;
	/* A part of a character is not in common. */
	while (front > 0 && front < a.bytes &&
	       ((unsigned char)a.at[front] & 0xC0) == 0x80)
		front--;
	while (back > 0 && ((unsigned char)a.at[a.bytes - back] & 0xC0) == 0x80)
		back--;
	return (struct common){ length((struct text){ a.at, front }),
		length((struct text){ a.at + a.bytes - back, back }) };
}

/* Leave out the characters [from, to). */
static size_t
put_without(
    char *to, size_t room, struct text name, uint32_t from, uint32_t end)
{
	uint32_t first = position(name, from), last = position(name, end);
	int bytes = snprintf(to, room, "%.*s..%.*s", (int)first, name.at,
	    (int)(name.bytes - last), name.at + last);

	return (size_t)bytes < room ? (size_t)bytes : room - 1;
}

/* Leave out what names have in common; at both ends if one is too short. */
static void
shorten(char *to, struct text name, struct common common, uint32_t width)
{
	uint32_t all = length(name), cut = all - width + 2;
	uint32_t from = (all - cut) / 2;

	if (common.back >= cut) {
		if (from < all - common.back)
			from = all - common.back;
		put_without(to, LABELS_BYTES, name, from, from + cut);
	} else if (common.front >= cut) {
		if (from > common.front - cut)
			from = common.front - cut;
		put_without(to, LABELS_BYTES, name, from, from + cut);
	} else {
		uint32_t first = position(name, common.front);
		struct text rest = { name.at + first, name.bytes - first };

		memcpy(to, "..", 3);
		table_elide(to + 2, LABELS_BYTES - 2, rest, width - 2);
	}
}

/* ---- all names ---- */

struct entry {
	const char *label;
	struct text name;
	uint32_t number;
};

static int
by_label(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = strcmp(a->label, b->label);

	return order != 0 ? order : text_compare(a->name, b->name);
}

static void
tell_apart(struct labels *labels, const struct entry *entries, uint32_t count,
    unsigned width)
{
	/* They are sorted: the first and the last differ earliest, and all
	 * pairs must be looked at for the end. */
	struct common common =
	    common_of(entries[0].name, entries[count - 1].name);

	for (uint32_t i = 1; i < count; i++) {
		struct common each =
		    common_of(entries[i - 1].name, entries[i].name);

		if (each.back < common.back)
			common.back = each.back;
	}
	for (uint32_t i = 0; i < count; i++)
		shorten(labels->at[entries[i].number], entries[i].name, common,
		    width);
}

void
labels_make(struct labels *labels, const struct text *names, uint32_t count,
    unsigned width)
{
	struct entry *entries = memory_zero(count + 1, sizeof(*entries));
	uint32_t end;

	labels->count = count;
	labels->at = memory_zero(count + 1, sizeof(*labels->at));
	for (uint32_t i = 0; i < count; i++) {
		table_elide(
		    labels->at[i], sizeof(labels->at[i]), names[i], width);
		entries[i] = (struct entry){ labels->at[i], names[i], i };
	}
	qsort(entries, count, sizeof(*entries), by_label);
	for (uint32_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && strcmp(entries[i].label,
						     entries[end].label) == 0;
		     end++)
			;
		if (end - i > 1 && length(entries[i].name) > width &&
		    !text_equal(entries[i].name, entries[end - 1].name))
			tell_apart(labels, entries + i, end - i, width);
	}
	free(entries);
}

void
labels_clear(struct labels *labels)
{
	free(labels->at);
	labels->at = NULL;
}

/* ---- of rows ---- */

void
labels_put_rows(FILE *file, uint32_t count, uint32_t step, unsigned width,
    labels_name *name_of, const void *arg)
{
	uint32_t shown = (count + step - 1) / step;
	struct text *names = memory_zero(shown, sizeof(*names));
	char after[LABELS_AFTER_BYTES];
	struct labels labels;

	for (uint32_t i = 0; i < shown; i++) {
		after[0] = '\0';
		names[i] = name_of(arg, i * step, after);
	}
	labels_make(&labels, names, shown, width);
	fputs("set ytics (", file);
	for (uint32_t i = 0; i < shown; i++) {
		char label[LABELS_BYTES + LABELS_AFTER_BYTES];

		after[0] = '\0';
		name_of(arg, i * step, after);
		snprintf(label, sizeof(label), "%s%s", labels.at[i], after);
		gnuplot_put_row_tic(file, i * step, label);
	}
	fputs(")\n", file);
	labels_clear(&labels);
	free(names);
}

/* ---- of a line ---- */

enum { TITLE_COLUMNS = 90, CUT_BYTES = 4 * TITLE_COLUMNS + 8 };

void
labels_put_cut(FILE *file, struct text text, unsigned columns)
{
	char shown[CUT_BYTES];

	table_elide(shown, sizeof(shown), text, columns);
	gnuplot_put_text(file, text_of(shown));
}

void
labels_put_title(FILE *file, enum gnuplot_terminal terminal, unsigned height,
    unsigned rows, const char *title)
{
	char shown[CUT_BYTES];

	table_elide(shown, sizeof(shown), text_of(title),
	    terminal == GNUPLOT_DUMB ? GNUPLOT_DUMB_WIDTH - 2 : TITLE_COLUMNS);
	gnuplot_put_heading(file, terminal, height, rows, 0, shown);
}

/*
 * top_cell - texts for a screen.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/cell.h"

#include <math.h>
#include <stdio.h>
#include <wchar.h>

#include "proto/format/quantity.h"

/* Terminals and libc disagree about the width of what is beyond this, emoji
 * among them. */
enum { CHARACTER_MAX = 0xFFFF };

struct glyph {
	uint32_t character;
	unsigned width;
};

/* Take a character from the front. */
static struct glyph
next_glyph(struct text *rest, bool ascii)
{
	struct glyph unknown = { '?', 1 }, glyph = { 0, 1 };
	uint32_t bytes = text_character(*rest, &glyph.character);
	int width;

	if (bytes == 0) {
		rest->at++;
		rest->bytes--;
		return unknown;
	}
	rest->at += bytes;
	rest->bytes -= bytes;
	if (glyph.character >= 0x20 && glyph.character < 0x7F)
		return glyph;
	if (ascii || glyph.character < 0xA0 || glyph.character > CHARACTER_MAX)
		return unknown;
	width = wcwidth((wchar_t)glyph.character);
	if (width != 1 && width != 2)
		return unknown;
	glyph.width = (unsigned)width;
	return glyph;
}

unsigned
cell_width(struct text text, bool ascii)
{
	unsigned width = 0;

	while (text.bytes > 0)
		width += next_glyph(&text, ascii).width;
	return width;
}

/* Put what fits into the columns; returns how many it takes. */
static unsigned
put_front(char **to, struct text text, unsigned columns, bool ascii)
{
	unsigned used = 0;

	while (text.bytes > 0) {
		struct glyph glyph = next_glyph(&text, ascii);

		if (used + glyph.width > columns)
			break;
		used += glyph.width;
		*to += text_put_character(*to, glyph.character);
	}
	return used;
}

/* The same of the end of the text, of which `width` is all. */
static unsigned
put_back(
    char **to, struct text text, unsigned width, unsigned columns, bool ascii)
{
	while (text.bytes > 0 && width > columns)
		width -= next_glyph(&text, ascii).width;
	return put_front(to, text, columns, ascii);
}

static void
pad(char **to, unsigned columns)
{
	memset(*to, ' ', columns);
	*to += columns;
}

void
cell_put(char to[static CELL_BYTES], struct text text, unsigned width,
    enum cell_side side, bool ascii)
{
	unsigned all = cell_width(text, ascii), used;

	if (width > CELL_COLUMNS_MAX)
		width = CELL_COLUMNS_MAX;
	if (all <= width) {
		if (side == CELL_RIGHT)
			pad(&to, width - all);
		put_front(&to, text, width, ascii);
		if (side != CELL_RIGHT)
			pad(&to, width - all);
	} else if (width < 5 || side == CELL_CUT) {
		used = put_front(&to, text, width, ascii);
		pad(&to, width - used);
	} else {
		used = put_front(&to, text, (width - 2) / 2, ascii);
		*to++ = '.';
		*to++ = '.';
		used += 2;
		used += put_back(&to, text, all, width - used, ascii);
		pad(&to, width - used);
	}
	*to = '\0';
}

/* ---- numbers ---- */

const char *
cell_time(char to[static CELL_NUMBER_BYTES], double seconds)
{
	static const struct {
		double seconds;
		const char *unit;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" },
		{ 1e-3, "ms" }, { 1e-6, "us" }, { 1e-9, "ns" } };
	enum { UNITS = sizeof(units) / sizeof(*units) };
	double number;
	size_t i = 0;

	if (isnan(seconds))
		return "-";
	if (fabs(seconds) < 1e-9)
		return "0s";
	/* 95 s, but 2min from 100 s on. */
	while (i + 1 < UNITS &&
	       fabs(seconds) < units[i].seconds * (i < 3 ? 1.66 : 0.9995))
		i++;
	number = seconds / units[i].seconds;
	snprintf(to, CELL_NUMBER_BYTES, "%.*f%s",
	    fabs(number) < 9.95 && units[i].seconds != 60, number,
	    units[i].unit);
	return to;
}

const char *
cell_share(char to[static CELL_NUMBER_BYTES], double share)
{
	if (isnan(share))
		return "-";
	snprintf(to, CELL_NUMBER_BYTES, "%.0f%%", 100 * share);
	return to;
}

const char *
cell_bytes(char to[static CELL_NUMBER_BYTES], double bytes)
{
	char text[QUANTITY_TEXT_BYTES];

	if (isnan(bytes))
		return "-";
	snprintf(
	    to, CELL_NUMBER_BYTES, "%.31s", quantity_bytes_short(text, bytes));
	return to;
}

const char *
cell_count(char to[static CELL_NUMBER_BYTES], double count)
{
	static const char units[] = " kMGTPE";
	size_t i = 0;

	if (isnan(count))
		return "-";
	for (; fabs(count) >= 9999.5 && i + 2 < sizeof(units); i++)
		count /= 1000;
	if (i == 0)
		snprintf(to, CELL_NUMBER_BYTES, "%.0f", count);
	else
		snprintf(to, CELL_NUMBER_BYTES, "%.0f%c", count, units[i]);
	return to;
}

const char *
cell_number(char to[static CELL_NUMBER_BYTES], double number)
{
	double size = fabs(number);

	if (isnan(number))
		return "-";
	snprintf(to, CELL_NUMBER_BYTES, "%.*f",
	    size < 9.995   ? 2
	    : size < 99.95 ? 1
			   : 0,
	    number);
	return to;
}

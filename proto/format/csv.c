/*
 * csv - rows for spreadsheets.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/csv.h"

#include <math.h>

#include "proto/base/number.h"
#include "proto/json/json_bytes.h"

static void
separate(struct csv *csv)
{
	if (csv->filled)
		putc_unlocked(',', csv->file);
	csv->filled = true;
}

void
csv_text(struct csv *csv, struct text value)
{
	bool quoted = false, formula;

	separate(csv);
	formula = value.bytes > 0 && value.at[0] != '\0' &&
		  strchr("=+-@\t\r", value.at[0]) != NULL;
	for (uint32_t i = 0; i < value.bytes && !quoted; i++)
		quoted = value.at[i] == ',' || value.at[i] == '"' ||
			 value.at[i] == '\n' || value.at[i] == '\r';
	if (quoted)
		putc_unlocked('"', csv->file);
	if (formula)
		putc_unlocked('\'', csv->file);
	for (uint32_t i = 0; i < value.bytes; i++) {
		if (value.at[i] == '"')
			putc_unlocked('"', csv->file);
		putc_unlocked(value.at[i], csv->file);
	}
	if (quoted)
		putc_unlocked('"', csv->file);
}

void
csv_string(struct csv *csv, const char *value)
{
	csv_text(csv, text_of(value));
}

void
csv_titles(struct csv *csv, const char *titles)
{
	while (*titles != '\0') {
		size_t bytes = strcspn(titles, " ");

		csv_text(csv, (struct text){ titles, (uint32_t)bytes });
		titles += bytes;
		titles += strspn(titles, " ");
	}
}

static void
put_digits(struct csv *csv, const unsigned char *text, const unsigned char *end)
{
	fwrite_unlocked(text, 1, (size_t)(end - text), csv->file);
}

void
csv_int(struct csv *csv, int64_t value)
{
	unsigned char text[JSON_DECIMAL_BYTES];

	separate(csv);
	put_digits(csv, text, json_put_integer(text, value));
}

void
csv_uint(struct csv *csv, uint64_t value)
{
	unsigned char text[JSON_DECIMAL_BYTES];

	separate(csv);
	put_digits(csv, text, json_put_digits(text, value));
}

void
csv_float(struct csv *csv, double value)
{
	char text[NUMBER_BYTES];

	separate(csv);
	if (!isfinite(value))
		return;
	number_repr(text, value);
	fputs_unlocked(text, csv->file);
}

void
csv_number(struct csv *csv, struct text digits)
{
	separate(csv);
	fwrite_unlocked(digits.at, 1, digits.bytes, csv->file);
}

void
csv_none(struct csv *csv)
{
	separate(csv);
}

void
csv_end_row(struct csv *csv)
{
	fputs_unlocked("\r\n", csv->file);
	csv->filled = false;
}

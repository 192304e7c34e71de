/*
 * answer_cell - a cell as people and as programs read it.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "proto/base/number.h"
#include "proto/format/quantity.h"
#include "proto/json/json_bytes.h"
#include "proto/os/clock.h"

/* ---- for people ---- */

/* Two decimals; of what is small as many as show two digits of it; of what is
 * large none.  No digit before the point is ever left out. */
static void
show_number(char *to, double value)
{
	double size = fabs(value);

	if (size == 0 && !signbit(value))
		strcpy(to, "0.00"); /* many are, and printf is slow */
	else if (size >= 1e15 || (size > 0 && size < 1e-6))
		snprintf(to, ANSWER_SHOWN_BYTES, "%.3g", value);
	else if (size > 0 && size < 0.1)
		snprintf(to, ANSWER_SHOWN_BYTES, "%.*f", size < 0.001 ? 7 : 4,
		    value);
	else
		snprintf(
		    to, ANSWER_SHOWN_BYTES, "%.*f", size < 1e5 ? 2 : 0, value);
}

/* The digits that end here. */
static struct text
until(char *digits, unsigned char *end)
{
	*end = '\0';
	return (struct text){ digits, (uint32_t)((char *)end - digits) };
}

static struct text
show_value(const struct value *value, char *to)
{
	unsigned char *digits = (unsigned char *)to;

	switch (value->type) {
	case VALUE_TEXT: return value->is.text;
	case VALUE_NIL: return text_of("-");
	case VALUE_BOOL: return text_of(value->is.boolean ? "yes" : "no");
	case VALUE_INT: return until(to, json_put_integer(digits, value->is.i));
	case VALUE_UINT: return until(to, json_put_digits(digits, value->is.u));
	case VALUE_FLOAT: number_repr(to, value->is.f); break;
	}
	return text_of(to);
}

/* Decimals enough for what there is: none, or three, six, nine. */
static int
decimals_of(int64_t ns)
{
	return ns % NS_PER_SECOND == 0 ? 0
	       : ns % 1000000 == 0     ? 3
	       : ns % 1000 == 0        ? 6
				       : 9;
}

struct text
answer_shown(const struct answer_cell *cell, char to[static ANSWER_SHOWN_BYTES])
{
	if (!answer_is_known(cell))
		return text_of("-");
	switch (cell->type) {
	case ANSWER_TEXT: return cell->is.text;
	case ANSWER_COUNT:
		return until(
		    to, json_put_digits((unsigned char *)to, cell->is.count));
	case ANSWER_WHOLE:
		return until(
		    to, json_put_integer((unsigned char *)to, cell->is.ns));
	case ANSWER_NUMBER:
		if (cell->kind != QUANTITY_NUMBER)
			return text_of(
			    quantity_shown(to, cell->kind, cell->is.number));
		show_number(to, cell->is.number);
		break;
	case ANSWER_SHARE:
		snprintf(
		    to, ANSWER_SHOWN_BYTES, "%.1f %%", 100 * cell->is.number);
		break;
	case ANSWER_TIME:
		return text_of(clock_text(
		    to, cell->is.ns, decimals_of(cell->is.ns) == 0 ? 0 : 3));
	case ANSWER_DURATION:
		return text_of(quantity_time(to, (double)cell->is.ns));
	case ANSWER_SECONDS:
		show_number(to, (double)cell->is.ns / NS_PER_SECOND);
		break;
	case ANSWER_BYTES: return text_of(quantity_bytes(to, cell->is.number));
	case ANSWER_FLAG:
		return text_of(cell->is.flag == ANSWER_YES ? "yes" : "no");
	case ANSWER_VALUE: return show_value(&cell->is.value, to);
	}
	return text_of(to);
}

/* ---- for programs ---- */

struct text
answer_plain(const struct answer_cell *cell, char to[static ANSWER_SHOWN_BYTES])
{
	if (!answer_is_known(cell))
		return (struct text){ "", 0 };
	switch (cell->type) {
	case ANSWER_TEXT:
	case ANSWER_WHOLE:
	case ANSWER_COUNT: return answer_shown(cell, to);
	case ANSWER_NUMBER:
	case ANSWER_SHARE: number_repr(to, cell->is.number); break;
	case ANSWER_BYTES:
		/* Bytes are counted, though a mean of them may have a
		 * fraction. */
		if (cell->is.number == floor(cell->is.number) &&
		    fabs(cell->is.number) < 0x1p63)
			snprintf(to, ANSWER_SHOWN_BYTES, "%" PRId64,
			    (int64_t)cell->is.number);
		else
			number_repr(to, cell->is.number);
		break;
	case ANSWER_TIME:
		clock_utc_text(to, cell->is.ns, decimals_of(cell->is.ns));
		break;
	case ANSWER_SECONDS:
	case ANSWER_DURATION:
		return until(to, json_put_decimal((unsigned char *)to,
				     cell->is.ns, NS_PER_SECOND));
	case ANSWER_FLAG:
		return text_of(cell->is.flag == ANSWER_YES ? "true" : "false");
	case ANSWER_VALUE:
		if (cell->is.value.type == VALUE_BOOL)
			return text_of(
			    cell->is.value.is.boolean ? "true" : "false");
		return show_value(&cell->is.value, to);
	}
	return text_of(to);
}

bool
answer_column_is(const struct answer_column *column, struct text word)
{
	return text_equal(word, text_of(column->key)) ||
	       (column->title != NULL &&
		   text_equal(word, text_of(column->title)));
}

const struct answer_cell *
answer_taken_cell(const struct answer_taken *row, const char *key)
{
	for (uint32_t i = 0; i < row->count; i++)
		if (strcmp(row->columns[i].key, key) == 0)
			return &row->cells[i];
	return NULL;
}

uint64_t
answer_taken_count(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL && answer_is_known(cell) ? cell->is.count : 0;
}

int64_t
answer_taken_ns(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL ? cell->is.ns : ANSWER_NO_NS;
}

double
answer_taken_number(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL ? cell->is.number : (double)NAN;
}

struct text
answer_taken_text(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL ? cell->is.text : (struct text){ NULL, 0 };
}

bool
answer_taken_is_set(const struct answer_taken *row, const char *key)
{
	const struct answer_cell *cell = answer_taken_cell(row, key);

	return cell != NULL && cell->is.flag == ANSWER_YES;
}

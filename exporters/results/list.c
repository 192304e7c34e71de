/*
 * result_list - list starts and timings: the newest N, or oldest first.
 *
 * A store returns the newest first.  For the opposite order the range is read
 * to its end and its last rows are reversed in memory; rows that do not fit
 * are read in another pass that stops at the first row of the previous one.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/results/query.h"
#include "proto/base/memory.h"

enum { KEPT_MAX = 1 << 18 };

struct stored_row {
	char id[RESULT_ID_BYTES];
	int64_t start_us;
	struct value timing;
	char *text; /* owns the text of a timing that is one */
};

/* The last `room` rows of a pass. */
struct tail {
	struct stored_row *at;
	uint64_t room, seen;
};

struct list {
	const struct result_query *query;
	struct result_range range;
	struct report rows;
	struct ordered_rows ordered;
	uint64_t count;
	bool timings;
};

const char *const result_starts_columns[] = { "start_us", NULL };
const char *const result_timings_columns[] = { "start_us", "timing", NULL };

static int
begin(struct list *list, uint64_t rows, struct err *err)
{
	const struct result_query *query = list->query;

	list->range.wrong = 0;
	if (list->timings)
		return result_range_entries(
		    &list->range, query->test, query->entry, rows, err);
	return result_range_runs(&list->range, query->test, 0, err);
}

static void
print(struct list *list, int64_t start_us, const struct value *timing)
{
	report_time(&list->rows, start_us);
	if (list->timings)
		report_value(&list->rows, timing);
}

/* A row of which it is not known yet whether, and when, it is printed; the text
 * of a timing that is one follows. */
struct kept_row {
	int64_t start_us;
	struct value timing;
};

static double
number_of(int64_t start_us, const struct value *timing, int column)
{
	if (column == 0)
		return (double)start_us;
	return timing->type == VALUE_INT     ? (double)timing->is.i
	       : timing->type == VALUE_FLOAT ? timing->is.f
					     : NAN;
}

static int
keep(struct list *list, int64_t start_us, const struct value *timing,
    struct err *err)
{
	const struct kept_row row = { start_us, *timing };
	const struct order_key key = { .number = number_of(start_us, timing,
					   list->query->order->column) };
	struct text text = { "", 0 };
	FILE *to = ordered_rows_begin(&list->ordered);

	if (list->timings && timing->type == VALUE_TEXT)
		text = timing->is.text;
	fwrite(&row, 1, sizeof(row), to);
	fwrite(text.at, 1, text.bytes, to);
	return ordered_rows_end(&list->ordered, key, err);
}

static void
print_kept(struct list *list)
{
	ordered_rows_sort(&list->ordered);
	for (uint32_t i = 0; i < list->ordered.count; i++) {
		const char *at = list->ordered.rows[i].at;
		struct kept_row row;

		memcpy(&row, at, sizeof(row));
		if (list->timings && row.timing.type == VALUE_TEXT)
			row.timing.is.text.at = at + sizeof(row);
		print(list, row.start_us, &row.timing);
	}
}

static int
put(struct list *list, int64_t start_us, const struct value *timing,
    struct err *err)
{
	list->count++;
	if (order_is_given(list->query->order))
		return keep(list, start_us, timing, err);
	print(list, start_us, timing);
	return 0;
}

static int
print_newest(struct list *list, struct err *err)
{
	uint64_t limit = list->query->limit;
	struct result_row row;
	int rc;

	if (begin(list, limit, err) != 0)
		return -1;
	while ((limit == 0 || list->count < limit) &&
	       (rc = result_range_next(&list->range, &row, err)) != 0) {
		if (rc < 0 || put(list, row.start_us, &row.timing, err) != 0)
			return -1;
		if (ferror(list->query->file))
			break; /* the caller reports the error */
	}
	return 0;
}

static void
store(struct tail *tail, const struct result_row *row)
{
	struct stored_row *stored = &tail->at[tail->seen++ % tail->room];
	uint32_t bytes;

	free(stored->text);
	*stored = (struct stored_row){ .start_us = row->start_us,
		.timing = row->timing };
	memcpy(stored->id, row->id.at, row->id.bytes);
	if (row->timing.type != VALUE_TEXT)
		return;
	bytes = row->timing.is.text.bytes;
	stored->text = memory_alloc(bytes + 1);
	memcpy(stored->text, row->timing.is.text.at, bytes);
	stored->timing.is.text.at = stored->text;
}

/* The oldest rows before `until` (an id; "" selects all). */
static int
read_tail(
    struct list *list, struct tail *tail, const char *until, struct err *err)
{
	struct result_row row;
	int rc;

	tail->seen = 0;
	if (begin(list, 0, err) != 0)
		return -1;
	while ((rc = result_range_next(&list->range, &row, err)) > 0) {
		if (until[0] != '\0' &&
		    text_compare(row.id, text_of(until)) >= 0)
			return 0;
		store(tail, &row);
	}
	return rc;
}

static int
print_oldest(struct list *list, struct err *err)
{
	uint64_t limit = list->query->limit;
	uint64_t room = limit > 0 && limit < KEPT_MAX ? limit : KEPT_MAX;
	struct tail tail = { memory_zero(room, sizeof(*tail.at)), room, 0 };
	char until[RESULT_ID_BYTES] = "";
	uint64_t stored;
	int rc;

	do {
		rc = read_tail(list, &tail, until, err);
		stored = tail.seen < room ? tail.seen : room;
		for (uint64_t i = tail.seen;
		     rc == 0 && i > tail.seen - stored &&
		     (limit == 0 || list->count < limit);
		     i--) {
			const struct stored_row *row = &tail.at[(i - 1) % room];

			rc = put(list, row->start_us, &row->timing, err);
		}
		if (stored > 0)
			memcpy(until, tail.at[(tail.seen - stored) % room].id,
			    sizeof(until));
	} while (rc == 0 && tail.seen > stored &&
		 (limit == 0 || list->count < limit) &&
		 !ferror(list->query->file));
	for (uint64_t i = 0; i < room; i++)
		free(tail.at[i].text);
	free(tail.at);
	return rc;
}

static int
print_list(const struct result_query *query, bool timings, struct err *err)
{
	static const struct table_column columns[] = {
		{ "START", 28, false },
		{ "SECONDS", 26, true },
		{ .title = NULL },
	};
	static const struct table_column columns_of_starts[] = {
		{ "START", 28, false },
		{ .title = NULL },
	};
	struct list list = { .query = query, .timings = timings };
	int rc;

	list.range = result_query_range(query);
	ordered_rows_init(&list.ordered, query->order);
	report_begin(&list.rows, query->file, query->format,
	    timings ? result_timings_columns : result_starts_columns,
	    timings ? columns : columns_of_starts);
	rc =
	    query->oldest ? print_oldest(&list, err) : print_newest(&list, err);
	if (rc == 0 && order_is_given(query->order))
		print_kept(&list);
	ordered_rows_clear(&list.ordered);
	report_end(&list.rows);
	result_query_warn(&list.range);
	if (rc == 0 && list.count == 0)
		return result_query_explain(query, err);
	return rc;
}

int
result_query_starts(const struct result_query *query, struct err *err)
{
	return print_list(query, false, err);
}

int
result_query_timings(const struct result_query *query, struct err *err)
{
	return print_list(query, true, err);
}

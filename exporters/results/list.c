/*
 * result_list - list starts and timings: the newest N, or oldest first.
 *
 * A store returns the newest first.  For the opposite order the range is read
 * to its end and its last rows are reversed in memory; rows that do not fit
 * are read in another pass that stops at the first row of the previous one.
 * SPDX-License-Identifier: MIT
 */
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
	uint64_t count;
	bool timings;
};

struct row {
	int64_t start, start_us;
	struct value timing;
};

#define STARTS                                                                 \
	{ "start", "START", ANSWER_AT_TIME(struct row, start), NULL,           \
		"when the test was started", false, NULL },                    \
	{                                                                      \
		"start_us", NULL, ANSWER_AT_WHOLE(struct row, start_us), "us", \
		    "the same since the epoch", false, NULL                    \
	}

static const struct answer_column start_columns[] = { STARTS, { .key = NULL } };
const struct answer_table result_starts_tables[] = {
	{ "starts", start_columns }, { .name = NULL }
};

static const struct answer_column timing_columns[] = { STARTS,
	{ "timing", "SECONDS", ANSWER_AT_VALUE(struct row, timing), "s",
	    "how long it took; a text is what the file has instead", false,
	    NULL },
	{ .key = NULL } };
const struct answer_table result_timings_tables[] = {
	{ "timings", timing_columns }, { .name = NULL }
};

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
put(struct list *list, int64_t start_us, const struct value *timing)
{
	const struct row row = { result_time(start_us), start_us, *timing };

	list->count++;
	answer_row(list->query->answer, &row, NULL);
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
		if (rc < 0)
			return -1;
		put(list, row.start_us, &row.timing);
		if (answer_is_broken(list->query->answer))
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

			put(list, row->start_us, &row->timing);
		}
		if (stored > 0)
			memcpy(until, tail.at[(tail.seen - stored) % room].id,
			    sizeof(until));
	} while (rc == 0 && tail.seen > stored &&
		 (limit == 0 || list->count < limit) &&
		 !answer_is_broken(list->query->answer));
	for (uint64_t i = 0; i < room; i++)
		free(tail.at[i].text);
	free(tail.at);
	return rc;
}

static int
print_list(const struct result_query *query, bool timings, struct err *err)
{
	struct list list = { .query = query, .timings = timings };
	int rc;

	list.range = result_query_range(query);
	rc =
	    query->oldest ? print_oldest(&list, err) : print_newest(&list, err);
	result_query_note(query, &list.range);
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

/*
 * runs_clock_skew - delay between emission and receipt of the events of test
 * runs.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/clock_skew.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { RUNS_SKEW_ROWS_MAX = 1 << 20 };

static struct runs_skew_row *
find_row(struct runs_skew *skew, struct text node, uint32_t role,
    struct text event, struct err *err)
{
	char key[NAME_BYTES_MAX + 2];
	uint32_t bytes =
	    node.bytes < NAME_BYTES_MAX ? node.bytes : NAME_BYTES_MAX;
	uint32_t number;

	if (bytes > 0)
		memcpy(key, node.at, bytes);
	key[bytes] = '\0';
	key[bytes + 1] = (char)role;
	number =
	    string_table_add(&skew->row_keys, (struct text){ key, bytes + 2 });
	if (number < skew->count)
		return &skew->rows[number];
	if (number == RUNS_SKEW_ROWS_MAX) {
		err_set(err,
		    "more than %d nodes and events: select nodes with --node",
		    RUNS_SKEW_ROWS_MAX);
		return NULL;
	}
	MEMORY_GROW(skew->rows, skew->room, skew->count);
	skew->rows[skew->count] = (struct runs_skew_row){
		.node = string_table_text(&skew->texts, node),
		.event = event,
		.min_ns = INT64_MAX,
		.max_ns = INT64_MIN,
	};
	return &skew->rows[skew->count++];
}

/* The row of an event of a node; adds a new one if there is none.
 * Welford's method, so that times since 1970 keep their precision. */
static int
runs_skew_add(struct runs_skew *skew, struct text node, uint32_t role,
    struct text event, int64_t skew_ns, struct err *err)
{
	struct runs_skew_row *row = find_row(skew, node, role, event, err);
	long double off;

	if (row == NULL)
		return -1;
	off = (long double)skew_ns - row->mean;
	row->count++;
	row->negative += skew_ns < 0;
	row->sum_ns += skew_ns;
	row->mean += off / (long double)row->count;
	row->squares += off * ((long double)skew_ns - row->mean);
	if (skew_ns < row->min_ns)
		row->min_ns = skew_ns;
	if (skew_ns > row->max_ns)
		row->max_ns = skew_ns;
	return 0;
}

double
runs_skew_mean(const struct runs_skew_row *row)
{
	return (double)((long double)row->sum_ns / (long double)row->count /
			NS_PER_SECOND);
}

double
runs_skew_deviation(const struct runs_skew_row *row, bool sample)
{
	uint64_t of = row->count - sample;

	return of > 0 ? (double)(sqrtl(row->squares / (long double)of) /
				 NS_PER_SECOND)
		      : NAN;
}

static int64_t
received(const struct record *record)
{
	struct value value;

	if (record_find_attribute(record, text_of("receive_ns"), &value) &&
	    value.type == VALUE_INT)
		return value.is.i;
	return record->receive_ns;
}

/* The role of an event from the current source. */
static uint32_t
find_role(const struct runs *runs, const struct record *record)
{
	uint32_t i;

	for (i = 0; i < runs->event_count; i++) {
		struct text full = runs->full[i], source = record->source,
			    name = record->name;

		if (full.bytes == source.bytes + 1 + name.bytes &&
		    memcmp(full.at, source.at, source.bytes) == 0 &&
		    full.at[source.bytes] == ':' &&
		    memcmp(full.at + source.bytes + 1, name.at, name.bytes) ==
			0)
			break;
	}
	return i;
}

static int
read_source(struct runs_skew *skew, struct runs *runs, struct text node,
    struct text source, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_EVENT);
	char pattern[NAME_BYTES_MAX + 3];
	struct record record;
	int64_t skew_ns;
	int rc;

	snprintf(
	    pattern, sizeof(pattern), "%.*s:*", (int)source.bytes, source.at);
	query.name = text_of(pattern);
	query.node = node;
	query.from_ns = runs->from_ns;
	query.to_ns = runs->to_ns;
	if (source_select(runs->source, SOURCE_RECORDS, runs->partition, &query,
		err) != 0)
		return -1;
	while ((rc = source_next(runs->source, &record, err)) > 0) {
		uint32_t role = find_role(runs, &record);

		if (role == runs->event_count ||
		    __builtin_sub_overflow(
			received(&record), record.time_ns, &skew_ns))
			continue;
		if (runs_skew_add(skew, record.node, role, runs->events[role],
			skew_ns, err) != 0)
			return -1;
	}
	return rc;
}

static int
by_node(const void *left, const void *right)
{
	const struct runs_skew_row *a = left, *b = right;
	int order = text_compare(a->node, b->node);

	return order != 0 ? order : text_compare(a->event, b->event);
}

int
runs_skew_read(struct runs_skew *skew, struct runs *runs, struct text node,
    struct err *err)
{
	char shown[300];

	string_table_init(&skew->texts);
	string_table_init(&skew->row_keys);
	for (uint32_t i = 0; i < runs->event_count; i++) {
		struct text source = text_before(runs->full[i], ':');
		bool again = false;

		for (uint32_t k = 0; k < i && !again; k++)
			again =
			    text_equal(text_before(runs->full[k], ':'), source);
		if (!again && read_source(skew, runs, node, source, err) != 0)
			return -1;
	}
	if (skew->count == 0)
		return err_set(err, "no events of test runs%s in partition %s",
		    runs_has_window(runs->from_ns, runs->to_ns)
			? " in that time"
			: "",
		    text_quote(shown, sizeof(shown), runs->partition));
	qsort(skew->rows, skew->count, sizeof(*skew->rows), by_node);
	return 0;
}

void
runs_skew_clear(struct runs_skew *skew)
{
	string_table_clear(&skew->texts);
	string_table_clear(&skew->row_keys);
	free(skew->rows);
	*skew = (struct runs_skew){ .rows = NULL };
}

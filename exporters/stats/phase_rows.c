/*
 * stats_phase_rows - the statistics of every phase, a row each.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/phase_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/select/known.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"

const char *const phase_number_names[PHASE_NUMBERS] = { "count", "sum", "min",
	"max", "mean", "std_population", "std_sample", "p50", "p90", "p99",
	"open_starts", "open_ends" };

struct phase_rows {
	struct source *source;
	struct text partition;
	struct wire_query query; /* of all time */
	enum phases_part part;
	/* has_window: of the window, or by key, replace all statistics of the
	 * store;
	 * has_crossing: of all time, but on corrected clocks, those of the
	 * phases that pass from node to node. */
	struct phases_window window;
	bool has_window, has_crossing;
	bool in_time; /* the question has a window */
	/* The last question. */
	void (*on_row)(void *arg, const struct phase_row *row);
	void *arg;
};

/* ---- a row ---- */

/* Which of the numbers has this name?  PHASE_NUMBERS: none. */
static int
number_named(struct text key)
{
	int i = 0;

	if (key.bytes == 0)
		return PHASE_NUMBERS;
	/* Most differ in the first byte. */
	while (i < PHASE_NUMBERS &&
	       (key.at[0] != phase_number_names[i][0] ||
		   !text_equal(key, text_of(phase_number_names[i]))))
		i++;
	return i;
}

bool
phase_row_is_histogram(const struct record_attribute *attribute)
{
	return text_equal(attribute->key, text_of("histogram"));
}

/* Each number counts what the one before it does; else all are unknown. */
static void
read_histogram(struct phase_row *row, struct text list)
{
	double counts[DURATION_BUCKETS], before = 0;
	char word[24], *end;
	int i;

	for (i = 0; i < DURATION_BUCKETS; i++, before = counts[i - 1]) {
		struct text next = text_next_word(&list);

		if (next.bytes == 0 || next.bytes >= sizeof(word))
			return;
		memcpy(word, next.at, next.bytes);
		word[next.bytes] = '\0';
		counts[i] = (double)strtoull(word, &end, 10);
		if (*end != '\0' || counts[i] < before ||
		    counts[i] > row->numbers[PHASE_COUNT])
			return;
	}
	memcpy(row->histogram, counts, sizeof(counts));
}

static struct phase_row
make_row(const struct record *record)
{
	struct phase_row row = {
		.phase = record->name,
		.part = record->node,
		.attributes = record->pairs,
	};
	struct text pairs = record->pairs, unmatched, histogram;
	struct record_attribute a;
	int i;

	for (i = 0; i < PHASE_NUMBERS; i++)
		row.numbers[i] = NAN;
	for (i = 0; i < DURATION_BUCKETS; i++)
		row.histogram[i] = NAN;
	while (record_next_attribute(&pairs, &a))
		if ((i = number_named(a.key)) < PHASE_NUMBERS)
			row.numbers[i] = counter_rate_number(&a.value);
	row.ignores_open = record_find_text(record, "unmatched", &unmatched) &&
			   text_equal(unmatched, text_of("ignore"));
	if (record_find_text(record, "histogram", &histogram))
		read_histogram(&row, histogram);
	return row;
}

struct value
phase_row_value(
    const struct phase_row *row, const struct record_attribute *attribute)
{
	int i = number_named(attribute->key);
	struct value value = attribute->value;

	if (i == PHASE_NUMBERS)
		return value;
	if (isnan(row->numbers[i])) {
		value.type = VALUE_NIL;
	} else if (value.type == VALUE_INT || i == PHASE_COUNT ||
		   i >= PHASE_OPEN_STARTS) {
		value.type = VALUE_INT;
		value.is.i = (int64_t)row->numbers[i];
	} else {
		value.type = VALUE_FLOAT;
		value.is.f = row->numbers[i];
	}
	return value;
}

/* ---- rows ---- */

/* With the statistics of a window; NULL: nothing occurred in it. */
static void
give_computed(struct phase_rows *rows, const struct record *record,
    const struct phases_window_row *computed)
{
	struct phase_row row = make_row(record);

	phases_window_numbers(computed, row.numbers);
	phases_window_histogram(computed, row.histogram);
	rows->on_row(rows->arg, &row);
}

/* A phase of the window: a row, or one for each of its parts. */
static void
give_window(struct phase_rows *rows, const struct record *record)
{
	const struct phases_window *window = &rows->window;
	const struct phases_window_row *computed =
	    phases_window_find(window, record->name);
	struct phase_row row;

	if (rows->part == PHASES_OF_POOL) {
		give_computed(rows, record, computed);
		return;
	}
	row = make_row(record);
	for (;
	     computed != NULL && computed < window->rows + window->row_count &&
	     text_equal(computed->phase, record->name);
	     computed++) {
		row.part = computed->part;
		phases_window_numbers(computed, row.numbers);
		phases_window_histogram(computed, row.histogram);
		rows->on_row(rows->arg, &row);
	}
}

/* A row of the store, unless it goes by clocks that were off. */
static void
give_stored(struct phase_rows *rows, const struct record *record)
{
	struct phase_row row;

	if (rows->has_crossing && source_clock_crosses(record)) {
		give_computed(rows, record,
		    phases_window_find_part(&rows->window, record->name,
			rows->part == PHASES_BY_NODE ? record->node
						     : (struct text){ "", 0 }));
		return;
	}
	row = make_row(record);
	rows->on_row(rows->arg, &row);
}

int
phase_rows_each(struct phase_rows *rows,
    void (*on_row)(void *arg, const struct phase_row *row), void *arg,
    struct err *err)
{
	bool by_node = rows->part == PHASES_BY_NODE && !rows->has_window;
	struct record record;
	int rc;

	rows->on_row = on_row;
	rows->arg = arg;
	if (source_select(rows->source,
		by_node ? SOURCE_STATS_BY_NODE : SOURCE_STATS, rows->partition,
		&rows->query, err) != 0)
		return -1;
	while ((rc = source_next(rows->source, &record, err)) > 0) {
		if (record.kind != RECORD_ENTITY)
			continue;
		if (rows->has_window)
			give_window(rows, &record);
		else
			give_stored(rows, &record);
	}
	return rc;
}

/* ---- phases that pass from node to node ---- */

static int
read_names(struct phase_rows *rows, struct string_table *names, struct err *err)
{
	struct wire_query all = rows->query;
	struct record record;
	int rc;

	all.kinds = 1u << RECORD_ENTITY;
	if (source_select(
		rows->source, SOURCE_STATS, rows->partition, &all, err) != 0)
		return -1;
	while ((rc = source_next(rows->source, &record, err)) > 0)
		if (source_clock_crosses(&record))
			(void)string_table_add(names, record.name);
	return rc;
}

/* Are clocks off, so that the statistics of the store are not right? */
static int
read_crossing(struct phase_rows *rows, struct err *err)
{
	struct wire_query clocks = source_query(1u << RECORD_PHASE);
	struct string_table names;
	int rc;

	string_table_init(&names);
	rc = read_names(rows, &names, err);
	if (rc == 0 && names.count > 0)
		rc = source_load_clocks(
		    rows->source, rows->partition, &clocks, err);
	if (rc == 0 && names.count > 0 &&
	    source_clock_pairs(source_clock(rows->source))) {
		rows->has_crossing = true;
		/* The store keeps these by run where it keeps others by node.
		 */
		rc = phases_window_read_names(&rows->window, rows->source,
		    rows->partition, &names,
		    rows->part == PHASES_BY_NODE ? PHASES_BY_RUN
						 : PHASES_OF_POOL,
		    err);
	}
	string_table_clear(&names);
	return rc;
}

/* ---- life ---- */

int
phase_rows_open(struct phase_rows **made, struct source *source,
    struct text partition, const struct wire_query *query,
    enum phases_part part, struct err *err)
{
	struct phase_rows *rows = *made = memory_zero(1, sizeof(*rows));
	int rc;

	rows->source = source;
	rows->partition = partition;
	rows->query = *query;
	rows->query.from_ns = TIME_MIN_NS;
	rows->query.to_ns = TIME_MAX_NS;
	rows->part = part;
	rows->in_time =
	    query->from_ns != TIME_MIN_NS || query->to_ns != TIME_MAX_NS;
	if (rows->in_time || part == PHASES_BY_KEY) {
		rows->has_window = true;
		rc = phases_window_read(
		    &rows->window, source, partition, query, part, err);
	} else {
		rc = read_crossing(rows, err);
	}
	if (rc != 0)
		phase_rows_close(made);
	return rc;
}

void
phase_rows_close(struct phase_rows **closed)
{
	struct phase_rows *rows = *closed;

	if (rows == NULL)
		return;
	if (rows->has_window || rows->has_crossing)
		phases_window_clear(&rows->window);
	free(rows);
	*closed = NULL;
}

int
phase_rows_refuse(struct phase_rows *rows, struct err *err)
{
	char shown[300], typed[2 * NAME_BYTES_MAX + 2];
	struct text name = rows->query.name;

	err_set(err, "no phases%s of partition %s in %s",
	    rows->in_time ? " that begin in that time" : "",
	    text_quote(shown, sizeof(shown), rows->partition),
	    source_name(rows->source));
	snprintf(typed, sizeof(typed), "%.*s", (int)name.bytes, name.at);
	known_suggest(rows->source, SOURCE_STATS, rows->partition, &rows->query,
	    typed, err);
	return -1;
}

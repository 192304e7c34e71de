/*
 * stats_phase_rows - the statistics of every phase, a row each.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/phase_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/source/known.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/base/search.h"
#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"
#include "proto/stats/duration_sums.h"

enum { PHASES_WINDOW_MAX = 16 << 20 }; /* phases; 16 bytes each */

enum item_kind { ITEM_PAIR, ITEM_START, ITEM_END };

struct phases_window_item {
	uint32_t phase;
	uint32_t part : 30, kind : 2;
	int64_t ns;
};

/* ---- reading ---- */

static void
take(struct phases_window *window, const struct record *record,
    const struct text *part)
{
	char id[2 * NAME_BYTES_MAX + 1];
	struct phases_window_item item = { .kind = ITEM_PAIR };
	struct text phase = record_whole_name(id, record);

	item.phase = string_table_add(&window->phases, phase);
	if (part != NULL)
		item.part =
		    string_table_add(&window->parts, *part) & 0x3fffffff;
	if (!record->has_end)
		item.kind = ITEM_START;
	else if (!record->has_time)
		item.kind = ITEM_END;
	else
		item.ns = record->duration_ns;
	*MEMORY_ADD(window->items, window->room, window->count) = item;
}

static int
by_row(const void *left, const void *right)
{
	const struct phases_window_item *a = left, *b = right;

	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static int
by_name(const void *left, const void *right)
{
	const struct phases_window_row *a = left, *b = right;
	int order = text_compare(a->phase, b->phase);

	return order != 0 ? order : text_compare_natural(a->part, b->part);
}

/* ---- statistics ---- */

static void
sum_up(struct phases_window_row *row)
{
	struct duration_sums sums = { .count = 0 };

	for (uint64_t i = 0; i < row->count; i++)
		duration_sums_add(&sums, row->first[i].ns);
	row->sum = (double)sums.sum / 1e9;
	row->mean = duration_sums_mean(&sums) / 1e9;
	row->std_population = duration_sums_deviation(&sums, false) / 1e9;
	row->std_sample = duration_sums_deviation(&sums, true) / 1e9;
}

/* ---- rows ---- */

struct named {
	struct text name;
	uint32_t number; /* in its table */
};

static int
by_text(const void *left, const void *right)
{
	const struct named *a = left, *b = right;

	return text_compare(a->name, b->name);
}

static int
by_nature(const void *left, const void *right)
{
	const struct named *a = left, *b = right;

	return text_compare_natural(a->name, b->name);
}

/* The names in order; *places: where each number went.  NULL: there are none.
 */
static struct named *
sort_names(const struct string_table *table,
    int (*compare)(const void *, const void *), uint32_t **places)
{
	uint32_t count = table->count;
	struct named *sorted;

	*places = NULL;
	if (count == 0)
		return NULL;
	sorted = memory_zero(count, sizeof(*sorted));
	*places = memory_zero(count, sizeof(**places));
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = (struct named){ table->names[i], i };
	qsort(sorted, count, sizeof(*sorted), compare);
	for (uint32_t i = 0; i < count; i++)
		(*places)[sorted[i].number] = i;
	return sorted;
}

static void
add_row(struct phases_window *window, uint32_t *room,
    const struct phases_window_item *item, const struct named *phases,
    const struct named *parts)
{
	*MEMORY_ADD(window->rows, *room, window->row_count) =
	    (struct phases_window_row){
		    .phase = phases[item->phase].name,
		    .part = parts != NULL ? parts[item->part].name
					  : (struct text){ NULL, 0 },
		    .first = item,
	    };
}

/* Names are sorted instead of rows: there are fewer.  From then on an item has
 * the place of its phase and part, not their numbers. */
static void
make_rows(struct phases_window *window)
{
	uint32_t *phase_places, *part_places, room = 0;
	struct named *phases =
	    sort_names(&window->phases, by_text, &phase_places);
	struct named *parts =
	    sort_names(&window->parts, by_nature, &part_places);

	for (uint32_t i = 0; i < window->count; i++) {
		struct phases_window_item *item = &window->items[i];

		item->phase = phase_places[item->phase];
		if (parts != NULL)
			item->part = part_places[item->part] & 0x3fffffff;
	}
	if (window->count > 0)
		qsort(window->items, window->count, sizeof(*window->items),
		    by_row);
	for (uint32_t i = 0; i < window->count; i++) {
		const struct phases_window_item *item = &window->items[i];
		struct phases_window_row *row;

		if (i == 0 || item->phase != item[-1].phase ||
		    item->part != item[-1].part)
			add_row(window, &room, item, phases, parts);
		row = &window->rows[window->row_count - 1];
		row->count += item->kind == ITEM_PAIR;
		row->open_starts += item->kind == ITEM_START;
		row->open_ends += item->kind == ITEM_END;
	}
	for (uint32_t i = 0; i < window->row_count; i++)
		sum_up(&window->rows[i]);
	free(phases);
	free(parts);
	free(phase_places);
	free(part_places);
}

static void
begin(struct phases_window *window)
{
	*window = (struct phases_window){ .items = NULL };
	string_table_init(&window->phases);
	string_table_init(&window->parts);
}

static int
read_phases(struct phases_window *window, struct source *source,
    struct text partition, const struct wire_query *query,
    enum phases_part part, struct err *err)
{
	struct wire_query phases = *query;
	struct record record;
	int rc;

	phases.kinds = 1u << RECORD_PHASE;
	if (source_select(source, SOURCE_RECORDS, partition, &phases, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		if (record.kind != RECORD_PHASE)
			continue;
		if (window->count == PHASES_WINDOW_MAX)
			return err_set(err,
			    "more than %d phases begin in that time; select "
			    "fewer with --from, --to, --name or --node",
			    PHASES_WINDOW_MAX);
		take(window, &record,
		    part == PHASES_BY_NODE  ? &record.node
		    : part == PHASES_BY_KEY ? &record.key
		    : part == PHASES_BY_RUN ? &record.run
					    : NULL);
	}
	return rc;
}

int
phases_window_read(struct phases_window *window, struct source *source,
    struct text partition, const struct wire_query *query,
    enum phases_part part, struct err *err)
{
	int rc;

	begin(window);
	rc = read_phases(window, source, partition, query, part, err);
	if (rc == 0)
		make_rows(window);
	return rc;
}

/* The same of all phases of these names. */
static int
phases_window_read_names(struct phases_window *window, struct source *source,
    struct text partition, const struct string_table *names,
    enum phases_part part, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	int rc = 0;

	begin(window);
	for (uint32_t i = 0; rc == 0 && i < names->count; i++) {
		query.name = names->names[i];
		rc = read_phases(window, source, partition, &query, part, err);
	}
	if (rc == 0)
		make_rows(window);
	return rc;
}

void
phases_window_clear(struct phases_window *window)
{
	free(window->rows);
	free(window->items);
	string_table_clear(&window->phases);
	string_table_clear(&window->parts);
}

/* ---- values ---- */

const struct phases_window_row *
phases_window_find(const struct phases_window *window, struct text phase)
{
	uint32_t low = LOWER_BOUND(i, 0, window->row_count,
	    text_compare(window->rows[i].phase, phase) < 0);

	return low < window->row_count &&
		       text_equal(window->rows[low].phase, phase)
		   ? &window->rows[low]
		   : NULL;
}

static const struct phases_window_row *
phases_window_find_part(
    const struct phases_window *window, struct text phase, struct text part)
{
	const struct phases_window_row wanted = { .phase = phase,
		.part = part };

	return window->row_count == 0
		   ? NULL
		   : bsearch(&wanted, window->rows, window->row_count,
			 sizeof(*window->rows), by_name);
}

double
phases_window_seconds(const struct phases_window_row *row, uint64_t rank)
{
	return (double)row->first[rank].ns / 1e9;
}

static double
quantile(const struct phases_window_row *row, unsigned percent)
{
	return phases_window_seconds(row, quantile_index(row->count, percent));
}

/* All numbers; NaN: unknown.  NULL row: of a phase that did not occur. */
static void
phases_window_numbers(
    const struct phases_window_row *row, double numbers[static PHASE_NUMBERS])
{
	uint64_t count = row != NULL ? row->count : 0;

	for (int i = 0; i < PHASE_NUMBERS; i++)
		numbers[i] = NAN;
	numbers[PHASE_COUNT] = (double)count;
	numbers[PHASE_SUM] = row != NULL ? row->sum : 0;
	numbers[PHASE_OPEN_STARTS] = row != NULL ? (double)row->open_starts : 0;
	numbers[PHASE_OPEN_ENDS] = row != NULL ? (double)row->open_ends : 0;
	if (count == 0)
		return;
	numbers[PHASE_MIN] = (double)row->first->ns / 1e9;
	numbers[PHASE_MAX] = quantile(row, 100);
	numbers[PHASE_MEAN] = row->mean;
	numbers[PHASE_STD_POPULATION] = row->std_population;
	numbers[PHASE_P50] = quantile(row, 50);
	numbers[PHASE_P90] = quantile(row, 90);
	numbers[PHASE_P99] = quantile(row, 99);
	if (count > 1)
		numbers[PHASE_STD_SAMPLE] = row->std_sample;
}

/* How many durations each of the buckets counts, exactly. */
static void
phases_window_histogram(
    const struct phases_window_row *row, double counts[static DURATION_BUCKETS])
{
	uint64_t count = row != NULL ? row->count : 0, rank = 0;

	/* They are sorted. */
	for (int i = 0; i < DURATION_BUCKETS; i++) {
		while (rank < count &&
		       row->first[rank].ns <= duration_buckets[i].ns)
			rank++;
		counts[i] = (double)rank;
	}
}

static const char *const phase_number_names[PHASE_NUMBERS] = { "count", "sum",
	"min", "max", "mean", "std_population", "std_sample", "p50", "p90",
	"p99", "open_starts", "open_ends" };

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

struct phase_row
phase_row_of(const struct record *record)
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

/* ---- rows ---- */

/* With the statistics of a window; NULL: nothing occurred in it. */
static void
give_computed(struct phase_rows *rows, const struct record *record,
    const struct phases_window_row *computed)
{
	struct phase_row row = phase_row_of(record);

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
	row = phase_row_of(record);
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
	row = phase_row_of(record);
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
	char shown[300], named[300], typed[2 * NAME_BYTES_MAX + 2];
	struct text name = rows->query.name;

	snprintf(typed, sizeof(typed), "%.*s", (int)name.bytes, name.at);
	err_set(err, "no phases%s%s%s%s of partition %s in %s%s",
	    name.bytes > 0 ? " '" : "", text_quote(named, sizeof(named), name),
	    name.bytes > 0 ? "'" : "",
	    rows->in_time ? " that begin in that time" : "",
	    text_quote(shown, sizeof(shown), rows->partition),
	    source_name(rows->source),
	    rows->in_time || name.bytes > 0 ? "" : PHASE_ROWS_HINT);
	known_suggest(rows->source, SOURCE_STATS, rows->partition, &rows->query,
	    typed, err);
	return -1;
}

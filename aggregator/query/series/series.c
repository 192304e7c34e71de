/*
 * series - samples as buckets: the query, and the records.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/series/series.h"

#include <stdlib.h>

#include "aggregator/rollup/bucket.h"
#include "aggregator/rollup/metric_columns.h"
#include "aggregator/rollup/rollup_list.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/wire/buckets.h"

enum {
	SERIES_BUCKETS = 36000, /* at once: an hour of the shortest step */
	SERIES_GROUPS = 64,     /* cached metric group definitions */
};

struct series {
	int64_t step_ns;
	struct series_group_cache {
		uint32_t track; /* 0: empty */
		struct metric_columns columns;
	} groups[SERIES_GROUPS];
	/* of the current series block */
	const struct metric_columns *columns;
	uint32_t most_values;   /* of a sample that was read */
	struct bucket *buckets; /* column by column */
	char *is_begun;         /* of each; nothing else of it is defined */
	uint64_t *boot;         /* boot number of each row in a chunk */
	struct rollup_list rollups;
	/* Of the current record. */
	unsigned char values[WIRE_PER_RECORD_MAX * WIRE_BUCKET_BYTES_MAX];
};

/* The metrics [first, end) of the current group, and the steps of the hour that
 * the query asks for. */
struct series_group {
	uint32_t first, end;
	uint32_t hour_steps, before; /* of the hour; before those asked for */
	uint32_t steps;              /* asked for; buckets of a metric */
	int64_t hour_ns, begin_ns;   /* the begin of the first of these */
	int64_t from_ns, to_ns;      /* of the query, in the hour */
};

/* The place of a metric's first bucket. */
static size_t
place_of(const struct series_group *group, uint32_t metric)
{
	return (size_t)(metric - group->first) * group->steps;
}

static struct bucket *
bucket_at(struct series *series, const struct series_group *group,
    uint32_t metric, int64_t time_ns)
{
	size_t at = place_of(group, metric) +
		    (size_t)((time_ns - group->begin_ns) / series->step_ns);

	if (!series->is_begun[at])
		series->buckets[at].count = 0;
	series->is_begun[at] = true;
	return &series->buckets[at];
}

/* ---- samples ---- */

/* The boot number of a sample with these values. */
static uint64_t
boot_of(const struct metric_columns *columns, struct text values)
{
	struct value value = { .type = VALUE_NIL };

	if (columns->boot >= columns->columns)
		return 0;
	/* A sample of an older definition may end before it. */
	for (uint32_t i = 0; i <= columns->boot; i++)
		if (!record_next_value(&values, &value))
			return 0;
	return metric_columns_boot(&value);
}

static void
add(const struct metric_column *column, struct bucket *bucket,
    const struct counter_rate_sample *sample)
{
	if (column->counter)
		bucket_add_counter(bucket, &column->rate, sample);
	else
		bucket_add_gauge(bucket, sample);
}

/* A damaged time must not lead outside of the buckets. */
static bool
is_asked(const struct series_group *group, int64_t time_ns)
{
	return time_ns >= group->from_ns && time_ns < group->to_ns;
}

static void
see_values(struct series *series, uint32_t values)
{
	if (values > series->most_values && values <= series->columns->columns)
		series->most_values = values;
}

/* Add a sample to the buckets of its step. */
static void
add_sample(struct series *series, const struct series_group *group,
    int64_t time_ns, const struct row_block_body *body)
{
	const struct metric_columns *columns = series->columns;
	struct text values = body->value_bytes;
	uint32_t at = group->first, index = 0;
	struct counter_rate_sample sample = { .time_ns = time_ns };

	see_values(series, body->values);
	/* More values than columns: the definition has not arrived. */
	if (body->values > columns->columns)
		return;
	sample.boot = boot_of(columns, values);
	while (at < group->end && record_next_value(&values, &sample.value)) {
		if (index++ != columns->wanted[at].index)
			continue;
		add(&columns->wanted[at], bucket_at(series, group, at, time_ns),
		    &sample);
		at++;
	}
}

static void
add_item(struct series *series, const struct series_group *group,
    const struct row_block_item *item)
{
	struct row_block_body body;

	if (is_asked(group, item->time_ns) &&
	    row_block_get_body(item->body, RECORD_SAMPLE, item->time_ns, &body))
		add_sample(series, group, item->time_ns, &body);
}

/* Add all samples in the merge. */
static void
add_merged(
    struct series *series, struct page *page, const struct series_group *group)
{
	struct merge *merge = &page->reader->merge;
	struct row_block_item item;

	while (merge_next(merge, &item)) {
		if (item.time_ns >= page->query->to_ns)
			break;
		page->examined++;
		add_item(series, group, &item);
	}
}

/* ---- columns of a compacted slice ---- */

static void
add_column(struct series *series, const struct page *page,
    const struct series_group *group, const struct compacted_row_rows *rows,
    const struct value *values, uint32_t first, uint32_t end, uint32_t at)
{
	const struct metric_column *column = &series->columns->wanted[at];

	for (uint32_t i = first; i < end; i++) {
		struct counter_rate_sample sample = { rows->time_ns[i],
			series->boot[i], values[i] };

		if (sample.time_ns >= page->query->to_ns)
			break;
		if (is_asked(group, sample.time_ns))
			add(column,
			    bucket_at(series, group, at, sample.time_ns),
			    &sample);
	}
}

static void
make_room(struct series *series)
{
	if (series->boot != NULL)
		return;
	series->boot =
	    memory_alloc(COMPACTED_ROW_ROWS_MAX * sizeof(*series->boot));
}

/* Add only the selected columns; false: the rows have different numbers of
 * values. */
static bool
add_columns(struct series *series, const struct page *page,
    const struct series_group *group, struct compacted_row_rows *rows,
    uint32_t first, uint32_t end)
{
	const struct metric_columns *columns = series->columns;
	uint32_t values = compacted_row_values(rows), i;
	const struct value *column;

	if (values == 0 || values > columns->columns)
		return false;
	see_values(series, values);
	make_room(series);
	memset(series->boot + first, 0, (end - first) * sizeof(*series->boot));
	if (columns->boot < values) {
		column = compacted_row_column(rows, columns->boot);
		if (column == NULL)
			return false;
		for (i = first; i < end; i++)
			series->boot[i] = metric_columns_boot(&column[i]);
	}
	for (i = group->first;
	     i < group->end && columns->wanted[i].index < values; i++) {
		column = compacted_row_column(rows, columns->wanted[i].index);
		if (column != NULL)
			add_column(
			    series, page, group, rows, column, first, end, i);
	}
	return true;
}

/* Add the rows that the cursor has found, and those that follow. */
static void
add_rows(struct series *series, struct page *page,
    const struct series_group *group, struct compacted_cursor *cursor)
{
	struct compacted_row_rows *rows;
	struct row_block_item item;
	uint32_t first, end;
	bool more = true;

	compacted_cursor_taken_rows(cursor, &rows, &first, &end);
	for (; more && rows->time_ns[first] < page->query->to_ns;
	     more = compacted_cursor_next_rows(cursor, &rows, &first, &end)) {
		page->examined +=
		    (end - first) / 16; /* columns are cheaper to read */
		if (add_columns(series, page, group, rows, first, end) ||
		    !compacted_row_read_bodies(rows))
			continue;
		for (; first < end; first++) {
			compacted_row_get(rows, first, &item);
			add_item(series, group, &item);
		}
	}
}

static void
add_compacted(struct series *series, struct page *page,
    const struct series_input *part, const struct series_group *group)
{
	int64_t first_ns;

	if (compacted_cursor_may_have(part->compacted_cursor,
		page->query->from_ns, page->query->to_ns) &&
	    compacted_cursor_take(
		part->compacted_cursor, page->query->from_ns, &first_ns))
		add_rows(series, page, group, part->compacted_cursor);
}

/* Add all samples in the merge, one row block or compacted slice after
 * another. */
static void
add_sequence(
    struct series *series, struct page *page, const struct series_group *group)
{
	struct merge *merge = &page->reader->merge;
	struct row_block_item item;

	for (uint32_t i = 0; i < merge->count; i++) {
		struct merge_row *row = &merge->at[i];

		if (row->compacted_cursor != NULL) {
			add_rows(series, page, group, row->compacted_cursor);
			continue;
		}
		while (row_block_next(&row->rows, &item)) {
			page->examined++;
			add_item(series, group, &item);
		}
	}
}

/* ---- rows of a rollup ---- */

/* A node in a row of a rollup. */
struct source {
	struct rollup_row *row;
	const struct rollup_row_node *node;
	enum rollup_step rollup;
};

/* Add the buckets of the `number`-th metric in the row. */
static void
join_metric(struct series *series, const struct page *page,
    const struct source *source, const struct series_group *group,
    uint32_t number, uint32_t at)
{
	int64_t rollup_ns = rollup_step_ns(source->rollup);
	const struct bucket *from = rollup_read(source->row, number);
	const struct metric_column *column = &series->columns->wanted[at];

	for (uint32_t i = source->node->from;
	     from != NULL && i < source->node->to; i++) {
		int64_t since_ns = (int64_t)source->row->step[i] * rollup_ns;
		int64_t begin_ns = group->hour_ns + since_ns;

		if (since_ns < KEY_HOUR_NS && begin_ns < page->query->to_ns &&
		    begin_ns + rollup_ns > page->query->from_ns)
			bucket_join(bucket_at(series, group, at, begin_ns),
			    column->counter ? &column->rate : NULL, &from[i]);
	}
}

static void
join_row(struct series *series, const struct page *page,
    const struct source *source, const struct series_group *group)
{
	const struct rollup_row *row = source->row;
	uint32_t number, at = group->first;

	/* Both lists are in the order of the index. */
	for (number = 0; number < row->metrics; number++) {
		const struct rollup_metric *metric = &row->metric[number];

		while (at < group->end &&
		       series->columns->wanted[at].index < metric->index)
			at++;
		if (at < group->end &&
		    series->columns->wanted[at].index == metric->index &&
		    series->columns->wanted[at].counter == metric->counter)
			join_metric(series, page, source, group, number, at);
	}
}

static void
add_rollup(struct series *series, struct page *page,
    const struct series_input *input, const struct series_group *group)
{
	struct source source = { .rollup = input->rollup };

	for (uint32_t part = 0;
	     (source.row = rollup_list_find(&series->rollups, page->txn,
		  input->rollup, &input->key, part)) != NULL;
	     part++) {
		uint32_t k = rollup_find_node(source.row, input->key.node);

		page->examined += 4;
		if (k == UINT32_MAX)
			continue;
		source.node = &source.row->node[k];
		/* It has the columns that were defined when it was made. */
		if (source.node->columns.defined > series->columns->columns)
			continue;
		see_values(series, source.node->columns.defined);
		join_row(series, page, &source, group);
	}
}

/* ---- a series block ---- */

/* Fill the buckets of the group from all data of the series block. */
static void
series_add(struct series *series, struct page *page,
    const struct series_input *part, const struct series_group *group)
{
	series->most_values = 0;
	memset(series->is_begun, false, place_of(group, group->end));
	if (part->rollup != ROLLUP_RAW)
		add_rollup(series, page, part, group);
	else if (part->compacted_cursor != NULL)
		add_compacted(series, page, part, group);
	else if (merge_is_sequence(&page->reader->merge))
		add_sequence(series, page, group);
	else
		add_merged(series, page, group);
}

struct series *
series_new(void)
{
	struct series *series = memory_zero(1, sizeof(*series));

	series->buckets =
	    memory_alloc(SERIES_BUCKETS * sizeof(*series->buckets));
	series->is_begun = memory_alloc(SERIES_BUCKETS);
	return series;
}

void
series_free(struct series **series)
{
	struct series *old = *series;

	*series = NULL;
	if (old == NULL)
		return;
	for (uint32_t i = 0; i < SERIES_GROUPS; i++)
		metric_columns_clear(&old->groups[i].columns);
	free(old->buckets);
	free(old->is_begun);
	free(old->boot);
	rollup_list_clear(&old->rollups);
	free(old);
}

/* ---- the query ---- */

/* The next longer step that divides an hour. */
static int64_t
fit_step(int64_t step_ns)
{
	static const int64_t small_ns[] = { 100000000, 200000000, 500000000 };
	int64_t seconds = 3600;

	for (unsigned i = 0; i < 3; i++)
		if (step_ns <= small_ns[i])
			return small_ns[i];
	if (step_ns < KEY_HOUR_NS)
		seconds = (step_ns + 999999999) / 1000000000;
	while (3600 % seconds != 0)
		seconds++;
	return seconds * 1000000000;
}

bool
series_asked(const struct wire_query *query, struct wire_query *fitted)
{
	*fitted = *query;
	if (query->step_ns <= 0 || (query->kinds & (1u << RECORD_SAMPLE)) == 0)
		return false;
	fitted->kinds = 1u << RECORD_SAMPLE;
	fitted->step_ns = fit_step(query->step_ns);
	return true;
}

void
series_begin(struct series *series, struct page *page)
{
	series->step_ns = page->query->step_ns;
	rollup_list_forget(&series->rollups);
	for (uint32_t i = 0; i < SERIES_GROUPS; i++)
		series->groups[i].track = 0;
}

struct rollup_list *
series_rollups(struct series *series)
{
	return &series->rollups;
}

bool
series_wants(
    struct series *series, struct page *page, uint32_t track, struct text name)
{
	struct series_group_cache *group =
	    &series->groups[track % SERIES_GROUPS];

	if (group->track != track) {
		group->track = track;
		metric_columns_find(&group->columns, page->txn, page->partition,
		    name, page->query->columns);
	}
	series->columns = &group->columns;
	return group->columns.count > 0;
}

/* ---- the metrics of a page ---- */

/* The steps of the hour that the query asks for.  A bucket of a rollup is in
 * the step that it begins in. */
static void
set_steps(struct series_group *group, int64_t step_ns, int64_t rollup_ns)
{
	int64_t from_ns = group->from_ns - group->hour_ns;
	int64_t to_ns = group->to_ns - group->hour_ns;

	if (rollup_ns > 0)
		from_ns -= from_ns % rollup_ns;
	group->hour_steps = (uint32_t)(KEY_HOUR_NS / step_ns);
	group->before = (uint32_t)(from_ns / step_ns);
	group->begin_ns = group->hour_ns + group->before * step_ns;
	group->steps =
	    (uint32_t)((to_ns + step_ns - 1) / step_ns) - group->before;
}

static struct series_group
group_of(const struct series *series, const struct page *page,
    const struct series_input *part)
{
	struct series_group group = { .hour_ns = (int64_t)part->key.hour *
						 KEY_HOUR_NS };
	uint32_t fit, left;

	group.from_ns = group.hour_ns;
	group.to_ns = group.hour_ns + KEY_HOUR_NS;
	if (group.from_ns < page->query->from_ns)
		group.from_ns = page->query->from_ns;
	if (group.to_ns > page->query->to_ns)
		group.to_ns = page->query->to_ns;
	set_steps(&group, series->step_ns, rollup_step_ns(part->rollup));
	fit = SERIES_BUCKETS / group.steps;
	group.first = (uint32_t)(part->skip / group.hour_steps);
	if (group.first > series->columns->count)
		group.first = series->columns->count;
	left = series->columns->count - group.first;
	group.end = group.first + (left < fit ? left : fit);
	return group;
}

/* ---- buckets to records ---- */

enum { SINGLES_MIN = 16 }; /* a shorter run is not worth a record of its own */

/* Consecutive steps of one metric, returned as one record. */
struct sequence {
	const struct metric_column *column;
	int64_t begin_ns;
	uint32_t count;
	bool is_cells;
	struct wire_writer values;
};

static void
add_to_sequence(struct sequence *sequence, const struct bucket *bucket)
{
	bool counter = sequence->column->counter;
	const struct wire_bucket wire = {
		.counter = counter,
		.count = bucket->count,
		.first = bucket->first,
		.last = bucket->last,
		.low = bucket->low,
		.high = bucket->high,
		.mean = counter ? bucket->sum : bucket_mean(bucket),
		.seconds = bucket->seconds,
	};

	wire_put_bucket(&sequence->values, &wire);
	sequence->count++;
}

static bool
put_sequence(struct page *page, const struct series_input *part,
    const struct sequence *sequence)
{
	int64_t end_ns =
	    sequence->begin_ns + sequence->count * page->series->step_ns;
	struct record record = { .kind = RECORD_SAMPLE,
		.node = part->node,
		.source = part->group,
		.name = sequence->column->name,
		.key = text_of(rollup_name(part->rollup)),
		.time_ns = sequence->begin_ns < TIME_MAX_NS ? sequence->begin_ns
							    : TIME_MAX_NS - 1,
		.end_ns = end_ns < TIME_MAX_NS ? end_ns : TIME_MAX_NS,
		.count = sequence->count > 1 ? sequence->count : 0,
		.values = sequence->is_cells
			      ? 0
			      : sequence->count * (sequence->column->counter
							  ? WIRE_BUCKET_COUNTER
							  : WIRE_BUCKET_GAUGE),
		.value_bytes = { (const char *)sequence->values.at,
		    (uint32_t)sequence->values.bytes } };

	return page_put(page, &record);
}

static void
set_cursor(struct page *page, const struct series_input *part, uint64_t given)
{
	struct page_cursor *mark = &page->cursor;

	memset(mark, 0, sizeof(*mark));
	mark->kind = RECORD_SAMPLE;
	mark->hour = part->key.hour;
	mark->node = part->key.node;
	mark->track = part->key.track;
	mark->id.time_ns =
	    INT64_MIN; /* all samples of the series block are selected */
	mark->number = given;
}

static bool
has_sample(const struct series *series, size_t at)
{
	return series->is_begun[at] && series->buckets[at].count > 0;
}

/* How many buckets from this one on, at most `most`, have one sample, of one
 * boot and one type? */
static uint32_t
count_singles(const struct series *series, size_t at, uint32_t most)
{
	const struct bucket *bucket = &series->buckets[at];
	const struct counter_rate_sample *first = &bucket->first;
	uint32_t count = 0;

	while (count < most && series->is_begun[at + count] &&
	       bucket[count].count == 1 &&
	       bucket[count].first.value.type == first->value.type &&
	       bucket[count].first.boot == first->boot)
		count++;
	return count;
}

static void
put_singles(struct series *series, const struct bucket *bucket, uint32_t count,
    struct sequence *sequence)
{
	const struct wire_singles singles = { .counter =
						  sequence->column->counter,
		.type = bucket->first.value.type,
		.boot = bucket->first.boot,
		.count = count };
	char *to = (char *)series->values;

	_Static_assert(
	    WIRE_CELL_BYTES * (WIRE_SINGLES_CELLS + 2 * WIRE_PER_RECORD_MAX) <=
		sizeof(series->values),
	    "the cells have room");
	wire_begin_singles(to, &singles);
	for (uint32_t i = 0; i < count; i++)
		wire_put_single(to, &singles, i, &bucket[i].first);
	sequence->values.bytes = wire_singles_bytes(count);
	sequence->is_cells = true;
	sequence->count = count;
}

/* How many consecutive buckets may a record have that begins with this one? */
static uint32_t
most_of(const struct series *series, const struct page *page, uint64_t left,
    int64_t begin_ns)
{
	int64_t most = page->query->per_record;

	if (most > WIRE_PER_RECORD_MAX)
		most = WIRE_PER_RECORD_MAX;
	if (most > (int64_t)left)
		most = (int64_t)left;
	/* A bucket that ends after all times is shorter, so it is alone. */
	if (most > (TIME_MAX_NS - begin_ns) / series->step_ns)
		most = (TIME_MAX_NS - begin_ns) / series->step_ns;
	return most < 1 ? 1 : (uint32_t)most;
}

/* Collect consecutive buckets of a metric from `step` on. */
static void
take_sequence(struct series *series, const struct page *page,
    const struct series_group *group, const struct series_input *part,
    uint32_t metric, uint32_t step, struct sequence *sequence)
{
	size_t first = place_of(group, metric) + step;
	const struct bucket *bucket = &series->buckets[first];
	uint32_t most, singles = 0;

	*sequence =
	    (struct sequence){ .column = &series->columns->wanted[metric],
		    .begin_ns = group->begin_ns + step * series->step_ns };
	most = most_of(series, page, group->steps - step, sequence->begin_ns);
	wire_writer_init(
	    &sequence->values, series->values, sizeof(series->values));
	/* What a rollup says of one sample is not computed from it. */
	if (part->rollup == ROLLUP_RAW && most >= SINGLES_MIN)
		singles = count_singles(series, first, most);
	if (singles >= SINGLES_MIN)
		put_singles(series, bucket, singles, sequence);
	else
		for (uint32_t i = 0; i < most && has_sample(series, first + i);
		     i++)
			add_to_sequence(sequence, &bucket[i]);
}

/* The first step from `step` on with a sample of the metric.  Nearly all may
 * be empty: there are 36,000 in an hour, and a sample each 10 s. */
static uint32_t
find_step(const struct series *series, const struct series_group *group,
    uint32_t metric, uint32_t step)
{
	size_t first = place_of(group, metric);
	const char *is_begun = series->is_begun + first, *at;

	while (step < group->steps && (at = memchr(is_begun + step, true,
					   group->steps - step)) != NULL) {
		step = (uint32_t)(at - is_begun);
		if (has_sample(series, first + step))
			return step;
		step++;
	}
	return group->steps;
}

/* The buckets of a metric from `step` on. */
static bool
put_metric(struct series *series, struct page *page,
    const struct series_input *part, const struct series_group *group,
    uint32_t metric, uint32_t step)
{
	struct sequence sequence;

	while ((step = find_step(series, group, metric, step)) < group->steps) {
		take_sequence(
		    series, page, group, part, metric, step, &sequence);
		if (!put_sequence(page, part, &sequence))
			return false;
		step += sequence.count;
		set_cursor(page, part,
		    (uint64_t)metric * group->hour_steps + group->before +
			step);
	}
	return true;
}

static bool
put_group(struct series *series, struct page *page,
    const struct series_input *part, const struct series_group *group)
{
	/* Of the first metric earlier pages may have had some. */
	uint64_t begin =
	    (uint64_t)group->first * group->hour_steps + group->before;
	uint32_t step = part->skip > begin ? (uint32_t)(part->skip - begin) : 0;

	for (uint32_t metric = group->first; metric < group->end; metric++) {
		if (!put_metric(series, page, part, group, metric, step))
			return false;
		step = 0;
	}
	return true;
}

bool
series_append(
    struct series *series, struct page *page, const struct series_input *part)
{
	struct series_group group;

	/* If only a coarser rollup is left, its step is used. */
	series->step_ns = page->query->step_ns;
	if (series->step_ns < rollup_step_ns(part->rollup))
		series->step_ns = rollup_step_ns(part->rollup);
	group = group_of(series, page, part);
	if (group.first < group.end) {
		series_add(series, page, part, &group);
		if (!put_group(series, page, part, &group))
			return false;
	}
	/* No sample has a value of the metrics that are left. */
	if (group.end < series->columns->count && group.first < group.end &&
	    series->columns->wanted[group.end].index >= series->most_values)
		group.end = series->columns->count;
	set_cursor(page, part, (uint64_t)group.end * group.hour_steps);
	/* The samples have been read: the other metrics need another page. */
	if (group.end < series->columns->count)
		page->full = true;
	return !page_examined(page);
}

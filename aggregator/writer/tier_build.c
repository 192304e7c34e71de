/*
 * tier_build - the tiers of samples that have just been sealed.
 *
 * Metric by metric, so that only the columns that are asked for are unpacked
 * and few buckets are in memory at once.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/tier_build.h"

#include <stdlib.h>

#include "aggregator/query/metric_columns.h"
#include "aggregator/query/page.h"
#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tiers/tier_list.h"
#include "proto/base/memory.h"

struct tier_builder {
	struct reader reader; /* for its names only */
	struct wire_query query;
	struct page page;
	struct series_set set;
	uint32_t kind; /* number of the name "set" */
	struct chunk_writer *chunk;
	struct buffer value;
	struct sealed_row_rows rows;
	struct bucket *bucket; /* TIER_BUCKETS of each metric */
	struct counter_rate_sample *before;
	uint64_t *boot; /* of each row */
	struct value *column;
	struct tier_metric metric[TIER_METRICS];
	uint32_t metrics;
	uint32_t dense;                   /* as TIER_DENSE */
	uint32_t samples;                 /* of the band */
	unsigned char seen[TIER_BUCKETS]; /* 1: has any of them */
};

struct tier_builder *
tier_builder_new(void)
{
	struct tier_builder *maker = memory_zero(1, sizeof(*maker));

	maker->page.reader = &maker->reader;
	maker->page.query = &maker->query;
	maker->chunk = chunk_writer_new();
	maker->bucket = memory_zero(
	    (size_t)TIER_METRICS * TIER_BUCKETS, sizeof(*maker->bucket));
	maker->before = memory_zero(TIER_METRICS, sizeof(*maker->before));
	maker->boot = memory_zero(SEALED_ROW_ROWS_MAX, sizeof(*maker->boot));
	maker->column =
	    memory_zero(SEALED_ROW_ROWS_MAX, sizeof(*maker->column));
	return maker;
}

void
tier_builder_free(struct tier_builder **old)
{
	struct tier_builder *maker = *old;

	*old = NULL;
	if (maker == NULL)
		return;
	lookup_clear(&maker->reader.lookup);
	free(maker->set.wanted);
	chunk_writer_free(&maker->chunk);
	buffer_clear(&maker->value);
	sealed_row_rows_clear(&maker->rows);
	free(maker->bucket);
	free(maker->before);
	free(maker->boot);
	free(maker->column);
	free(maker);
}

void
tier_builder_begin(struct tier_builder *maker, struct db_txn *txn,
    uint32_t partition, uint32_t dense)
{
	maker->dense = dense;
	maker->page.txn = txn;
	maker->page.partition = partition;
	lookup_use(&maker->reader.lookup, txn, partition);
	maker->kind = dictionary_find(txn, partition, text_of("set"));
}

/* ---- samples into buckets ---- */

static void
add(struct tier_builder *maker, uint32_t m, int64_t hour_ns, int64_t time_ns,
    uint64_t boot, const struct value *value)
{
	struct counter_rate_sample sample = { time_ns, boot, *value };
	struct counter_rate_sample *before = &maker->before[m];
	int64_t step = (time_ns - hour_ns) / tier_step_ns(TIER_10S);
	struct bucket *bucket;

	if (!counter_rate_is_number(value) || step < 0 || step >= TIER_BUCKETS)
		return;
	bucket = &maker->metric[m].bucket[step];
	if (!maker->metric[m].counter)
		bucket_add_gauge(bucket, &sample);
	else
		bucket_add_counter(bucket,
		    before->value.type == VALUE_NIL ? NULL : before, &sample);
	*before = sample;
}

static uint64_t
boot_of(const struct value *value)
{
	if (value->type == VALUE_UINT)
		return value->is.u;
	return value->type == VALUE_INT && value->is.i > 0
		   ? (uint64_t)value->is.i
		   : 0;
}

/* All samples of the chunk have the values that the set names. */
static bool
add_columns(struct tier_builder *maker, int64_t hour_ns)
{
	const struct series_set *set = &maker->set;
	struct sealed_row_rows *rows = &maker->rows;
	uint32_t count = rows->count, i, m;

	if (sealed_row_values(rows) != set->columns ||
	    !sealed_row_read_ids(rows))
		return false;
	memset(maker->boot, 0, count * sizeof(*maker->boot));
	if (set->boot < set->columns) {
		if (!sealed_row_read_value(
			rows, set->boot, maker->column, count))
			return false;
		for (i = 0; i < count; i++)
			maker->boot[i] = boot_of(&maker->column[i]);
	}
	for (m = 0; m < maker->metrics; m++) {
		if (!sealed_row_read_value(
			rows, maker->metric[m].index, maker->column, count))
			continue;
		for (i = 0; i < count; i++)
			add(maker, m, hour_ns, rows->time_ns[i], maker->boot[i],
			    &maker->column[i]);
	}
	return true;
}

static void
add_body(struct tier_builder *maker, int64_t hour_ns, int64_t time_ns,
    struct text values)
{
	struct text rest = values;
	struct value value = { .type = VALUE_NIL };
	uint64_t boot = 0;
	uint32_t m = 0, i;

	for (i = 0; i <= maker->set.boot && record_next_value(&rest, &value);
	     i++)
		if (i == maker->set.boot)
			boot = boot_of(&value);
	for (i = 0; m < maker->metrics && record_next_value(&values, &value);
	     i++)
		if (i == maker->metric[m].index)
			add(maker, m++, hour_ns, time_ns, boot, &value);
}

/* Samples of several forms, one after another. */
static void
add_bodies(struct tier_builder *maker, int64_t hour_ns)
{
	struct sealed_row_rows *rows = &maker->rows;
	struct head_item item;
	struct head_body body;

	if (!sealed_row_read_bodies(rows))
		return;
	for (uint32_t i = 0; i < rows->count; i++) {
		sealed_row_get(rows, i, &item);
		if (head_get_body(
			item.body, RECORD_SAMPLE, item.time_ns, &body) &&
		    body.values == maker->set.columns)
			add_body(
			    maker, hour_ns, item.time_ns, body.value_bytes);
	}
}

/* ---- a band ---- */

/* How many samples there are, and in which steps. */
static void
count_samples(struct tier_builder *maker, int64_t hour_ns)
{
	const struct sealed_row_rows *rows = &maker->rows;

	maker->samples += rows->count;
	for (uint32_t i = 0; i < rows->count; i++) {
		int64_t step =
		    (rows->time_ns[i] - hour_ns) / tier_step_ns(TIER_10S);

		if (step >= 0 && step < TIER_BUCKETS)
			maker->seen[step] = 1;
	}
}

/* The metrics of the set from `first` on. */
static void
begin_group(struct tier_builder *maker, uint32_t first)
{
	uint32_t left = maker->set.count - first;

	maker->samples = 0;
	memset(maker->seen, 0, sizeof(maker->seen));
	maker->metrics = left < TIER_METRICS ? left : TIER_METRICS;
	memset(maker->bucket, 0,
	    (size_t)maker->metrics * TIER_BUCKETS * sizeof(*maker->bucket));
	for (uint32_t m = 0; m < maker->metrics; m++) {
		const struct series_column *from =
		    &maker->set.wanted[first + m];

		maker->metric[m] =
		    (struct tier_metric){ from->index, from->counter,
			    &maker->bucket[(size_t)m * TIER_BUCKETS] };
		maker->before[m].value.type = VALUE_NIL;
	}
}

static void
add_band(struct tier_builder *maker, const struct key_head *band)
{
	struct db_cursor *cursor =
	    db_cursor_open(maker->page.txn, TABLES_CHUNKS);
	int64_t hour_ns = (int64_t)band->bucket * KEY_BUCKET_NS;
	struct key_head from = *band, head;
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	bool more;

	from.first_ns = INT64_MIN;
	from.row = 0;
	more = db_seek(cursor, lane_key(bytes, &from), &key, &value);
	for (; more && key_get_head(key, &head) && head.node == band->node &&
	       head.track == band->track && head.run == band->run &&
	       head.bucket == band->bucket && head.kind == band->kind &&
	       head.partition == band->partition;
	     more = db_next(cursor, &key, &value)) {
		if (!sealed_row_open(&maker->rows, value))
			continue;
		if (!add_columns(maker, hour_ns))
			add_bodies(maker, hour_ns);
		if (sealed_row_read_ids(&maker->rows))
			count_samples(maker, hour_ns);
	}
	db_cursor_close(&cursor);
}

static void
remove_old(struct tier_builder *maker, const struct key_head *band)
{
	struct key_head head = *band;
	unsigned char bytes[KEY_HEAD_BYTES];

	for (enum tier_step tier = TIER_10S; tier < TIERS; tier++) {
		head.run = tier;
		key_put_head(bytes, &head);
		tables_delete(maker->page.txn, tables_tier(tier),
		    (struct text){ (const char *)bytes, TIER_PREFIX_BYTES },
		    UINT64_MAX);
	}
}

/* From the buckets of one tier to those of the next, in their place. */
static void
widen(struct tier_builder *maker, uint32_t times)
{
	for (uint32_t m = 0; m < maker->metrics; m++) {
		struct bucket *bucket = maker->metric[m].bucket;

		for (uint32_t i = 0; i < TIER_BUCKETS; i++) {
			struct bucket one = bucket[i];

			memset(&bucket[i], 0, sizeof(bucket[i]));
			bucket_join(&bucket[i / times], &one);
		}
	}
}

/* The first tier whose buckets have many samples each, of those steps that
 * have any; TIERS: none has. */
static enum tier_step
finest_worth(const struct tier_builder *maker)
{
	enum tier_step tier;

	for (tier = TIER_10S; tier < TIERS; tier++) {
		uint32_t of =
		    (uint32_t)(tier_step_ns(tier) / tier_step_ns(TIER_10S));
		uint32_t buckets = 0;

		for (uint32_t i = 0; i < TIER_BUCKETS; i += of)
			buckets += memchr(&maker->seen[i], 1, of) != NULL;
		if (maker->samples >= (uint64_t)maker->dense * buckets)
			break;
	}
	return tier;
}

static void
put_row(struct tier_builder *maker, const struct key_head *band,
    enum tier_step tier, uint32_t group, struct text value)
{
	unsigned char bytes[KEY_HEAD_BYTES];
	struct key_head head = *band;

	head.first_ns = (int64_t)band->bucket * KEY_BUCKET_NS;
	head.row = group;
	head.run = tier;
	db_put(
	    maker->page.txn, tables_tier(tier), lane_key(bytes, &head), value);
}

/* From the `finest` on. */
static void
put_tiers(struct tier_builder *maker, const struct key_head *band,
    enum tier_step finest, uint32_t group)
{
	int64_t before_ns = tier_step_ns(TIER_10S);

	for (enum tier_step tier = finest; tier < TIERS; tier++) {
		int64_t step_ns = tier_step_ns(tier);
		struct text value;

		if (step_ns > before_ns)
			widen(maker, (uint32_t)(step_ns / before_ns));
		before_ns = step_ns;
		value = tier_write(maker->chunk, &maker->value, maker->metric,
		    maker->metrics, maker->set.columns,
		    (uint32_t)(KEY_BUCKET_NS / step_ns));
		if (value.bytes > 0)
			put_row(maker, band, tier, group, value);
	}
}

/* Before the `finest`. */
static void
put_marks(struct tier_builder *maker, const struct key_head *band,
    enum tier_step finest, const char *mark)
{
	for (enum tier_step tier = TIER_10S; tier < finest; tier++)
		put_row(maker, band, tier, 0,
		    (struct text){ mark, TIER_MARK_BYTES });
}

void
tier_build(struct tier_builder *maker, const struct key_head *band)
{
	enum tier_step finest = TIERS;
	uint32_t first;

	if (band->bucket < tables_cut(maker->page.txn, TIER_RAW) &&
	    tier_list_any(maker->page.txn, band) &&
	    !tier_list_need_samples(maker->page.txn, band))
		return;
	remove_old(maker, band);
	/* Names are views that a put may move: find them each time. */
	metric_columns_find(&maker->set, &maker->page, maker->kind,
	    lookup_number(&maker->reader.lookup, band->track));
	/* What the samples are may be said later. */
	if (maker->set.count == 0)
		put_marks(maker, band, TIERS, TIER_UNKNOWN);
	for (first = 0; first < maker->set.count; first += TIER_METRICS) {
		begin_group(maker, first);
		add_band(maker, band);
		if (first == 0) {
			finest = finest_worth(maker);
			put_marks(maker, band, finest, TIER_SAMPLES);
		}
		if (finest == TIERS)
			break;
		put_tiers(maker, band, finest, first / TIER_METRICS);
	}
}

/*
 * rollup - tests of rollups: what is left after samples were deleted gives the
 * same answers.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup.h"

#include <math.h>

#include "aggregator/query/series/series.h"
#include "tests/unit/aggregator/clear_marks.h"
#include "tests/unit/aggregator/slices.h"
#include "proto/hash/hash.h"
#include "tests/unit/aggregator/pool.h"

enum { METRICS = 5, NODES = 3 };
#define SECOND NS_PER_SECOND

static const struct counter_rate_column column; /* of no time */
#define HOUR (RIG_T0 / KEY_HOUR_NS * KEY_HOUR_NS)

static const int64_t steps[] = { 1, 5, 10, 30, 60, 300, 600, 1800, 3600 };
enum { STEPS = sizeof(steps) / sizeof(*steps) };

/* ---- buckets in columns ---- */

static struct value
value_of(uint64_t r)
{
	if (r % 3 == 0)
		return (struct value){ VALUE_FLOAT,
			{ .f = (double)(r >> 8 & 0xffff) / 10 } };
	return (struct value){ VALUE_INT, { .i = (int64_t)(r >> 40) } };
}

static void
make_buckets(uint64_t *random, bool counter, bool even, struct bucket *to)
{
	struct counter_rate_sample sample = { HOUR, 7, { .type = VALUE_NIL } };
	uint64_t number = check_random(random) >> 30;

	memset(to, 0, ROLLUP_BUCKETS * sizeof(struct bucket));
	for (uint32_t i = 0; i < 3 * ROLLUP_BUCKETS; i++) {
		struct bucket *bucket = &to[i / 3];

		sample.time_ns += SECOND;
		if (check_random(random) % 9 == 0)
			continue;
		sample.value = value_of(check_random(random));
		/* Decimals, and sometimes the same ones. */
		if (even)
			sample.value = (struct value){ VALUE_FLOAT,
				{ .f = (double)number / 100 } };
		number += check_random(random) % 4 * 7;
		sample.boot += check_random(random) % 100 == 0;
		if (counter)
			bucket_add_counter(bucket, &column, &sample);
		else
			bucket_add_gauge(bucket, &sample);
	}
	for (uint32_t i = 0; i < ROLLUP_BUCKETS; i++)
		rollup_round(&to[i], counter);
}

static bool
about(double a, double b, double error)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return a == b || fabs(a - b) <= error * (fabs(a) + fabs(b)) + 1e-9;
}

static void
expect_bucket(const struct bucket *want, const struct bucket *got, bool counter)
{
	assert_int_equal(want->count, got->count);
	if (want->count == 0)
		return;
	assert_true(want->first.time_ns == got->first.time_ns);
	assert_true(want->last.time_ns == got->last.time_ns);
	assert_true(want->first.boot == got->first.boot);
	assert_true(want->last.boot == got->last.boot);
	assert_int_equal(want->first.value.type, got->first.value.type);
	assert_true(want->first.value.is.u == got->first.value.is.u);
	assert_true(want->last.value.is.u == got->last.value.is.u);
	assert_true(about(want->sum, got->sum, 1e-11));
	assert_true(want->seconds == got->seconds);
	if (!counter) {
		assert_true(want->low == got->low && want->high == got->high);
		return;
	}
	assert_true(about(want->low, got->low, 1e-3));
	assert_true(about(want->high, got->high, 1e-3));
	assert_true(isnan(want->low) ||
		    (got->low <= want->low && got->high >= want->high));
}

/* Some metrics of some nodes of a block. */
struct block {
	struct bucket buckets[ROLLUP_NODES][METRICS][ROLLUP_BUCKETS];
	struct rollup_metric metric[METRICS];
	struct rollup_node node[ROLLUP_NODES];
	uint32_t metrics, nodes;
};

static void
make_block(uint64_t *random, struct block *block)
{
	block->metrics = 1 + (uint32_t)(check_random(random) % METRICS);
	block->nodes = 0;
	for (uint32_t m = 0; m < block->metrics; m++)
		block->metric[m] = (struct rollup_metric){ 2 * m + 1,
			check_random(random) % 2 == 0 };
	for (uint32_t k = 0; k < ROLLUP_NODES; k++) {
		struct rollup_node *node = &block->node[block->nodes];
		uint64_t r = check_random(random);

		if (r % 3 == 0 && k > 0)
			continue;
		*node = (struct rollup_node){ 64 + k,
			{ 20, r % 5 == 0, r % 7 == 0 },
			block->buckets[block->nodes][0] };
		block->nodes++;
		for (uint32_t m = 0; m < block->metrics; m++)
			make_buckets(random, block->metric[m].counter,
			    m % 2 == 0, &node->bucket[m * ROLLUP_BUCKETS]);
	}
}

static void
expect_block(const struct block *block, struct rollup_row *row)
{
	assert_int_equal(row->nodes, block->nodes);
	for (uint32_t k = 0; k < row->nodes; k++) {
		const struct rollup_node *node = &block->node[k];
		const struct rollup_row_node *got = &row->node[k];

		assert_int_equal(got->node, node->node);
		assert_int_equal(rollup_find_node(row, node->node), k);
		assert_int_equal(got->columns.defined, 20);
		assert_int_equal(got->columns.lacking, node->columns.lacking);
		assert_int_equal(got->columns.later, node->columns.later);
		assert_int_equal(got->from == got->to, node->columns.later);
		for (uint32_t m = row->metrics; m-- > 0;) {
			const struct bucket *bucket = rollup_read(row, m);

			assert_non_null(bucket);
			assert_int_equal(row->metric[m].index, 2 * m + 1);
			for (uint32_t i = got->from; i < got->to; i++)
				expect_bucket(&node->bucket[m * ROLLUP_BUCKETS +
							    row->step[i]],
				    &bucket[i], block->metric[m].counter);
		}
	}
}

static void
encoded_buckets_decode_to_themselves(void **state)
{
	struct rollup_row *row = calloc(1, sizeof(*row));
	struct block *block = calloc(1, sizeof(*block));
	struct chunk_writer *chunk = chunk_writer_new();
	struct buffer value = { NULL, 0, 0 };
	uint64_t random = check_seed();
	unsigned rounds = check_share(20, 4);

	assert_true(row != NULL && block != NULL);
	for (unsigned round = 0; round < rounds; round++) {
		make_block(&random, block);
		assert_true(rollup_open(row,
		    rollup_write(chunk, &value, block->metric, block->metrics,
			block->node, block->nodes, ROLLUP_BUCKETS)));
		expect_block(block, row);
	}
	rollup_row_clear(row);
	free(row);
	free(block);
	chunk_writer_free(&chunk);
	buffer_clear(&value);
}

/* ---- samples, through the store ---- */

static void
define_group(void)
{
	unsigned char pairs[512];
	struct wire_writer w;
	struct record entity = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of("cores"),
		.attributes = 2 };

	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(
	    &w, text_of("names"), text_of("poolscope.boot a.c b.g c.c d.g"));
	wire_put_text_attribute(
	    &w, text_of("types"), text_of("gauge counter gauge counter gauge"));
	entity.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	rig_record(&rig, "node-0", &entity);
	rig_send(&rig, 0);
}

static void
put_sample(uint64_t *random, unsigned node, int64_t time_ns)
{
	uint64_t seconds = (uint64_t)(time_ns - HOUR) / 1000000000u;
	uint64_t r = check_random(random);
	struct value values[METRICS] = {
		{ VALUE_INT, { .i = (int64_t)(5 + seconds / 5000) } },
		{ VALUE_INT, { .i = (int64_t)(seconds * 1000 + r % 900) } },
		{ VALUE_FLOAT, { .f = (double)(r >> 20 & 1023) / 10 } },
		{ VALUE_FLOAT,
		    { .f = (double)(seconds % 3000) * 7 + (double)node } },
		{ VALUE_INT, { .i = (int64_t)(r >> 44) } },
	};
	unsigned char bytes[128];
	struct wire_writer w;
	struct record record = { .kind = RECORD_SAMPLE,
		.time_ns = time_ns,
		.source = text_of("cores"),
		.values = METRICS };
	char name[16];

	if (r % 50 == 0)
		values[2].type = VALUE_NIL;
	snprintf(name, sizeof(name), "node-%u", node);
	wire_writer_init(&w, bytes, sizeof(bytes));
	for (unsigned i = 0; i < METRICS; i++)
		wire_put_value(&w, &values[i]);
	record.value_bytes =
	    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	rig_record(&rig, name, &record);
}

/* Some hours of a node, with at most `gap_ns` between two samples. */
static void
send_node(uint64_t *random, unsigned node, unsigned hours, int64_t gap_ns)
{
	int64_t at = HOUR;

	while (at < HOUR + hours * KEY_HOUR_NS) {
		put_sample(random, node, at);
		at += 1 + (int64_t)(check_random(random) % (uint64_t)gap_ns);
		if (check_random(random) % 60 == 0)
			rig_send(&rig, node % 8);
	}
	rig_send(&rig, node % 8);
}

/* Of all nodes. */
static void
send_hours(uint64_t *random, unsigned hours)
{
	for (unsigned node = 0; node < NODES; node++)
		send_node(random, node, hours, 12 * SECOND);
	rig_indexer(&rig);
}

static struct wire_query
query_of(unsigned step)
{
	struct wire_query query = rig_query(1u << RECORD_SAMPLE, 0);

	query.step_ns = steps[step] * SECOND;
	return query;
}

static char *
read_step(unsigned step)
{
	uint64_t records;

	return rig_read(&rig, RIG_SELECT, query_of(step), &records);
}

static void
compact_now(void)
{
	struct err err = { 0 };

	rig_good(writer_compact(rig.writer, &err), &err);
	rig_verify(&rig);
}

/* The next word of a line; returns its end. */
static char *
word_end(char *word)
{
	return word + strcspn(word, " \n");
}

/* Compare word by word, numbers with a tolerance.  The name of the rollup
 * before the bracket must be `rollup` in one line and may be any in the other.
 */
static void
expect_about(char *want, char *got, enum rollup_step rollup)
{
	char *a = want, *b = got, end[16];
	unsigned long words = 0;

	snprintf(end, sizeof(end), "|%s]", rollup_name(rollup));
	while (*a != '\0' && *b != '\0') {
		char *a_end = word_end(a), *b_end = word_end(b);
		size_t bytes = (size_t)(b_end - b);

		if (*a == '[') {
			assert_true(bytes > strlen(end));
			assert_memory_equal(
			    b_end - strlen(end), end, strlen(end));
		} else if (bytes != (size_t)(a_end - a) ||
			   memcmp(a, b, bytes) != 0) {
			assert_true(
			    about(strtod(a, NULL), strtod(b, NULL), 1e-3));
		}
		assert_int_equal(*a_end, *b_end);
		a = a_end + (*a_end != '\0');
		b = b_end + (*b_end != '\0');
		words++;
	}
	assert_true(words > 40);
	assert_int_equal(*a, *b);
	free(got);
}

static void
rollups_answer_as_the_samples_did(void **state)
{
	uint64_t random = check_seed();
	char *before[STEPS];

	define_group();
	send_hours(&random, 2);
	for (unsigned i = 0; i < STEPS; i++)
		before[i] = read_step(i);
	compact_now();
	for (unsigned i = 0; i < STEPS; i++) {
		expect_about(
		    before[i], read_step(i), rollup_of_step(steps[i] * SECOND));
		free(before[i]);
	}
}

/* Until they are compacted, the rollup does not have all samples. */
static void
late_samples_are_in_the_answer(void **state)
{
	uint64_t random = check_seed();
	char *before;

	define_group();
	send_hours(&random, 1);
	compact_now();
	for (unsigned node = 0; node < NODES; node++)
		for (unsigned i = 0; i < 5; i++)
			put_sample(
			    &random, node, HOUR + 1000 + i * 77 * SECOND);
	rig_send(&rig, 9);
	rig_indexer(&rig);
	before = read_step(4);
	assert_non_null(strstr(before, "|raw]"));
	assert_null(strstr(before, "|1min]"));
	compact_now();
	expect_about(before, read_step(4), ROLLUP_1MIN);
	free(before);
}

static uint64_t
sum_of_rollups(void)
{
	struct hash_key hash = { 1, 2 };
	struct text all = { NULL, 0 }, key, value;
	struct err err = { 0 };
	struct db_txn *txn;
	uint64_t sum = 0;

	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	for (unsigned rollup = ROLLUP_1MIN; rollup < ROLLUPS; rollup++) {
		struct db_cursor *cursor =
		    db_cursor_open(txn, tables_rollup(rollup));

		for (bool more = db_seek(cursor, all, &key, &value); more;
		     more = db_next(cursor, &key, &value))
			sum += hash_bytes(hash, value.at, value.bytes) +
			       hash_bytes(hash, key.at, key.bytes);
		db_cursor_close(&cursor);
	}
	db_abort(&txn);
	return sum;
}

static void
compacting_again_makes_the_same_rollups(void **state)
{
	uint64_t random = check_seed(), sum;

	define_group();
	send_hours(&random, 1);
	compact_now();
	sum = sum_of_rollups();
	/* A sample of another node: the whole hour is compacted again. */
	put_sample(&random, 7, HOUR + SECOND);
	rig_send(&rig, 1);
	rig_indexer(&rig);
	compact_now();
	assert_true(sum_of_rollups() != sum);
	sum = sum_of_rollups();
	rig_event(&rig, "node-1", HOUR, "an", "event", NULL);
	rig_send(&rig, 1);
	rig_indexer(&rig);
	compact_now();
	assert_true(sum_of_rollups() == sum);
}

/* There is no rollup yet, and the samples answer. */
static void
a_metric_group_may_be_defined_after_compaction(void **state)
{
	uint64_t random = check_seed();
	char *after, *before;

	send_hours(&random, 1);
	compact_now();
	before = read_step(4);
	assert_string_equal(before, "");
	free(before);
	define_group();
	rig_indexer(&rig);
	after = read_step(4);
	assert_non_null(strstr(after, "|raw]"));
	put_sample(&random, 1, HOUR + KEY_HOUR_NS / 2);
	rig_send(&rig, 1);
	rig_indexer(&rig);
	free(after);
	after = read_step(4);
	compact_now();
	expect_about(after, read_step(4), ROLLUP_1MIN);
	free(after);
}

/* ---- chunks of several nodes ---- */

static uint64_t
rows_of(unsigned table)
{
	struct db_status status;
	struct err err = { 0 };

	rig_good(db_status(writer_db(rig.writer), &status, &err), &err);
	return status.rows[table];
}

static uint64_t
chunks_of_samples(void)
{
	struct text all = { NULL, 0 }, key, value;
	struct key_row_block row_key;
	struct err err = { 0 };
	struct db_cursor *cursor;
	struct db_txn *txn;
	uint64_t chunks = 0;

	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	cursor = db_cursor_open(txn, TABLES_CHUNKS);
	for (bool more = db_seek(cursor, all, &key, &value); more;
	     more = db_next(cursor, &key, &value))
		chunks += key_get_row_block(key, &row_key) &&
			  row_key.kind == RECORD_SAMPLE;
	db_cursor_close(&cursor);
	db_abort(&txn);
	return chunks;
}

/* Of one node. */
static char *
read_node(const char *node, unsigned step)
{
	struct wire_query query = query_of(step);
	uint64_t records;

	query.node = text_of(node);
	return rig_read(&rig, RIG_SELECT, query, &records);
}

enum { MANY = 20 };

/* Samples, one by one. */
static char *
read_samples(const char *node, uint32_t page_bytes)
{
	struct wire_query query = rig_query(1u << RECORD_SAMPLE, 0);
	uint64_t records;

	query.node = text_of(node);
	if (page_bytes > 0)
		query.page_bytes = page_bytes;
	return rig_read(&rig, RIG_SELECT, query, &records);
}

static void
expect_samples(const char *want, char *got)
{
	assert_true(strlen(want) > 40);
	assert_string_equal(want, got);
	free(got);
}

/* Every node has 60 samples or so, and a chunk 16 nodes.  Whatever is asked of
 * one, some or all of them, in pages of any size, is as before; also when late
 * samples of one of them were compacted. */
static void
nodes_share_a_chunk(void **state)
{
	static const char *const nodes[] = { "", "node-3", "node-19",
		"node-1*" };
	uint64_t random = check_seed();
	char *samples[4], *buckets[4];

	define_group();
	for (unsigned node = 0; node < MANY; node++)
		send_node(&random, node, 1, 120 * SECOND);
	put_sample(&random, 3, HOUR + 77);
	rig_send(&rig, 3);
	rig_indexer(&rig);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 4; i++) {
			samples[i] = read_samples(nodes[i], 0);
			buckets[i] = read_node(nodes[i], 3);
		}
		compact_now();
		assert_int_equal(chunks_of_samples(), 2);
		for (unsigned i = 0; i < 4; i++) {
			expect_samples(samples[i], read_samples(nodes[i], 0));
			expect_samples(samples[i], read_samples(nodes[i], 300));
			expect_about(
			    buckets[i], read_node(nodes[i], 3), ROLLUP_RAW);
			free(samples[i]);
			free(buckets[i]);
		}
		put_sample(&random, 5, HOUR + 1800 * SECOND + 1);
		rig_send(&rig, 3);
		rig_indexer(&rig);
	}
}

/* Whether a node goes on in the next chunk is known from that chunk: slices of
 * an open hour that follow each other are read without merging them. */
static void
the_last_node_of_a_chunk_ends_with_it(void **state)
{
	uint64_t random = check_seed();
	struct compacted_cursor_cache cache = { NULL };
	struct text all = { NULL, 0 }, key, value;
	struct compacted_cursor *slice;
	struct key_row_block row_key;
	struct db_cursor *cursor;
	struct err err = { 0 };
	struct db_txn *txn;
	unsigned nodes = 0;
	int64_t first_ns;

	define_group();
	for (unsigned node = 0; node < MANY; node++)
		send_node(&random, node, 1, 120 * SECOND);
	rig_indexer(&rig);
	compact_now();
	assert_int_equal(chunks_of_samples(), 2);
	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	cursor = db_cursor_open(txn, TABLES_CHUNKS);
	assert_true(db_seek(cursor, all, &key, &value));
	assert_true(key_get_row_block(key, &row_key));
	slice = compacted_cursor_open(txn, &cache, &row_key);
	for (compacted_cursor_seek(slice, 0, 0); slice->more; nodes++) {
		assert_true(compacted_cursor_take(slice, INT64_MIN, &first_ns));
		assert_true(
		    compacted_cursor_last_ns(slice) < HOUR + KEY_HOUR_NS);
		compacted_cursor_pass(
		    slice, slice->row_key.node, slice->row_key.track);
	}
	assert_int_equal(nodes, MANY);
	compacted_cursor_close(&slice);
	compacted_cursor_cache_clear(&cache);
	db_cursor_close(&cursor);
	db_abort(&txn);
}

/* ---- the open hour ---- */

/* Samples of 100 s of each node, in order; every third time one comes late. */
static void
send_slice(uint64_t *random, unsigned slice)
{
	slices_begin(&rig);
	for (unsigned node = 0; node < NODES; node++) {
		for (unsigned i = 0; i < 10; i++)
			put_sample(random, node,
			    HOUR + (100 * slice + 10 * i) * SECOND + node);
		if (slice % 3 == 2)
			put_sample(
			    random, node, HOUR + (100 * slice - 5) * SECOND);
		rig_send(&rig, node);
	}
	rig_indexer(&rig);
}

/* What is read of an hour that has few samples: they are not in buckets of a
 * minute yet. */
static enum rollup_step
of_few(unsigned step)
{
	return steps[step] == 3600 ? ROLLUP_1H : ROLLUP_RAW;
}

/* Slices that follow each other are read one after another, those that overlap
 * are merged: the answer is that of the rows as they came. */
static void
an_open_hour_answers_as_its_rows_did(void **state)
{
	uint64_t random = check_seed();
	char *before[STEPS], *after;

	rig.writer->options.compact_after_ns =
	    50 * 365 * 24 * KEY_HOUR_NS; /* the hour has not ended */
	define_group();
	for (unsigned slice = 0; slice < 36; slice++) {
		send_slice(&random, slice);
		for (unsigned i = 2; i < STEPS; i++)
			before[i] = read_step(i);
		slices_compact(&rig);
		for (unsigned i = 2; i < STEPS; i++) {
			after = read_step(i);
			assert_string_equal(before[i], after);
			free(before[i]);
			free(after);
		}
	}
	assert_true(chunks_of_samples() > 1);
	for (unsigned i = 2; i < STEPS; i++)
		before[i] = read_step(i);
	compact_now();
	for (unsigned i = 2; i < STEPS; i++) {
		expect_about(before[i], read_step(i), of_few(i));
		free(before[i]);
	}
}

/* ---- retention ---- */

static uint64_t
rows_of_rollups(void)
{
	return rows_of(tables_rollup(ROLLUP_1MIN)) +
	       rows_of(tables_rollup(ROLLUP_1H));
}

static uint64_t
used_bytes(void)
{
	struct db_status status;
	struct err err = { 0 };

	rig_good(db_status(writer_db(rig.writer), &status, &err), &err);
	return status.used_bytes;
}

/* Reopen with the current rig.options. */
static void
retain_now(void)
{
	writer_close(&rig.writer);
	rig_open_indexer(&rig);
	rig_indexer(&rig);
	rig_verify(&rig);
}

/* The same without reopening: the writer remembers what it has examined. */
static void
retain_more(void)
{
	rig.writer->options.retain_raw_ns = rig.options.retain_raw_ns;
	rig.writer->retention.next_ns = 0;
	rig_indexer(&rig);
	rig_verify(&rig);
}

/* Of any size, across the end of an hour. */
static void
pages_are_the_same(void)
{
	struct wire_query query = query_of(4);
	uint64_t records;
	char *want;

	query.from_ns = HOUR + KEY_HOUR_NS - 1200 * SECOND;
	query.to_ns = query.from_ns + 2400 * SECOND;
	want = rig_read(&rig, RIG_SELECT, query, &records);
	assert_true(records >= 4 * NODES);
	for (uint32_t size = 100; size < 50000; size *= 9) {
		query.page_bytes = size;
		expect_about(want, rig_read(&rig, RIG_SELECT, query, &records),
		    ROLLUP_1MIN);
	}
	free(want);
}

/* A minute that the window begins in is in the step that it begins in, also
 * where that one ends before the window. */
static void
minutes_are_whole(void)
{
	struct wire_query query = query_of(4);
	uint64_t records;
	char step[64], *lines;

	query.from_ns = HOUR + 75 * SECOND;
	query.step_ns = 72 * SECOND;
	lines = rig_read(&rig, RIG_SELECT, query, &records);
	snprintf(step, sizeof(step), " %lld..%lld ", (long long)HOUR,
	    (long long)(HOUR + query.step_ns));
	assert_non_null(strstr(lines, step));
	free(lines);
}

static void
deleted_samples_leave_their_rollups(void **state)
{
	uint64_t random = check_seed(), records;
	char *before[STEPS];
	char *lines;

	define_group();
	send_hours(&random, 2);
	rig_event(&rig, "node-1", HOUR, "an", "event", NULL);
	rig_send(&rig, 1);
	rig_indexer(&rig);
	for (unsigned i = 0; i < STEPS; i++)
		before[i] = read_step(i);
	rig.options.retain_raw_ns = SECOND;
	retain_now();
	assert_true(rows_of(TABLES_ROW_BLOCKS) >
		    1); /* not compacted, so not deleted yet */
	compact_now();
	retain_now();
	assert_int_equal(rows_of(TABLES_CHUNKS), 1); /* of the event */
	for (unsigned i = 4; i < STEPS; i++)
		expect_about(
		    before[i], read_step(i), rollup_of_step(steps[i] * SECOND));
	/* No finer step is left: the answer has minutes. */
	expect_about(before[4], read_step(0), ROLLUP_1MIN);
	expect_about(before[4], read_step(3), ROLLUP_1MIN);
	free(rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_SAMPLE, 0), &records));
	assert_int_equal(records, 0);
	pages_are_the_same();
	minutes_are_whole();

	/* Late samples do not replace the rollups. */
	put_sample(&random, 1, HOUR + 5);
	rig_send(&rig, 1);
	rig_indexer(&rig);
	expect_about(before[4], read_step(4), ROLLUP_1MIN);
	compact_now();
	expect_about(before[4], read_step(4), ROLLUP_1MIN);

	rig.options.retain_1min_ns = SECOND;
	retain_now();
	for (unsigned i = 0; i < STEPS; i++)
		expect_about(before[8], read_step(i), ROLLUP_1H);
	rig.options.retain_ns = SECOND;
	retain_now();
	assert_int_equal(rows_of_rollups(), 0);
	lines = read_step(4);
	assert_string_equal(lines, "");
	free(lines);
	for (unsigned i = 0; i < STEPS; i++)
		free(before[i]);
}

/* ---- sparse samples ---- */

/* However few samples there are, they have rollups: one in 40 s or so.  Those
 * of a minute are built before the samples are deleted. */
static void
sparse_samples_leave_rollups(void **state)
{
	uint64_t random = check_seed();
	char *before[STEPS];
	unsigned i;

	define_group();
	send_node(&random, 1, 2, 80 * SECOND);
	rig_indexer(&rig);
	for (i = 0; i < STEPS; i++)
		before[i] = read_step(i);
	compact_now();
	assert_int_equal(rows_of_rollups(), 4);
	for (i = 0; i < STEPS; i++)
		expect_about(before[i], read_step(i), of_few(i));
	rig.options.retain_raw_ns = SECOND;
	retain_now();
	assert_int_equal(rows_of(TABLES_CHUNKS), 0);
	for (i = 0; i < STEPS; i++)
		expect_about(before[i < 4 ? 4 : i], read_step(i),
		    i < 8 ? ROLLUP_1MIN : ROLLUP_1H);
	for (i = 0; i < STEPS; i++)
		free(before[i]);
}

/* Their samples are deleted, but were not in the rollup. */
static void
a_metric_group_may_be_defined_just_before_its_samples_are_deleted(void **state)
{
	uint64_t random = check_seed();
	char *before;

	send_hours(&random, 2);
	compact_now();
	define_group();
	rig_indexer(&rig);
	before = read_step(4);
	assert_non_null(strstr(before, "|raw]"));
	rig.options.retain_raw_ns = SECOND;
	retain_now();
	assert_int_equal(rows_of(TABLES_CHUNKS), 0);
	expect_about(before, read_step(4), ROLLUP_1MIN);
	free(before);
}

/* An hour whose samples were deleted gets more of them: they are deleted after
 * they were compacted, and those of a new node leave their rollups. */
static void
late_samples_of_a_deleted_hour_are_deleted(void **state)
{
	uint64_t random = check_seed();
	char *before, *after;

	define_group();
	send_hours(&random, 1);
	compact_now();
	rig.options.retain_raw_ns = SECOND;
	retain_now();
	assert_int_equal(rows_of(TABLES_CHUNKS), 0);
	before = read_step(4);
	put_sample(&random, 1, HOUR + 5);
	put_sample(&random, 7, HOUR + 5);
	rig_send(&rig, 5);
	rig_indexer(&rig);
	compact_now();
	retain_more();
	assert_int_equal(rows_of(TABLES_CHUNKS), 0);
	after = read_step(4);
	assert_non_null(strstr(after, "node-7"));
	/* What the row had of the other nodes is as it was. */
	assert_true(strlen(before) > 40);
	for (char *line = strtok(before, "\n"); line != NULL;
	     line = strtok(NULL, "\n"))
		assert_non_null(strstr(after, line));
	free(before);
	free(after);
}

static void
the_finest_are_deleted_first_by_size(void **state)
{
	uint64_t random = check_seed();
	uint64_t chunks, rollups, used;

	define_group();
	send_hours(&random, 30);
	for (unsigned i = 0; i < 30; i++) {
		rig_event(&rig, "node-1", HOUR + i * KEY_HOUR_NS, "an", "event",
		    NULL);
		rig_send(&rig, 1);
	}
	rig_indexer(&rig);
	compact_now();
	chunks = rows_of(TABLES_CHUNKS);
	rollups = rows_of_rollups();
	used = used_bytes();
	/* Of an hour: two of samples, one of an event. */
	assert_int_equal(chunks, 30 + 30 * 2);

	rig.options.retain_bytes = used - used / 40;
	retain_now();
	assert_true(used_bytes() <= rig.options.retain_bytes);
	assert_true(rows_of(TABLES_CHUNKS) < chunks);
	assert_true(rows_of(TABLES_CHUNKS) >= 30 + 24 * 2);
	assert_int_equal(rows_of_rollups(), rollups);

	/* The samples of all hours but the last, then their rollups. */
	rig.options.retain_bytes = used / 4;
	retain_now();
	assert_true(used_bytes() <= rig.options.retain_bytes);
	assert_int_equal(rows_of(TABLES_CHUNKS), 30 + 2);
	assert_true(rows_of_rollups() < rollups);

	rig.options.retain_bytes = 1;
	retain_now();
	assert_int_equal(rows_of(TABLES_CHUNKS), 0);
	assert_int_equal(rows_of_rollups(), 0);
}

static void
rollups_stay_until_the_archive_has_them(void **state)
{
	uint64_t random = check_seed(), rollups;

	writer_close(&rig.writer);
	rig.options.archive = true;
	rig_open_indexer(&rig);
	define_group();
	send_hours(&random, 3);
	clear_marks_of_now(false);
	compact_now();
	rollups = rows_of_rollups();
	assert_true(rollups > 0);

	rig.options.retain_ns = KEY_HOUR_NS;
	retain_now();
	assert_int_equal(rows_of(TABLES_CHUNKS), 0);
	assert_int_equal(rows_of_rollups(), rollups);

	clear_marks_of_now(true);
	retain_now();
	assert_int_equal(rows_of_rollups(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encoded_buckets_decode_to_themselves),
		CASE(rollups_answer_as_the_samples_did),
		CASE(late_samples_are_in_the_answer),
		CASE(compacting_again_makes_the_same_rollups),
		CASE(a_metric_group_may_be_defined_after_compaction),
		CASE(nodes_share_a_chunk),
		CASE(the_last_node_of_a_chunk_ends_with_it),
		CASE(an_open_hour_answers_as_its_rows_did),
		CASE(deleted_samples_leave_their_rollups),
		CASE(sparse_samples_leave_rollups),
		CASE(
		    a_metric_group_may_be_defined_just_before_its_samples_are_deleted),
		CASE(late_samples_of_a_deleted_hour_are_deleted),
		CASE(the_finest_are_deleted_first_by_size),
		CASE(rollups_stay_until_the_archive_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

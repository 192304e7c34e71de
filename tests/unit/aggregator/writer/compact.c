/*
 * compact - tests of compaction: readers get the same records before
 * and after it.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/pool.h"

#include "tests/unit/aggregator/slices.h"

enum { KINDS = 5 };

static const enum record_kind kinds[KINDS] = { RECORD_EVENT, RECORD_SAMPLE,
	RECORD_SPAN, RECORD_GAP, RECORD_REJECTED };

/* ---- records of every kind ---- */

static void
put_values(struct record *record, struct wire_writer *w, uint64_t *random)
{
	uint32_t values = 1 + (uint32_t)(check_random(random) % 6), i;

	for (i = 0; i < values; i++) {
		uint64_t bits = check_random(random);
		struct value value = { VALUE_INT,
			{ .i = (int64_t)(bits % 90) } };

		if (bits % 5 == 0)
			value = (struct value){ VALUE_FLOAT,
				{ .f = (double)(bits % 1000) / 8 } };
		if (bits % 31 == 0)
			value.type = VALUE_NIL;
		wire_put_value(w, &value);
	}
	record->values = values;
	record->value_bytes =
	    (struct text){ (const char *)w->at, (uint32_t)w->bytes };
}

static void
put_pairs(struct record *record, struct wire_writer *w, uint64_t *random)
{
	struct value number = { VALUE_INT,
		{ .i = (int64_t)(check_random(random) % 5000) } };

	wire_put_attribute(w, text_of("size"), &number);
	if (check_random(random) % 3 == 0) {
		wire_put_text_attribute(
		    w, text_of("message"), text_of("img=a:1,diff=1.25"));
		record->attributes++;
	}
	record->attributes++;
	record->pairs =
	    (struct text){ (const char *)w->at, (uint32_t)w->bytes };
}

static void
send_one(uint64_t *random, unsigned nodes, int64_t from_ns, int64_t span_ns)
{
	static const char *const words[] = { "alpha", "beta", "gamma" };
	static unsigned char room[4096];
	struct record record = {
		.time_ns = from_ns +
			   (int64_t)(check_random(random) % (uint64_t)span_ns),
		.source = text_of(words[check_random(random) % 3]),
		.name = text_of(words[check_random(random) % 3]),
	};
	struct wire_writer w;
	char node[16];

	snprintf(node, sizeof(node), "node-%u",
	    (unsigned)(check_random(random) % nodes));
	wire_writer_init(&w, room, sizeof(room));
	switch (check_random(random) % 8) {
	case 0:
	case 1:
	case 2:
		record.kind = RECORD_SAMPLE;
		record.name.bytes = 0;
		put_values(&record, &w, random);
		break;
	case 3:
		record.kind = RECORD_GAP;
		record.end_ns = record.time_ns + 5;
		record.count = check_random(random) % 100;
		break;
	case 4:
		record.kind = RECORD_SPAN;
		record.end_ns =
		    record.time_ns + (int64_t)(check_random(random) % 1000000);
		record.key = text_of("category");
		put_pairs(&record, &w, random);
		break;
	default: record.kind = RECORD_EVENT; put_pairs(&record, &w, random);
	}
	rig_record(&rig, node, &record);
}

/* An unreadable batch is stored as a rejected batch. */
static void
send_rejected(unsigned session)
{
	rig.bytes[0] = 0xc1;
	rig.batch.bytes = 1 + (size_t)session;
	rig.batch.records = 1;
	rig_send(&rig, session);
}

static void
send_many(uint64_t *random, unsigned records, unsigned nodes, int64_t from_ns,
    int64_t span_ns)
{
	for (unsigned i = 0; i < records; i++) {
		send_one(random, nodes, from_ns, span_ns);
		if (check_random(random) % 40 == 0)
			rig_send(&rig, (unsigned)(check_random(random) % 5));
		if (check_random(random) % 200 == 0) {
			rig_send(&rig, 5);
			rig_indexer(&rig);
		}
	}
	rig_send(&rig, 6);
	rig_indexer(&rig);
}

/* ---- what readers see ---- */

static char *
see_query(struct wire_query query)
{
	char *all = NULL;
	size_t bytes;
	FILE *out = open_memstream(&all, &bytes);

	for (unsigned i = 0; i < KINDS; i++) {
		uint64_t records;
		char *some;

		query.kinds = 1u << kinds[i];
		some = rig_read(&rig, RIG_SELECT, query, &records);
		fputs(some, out);
		free(some);
	}
	fclose(out);
	return all;
}

static char *
see(uint32_t page_bytes)
{
	return see_query(rig_query(0, page_bytes));
}

static void
compact_now(void)
{
	struct err err = { 0 };

	rig_good(writer_compact(rig.writer, &err), &err);
}

static uint64_t
rows_of(unsigned table)
{
	struct db_status status;
	struct err err = { 0 };

	rig_good(db_status(writer_db(rig.writer), &status, &err), &err);
	return status.rows[table];
}

static void
expect_same(char *want, char *got)
{
	assert_string_equal(got, want);
	free(got);
}

static void
compacted_records_read_as_before(void **state)
{
	uint64_t random = check_seed();
	char *before;

	send_rejected(3);
	send_many(&random, 3000, 20, RIG_T0, 3 * KEY_HOUR_NS);
	send_rejected(4);
	rig_indexer(&rig);
	before = see(0);
	assert_true(strlen(before) > 100000);
	compact_now();
	assert_int_equal(rows_of(TABLES_ROW_BLOCKS), 0);
	assert_true(rows_of(TABLES_CHUNKS) > 0);
	rig_verify(&rig);
	expect_same(before, see(0));
	for (uint32_t size = 1; size < 40000; size = 11 * size + 5)
		expect_same(before, see(size));
	rig.examined_max = 3;
	expect_same(before, see(0));
	rig.examined_max = 0;
	compact_now();
	expect_same(before, see(0));
	free(before);
}

static void
queries_have_the_same_answers(void **state)
{
	static const char *const nodes[] = { "", "node-3", "node-1*", "x*" };
	static const char *const names[] = { "", "alpha", "*:beta", "g*" };
	uint64_t random = check_seed();
	char *answers[40];
	struct wire_query query[40];

	send_many(&random, 3000, 20, RIG_T0, 2 * KEY_HOUR_NS);
	for (unsigned i = 0; i < 40; i++) {
		query[i] =
		    rig_query(0, (uint32_t)(check_random(&random) % 9000));
		query[i].node = text_of(nodes[check_random(&random) % 4]);
		query[i].name = text_of(names[check_random(&random) % 4]);
		query[i].from_ns = RIG_T0 + (int64_t)(check_random(&random) %
						      (uint64_t)KEY_HOUR_NS);
		query[i].to_ns =
		    query[i].from_ns +
		    (int64_t)(check_random(&random) % (uint64_t)KEY_HOUR_NS);
		answers[i] = see_query(query[i]);
	}
	compact_now();
	for (unsigned i = 0; i < 40; i++) {
		expect_same(answers[i], see_query(query[i]));
		free(answers[i]);
	}
}

/* Late records go to row blocks in addition to the chunks, until the hour is
 * compacted again. */
static void
late_records_are_merged(void **state)
{
	uint64_t random = check_seed();
	uint64_t chunks;
	char *before;

	send_many(&random, 1500, 10, RIG_T0, 2 * KEY_HOUR_NS);
	compact_now();
	chunks = rows_of(TABLES_CHUNKS);
	for (unsigned round = 0; round < 4; round++) {
		send_many(&random, 150, 12, RIG_T0, 2 * KEY_HOUR_NS);
		assert_true(rows_of(TABLES_ROW_BLOCKS) > 0);
		before = see(0);
		rig_verify(&rig);
		if (round % 2)
			expect_same(before, see(777));
		compact_now();
		rig_verify(&rig);
		assert_int_equal(rows_of(TABLES_ROW_BLOCKS), 0);
		expect_same(before, see(0));
		free(before);
	}
	assert_true(rows_of(TABLES_CHUNKS) <= 2 * chunks + 20);
}

static void
send_more(uint64_t *random, char **before)
{
	free(*before);
	send_many(random, 100, 9, RIG_T0, KEY_HOUR_NS / 2);
	*before = see(0);
}

/* One transaction of the job, planned before new records came, or not. */
static bool
pass(uint64_t *random, char **before)
{
	struct compact *compact = &rig.writer->compact;
	struct err err = { 0 };
	bool done;

	if (check_random(random) % 2 == 0) {
		rig_good(compact_plan(rig.writer, &err), &err);
		if (check_random(random) % 10 == 0)
			send_more(random, before);
		assert_int_equal(compact_put(rig.writer, &err), DB_OK);
		return !compact->busy;
	}
	assert_int_equal(
	    compact_pass(compact, writer_db(rig.writer), &done, &err), DB_OK);
	return done;
}

/* A job may stop after any of its transactions, and new records may arrive in
 * between. */
static void
readers_do_not_notice_compaction(void **state)
{
	uint64_t random = check_seed();
	struct compact *compact;
	char *before;
	unsigned all = check_share(400, 100);

	send_many(&random, 4000, 9, RIG_T0, KEY_HOUR_NS / 2);
	before = see(0);
	compact = &rig.writer->compact;
	compact->step_rows = 150;
	for (unsigned steps = 0; steps < all; steps++) {
		if (!compact->busy) {
			enum record_kind kind =
			    kinds[check_random(&random) % KINDS];

			compact->job = (struct compact_job){
				.hour = { .partition = 1,
				    .kind = (uint8_t)kind,
				    .hour = key_hour(RIG_T0) +
					    (int)(check_random(&random) % 2),
				    .first_ns = INT64_MIN },
				.choice = hour_cursor_all,
				.level = COMPACTED_ROW_LEVEL_WHOLE,
				.whole = true,
			};
			compact->busy = true;
		}
		if (pass(&random, &before) || check_random(&random) % 20 == 0)
			compact->busy = false; /* or stopped */
		if (steps % 25 == 0) {
			rig_verify(&rig);
			expect_same(before, see(0));
		}
		if (steps % 100 == 50)
			send_more(&random, &before);
	}
	compact->step_rows = 0;
	compact_now();
	rig_verify(&rig);
	expect_same(before, see(0));
	free(before);
}

/* What was planned does not bring back what was deleted since. */
static void
a_plan_is_void_when_rows_were_deleted(void **state)
{
	uint64_t random = check_seed(), chunks;
	struct compact *compact = &rig.writer->compact;
	struct err err = { 0 };
	struct db_txn *txn;

	send_many(&random, 500, 9, RIG_T0, KEY_HOUR_NS / 2);
	chunks = rows_of(TABLES_CHUNKS);
	for (int by_retention = 0; by_retention < 2; by_retention++) {
		compact->job = (struct compact_job){
			.hour = { .partition = 1,
			    .kind = RECORD_EVENT,
			    .hour = key_hour(RIG_T0),
			    .first_ns = INT64_MIN },
			.choice = hour_cursor_all,
			.level = COMPACTED_ROW_LEVEL_WHOLE,
			.whole = true,
		};
		compact->busy = true;
		assert_true(compact_is_due(rig.writer));
		rig_good(compact_plan(rig.writer, &err), &err);
		assert_true(compact->items > 0);
		if (by_retention) {
			rig.writer->retention.removals++;
		} else {
			rig_good(
			    db_begin(writer_db(rig.writer), true, &txn, &err),
			    &err);
			tables_put_fact(txn, FACT_DROPPED, 1);
			assert_int_equal(db_commit(&txn, &err), DB_OK);
		}
		assert_int_equal(compact_put(rig.writer, &err), DB_OK);
		assert_false(compact->busy);
		assert_int_equal(rows_of(TABLES_CHUNKS), chunks);
	}
}

/* Phases can be rebuilt from compacted events. */
static void
phases_are_rebuilt_from_compacted_events(void **state)
{
	uint64_t random = check_seed(), records;
	struct err err = { 0 };
	char *phases, *stats;

	make_pool(&random, 12, 20);
	take_in(&random, true);
	phases = rig_all(&rig, RECORD_PHASE);
	stats = read_stats();
	compact_now();
	rig_event(&rig, "late", RIG_T0, "other", "one", NULL);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	rig_good(writer_rebuild(rig.writer, &err), &err);
	rig_verify(&rig);
	expect_same(phases, rig_all(&rig, RECORD_PHASE));
	expect_same(stats, read_stats());
	free(rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_EVENT, 0), &records));
	assert_int_equal(records, count + 1);
	free(phases);
	free(stats);
}

static void
old_chunks_are_deleted_by_hour(void **state)
{
	uint64_t random = check_seed(), records;
	int64_t cut_ns =
	    clock_wall_ns() / KEY_HOUR_NS * KEY_HOUR_NS - 10 * KEY_HOUR_NS;

	send_many(&random, 500, 9, cut_ns - 3 * KEY_HOUR_NS, 2 * KEY_HOUR_NS);
	compact_now();
	rig_event(&rig, "node-1", cut_ns + 1, "new", "one", NULL);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	writer_close(&rig.writer);
	rig.options.retain_ns = clock_wall_ns() - cut_ns;
	rig_open_indexer(&rig);
	rig_indexer(&rig);
	assert_int_equal(rows_of(TABLES_CHUNKS), 0);
	rig_verify(&rig);
	free(rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_EVENT, 0), &records));
	assert_int_equal(records, 1);
}

/* In its thread, when an hour gets no more records. */
static void
the_indexer_compacts_by_itself(void **state)
{
	struct timespec nap = { 0, 20000000 };
	uint64_t random = check_seed();
	struct err err = { 0 };
	unsigned tries;
	char *before;

	send_many(&random, 2000, 9, RIG_T0, 2 * KEY_HOUR_NS);
	before = see(0);
	writer_close(&rig.writer);
	rig.options.compact_after_ns = 1;
	rig_open_indexer(&rig);
	rig_good(writer_start(rig.writer, NULL, &err), &err);
	for (tries = 0; rows_of(TABLES_ROW_BLOCKS) > 0; tries++) {
		assert_true(tries < 3000);
		expect_same(before, see(0)); /* whatever happens in between */
		nanosleep(&nap, NULL);
	}
	writer_stop(rig.writer);
	rig_verify(&rig);
	expect_same(before, see(0));
	free(before);
}

/* Slices of one level become one of the next, so that there are never many. */
static void
slices_are_merged(void **state)
{
	uint64_t random = check_seed();
	struct compact *compact;
	struct err err = { 0 };
	bool done = false;
	char *before;

	send_many(&random, 2000, 9, RIG_T0, KEY_HOUR_NS / 4);
	before = see(0);
	compact = &rig.writer->compact;
	/* About 330 events each in the first of the two hours. */
	compact->step_rows = 50;
	for (unsigned slice = 0; slice < 3; slice++) {
		/* Stop after a step: it leaves a slice of the lowest level. */
		compact->job = (struct compact_job){
			.hour = { .partition = 1,
			    .kind = RECORD_EVENT,
			    .hour = key_hour(RIG_T0),
			    .first_ns = INT64_MIN },
			.choice = { 0, UINT32_MAX, 1, 0 },
		};
		assert_int_equal(
		    compact_pass(compact, writer_db(rig.writer), &done, &err),
		    DB_OK);
		assert_false(done);
	}
	compact->job = (struct compact_job){
		.hour = compact->job.hour,
		.choice = { 1, 0, 0, (1u << COMPACTED_ROW_LEVEL_BITS) - 1 },
		.level = 1,
	};
	for (done = false; !done;)
		assert_int_equal(
		    compact_pass(compact, writer_db(rig.writer), &done, &err),
		    DB_OK);
	rig_verify(&rig);
	expect_same(before, see(0));
	compact->step_rows = 0;
	compact_now();
	expect_same(before, see(0));
	free(before);
}

/* ---- an hour of many slices ---- */

#define YEAR_NS (365 * 24 * KEY_HOUR_NS)

/* The maximum number of slices of an hour and kind in a table; `levels`: a bit
 * for each level of compacted slices. */
static unsigned
slices_of(unsigned table, unsigned *levels)
{
	struct text all = { NULL, 0 }, key, value;
	struct key_row_block row_key, last = { .slice = UINT32_MAX };
	unsigned slices = 0, most = 0;
	struct err err = { 0 };
	struct db_cursor *cursor;
	struct db_txn *txn;

	*levels = 0;
	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	cursor = db_cursor_open(txn, table);
	for (bool more = db_seek(cursor, all, &key, &value); more;
	     more = db_next(cursor, &key, &value), last = row_key) {
		assert_true(key_get_row_block(key, &row_key));
		if (row_key.kind != last.kind || row_key.hour != last.hour)
			slices = 0;
		if (slices == 0 || row_key.slice != last.slice)
			slices++;
		if (slices > most)
			most = slices;
		*levels |= 1u << compacted_row_level(row_key.slice);
	}
	db_cursor_close(&cursor);
	db_abort(&txn);
	return most;
}

/* Slices of records from all over one hour. */
static void
fill_slices(uint64_t *random, unsigned slices, unsigned *most, unsigned *levels)
{
	int64_t hour_ns = key_hour(RIG_T0) * KEY_HOUR_NS;
	unsigned bits;
	char *before;

	*most = *levels = 0;
	for (unsigned i = 0; i < slices; i++) {
		slices_begin(&rig);
		send_many(random, 20, 4, hour_ns, KEY_HOUR_NS);
		before = see(0);
		if (slices_of(TABLES_ROW_BLOCKS, &bits) > *most)
			*most = slices_of(TABLES_ROW_BLOCKS, &bits);
		slices_compact(&rig);
		assert_true(
		    slices_of(TABLES_ROW_BLOCKS, &bits) <= COMPACT_SLICES);
		assert_true(
		    slices_of(TABLES_CHUNKS, &bits) <= 2 * COMPACT_SLICES);
		*levels |= bits;
		expect_same(before, see(0));
		free(before);
	}
	rig_verify(&rig);
}

/* While the hour is being filled, and again after it was compacted: late
 * records arrive in any order and end up in one slice. */
static void
an_hour_of_many_slices_is_compacted_level_by_level(void **state)
{
	uint64_t random = check_seed();
	unsigned most, levels;
	uint64_t records;
	char *before;

	rig.writer->options.compact_after_ns =
	    50 * YEAR_NS; /* the hour has not ended */
	fill_slices(&random, 10 * COMPACT_SLICES, &most, &levels);
	assert_true(most > COMPACT_SLICES);
	assert_int_equal(levels & 3, 3); /* slices, and some of them merged */
	before = see(0);
	compact_now();
	assert_int_equal(slices_of(TABLES_CHUNKS, &levels), 1);
	assert_int_equal(levels, 1u << COMPACTED_ROW_LEVEL_WHOLE);
	expect_same(before, see(0));
	free(before);

	fill_slices(&random, 2 * COMPACT_SLICES, &most, &levels);
	assert_true(most > COMPACT_SLICES);
	assert_int_equal(levels, 1u << COMPACTED_ROW_LEVEL_WHOLE | 1);
	before = see(0);
	compact_now();
	rig_verify(&rig);
	assert_int_equal(rows_of(TABLES_ROW_BLOCKS), 0);
	assert_int_equal(slices_of(TABLES_CHUNKS, &levels), 1);
	expect_same(before, see(0));
	free(before);
	/* No record was lost. */
	free(rig_read(&rig, RIG_SELECT,
	    rig_query(1u << RECORD_EVENT | 1u << RECORD_SAMPLE |
			  1u << RECORD_SPAN | 1u << RECORD_GAP,
		0),
	    &records));
	assert_int_equal(records, 12 * COMPACT_SLICES * 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(compacted_records_read_as_before),
		CASE(queries_have_the_same_answers),
		CASE(late_records_are_merged),
		CASE(readers_do_not_notice_compaction),
		CASE(a_plan_is_void_when_rows_were_deleted),
		CASE(phases_are_rebuilt_from_compacted_events),
		CASE(old_chunks_are_deleted_by_hour),
		CASE(the_indexer_compacts_by_itself),
		CASE(slices_are_merged),
		CASE(an_hour_of_many_slices_is_compacted_level_by_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

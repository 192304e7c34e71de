/*
 * archive_store - a store whose records went through the columns of the archive
 * and back answers every question as before.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/archive/trip_store.h"
#include "tests/unit/aggregator/rig.h"

#include "proto/msgpack/mp.h"

enum { EVENTS = 300, SAMPLES = 4000 };

static struct rig rig;
static unsigned char pairs[70000];

static int64_t
at(int64_t second)
{
	return RIG_T0 + second * 1000000000;
}

/* Values of all types, one of them as large as may be. */
static void
send_events(void)
{
	static char large[RECORD_TEXT_BYTES_MAX];
	const struct value values[] = {
		{ VALUE_NIL, { 0 } },
		{ VALUE_BOOL, { .boolean = true } },
		{ VALUE_INT, { .i = INT64_MIN } },
		{ VALUE_INT, { .i = (INT64_C(1) << 53) + 1 } },
		{ VALUE_UINT, { .u = UINT64_MAX } },
		{ VALUE_FLOAT, { .f = -0.0 } },
		{ VALUE_FLOAT, { .f = 0.1 } },
		{ VALUE_TEXT, { .text = { "", 0 } } },
		{ VALUE_TEXT, { .text = { "caf\xc3\xa9 \n\"", 8 } } },
		{ VALUE_TEXT, { .text = { large, sizeof(large) } } },
	};

	memset(large, 'x', sizeof(large));
	for (unsigned i = 0; i < EVENTS; i++) {
		struct record record = { .kind = RECORD_EVENT,
			.time_ns = at(i * 60),
			.source = text_of("app"),
			.name = text_of(i % 2 ? "begin" : "end"),
			.key = { large, i % 3 ? 16 : 0 } };
		struct wire_writer w;

		wire_writer_init(&w, pairs, sizeof(pairs));
		for (unsigned k = 0; k < (i % 50 == 0 ? 10 : 9); k++)
			if (wire_put_attribute(&w,
				text_of(k % 4 ? "key" : "other"), &values[k]))
				record.attributes++;
		record.pairs = (struct text){ (char *)w.at, (uint32_t)w.bytes };
		rig_record(&rig, i % 2 ? "n1" : "n2", &record);
		if (i % 10 == 9)
			rig_send(&rig, i % 3);
	}
}

/* Counters beyond 2^53, nil, and floats of 4 bytes, as other senders write
 * them. */
static void
send_samples(void)
{
	for (unsigned i = 0; i < SAMPLES; i++) {
		unsigned char bytes[64] = { MP_UINT64, 0, 0x30, 0, 0, 0, 0, 0,
			0, MP_FLOAT32, 0x3d, 0xcc, 0xcc, 0xcd, MP_NIL, MP_INT16,
			0, 7, MP_FLOAT64, 0x80 };
		struct record record = { .kind = RECORD_SAMPLE,
			.time_ns = at(i),
			.source = text_of(i % 7 ? "mine" : "other"),
			.values = 5,
			.value_bytes = { (char *)bytes, 27 } };

		bytes[7] = (unsigned char)(i >> 8);
		bytes[8] = (unsigned char)i;
		rig_record(&rig, i % 2 ? "n1" : "n3", &record);
		if (i % 500 == 499)
			rig_send(&rig, 1);
	}
}

static void
send_others(void)
{
	for (unsigned i = 0; i < EVENTS; i++) {
		struct record record = { .kind = RECORD_SPAN,
			.time_ns = at(i * 30),
			.end_ns = at(i * 30 + i % 5),
			.source = text_of("track"),
			.name = text_of("work"),
			.key = text_of(i % 2 ? "category" : "") };

		rig_record(&rig, "n1", &record);
		record = (struct record){ .kind = RECORD_GAP,
			.time_ns = at(i),
			.end_ns = at(i + 9),
			.source = text_of("events"),
			.name = text_of("queue-full"),
			.count = i % 3 ? i : UINT64_MAX };
		rig_record(&rig, "n2", &record);
	}
	rig_send(&rig, 2);
	/* A batch that is rejected: its body is no MessagePack. */
	rig_event(&rig, "n1", at(1), "app", "lost", NULL);
	memset(rig.batch.at, 0xc1, rig.batch.bytes);
	rig_send(&rig, 2);
}

static int
set_up(void **state)
{
	rig_open(&rig, NULL);
	send_events();
	send_samples();
	send_others();
	rig_indexer(&rig);
	return 0;
}

static int
tear_down(void **state)
{
	rig_close(&rig);
	return 0;
}

static const enum record_kind kinds[] = { RECORD_EVENT, RECORD_SAMPLE,
	RECORD_SPAN, RECORD_GAP, RECORD_REJECTED };

static void
nobody_notices_the_way_through_the_archive(void **state)
{
	static const unsigned least[] = { EVENTS, SAMPLES, EVENTS, EVENTS, 1 };
	char *before[ARCHIVE_KINDS];
	uint64_t records = 0, count;

	for (int i = 0; i < ARCHIVE_KINDS; i++) {
		before[i] = rig_read(
		    &rig, RIG_SELECT, rig_query(1u << kinds[i], 0), &count);
		assert_true(count > 0);
		if (kinds[i] != RECORD_SAMPLE)
			assert_true(count >= least[i]);
	}
	records = trip_store(writer_db(rig.writer));
	assert_true(records >= 3 * EVENTS + SAMPLES + 1);
	for (int i = 0; i < ARCHIVE_KINDS; i++) {
		assert_lines(rig_all(&rig, kinds[i]), before[i]);
		free(before[i]);
	}
	rig_verify(&rig);
	/* Once more: nothing is left to lose. */
	assert_true(trip_store(writer_db(rig.writer)) == records);
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
compact(void)
{
	struct err err = { 0 };

	rig_good(writer_compact(rig.writer, &err), &err);
}

/* The answers of a store that was compacted, got more records, went through the
 * archive or did not, and was compacted again. */
static void
answer(bool through, char *lines[static ARCHIVE_KINDS])
{
	set_up(NULL);
	compact();
	assert_true(rows_of(TABLES_CHUNKS) > 0);
	assert_int_equal(rows_of(TABLES_ROW_BLOCKS), 0);
	send_events();
	send_samples();
	rig_indexer(&rig);
	assert_true(rows_of(TABLES_ROW_BLOCKS) > 0);
	if (through)
		assert_true(trip_store(writer_db(rig.writer)) >=
			    4 * EVENTS + 2 * SAMPLES + 1);
	compact();
	assert_int_equal(rows_of(TABLES_ROW_BLOCKS), 0);
	for (int i = 0; i < ARCHIVE_KINDS; i++)
		lines[i] = rig_all(&rig, kinds[i]);
	rig_verify(&rig);
	tear_down(NULL);
}

static void
compacted_records_are_the_same(void **state)
{
	char *before[ARCHIVE_KINDS], *after[ARCHIVE_KINDS];

	answer(false, before);
	answer(true, after);
	for (int i = 0; i < ARCHIVE_KINDS; i++) {
		assert_true(before[i][0] != '\0');
		assert_lines(after[i], before[i]);
		free(before[i]);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    nobody_notices_the_way_through_the_archive, set_up,
		    tear_down),
		cmocka_unit_test(compacted_records_are_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

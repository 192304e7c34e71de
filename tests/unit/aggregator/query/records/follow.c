/*
 * follow - tests of aggregator/query/records/follow.c: records in the order of
 * arrival, from any position on.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/query/records/followed.h"

static struct wire_room room;
static uint32_t examined_max; /* maximum examined for a page; 0: the default */

/* Read one page from `place` on, which advances; the lines of its records. */
static bool
page(struct reader *reader, unsigned partition, struct wire_query *query,
    struct wire_position *place, FILE *out)
{
	static unsigned char bytes[512 << 10];
	unsigned char cursor[WIRE_POSITION_BYTES];
	const struct wire_header question = { .type = WIRE_FOLLOW,
		.partition = text_of(partitions[partition]) };
	struct wire_header header = { .type = WIRE_PAGE };
	struct text got, rest;
	struct wire_cursor walk;
	struct wire_writer w;
	struct record record;
	struct err err = { 0 };
	bool last;

	wire_put_position(cursor, place);
	query->cursor = (struct text){ (const char *)cursor, sizeof(cursor) };
	wire_writer_init(&w, bytes, sizeof(bytes));
	rig_good(
	    reader_answer(reader, &question, query, &w, &last, &err), &err);
	header.records = w.records;
	header.body_bytes = (uint32_t)w.bytes;
	assert_int_equal(
	    wire_page_body(&header,
		(struct text){ (const char *)bytes, (uint32_t)w.bytes }, &room,
		&got, &rest),
	    WIRE_OK);
	wire_cursor_init(&walk, &header, rest);
	while (wire_next(&walk, &record)) {
		char *line = line_of(&record, walk.entry);

		fputs(line, out);
		free(line);
	}
	assert_true(wire_get_position(got, place) && got.bytes > 0);
	return last;
}

/* Read everything from `place` on; a new string. */
static char *
follow(unsigned partition, struct wire_query query, struct wire_position *place)
{
	struct reader *reader;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	struct err err = { 0 };

	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	if (examined_max > 0)
		reader->examined_max = examined_max;
	while (!page(reader, partition, &query, place, out))
		;
	reader_close(&reader);
	fclose(out);
	return text;
}

static void
assert_same(char *got, char *want)
{
	assert_string_equal(got, want);
	free(got);
	free(want);
}

static void
assert_followed(unsigned partition, struct wire_query query, uint64_t from)
{
	struct wire_position place = { from, 0 };

	assert_same(follow(partition, query, &place),
	    lines_wanted(partition, &query, from));
	assert_int_equal(place.entry, entries + 1);
	assert_int_equal(place.records, 0);
}

static void
records_come_in_the_order_of_arrival(void **state)
{
	uint64_t random = check_seed();
	unsigned i;

	send_entries(&random, 200);
	for (i = 0; i < PARTITIONS; i++)
		assert_followed(i, rig_query(63, 0), 0);
	assert_true(sents > 500);
	/* The result does not depend on the indexer. */
	rig_indexer(&rig);
	assert_followed(0, rig_query(63, 0), 0);
}

static void
pages_of_any_size_give_each_record_once(void **state)
{
	uint64_t random = check_seed();
	unsigned size;

	send_entries(&random, 120);
	for (size = 1; size < 200000; size = 7 * size + 33) {
		examined_max = 0;
		assert_followed(0, rig_query(63, size), 0);
		examined_max = size;
		assert_followed(1, rig_query(63, 0), 0);
	}
	examined_max = 0;
}

static void
every_position_can_be_resumed_from(void **state)
{
	uint64_t random = check_seed(), from;

	send_entries(&random, check_share(150, 20));
	for (from = 1; from <= entries + 1; from++)
		assert_followed((unsigned)(from % PARTITIONS),
		    rig_query(63, (uint32_t)(check_random(&random) % 4000)),
		    from);
}

static void
only_selected_records_are_returned(void **state)
{
	uint64_t random = check_seed();
	unsigned i, rounds = check_share(300, 30);

	send_entries(&random, 100);
	for (i = 0; i < rounds; i++) {
		struct wire_query query = any_query(&random);

		query.page_bytes = (uint32_t)(check_random(&random) % 5000);
		examined_max = (uint32_t)(check_random(&random) % 50);
		assert_followed((unsigned)(check_random(&random) % PARTITIONS),
		    query, check_random(&random) % (entries + 2));
	}
	examined_max = 0;
}

static void
an_unknown_partition_and_an_empty_journal_are_at_their_end(void **state)
{
	struct wire_query query = rig_query(63, 0);
	struct wire_position place = { 0 };
	uint64_t random = check_seed();

	assert_same(follow(0, query, &place), strdup(""));
	assert_int_equal(place.entry, 1);
	send_lost(&random, 1, 0);
	rig_flush(&rig);
	assert_same(follow(0, query, &place), strdup(""));
	assert_int_equal(place.entry, 2);
}

/* A query that finds nothing must not hold the query server. */
static void
a_page_examines_few_records_if_entries_are_long(void **state)
{
	struct wire_query query = rig_query(63, 0);
	struct wire_position place = { 0 };
	uint64_t random = check_seed();
	struct reader *reader;
	struct err err = { 0 };
	unsigned i;

	for (i = 0; i < 50; i++)
		send_lost(&random, 1, 0);
	for (i = 0; i < 10; i++) {
		struct wire_header header = any_header(2, 0, WIRE_BATCH);

		memset(rig.bytes, 0xC0, 20 << 10); /* whatever it is */
		append_entry(&header,
		    (struct text){ (const char *)rig.bytes, 20 << 10 }, false);
	}
	rig_flush(&rig);
	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	reader->examined_max = 40;
	assert_false(page(reader, 0, &query, &place, stdout));
	assert_int_equal(place.entry, 41);
	assert_false(page(reader, 0, &query, &place, stdout));
	assert_int_equal(place.entry, 53);
	assert_false(page(reader, 0, &query, &place, stdout));
	assert_int_equal(place.entry, 55);
	reader_close(&reader);
}

static void
the_end_is_the_position_of_the_next_record(void **state)
{
	struct wire_query query = rig_query(63, 0);
	struct wire_position place = { UINT64_MAX, 0 };
	uint64_t random = check_seed(), end;

	send_entries(&random, 30);
	end = entries + 1;
	assert_same(follow(0, query, &place), strdup(""));
	assert_int_equal(place.entry, end);
	send_entries(&random, 30);
	assert_same(follow(0, query, &place), lines_wanted(0, &query, end));
	/* A position beyond the end, of a longer journal, continues at the
	 * end. */
	place.entry = 10 * entries;
	assert_same(follow(0, query, &place), strdup(""));
	assert_int_equal(place.entry, entries + 1);
}

/* The line of a gap of `count` entries from `entry` on. */
static char *
gap_line(uint64_t entry, const char *reason, uint64_t count, uint64_t next)
{
	const int64_t then_ns = RIG_T0 + (int64_t)next - 1;
	const struct record record = { .kind = RECORD_GAP,
		.receive_ns = then_ns,
		.time_ns = then_ns,
		.end_ns = then_ns,
		.has_time = true,
		.has_end = true,
		.source = text_of("batch"),
		.name = text_of(reason),
		.count = count };

	return line_of(&record, entry);
}

static char *
joined(char *a, char *b)
{
	char *both = malloc(strlen(a) + strlen(b) + 1);

	assert_non_null(both);
	strcat(strcpy(both, a), b);
	free(a);
	free(b);
	return both;
}

static void
purged_entries_are_reported_first_as_one_gap(void **state)
{
	/* Gaps are reported even if the query does not select them. */
	struct wire_query query = rig_query(1u << RECORD_SAMPLE, 0);
	uint64_t random = check_seed();
	unsigned from;

	send_entries(&random, 60);
	purge_entries(25);
	for (from = 1; from <= 25; from++) {
		/* In the middle of an entry, too. */
		struct wire_position place = { from, from % 3 };

		examined_max = from % 7;
		assert_same(follow(2, query, &place),
		    joined(gap_line(from, "purged", 26 - from, 26),
			lines_wanted(2, &query, 26)));
	}
	examined_max = 0;
	/* A reader that starts at the beginning has missed nothing. */
	assert_followed(2, query, 26);
	struct wire_position place = { 0 };
	assert_same(follow(2, query, &place), lines_wanted(2, &query, 26));
}

static void
damaged_entries_are_reported_in_order(void **state)
{
	struct wire_query query = rig_query(63, 0);
	struct wire_position place = { 0 };
	unsigned char key[ENTRY_KEY_BYTES];
	uint64_t random = check_seed();
	struct err err = { 0 };
	struct db_txn *txn;
	char *got;

	send_entries(&random, 40);
	rig_good(db_begin(journal_db(rig.journal), true, &txn, &err), &err);
	for (unsigned i = 20; i < 23; i++)
		db_put(txn, JOURNAL_ENTRIES, entry_key(key, i),
		    text_of("no frame"));
	db_put(txn, JOURNAL_ENTRIES, entry_key(key, 40), text_of("no frame"));
	assert_int_equal(db_commit(&txn, &err), DB_OK);
	for (unsigned i = 0; i < sents; i++)
		if ((sent[i].entry >= 20 && sent[i].entry < 23) ||
		    sent[i].entry == 40)
			sent[i].partition = PARTITIONS; /* of no partition */
	got = follow(0, query, &place);
	/* At the end: it is reported when another entry follows. */
	assert_int_equal(place.entry, 40);
	send_entries(&random, 5);
	got = joined(got, follow(0, query, &place));
	for (unsigned part = 0; part < 2; part++) {
		char *gap = part ? gap_line(40, "damaged", 1, 41)
				 : gap_line(20, "damaged", 3, 23);
		char *at = strstr(got, gap);

		assert_non_null(at);
		memmove(at, at + strlen(gap), strlen(at + strlen(gap)) + 1);
		free(gap);
	}
	assert_same(got, lines_wanted(0, &query, 0));
}

static void
a_cursor_that_is_no_position_is_refused(void **state)
{
	const struct wire_header question = { .type = WIRE_FOLLOW,
		.partition = text_of("p") };
	struct wire_query query = rig_query(63, 0);
	unsigned char bytes[4096];
	struct reader *reader;
	struct wire_writer w;
	struct err err = { 0 };
	bool last;

	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	query.cursor = text_of("12345678");
	wire_writer_init(&w, bytes, sizeof(bytes));
	assert_int_equal(
	    reader_answer(reader, &question, &query, &w, &last, &err), -1);
	assert_string_equal(
	    err.text, "the cursor is not a position in the journal");
	reader_close(&reader);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(records_come_in_the_order_of_arrival),
		CASE(pages_of_any_size_give_each_record_once),
		CASE(every_position_can_be_resumed_from),
		CASE(only_selected_records_are_returned),
		CASE(
		    an_unknown_partition_and_an_empty_journal_are_at_their_end),
		CASE(a_page_examines_few_records_if_entries_are_long),
		CASE(the_end_is_the_position_of_the_next_record),
		CASE(purged_entries_are_reported_first_as_one_gap),
		CASE(damaged_entries_are_reported_in_order),
		CASE(a_cursor_that_is_no_position_is_refused),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	wire_room_clear(&room);
	return rc;
}

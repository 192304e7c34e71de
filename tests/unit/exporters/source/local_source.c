/*
 * local_source - pages made ahead are the pages that would have been asked for.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/local_source.h"

#include "tests/unit/aggregator/rig.h"

enum { EVENTS = 4000, BATCH = 200, PAGE_BYTES = 2000 };

static struct rig rig;
static struct local_source *local_source;

static int
set_up(void **state)
{
	struct reader *reader = NULL;
	struct err err = { 0 };

	(void)state;
	rig_open(&rig, NULL);
	for (int i = 0; i < EVENTS; i++) {
		rig_event(&rig, i % 3 == 0 ? "left" : "right",
		    RIG_T0 + INT64_C(1000000) * i, "s", "e", "some words");
		if (i % BATCH == BATCH - 1)
			rig_send(&rig, 0);
	}
	rig_indexer(&rig);
	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	local_source = local_source_new(reader);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	local_source_free(&local_source);
	rig_close(&rig);
	return 0;
}

/* All pages of a node's events, one after another, as bytes. */
static struct buffer
read_all(const char *node, bool ahead)
{
	struct buffer all = { NULL, 0, 0 };
	char cursor[WIRE_CURSOR_BYTES_MAX], name[16], partition[32];
	struct wire_query query = { .kinds = 1u << RECORD_EVENT,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.page_bytes = PAGE_BYTES };
	struct wire_room room = { 0 };
	struct wire_header header = { 0 };
	struct err err = { 0 };
	uint32_t pages = 0;

	query.cursor = (struct text){ cursor, 0 };
	do {
		struct text body, position, records;
		struct local_source_question question = { SOURCE_RECORDS,
			{ partition, 0 }, &query };

		strcpy(partition, RIG_PARTITION);
		question.partition = text_of(partition);
		query.node = text_of(strcpy(name, node));
		rig_good(local_source_ask(
			     local_source, &question, &header, &body, &err),
		    &err);
		assert_int_equal(
		    wire_page_body(&header, body, &room, &position, &records),
		    WIRE_OK);
		buffer_put(&all, records.at, records.bytes);
		memcpy(cursor, position.at, position.bytes);
		query.cursor = (struct text){ cursor, position.bytes };
		pages++;
		if (ahead && !(header.flags & WIRE_FLAG_LAST)) {
			local_source_ask_ahead(local_source, &question);
			/* What is asked ahead is a copy. */
			memset(partition, '?', sizeof(partition));
			memset(name, '?', sizeof(name));
		}
	} while (!(header.flags & WIRE_FLAG_LAST));
	assert_true(pages > 10);
	wire_room_clear(&room);
	return all;
}

static void
pages_made_ahead_are_the_same_pages(void **state)
{
	struct buffer plain = read_all("right", false);
	struct buffer ahead = read_all("right", true);

	(void)state;
	assert_true(plain.bytes > 0);
	assert_int_equal(plain.bytes, ahead.bytes);
	assert_memory_equal(plain.at, ahead.at, plain.bytes);
	buffer_clear(&plain);
	buffer_clear(&ahead);
}

static void
what_was_forgotten_is_not_the_next_answer(void **state)
{
	struct buffer want = read_all("left", false), got;
	struct wire_query query = { .kinds = 1u << RECORD_EVENT,
		.node = text_of("right"),
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.page_bytes = PAGE_BYTES };
	struct local_source_question question = { SOURCE_RECORDS,
		text_of(RIG_PARTITION), &query };

	(void)state;
	for (int i = 0; i < 50; i++) {
		local_source_ask_ahead(local_source, &question);
		local_source_forget(local_source);
	}
	got = read_all("left", true);
	assert_int_equal(want.bytes, got.bytes);
	assert_memory_equal(want.at, got.at, want.bytes);
	buffer_clear(&want);
	buffer_clear(&got);
}

static void
the_end_waits_for_a_page_that_is_being_made(void **state)
{
	struct wire_query query = { .kinds = 1u << RECORD_EVENT,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS };
	struct local_source_question question = { SOURCE_RECORDS,
		text_of(RIG_PARTITION), &query };

	(void)state;
	local_source_ask_ahead(local_source, &question);
	local_source_free(&local_source);
	assert_null(local_source);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    pages_made_ahead_are_the_same_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    what_was_forgotten_is_not_the_next_answer, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    the_end_waits_for_a_page_that_is_being_made, set_up,
		    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * local_source - pages made ahead are the pages that would have been asked for.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/local_source.h"

#include <stdatomic.h>
#include <unistd.h>

#include "tests/unit/aggregator/rig.h"

enum { EVENTS = 4000, BATCH = 200, PAGE_BYTES = 2000 };

static struct rig rig;
/* Its transport alone is used: each test asks for the pages itself. */
static struct pages pages;

static int
set_up(void **state)
{
	struct reader *reader = NULL;
	struct err err = { 0 };

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
	local_source_open(&pages, reader);
	return 0;
}

static int
tear_down(void **state)
{
	pages_clear(&pages);
	rig_close(&rig);
	return 0;
}

static struct pages_question
make_question(const char *node)
{
	return (struct pages_question){
		.header = { .type = WIRE_SELECT,
		    .partition = text_of(RIG_PARTITION) },
		.query = { .kinds = 1u << RECORD_EVENT,
		    .node = text_of(node),
		    .from_ns = TIME_MIN_NS,
		    .to_ns = TIME_MAX_NS,
		    .page_bytes = PAGE_BYTES },
	};
}

/* All pages of a node's events, one after another, as bytes. */
static struct buffer
read_all(const char *node, bool ahead)
{
	struct buffer all = { NULL, 0, 0 };
	char cursor[WIRE_CURSOR_BYTES_MAX];
	struct pages_question question = make_question(node);
	struct wire_room room = { 0 };
	struct wire_header header = { 0 };
	struct err err = { 0 };
	bool is_started = false;
	uint32_t count = 0;

	do {
		struct text body, position, records;

		rig_good(pages.transport->take(pages.arg, &question, is_started,
			     &header, &body, &err),
		    &err);
		assert_int_equal(
		    wire_page_body(&header, body, &room, &position, &records),
		    WIRE_OK);
		memcpy(cursor, position.at, position.bytes);
		question.query.cursor = (struct text){ cursor, position.bytes };
		count++;
		is_started = ahead && !(header.flags & WIRE_FLAG_LAST) &&
			     pages.transport->start(pages.arg, &question);
		/* Not moved or written over by the page that is being made. */
		buffer_put_text(&all, records);
	} while (!(header.flags & WIRE_FLAG_LAST));
	assert_true(count > 10);
	wire_room_clear(&room);
	return all;
}

static void
pages_made_ahead_are_the_same_pages(void **state)
{
	struct buffer plain = read_all("right", false);
	struct buffer ahead = read_all("right", true);

	assert_true(plain.bytes > 0);
	assert_int_equal(plain.bytes, ahead.bytes);
	assert_memory_equal(plain.at, ahead.at, plain.bytes);
	buffer_clear(&plain);
	buffer_clear(&ahead);
}

static void
what_was_dropped_is_not_the_next_answer(void **state)
{
	struct buffer want = read_all("left", false), got;

	for (int i = 0; i < 50; i++) {
		struct pages_question question = make_question("right");

		assert_true(pages.transport->start(pages.arg, &question));
		pages.transport->drop(pages.arg);
		/* Nobody reads it any more. */
		memset(&question, 0xff, sizeof(question));
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
	struct pages_question question = make_question("");

	assert_true(pages.transport->start(pages.arg, &question));
	pages_clear(&pages);
	memset(&question, 0xff, sizeof(question));
}

/* ---- a store that must be filled first ---- */

enum { FILL_ROUNDS = 3000 }; /* of 10 ms */

struct filling {
	atomic_bool is_dropped, is_full;
	atomic_uint closed;
	bool was_given_up; /* the last answer */
};

static int
fill_and_answer(void *arg, struct reader *reader,
    const struct pages_question *question, struct wire_writer *w, bool *last,
    struct err *err)
{
	struct filling *filling = arg;
	unsigned rounds = 0;

	while (
	    !filling->is_full && !filling->is_dropped && rounds++ < FILL_ROUNDS)
		usleep(10000);
	filling->was_given_up = !filling->is_full;
	if (filling->was_given_up)
		return err_set(err, rounds < FILL_ROUNDS ? "dropped" : "late");
	return reader_answer(
	    reader, &question->header, &question->query, w, last, err);
}

static void
set_dropped(void *arg, bool is_dropped)
{
	struct filling *filling = arg;

	filling->is_dropped = is_dropped;
}

static void
close_filling(void *arg)
{
	struct filling *filling = arg;

	filling->closed++;
}

static void
open_filling(struct filling *filling)
{
	static const struct local_source_answerer answerer = {
		.answer = fill_and_answer,
		.set_dropped = set_dropped,
		.close = close_filling,
	};
	struct reader *reader = NULL;
	struct err err = { 0 };

	pages_clear(&pages);
	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	local_source_open_with(&pages, reader, &answerer, filling);
}

static void
a_page_that_nobody_wants_is_not_waited_for(void **state)
{
	struct filling filling = { .is_full = false };
	struct pages_question question = make_question("right");
	struct wire_header header;
	struct err err = { 0 };
	struct text body;

	open_filling(&filling);
	assert_true(pages.transport->start(pages.arg, &question));
	pages.transport->drop(pages.arg);
	assert_true(filling.was_given_up);
	/* The next question is wanted again. */
	filling.is_full = true;
	rig_good(pages.transport->take(
		     pages.arg, &question, false, &header, &body, &err),
	    &err);
	assert_true(header.records > 0);
	assert_int_equal(filling.closed, 0);
	pages_clear(&pages);
	assert_int_equal(filling.closed, 1);
}

static void
a_page_that_cannot_be_made_says_why(void **state)
{
	struct filling filling = { .is_dropped = true };
	struct pages_question question = make_question("right");
	struct wire_header header;
	struct err err = { 0 };
	struct text body;

	open_filling(&filling);
	assert_int_equal(pages.transport->take(
			     pages.arg, &question, false, &header, &body, &err),
	    -1);
	assert_string_equal(err.text, "dropped");
	pages_clear(&pages); /* while there is its answerer */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    pages_made_ahead_are_the_same_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    what_was_dropped_is_not_the_next_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    the_end_waits_for_a_page_that_is_being_made, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    a_page_that_nobody_wants_is_not_waited_for, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    a_page_that_cannot_be_made_says_why, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * pages - every page once, in order, one prefetched; the transport is a fake
 * that knows the answer and holds pages of places.h to their promises.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/places.h"

#include "proto/os/clock.h"
#include "tests/unit/check.h"

enum { PAGES_MAX = 40, ROUNDS = 200 };

/* The answer: events 0, 1, 2 ... in pages; page i ends before ends[i].  The
 * cursor of the page after page i is the text "<i>". */
static struct {
	uint32_t ends[PAGES_MAX], pages;
	bool compress, refuse_start;
	uint32_t stuck; /* this page returns the cursor that it was asked with,
			   and no record */
	uint32_t fail;  /* this page fails, once */
	uint32_t spoil; /* the body of this page is no page */
	char log[4096]; /* what was called */
	struct pages_question started;
	bool is_started;
	char texts[5][64]; /* of the question, as it was started */
	unsigned char body[65536], packed[65536];
} fake;

enum { NONE = UINT32_MAX };

static void
reset(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.stuck = fake.fail = fake.spoil = NONE;
}

__attribute__((format(printf, 1, 2))) static void
note(const char *format, ...)
{
	size_t used = strlen(fake.log);
	va_list args;

	va_start(args, format);
	vsnprintf(fake.log + used, sizeof(fake.log) - used, format, args);
	va_end(args);
}

static uint32_t
page_of(const struct pages_question *question)
{
	struct text cursor = question->query.cursor;
	uint32_t page = 0;

	for (uint32_t i = 0; i < cursor.bytes; i++)
		page = page * 10 + (uint32_t)(cursor.at[i] - '0');
	assert_true(page < fake.pages);
	return page;
}

static void
texts_of(const struct pages_question *question, char to[5][64])
{
	const struct text texts[5] = { question->header.partition,
		question->query.node, question->query.name,
		question->query.columns, question->query.cursor };

	for (unsigned i = 0; i < 5; i++)
		snprintf(to[i], 64, "%.*s", (int)texts[i].bytes, texts[i].at);
}

/* The question that was started has not changed since. */
static void
same_as_started(const struct pages_question *question)
{
	char texts[5][64];

	assert_true(fake.is_started);
	assert_memory_equal(question, &fake.started, sizeof(*question));
	texts_of(question, texts);
	for (unsigned i = 0; i < 5; i++)
		assert_string_equal(texts[i], fake.texts[i]);
}

static bool
start(void *arg, const struct pages_question *question)
{
	assert_ptr_equal(arg, &fake);
	assert_false(fake.is_started);
	note("start %u%s\n", page_of(question), fake.refuse_start ? " no" : "");
	if (fake.refuse_start)
		return false;
	fake.started = *question;
	texts_of(question, fake.texts);
	fake.is_started = true;
	return true;
}

static void
put_records(struct wire_writer *w, uint32_t from, uint32_t to)
{
	for (; from < to; from++) {
		struct record record = { .kind = RECORD_EVENT,
			.node = text_of("n"),
			.id = { .seq = 1, .index = from },
			.time_ns = from,
			.source = text_of("s"),
			.name = text_of("e") };

		assert_true(wire_put_context_full(w, &record));
		assert_true(wire_put_record(w, &record));
	}
}

/* Make page `page` in fake.body, over the one before. */
static void
make_page(const struct pages_question *question, uint32_t page,
    struct wire_header *header, struct text *body)
{
	bool is_last = page + 1 == fake.pages;
	struct wire_writer w;
	char cursor[16];
	size_t bytes;

	snprintf(cursor, sizeof(cursor), "%u", page + 1);
	memset(fake.body, 0xff, sizeof(fake.body));
	memset(fake.packed, 0xff, sizeof(fake.packed));
	wire_writer_init(&w, fake.body, sizeof(fake.body));
	wire_put_page_cursor(
	    &w, page == fake.stuck ? question->query.cursor : text_of(cursor));
	if (page != fake.stuck)
		put_records(
		    &w, page > 0 ? fake.ends[page - 1] : 0, fake.ends[page]);
	*header = (struct wire_header){ .type = WIRE_PAGE,
		.flags = is_last ? WIRE_FLAG_LAST : 0,
		.records = w.records,
		.generation = 100 + page,
		.body_bytes = (uint32_t)w.bytes };
	*body = (struct text){ (char *)fake.body, (uint32_t)w.bytes };
	if (page == fake.spoil)
		header->records++;
	if (!fake.compress)
		return;
	bytes = wire_compress(fake.packed, sizeof(fake.packed), *body);
	if (bytes > 0) {
		header->codec = WIRE_ZSTD;
		*body = (struct text){ (char *)fake.packed, (uint32_t)bytes };
	}
}

static int
take(void *arg, const struct pages_question *question, bool is_started,
    struct wire_header *header, struct text *body, struct err *err)
{
	uint32_t page = page_of(question);

	assert_ptr_equal(arg, &fake);
	note("take %u%s\n", page, is_started ? " started" : "");
	if (is_started)
		same_as_started(question);
	else
		assert_false(fake.is_started);
	fake.is_started = false;
	if (page == fake.fail) {
		fake.fail = NONE;
		return err_set(err, "the wire is cut");
	}
	make_page(question, page, header, body);
	return 0;
}

/* Until now the transport may have been reading the texts. */
static void
drop(void *arg)
{
	char texts[5][64];

	assert_ptr_equal(arg, &fake);
	assert_true(fake.is_started);
	texts_of(&fake.started, texts);
	for (unsigned i = 0; i < 5; i++)
		assert_string_equal(texts[i], fake.texts[i]);
	fake.is_started = false;
	note("drop\n");
}

static void
close_fake(void *arg)
{
	assert_ptr_equal(arg, &fake);
	assert_false(fake.is_started);
	note("close\n");
}

static const struct pages_transport transport = { .start = start,
	.take = take,
	.drop = drop,
	.close = close_fake,
	.page_bytes = WIRE_PAGE_BYTES };

static struct pages_question
make_question(uint32_t page_bytes)
{
	return (struct pages_question){
		.header = { .type = WIRE_SELECT,
		    .flags = WIRE_FLAG_PLAIN,
		    .partition = text_of("a$p") },
		.query = { .kinds = 1u << RECORD_EVENT,
		    .name = text_of("s:*"),
		    .from_ns = TIME_MIN_NS,
		    .to_ns = TIME_MAX_NS,
		    .page_bytes = page_bytes },
	};
}

/* Pages that end before these events. */
static void
answer_with(uint32_t pages, const uint32_t *ends)
{
	memcpy(fake.ends, ends, pages * sizeof(*ends));
	fake.pages = pages;
}

/* Three pages: events 0 and 1, 2 to 4, and 5. */
static void
open_three(struct pages *pages)
{
	reset();
	answer_with(3, (uint32_t[]){ 2, 5, 6 });
	pages_init(pages, &transport, &fake);
}

/* Read the rest of the answer: events `from` to `to`, without the last. */
static int
read_rest(struct pages *pages, uint32_t from, uint32_t to, struct err *err)
{
	struct wire_cursor records = { .rest = { NULL, 0 } };
	struct record record;
	int rc;

	err->text[0] = '\0';
	while ((rc = pages_next(pages, &records, err)) > 0)
		while (wire_next(&records, &record)) {
			assert_int_equal(record.id.index, from);
			assert_int_equal(record.time_ns, from++);
		}
	if (rc == 0)
		assert_int_equal(from, to);
	assert_int_equal(records.rest.bytes, 0);
	return rc;
}

/* The calls for a query with this page size and an answer of 3 pages. */
static const char *
calls(uint32_t page_bytes)
{
	struct pages_question question = make_question(page_bytes);
	struct pages pages;
	struct err err;

	answer_with(3, (uint32_t[]){ 2, 5, 6 });
	pages_init(&pages, &transport, &fake);
	pages_begin(&pages, &question);
	assert_int_equal(pages.question.query.page_bytes,
	    page_bytes > 0 ? page_bytes : 224 << 10);
	assert_int_equal(read_rest(&pages, 0, 6, &err), 0);
	assert_int_equal(pages.generation, 102);
	assert_true(pages.is_last);
	assert_int_equal(read_rest(&pages, 0, 0, &err), 0);
	pages_clear(&pages);
	return fake.log;
}

static void
large_pages_are_prefetched_and_small_ones_are_not(void **state)
{
	static const char prefetched[] =
	    "take 0\nstart 1\ntake 1 started\nstart 2\ntake 2 started\nclose\n";
	static const char plain[] = "take 0\ntake 1\ntake 2\nclose\n";

	reset();
	assert_string_equal(calls(0), prefetched);
	reset();
	assert_string_equal(calls(229376), prefetched);
	reset();
	assert_string_equal(calls(229375), plain);
	reset();
	assert_string_equal(calls(1), plain);
}

static void
a_page_that_could_not_be_started_is_asked_for_later(void **state)
{
	reset();
	fake.refuse_start = true;
	assert_string_equal(calls(0),
	    "take 0\nstart 1 no\ntake 1\nstart 2 no\ntake 2\nclose\n");
}

static void
an_answer_is_the_same_however_it_is_divided(void **state)
{
	uint64_t random = check_seed();
	struct pages pages;

	pages_init(&pages, &transport, &fake);
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct pages_question question =
		    make_question(check_random(&random) & 1 ? 0 : 100);
		uint32_t ends[PAGES_MAX], end = 0;
		uint32_t count = 1 + check_random(&random) % PAGES_MAX;
		struct err err;

		for (uint32_t i = 0; i < count; i++) {
			/* Some are empty. */
			end += check_random(&random) % 3
				   ? check_random(&random) % 10
				   : 0;
			ends[i] = end;
		}
		reset();
		fake.compress = check_random(&random) & 1;
		fake.refuse_start = check_random(&random) % 4 == 0;
		answer_with(count, ends);
		pages_begin(&pages, &question);
		assert_int_equal(read_rest(&pages, 0, end, &err), 0);
	}
	pages_clear(&pages);
}

static void
a_query_begins_at_its_cursor(void **state)
{
	struct pages_question question = make_question(1);
	struct pages pages;
	struct err err;

	open_three(&pages);
	question.query.cursor = text_of("1");
	pages_begin(&pages, &question);
	assert_int_equal(read_rest(&pages, 2, 6, &err), 0);
	assert_string_equal(fake.log, "take 1\ntake 2\n");
	pages_clear(&pages);
}

static void
the_texts_of_the_caller_may_go(void **state)
{
	char partition[] = "a$p", node[] = "n*", name[] = "s:e",
	     columns[] = "c", cursor[] = "0";
	struct pages_question question = make_question(0);
	struct wire_cursor records;
	struct pages pages;
	struct err err;
	char texts[5][64];

	open_three(&pages);
	question.header.partition = text_of(partition);
	question.query.node = text_of(node);
	question.query.name = text_of(name);
	question.query.columns = text_of(columns);
	question.query.cursor = text_of(cursor);
	pages_begin(&pages, &question);
	memset(partition, '?', 3);
	memset(node, '?', 2);
	memset(name, '?', 3);
	memset(columns, '?', 1);
	memset(cursor, '?', 1);
	assert_int_equal(pages_next(&pages, &records, &err), 1);
	texts_of(&fake.started, texts);
	assert_string_equal(texts[0], "a$p");
	assert_string_equal(texts[1], "n*");
	assert_string_equal(texts[2], "s:e");
	assert_string_equal(texts[3], "c");
	assert_string_equal(texts[4], "1");
	pages_clear(&pages);
}

static void
a_new_query_drops_the_page_that_was_started(void **state)
{
	struct pages_question question = make_question(0);
	struct wire_cursor records;
	struct pages pages;
	struct err err;

	open_three(&pages);
	for (unsigned i = 0; i < 2; i++) {
		pages_begin(&pages, &question);
		assert_int_equal(pages_next(&pages, &records, &err), 1);
		question.header.partition = text_of("another partition");
		question.query.name = text_of("another name");
	}
	pages_clear(&pages);
	assert_string_equal(
	    fake.log, "take 0\nstart 1\ndrop\ntake 0\nstart 1\ndrop\nclose\n");
}

static void
a_page_that_failed_is_asked_for_again(void **state)
{
	struct pages_question question = make_question(0);
	struct pages pages;
	struct err err;

	open_three(&pages);
	pages_begin(&pages, &question);
	fake.fail = 1;
	assert_int_equal(read_rest(&pages, 0, 6, &err), -1);
	assert_string_equal(err.text, "the wire is cut");
	assert_int_equal(read_rest(&pages, 2, 6, &err), 0);
	assert_string_equal(fake.log, "take 0\nstart 1\ntake 1 started\n"
				      "take 1\nstart 2\ntake 2 started\n");
	pages_clear(&pages);
}

/* The transport may use their memory for the page that it could not make. */
static void
records_do_not_outlive_their_page_when_the_next_one_fails(void **state)
{
	struct pages_question question = make_question(0);
	struct wire_cursor records;
	struct pages pages;
	struct record record;
	struct err err;

	reset();
	answer_with(2, (uint32_t[]){ 2, 5 });
	fake.fail = 1;
	pages_init(&pages, &transport, &fake);
	pages_begin(&pages, &question);
	assert_int_equal(pages_next(&pages, &records, &err), 1);
	assert_true(wire_next(&records, &record));
	assert_int_equal(pages_next(&pages, &records, &err), -1);
	assert_false(wire_next(&records, &record));
	pages_clear(&pages);
}

static void
a_page_that_neither_ends_nor_advances_is_an_error(void **state)
{
	struct pages_question question = make_question(1);
	struct pages pages;
	struct err err;

	for (uint32_t stuck = 0; stuck < 3; stuck++) {
		reset();
		answer_with(3, (uint32_t[]){ 2, 5, 5 });
		fake.stuck = stuck;
		pages_init(&pages, &transport, &fake);
		pages_begin(&pages, &question);
		/* The last one may: it is not asked for again. */
		assert_int_equal(
		    read_rest(&pages, 0, 5, &err), stuck < 2 ? -1 : 0);
		if (stuck < 2)
			assert_string_equal(err.text,
			    "protocol error: the server returned the same "
			    "position twice");
		pages_clear(&pages);
	}
}

static void
a_body_that_is_no_page_is_an_error(void **state)
{
	struct pages_question question = make_question(0);
	struct pages pages;
	struct err err;

	open_three(&pages);
	fake.spoil = 1;
	pages_begin(&pages, &question);
	assert_int_equal(read_rest(&pages, 0, 6, &err), -1);
	assert_non_null(strstr(err.text, "cannot parse a page: "));
	pages_clear(&pages);
	assert_string_equal(
	    fake.log, "take 0\nstart 1\ntake 1 started\nclose\n");
}

static void
without_a_query_there_are_no_pages(void **state)
{
	struct wire_cursor records;
	struct pages pages;
	struct err err;

	reset();
	pages_init(&pages, &transport, &fake);
	assert_int_equal(pages_next(&pages, &records, &err), 0);
	pages_clear(&pages);
	assert_string_equal(fake.log, "close\n");
	assert_int_equal(pages_next(&pages, &records, &err), 0);
	pages_clear(&pages);
	assert_string_equal(fake.log, "close\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    large_pages_are_prefetched_and_small_ones_are_not),
		cmocka_unit_test(
		    a_page_that_could_not_be_started_is_asked_for_later),
		cmocka_unit_test(an_answer_is_the_same_however_it_is_divided),
		cmocka_unit_test(a_query_begins_at_its_cursor),
		cmocka_unit_test(the_texts_of_the_caller_may_go),
		cmocka_unit_test(a_new_query_drops_the_page_that_was_started),
		cmocka_unit_test(a_page_that_failed_is_asked_for_again),
		cmocka_unit_test(
		    records_do_not_outlive_their_page_when_the_next_one_fails),
		cmocka_unit_test(
		    a_page_that_neither_ends_nor_advances_is_an_error),
		cmocka_unit_test(a_body_that_is_no_page_is_an_error),
		cmocka_unit_test(without_a_query_there_are_no_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

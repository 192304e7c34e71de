/*
 * source - pages from a listener that answers as it should, and as it should
 * not.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/source.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/net/zsock.h"
#include "proto/os/clock.h"
#include "tests/unit/check.h"

enum { PAGES = 3, RECORDS = 5, FETCHES = 30 };

enum manner {
	ANSWER,    /* PAGES pages of RECORDS events */
	REFUSE,    /* nack forbidden */
	BUSY_ONCE, /* nack busy, then as ANSWER */
	SILENT,
	LOSE_FIRST,  /* no answer to the first of each question */
	STALE_FIRST, /* an answer to another question comes first */
	CIRCLE,      /* empty pages without an end */
	GARBAGE,     /* bytes that are no frame */
	OLD,         /* nack unsupported, which does not say of what */
	FETCH_FIRST, /* nack fetching, FETCHES times, then as ANSWER */
	BROKEN,      /* nack io, with what is broken */
};

static struct {
	pthread_t thread;
	atomic_bool stop;
	atomic_bool ready;
	enum manner manner;
	char endpoint[128];
	atomic_uint questions;
	struct wire_header last; /* the last question; views are not kept */
	uint32_t last_kinds;
	struct wire_query query;
} aggregator;

static char dir[] = "/tmp/source.XXXXXX";

static const struct source_options unnamed;

static int
make_dir(void **state)
{
	if (mkdtemp(dir) == NULL)
		return 1;
	snprintf(aggregator.endpoint, sizeof(aggregator.endpoint),
	    "ipc://%s/r.ipc", dir);
	return 0;
}

static int
remove_dir(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

static void
put_event(struct wire_writer *w, uint32_t page, uint32_t i)
{
	struct record r = {
		.kind = RECORD_EVENT,
		.node = text_of("n"),
		.id = { .seq = page + 1, .index = i },
		.time_ns = page * 1000 + i,
		.source = text_of("s"),
		.name = text_of("e"),
	};

	assert_true(wire_put_context_full(w, &r));
	assert_true(wire_put_record(w, &r));
}

static void
answer(struct zsock *zsock, const struct zsock_message *m,
    const struct wire_header *question, uint32_t page, bool stale)
{
	static unsigned char buffer[65536], frame[65536];
	struct wire_header h = {
		.type = WIRE_PAGE,
		.flags = page + 1 >= PAGES ? WIRE_FLAG_LAST : 0,
		.sent_ns = question->sent_ns - stale,
	};
	struct wire_writer w;
	char cursor = (char)(page + 1);
	bool empty = aggregator.manner == CIRCLE;
	size_t bytes;

	wire_writer_init(&w, buffer, sizeof(buffer));
	if (empty)
		h.flags = 0;
	assert_true(
	    wire_put_page_cursor(&w, (struct text){ &cursor, empty ? 0 : 1 }));
	for (uint32_t i = 0; i < RECORDS && !empty; i++)
		put_event(&w, page + (stale ? 77 : 0), i);
	h.records = w.records;
	bytes = wire_frame(frame, sizeof(frame), &h,
	    (struct text){ (const char *)buffer, (uint32_t)w.bytes });
	assert_true(bytes > 0);
	zsock_send(zsock, &m->route,
	    (struct text){ (const char *)frame, (uint32_t)bytes });
}

static void
nack(struct zsock *zsock, const struct zsock_message *m,
    const struct wire_header *question, enum wire_reason reason)
{
	struct wire_header h = {
		.type = WIRE_NACK,
		.reason = reason,
		.retry_ms = 20,
		.detail =
		    text_of(reason == WIRE_NACK_IO ? "the disk is gone" : ""),
		.sent_ns = question->sent_ns,
	};
	unsigned char frame[2048];
	size_t bytes =
	    wire_frame(frame, sizeof(frame), &h, (struct text){ NULL, 0 });

	zsock_send(zsock, &m->route,
	    (struct text){ (const char *)frame, (uint32_t)bytes });
}

static void
take(struct zsock *zsock, const struct zsock_message *m)
{
	struct wire_header question;
	struct wire_query query;
	struct text body;
	uint32_t page;

	assert_int_equal(wire_open(m->frame, &question, &body), WIRE_OK);
	assert_int_equal(wire_get_query(body, &query), WIRE_OK);
	page = query.cursor.bytes == 1 ? (uint32_t)query.cursor.at[0] : 0;
	aggregator.questions++;
	aggregator.last = question;
	aggregator.last_kinds = query.kinds;
	switch (aggregator.manner) {
	case SILENT: return;
	case REFUSE: nack(zsock, m, &question, WIRE_NACK_FORBIDDEN); return;
	case OLD:
		question.sent_ns = 0;
		nack(zsock, m, &question, WIRE_NACK_UNSUPPORTED);
		return;
	case GARBAGE:
		zsock_send(zsock, &m->route, text_of("what is this?"));
		return;
	case LOSE_FIRST:
		if (aggregator.questions % 2 == 1)
			return;
		break;
	case BUSY_ONCE:
		if (aggregator.questions == 1) {
			nack(zsock, m, &question, WIRE_NACK_BUSY);
			return;
		}
		break;
	case FETCH_FIRST:
		if (aggregator.questions <= FETCHES) {
			nack(zsock, m, &question, WIRE_NACK_FETCHING);
			return;
		}
		break;
	case BROKEN: nack(zsock, m, &question, WIRE_NACK_IO); return;
	case STALE_FIRST: answer(zsock, m, &question, page, true); break;
	default: break;
	}
	answer(zsock, m, &question, page, false);
}

static void *
keep(void *arg)
{
	struct zsock_options options = { .kind = ZSOCK_LISTENER,
		.queue_messages = 16,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };
	struct zsock_message m;
	struct zsock *zsock;
	struct err err;

	zsock_message_init(&m);
	assert_int_equal(zsock_open(&zsock, &options, &err), 0);
	assert_int_equal(zsock_bind(zsock, aggregator.endpoint, &err), 0);
	atomic_store(&aggregator.ready, true);
	while (!atomic_load(&aggregator.stop)) {
		struct pollfd fd = { zsock_fd(zsock), POLLIN, 0 };

		while (zsock_recv(zsock, &m) == ZSOCK_DONE)
			take(zsock, &m);
		if (!zsock_is_ready(zsock))
			poll(&fd, 1, 20);
	}
	zsock_message_clear(&m);
	zsock_close(&zsock);
	return NULL;
}

static void
start(enum manner manner)
{
	aggregator.manner = manner;
	aggregator.questions = 0;
	atomic_store(&aggregator.stop, false);
	atomic_store(&aggregator.ready, false);
	assert_int_equal(
	    pthread_create(&aggregator.thread, NULL, keep, NULL), 0);
	while (!atomic_load(&aggregator.ready))
		poll(NULL, 0, 1);
}

static void
stop(void)
{
	atomic_store(&aggregator.stop, true);
	pthread_join(aggregator.thread, NULL);
}

/* Read all; the number of records, or -1. */
static int
read_all(enum source_what what, int64_t silence_ns, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_EVENT);
	struct source *source;
	struct record r;
	int count = 0, rc;

	err->text[0] = '\0';
	assert_int_equal(source_open_endpoint(&source, &unnamed,
			     aggregator.endpoint, silence_ns, err),
	    0);
	/* Else it is asked for clocks, too. */
	source_clock(source)->choice = CLOCK_RAW;
	rc = source_select(source, what, text_of("a$p"), &query, err);
	while (rc == 0 && (rc = source_next(source, &r, err)) > 0) {
		assert_int_equal(r.id.seq, (unsigned)count / RECORDS + 1);
		assert_int_equal(r.id.index, (unsigned)count % RECORDS);
		assert_true(text_equal(r.node, text_of("n")));
		count++;
		rc = 0;
	}
	source_close(&source);
	return rc < 0 ? -1 : count;
}

/* Read all from an aggregator of this manner.  It has ended when this returns,
 * so what it saw can be looked at. */
static int
ask(enum manner manner, enum source_what what, int64_t silence_ns,
    struct err *err)
{
	int count;

	start(manner);
	count = read_all(what, silence_ns, err);
	stop();
	return count;
}

static void
pages_are_read_one_after_another(void **state)
{
	struct err err;

	start(ANSWER);
	assert_true(source_is_listening(aggregator.endpoint));
	assert_int_equal(read_all(SOURCE_RECORDS, 10 * NS_PER_SECOND, &err),
	    PAGES * RECORDS);
	stop();
	assert_false(source_is_listening(aggregator.endpoint));
	assert_int_equal(aggregator.questions, PAGES);
	assert_int_equal(aggregator.last.type, WIRE_SELECT);
	assert_int_equal(aggregator.last_kinds, 1u << RECORD_EVENT);
}

static void
the_next_page_is_asked_for_while_one_is_read(void **state)
{
	struct wire_query query = source_query(1u << RECORD_EVENT);
	struct source *source;
	struct record r;
	struct err err;
	unsigned count = 0;

	start(ANSWER);
	assert_int_equal(source_open_endpoint(&source, &unnamed,
			     aggregator.endpoint, 10 * NS_PER_SECOND, &err),
	    0);
	source_clock(source)->choice = CLOCK_RAW;
	for (unsigned i = 1; i <= 2; i++) {
		/* The second one before the first is read. */
		assert_int_equal(source_select(source, SOURCE_RECORDS,
				     text_of("a$p"), &query, &err),
		    0);
		while (atomic_load(&aggregator.questions) < 2 * i)
			poll(NULL, 0, 1);
	}
	while (source_next(source, &r, &err) > 0) {
		assert_int_equal(r.id.seq, count / RECORDS + 1);
		assert_int_equal(r.id.index, count % RECORDS);
		count++;
	}
	assert_int_equal(count, PAGES * RECORDS);
	source_close(&source);
	stop();
	assert_int_equal(aggregator.questions, 2 + PAGES);
}

static void
each_question_has_its_type(void **state)
{
	struct err err;

	ask(ANSWER, SOURCE_STATS_BY_NODE, 10 * NS_PER_SECOND, &err);
	assert_int_equal(aggregator.last.type, WIRE_STATS);
	assert_int_equal(
	    aggregator.last.flags, WIRE_FLAG_BY_NODE | WIRE_FLAG_PLAIN);
	ask(ANSWER, SOURCE_STATS, 10 * NS_PER_SECOND, &err);
	assert_int_equal(aggregator.last.type, WIRE_STATS);
	assert_int_equal(aggregator.last.flags, WIRE_FLAG_PLAIN);
	ask(ANSWER, SOURCE_STATUS, 10 * NS_PER_SECOND, &err);
	assert_int_equal(aggregator.last.type, WIRE_STATUS);
}

static void
a_refusal_is_an_error_with_its_reason(void **state)
{
	struct err err;

	assert_int_equal(
	    ask(REFUSE, SOURCE_RECORDS, 10 * NS_PER_SECOND, &err), -1);
	assert_non_null(strstr(err.text, "forbidden"));
	assert_non_null(strstr(err.text, aggregator.endpoint));
}

/* A laptop that was closed, a batch system that suspends. */
static void
a_reader_that_was_stopped_for_longer_than_it_waits_goes_on(void **state)
{
	enum { SILENCE_S = 3 };
	struct err err;
	int gate[2], status;
	pid_t reader;
	char byte;

	assert_int_equal(pipe(gate), 0);
	reader = fork();
	if (reader == 0) {
		close(gate[1]);
		/* Whoever asks before there is a listener gets an error, and
		 * a socket's file is there before one can connect to it. */
		if (read(gate[0], &byte, 1) != 1)
			_exit(255);
		_exit(
		    read_all(SOURCE_RECORDS, SILENCE_S * NS_PER_SECOND, &err));
	}
	close(gate[0]);
	start(SILENT);
	assert_int_equal(write(gate[1], "", 1), 1);
	close(gate[1]);
	while (atomic_load(&aggregator.questions) == 0) {
		assert_int_equal(waitpid(reader, &status, WNOHANG), 0);
		poll(NULL, 0, 1);
	}
	kill(reader, SIGSTOP);
	stop();
	start(ANSWER);
	poll(NULL, 0, SILENCE_S * 1000);
	kill(reader, SIGCONT);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	stop();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), PAGES * RECORDS);
}

static int
follow(enum manner manner, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_EVENT);
	struct source *source;
	struct record r;
	int rc;

	start(manner);
	err->text[0] = '\0';
	assert_int_equal(source_open_endpoint(&source, &unnamed,
			     aggregator.endpoint, 10 * NS_PER_SECOND, err),
	    0);
	rc = source_follow(source, text_of("a$p"), &query, 1, err);
	while (rc == 0 && (rc = source_next(source, &r, err)) > 0)
		rc = 0;
	source_close(&source);
	stop();
	assert_int_equal(aggregator.last.type, WIRE_FOLLOW);
	return rc;
}

static void
a_listener_that_cannot_be_followed_says_so_at_once(void **state)
{
	struct err err;

	assert_int_equal(follow(OLD, &err), -1);
	assert_non_null(strstr(err.text, "refused: unsupported: its "
					 "version does not support"));
	assert_int_equal(aggregator.questions, 1);
}

static void
pages_that_do_not_say_where_they_end_are_refused(void **state)
{
	struct err err;

	assert_int_equal(follow(ANSWER, &err), -1);
	assert_non_null(strstr(err.text, "has no journal position"));
	assert_int_equal(follow(CIRCLE, &err), -1);
}

static void
busy_and_lost_questions_are_asked_again(void **state)
{
	struct err err;

	assert_int_equal(
	    ask(BUSY_ONCE, SOURCE_RECORDS, 20 * NS_PER_SECOND, &err),
	    PAGES * RECORDS);
	assert_int_equal(aggregator.questions, PAGES + 1);
	assert_int_equal(
	    ask(LOSE_FIRST, SOURCE_RECORDS, 20 * NS_PER_SECOND, &err),
	    PAGES * RECORDS);
	assert_int_equal(aggregator.questions, 2 * PAGES);
}

/* 30 times 20 ms are more than the 250 ms after which it would be silent. */
static void
who_reads_an_archive_first_is_not_silent(void **state)
{
	struct err err;

	assert_int_equal(
	    ask(FETCH_FIRST, SOURCE_RECORDS, NS_PER_SECOND / 4, &err),
	    PAGES * RECORDS);
	assert_int_equal(aggregator.questions, FETCHES + PAGES);
}

static void
a_question_that_failed_says_why(void **state)
{
	struct err err;

	assert_int_equal(
	    ask(BROKEN, SOURCE_RECORDS, 10 * NS_PER_SECOND, &err), -1);
	assert_non_null(strstr(err.text, "refused: the disk is gone"));
	assert_non_null(strstr(err.text, aggregator.endpoint));
}

static void
an_answer_to_another_question_is_not_taken(void **state)
{
	struct err err;

	assert_int_equal(
	    ask(STALE_FIRST, SOURCE_RECORDS, 10 * NS_PER_SECOND, &err),
	    PAGES * RECORDS);
}

static void
read_entities(struct source *source, const char *name)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct record r;
	struct err err;
	unsigned count = 0;

	query.name = text_of(name);
	assert_int_equal(
	    source_select(source, SOURCE_RECORDS, text_of("a$p"), &query, &err),
	    0);
	while (source_next(source, &r, &err) > 0) {
		assert_int_equal(r.id.seq, count / RECORDS + 1);
		assert_int_equal(r.id.index, count % RECORDS);
		count++;
	}
	assert_int_equal(count, PAGES * RECORDS);
}

static void
ahead_of_entities(struct source *source, const char *name)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);

	query.name = text_of(name);
	source_ahead(source, SOURCE_RECORDS, text_of("a$p"), &query);
}

/* The first page of "b:*" comes while "a:*" is read, also when the aggregator
 * was busy, and is asked for once.  What comes for "c:*" is not of the question
 * that somebody asks later. */
static void
what_is_asked_ahead_is_taken_in_its_turn(void **state)
{
	static const enum manner manners[] = { ANSWER, STALE_FIRST, BUSY_ONCE };

	for (unsigned i = 0; i < 3; i++) {
		unsigned more = manners[i] == BUSY_ONCE;
		struct source *source;
		struct err err;

		start(manners[i]);
		assert_int_equal(
		    source_open_endpoint(&source, &unnamed, aggregator.endpoint,
			10 * NS_PER_SECOND, &err),
		    0);
		ahead_of_entities(source, "b:*");
		ahead_of_entities(source, "b:*");
		read_entities(source, "a:*");
		read_entities(source, "b:*");
		assert_int_equal(aggregator.questions, 2 * PAGES + more);
		read_entities(source, "b:*");
		assert_int_equal(aggregator.questions, 3 * PAGES + more);
		ahead_of_entities(source, "c:*");
		read_entities(source, "a:*");
		assert_int_equal(aggregator.questions, 4 * PAGES + 1 + more);
		source_renew(source);
		read_entities(source, "c:*");
		assert_int_equal(aggregator.questions, 5 * PAGES + 1 + more);
		source_close(&source);
		stop();
	}
}

static void
silence_ends_in_an_error_in_time(void **state)
{
	int64_t began_ns = clock_monotonic_ns();
	struct err err;

	assert_int_equal(
	    ask(SILENT, SOURCE_RECORDS, NS_PER_SECOND / 4, &err), -1);
	assert_non_null(strstr(err.text, "no answer in 0.25 s"));
	/* Nobody there at all. */
	assert_int_equal(read_all(SOURCE_RECORDS, NS_PER_SECOND / 4, &err), -1);
	assert_non_null(strstr(err.text, "nobody listens there"));
	assert_true(clock_monotonic_ns() - began_ns < 30 * NS_PER_SECOND);
}

static void
nonsense_ends_in_an_error(void **state)
{
	struct err err;

	assert_int_equal(
	    ask(CIRCLE, SOURCE_RECORDS, 10 * NS_PER_SECOND, &err), -1);
	assert_non_null(strstr(err.text, "same position twice"));
	assert_int_equal(
	    ask(GARBAGE, SOURCE_RECORDS, 10 * NS_PER_SECOND, &err), -1);
	assert_non_null(strstr(err.text, "cannot parse"));
}

static void
without_store_and_aggregator_the_error_says_what_to_give(void **state)
{
	struct source *source;
	struct err err;

	opt_common_values.dir = dir;
	assert_int_equal(source_open(&source, &unnamed, &err), -1);
	assert_null(source);
	assert_non_null(strstr(err.text, "--connect"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_read_one_after_another),
		cmocka_unit_test(the_next_page_is_asked_for_while_one_is_read),
		cmocka_unit_test(each_question_has_its_type),
		cmocka_unit_test(a_refusal_is_an_error_with_its_reason),
		cmocka_unit_test(
		    a_reader_that_was_stopped_for_longer_than_it_waits_goes_on),
		cmocka_unit_test(
		    a_listener_that_cannot_be_followed_says_so_at_once),
		cmocka_unit_test(
		    pages_that_do_not_say_where_they_end_are_refused),
		cmocka_unit_test(busy_and_lost_questions_are_asked_again),
		cmocka_unit_test(who_reads_an_archive_first_is_not_silent),
		cmocka_unit_test(a_question_that_failed_says_why),
		cmocka_unit_test(an_answer_to_another_question_is_not_taken),
		cmocka_unit_test(what_is_asked_ahead_is_taken_in_its_turn),
		cmocka_unit_test(silence_ends_in_an_error_in_time),
		cmocka_unit_test(nonsense_ends_in_an_error),
		cmocka_unit_test(
		    without_store_and_aggregator_the_error_says_what_to_give),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

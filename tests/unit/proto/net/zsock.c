/*
 * Tests of proto/net/zsock.h, with real sockets: messages and who is there.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/proto/net/zsock_help.h"

#include <sched.h>
#include <unistd.h>

static void
a_message_goes_up_and_its_answer_comes_back(void **state)
{
	struct zsock *listener = open_listener(), *line = open_line();
	struct zsock_message m;

	zsock_message_init(&m);
	assert_int_equal(
	    zsock_send(line, &no_route, text_of("question")), ZSOCK_DONE);
	recv_one(listener, &m);
	assert_frame(&m, "question");
	assert_true(m.route.bytes > 0);
	assert_int_equal(
	    zsock_send(listener, &m.route, text_of("answer")), ZSOCK_DONE);
	recv_one(line, &m);
	assert_frame(&m, "answer");
	assert_int_equal(m.route.bytes, 0);
	assert_int_equal(zsock_recv(line, &m), ZSOCK_AGAIN);
	assert_int_equal(zsock_counters(listener)->received, 1);
	assert_int_equal(zsock_counters(listener)->received_bytes, 8);
	assert_int_equal(zsock_counters(line)->received_bytes, 6);
	zsock_message_clear(&m);
	zsock_close(&line);
	wait_peers(listener, 0);
	zsock_close(&listener);
	zsock_close(&listener); /* NULL is nothing to close */
}

static void
passing_on_keeps_frame_and_route(void **state)
{
	struct zsock *up = open_listener(), *line = open_line(), *listener;
	struct zsock *agent;
	struct zsock_message m;
	struct route route;

	snprintf(where, sizeof(where), "ipc://%s/second", dir);
	listener = open_listener();
	agent = open_line();
	zsock_message_init(&m);
	zsock_send(agent, &no_route, text_of("batch"));
	recv_one(listener, &m);
	assert_int_equal(zsock_forward(line, &m), ZSOCK_DONE);
	assert_false(m.held);
	recv_one(up, &m);
	assert_frame(&m, "batch");
	route = m.route;
	zsock_send(up, &route, text_of("ack"));
	recv_one(line, &m);
	assert_int_equal(zsock_forward(listener, &m), ZSOCK_DONE);
	recv_one(agent, &m);
	assert_frame(&m, "ack");
	assert_int_equal(m.route.bytes, 0);
	zsock_message_clear(&m);
	zsock_close(&agent);
	zsock_close(&line);
	zsock_close(&listener);
	zsock_close(&up);
}

static void
a_line_without_a_peer_says_again_and_becomes_ready_when_there_is_one(
    void **state)
{
	struct zsock *line = open_port(ZSOCK_CONNECTION), *listener;
	struct err err;
	int64_t limit;

	assert_int_equal(zsock_connect(line, where, &err), 0);
	assert_int_equal(
	    zsock_send(line, &no_route, text_of("x")), ZSOCK_AGAIN);
	assert_false(zsock_is_ready(line));
	assert_int_equal(zsock_counters(line)->full, 1);
	listener = open_listener();
	limit = clock_monotonic_ns() + (int64_t)PATIENCE_MS * 1000000;
	while (!zsock_is_ready(line)) {
		assert_true(clock_monotonic_ns() < limit);
		sleep_port(line);
	}
	assert_false(zsock_is_ready(line)); /* reported once */
	assert_int_equal(zsock_send(line, &no_route, text_of("x")), ZSOCK_DONE);
	zsock_close(&line);
	zsock_close(&listener);
}

static void
a_full_peer_says_again_and_loses_nothing_that_was_taken(void **state)
{
	struct zsock *listener = open_listener(), *line = open_line();
	struct zsock_message m;
	char body[FRAME_MAX];
	uint64_t taken = 0, arrived = 0;

	memset(body, 'x', sizeof(body));
	while (zsock_send(line, &no_route,
		   (struct text){ body, sizeof(body) }) == ZSOCK_DONE)
		taken++;
	assert_true(taken >= QUEUE);
	zsock_message_init(&m);
	while (arrived < taken) {
		recv_one(listener, &m);
		arrived++;
	}
	assert_int_equal(zsock_recv(listener, &m), ZSOCK_AGAIN);
	zsock_message_clear(&m);
	zsock_close(&line);
	zsock_close(&listener);
}

static void
a_message_that_was_not_passed_on_is_as_it_was(void **state)
{
	struct zsock *listener = open_listener(), *line = open_line(), *away;
	struct zsock_message m;
	struct err err;

	away = open_port(ZSOCK_CONNECTION);
	assert_int_equal(zsock_connect(away, "tcp://127.0.0.1:1", &err), 0);
	zsock_message_init(&m);
	zsock_send(line, &no_route, text_of("batch"));
	recv_one(listener, &m);
	assert_int_equal(zsock_forward(away, &m), ZSOCK_AGAIN);
	assert_true(m.held);
	assert_frame(&m, "batch");
	assert_int_equal(zsock_forward(listener, &m), ZSOCK_DONE);
	recv_one(line, &m);
	assert_frame(&m, "batch");
	zsock_message_clear(&m);
	zsock_close(&away);
	zsock_close(&line);
	zsock_close(&listener);
}

static void
a_peer_that_is_gone_is_gone(void **state)
{
	struct zsock *listener = open_listener(), *line = open_line();
	struct route nobody = { 3, { 2, 'n', 'o' } };
	struct zsock_message m;
	int64_t limit = clock_monotonic_ns() + (int64_t)PATIENCE_MS * 1000000;

	zsock_message_init(&m);
	zsock_send(line, &no_route, text_of("x"));
	recv_one(listener, &m);
	wait_peers(listener, 1);
	zsock_close(&line);
	wait_peers(listener, 0);
	/* libzmq says that the connection is gone before it drops the queue,
	 * which it does when it comes to its end while looking for messages;
	 * what is sent in between is lost with it. */
	while (zsock_send(listener, &m.route, text_of("late")) != ZSOCK_GONE) {
		assert_true(clock_monotonic_ns() < limit);
		assert_false(zsock_is_ready(listener));
		sched_yield();
	}
	assert_int_equal(
	    zsock_send(listener, &nobody, text_of("?")), ZSOCK_GONE);
	assert_int_equal(
	    zsock_send(listener, &no_route, text_of("?")), ZSOCK_GONE);
	assert_int_equal(zsock_counters(listener)->unreachable, 3);
	zsock_message_clear(&m);
	zsock_close(&listener);
}

static void
what_was_sent_may_leave_after_port_finish(void **state)
{
	struct zsock *listener, *line;
	struct zsock_message m;
	int round, i;

	zsock_message_init(&m);
	for (round = 0; round < 20; round++) {
		listener = open_listener();
		line = open_line();
		for (i = 0; i < QUEUE; i++)
			assert_int_equal(
			    zsock_send(line, &no_route, text_of("last words")),
			    ZSOCK_DONE);
		zsock_finish(&line, 5 * NS_PER_SECOND);
		for (i = 0; i < QUEUE; i++)
			recv_one(listener, &m);
		zsock_message_clear(&m);
		zsock_close(&listener);
	}
}

static void
a_line_can_be_connected_anew(void **state)
{
	struct zsock *listener = open_listener(), *line = open_line();
	struct zsock_message m;
	struct err err;

	assert_int_equal(zsock_reconnect(line, &err), 0);
	assert_int_equal(zsock_counters(line)->peers, 0);
	wait_peers(line, 1);
	assert_int_equal(zsock_counters(line)->connections, 2);
	zsock_message_init(&m);
	zsock_send(line, &no_route, text_of("again"));
	recv_one(listener, &m);
	assert_frame(&m, "again");
	zsock_message_clear(&m);
	zsock_close(&line);
	zsock_close(&listener);
}

/* The listener never looks meanwhile: the room that is made must be seen
 * anyway. */
static void
a_peer_that_takes_everything_is_never_full(void **state)
{
	struct zsock *listener = open_listener(), *line = open_line();
	struct zsock_message m;
	struct route route;

	zsock_message_init(&m);
	zsock_send(line, &no_route, text_of("hello"));
	recv_one(listener, &m);
	route = m.route;
	for (int i = 0; i < 100 * QUEUE; i++) {
		assert_int_equal(
		    zsock_send(listener, &route, text_of("tick")), ZSOCK_DONE);
		recv_one(line, &m);
		assert_frame(&m, "tick");
	}
	zsock_message_clear(&m);
	zsock_close(&line);
	zsock_close(&listener);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_message_goes_up_and_its_answer_comes_back),
		TEST(passing_on_keeps_frame_and_route),
		TEST(
		    a_line_without_a_peer_says_again_and_becomes_ready_when_there_is_one),
		TEST(a_full_peer_says_again_and_loses_nothing_that_was_taken),
		TEST(a_peer_that_takes_everything_is_never_full),
		TEST(a_message_that_was_not_passed_on_is_as_it_was),
		TEST(a_peer_that_is_gone_is_gone),
		TEST(what_was_sent_may_leave_after_port_finish),
		TEST(a_line_can_be_connected_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Tests of proto/port.h, with real sockets.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zmq.h>

#include "proto/clock.h"
#include "proto/port.h"
#include "tests/unit/scratch.h"

enum { PATIENCE_MS = 20000, FRAME_MAX = 4096, QUEUE = 4 };

static char dir[SCRATCH_BYTES];
static char where[PORT_ENDPOINT_BYTES_MAX];

static int
set_up(void **state)
{
	(void)state;
	scratch_make(dir);
	snprintf(where, sizeof(where), "ipc://%s/door", dir);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	scratch_remove(dir);
	return 0;
}

static struct port *
open_port(enum port_kind kind)
{
	struct port_options options = { .kind = kind,
		.queue_messages = QUEUE,
		.frame_bytes_max = FRAME_MAX };
	struct port *port;
	struct err err;

	assert_int_equal(port_open(&port, &options, &err), 0);
	return port;
}

static struct port *
open_door(void)
{
	struct port *door = open_port(PORT_DOOR);
	struct err err = { "" };

	if (port_bind(door, where, &err) != 0)
		fail_msg("%s", err.text);
	return door;
}

/* Sleep until one of the port's descriptors says something. */
static void
wait_port(struct port *port)
{
	struct pollfd fds[2] = { { port_fd(port), POLLIN, 0 },
		{ port_watch_fd(port), POLLIN, 0 } };

	if (port_is_ready(port))
		return;
	assert_true(poll(fds, 2, PATIENCE_MS) > 0);
	port_watch(port);
}

static void
recv_one(struct port *port, struct message *message)
{
	int64_t limit = clock_monotonic_ns() + (int64_t)PATIENCE_MS * 1000000;

	while (port_recv(port, message) != PORT_DONE) {
		assert_true(clock_monotonic_ns() < limit);
		wait_port(port);
	}
}

static void
wait_peers(struct port *port, uint32_t peers)
{
	int64_t limit = clock_monotonic_ns() + (int64_t)PATIENCE_MS * 1000000;

	while (port_counters(port)->peers != peers) {
		assert_true(clock_monotonic_ns() < limit);
		wait_port(port);
	}
}

static struct port *
open_line(void)
{
	struct port *line = open_port(PORT_LINE);
	struct err err;

	assert_int_equal(port_connect(line, where, &err), 0);
	wait_peers(line, 1);
	return line;
}

static const struct route no_route;

static void
assert_frame(const struct message *message, const char *wanted)
{
	assert_int_equal(message->frame.bytes, strlen(wanted));
	assert_memory_equal(message->frame.at, wanted, strlen(wanted));
}

static void
a_message_goes_up_and_its_answer_comes_back(void **state)
{
	struct port *door = open_door(), *line = open_line();
	struct message m;

	(void)state;
	message_init(&m);
	assert_int_equal(
	    port_send(line, &no_route, text_of("question")), PORT_DONE);
	recv_one(door, &m);
	assert_frame(&m, "question");
	assert_true(m.route.bytes > 0);
	assert_int_equal(
	    port_send(door, &m.route, text_of("answer")), PORT_DONE);
	recv_one(line, &m);
	assert_frame(&m, "answer");
	assert_int_equal(m.route.bytes, 0);
	assert_int_equal(port_recv(line, &m), PORT_AGAIN);
	assert_int_equal(port_counters(door)->received, 1);
	assert_int_equal(port_counters(door)->received_bytes, 8);
	assert_int_equal(port_counters(line)->received_bytes, 6);
	message_clear(&m);
	port_close(&line);
	wait_peers(door, 0);
	port_close(&door);
	port_close(&door); /* NULL is nothing to close */
}

static void
passing_on_keeps_frame_and_route(void **state)
{
	struct port *up = open_door(), *line = open_line(), *door;
	struct port *agent;
	struct message m;
	struct route route;

	(void)state;
	snprintf(where, sizeof(where), "ipc://%s/second", dir);
	door = open_door();
	agent = open_line();
	message_init(&m);
	port_send(agent, &no_route, text_of("batch"));
	recv_one(door, &m);
	assert_int_equal(port_pass(line, &m), PORT_DONE);
	assert_false(m.held);
	recv_one(up, &m);
	assert_frame(&m, "batch");
	route = m.route;
	port_send(up, &route, text_of("ack"));
	recv_one(line, &m);
	assert_int_equal(port_pass(door, &m), PORT_DONE);
	recv_one(agent, &m);
	assert_frame(&m, "ack");
	assert_int_equal(m.route.bytes, 0);
	message_clear(&m);
	port_close(&agent);
	port_close(&line);
	port_close(&door);
	port_close(&up);
}

static void
a_line_without_a_peer_says_again_and_becomes_ready_when_there_is_one(
    void **state)
{
	struct port *line = open_port(PORT_LINE), *door;
	struct err err;
	int64_t limit;

	(void)state;
	assert_int_equal(port_connect(line, where, &err), 0);
	assert_int_equal(port_send(line, &no_route, text_of("x")), PORT_AGAIN);
	assert_false(port_is_ready(line));
	assert_int_equal(port_counters(line)->full, 1);
	door = open_door();
	limit = clock_monotonic_ns() + (int64_t)PATIENCE_MS * 1000000;
	while (!port_is_ready(line)) {
		assert_true(clock_monotonic_ns() < limit);
		wait_port(line);
	}
	assert_false(port_is_ready(line)); /* said once */
	assert_int_equal(port_send(line, &no_route, text_of("x")), PORT_DONE);
	port_close(&line);
	port_close(&door);
}

static void
a_full_peer_says_again_and_loses_nothing_that_was_taken(void **state)
{
	struct port *door = open_door(), *line = open_line();
	struct message m;
	char body[FRAME_MAX];
	uint64_t taken = 0, arrived = 0;

	(void)state;
	memset(body, 'x', sizeof(body));
	while (port_send(line, &no_route,
		   (struct text){ body, sizeof(body) }) == PORT_DONE)
		taken++;
	assert_true(taken >= QUEUE);
	message_init(&m);
	while (arrived < taken) {
		recv_one(door, &m);
		arrived++;
	}
	assert_int_equal(port_recv(door, &m), PORT_AGAIN);
	message_clear(&m);
	port_close(&line);
	port_close(&door);
}

static void
a_message_that_was_not_passed_on_is_as_it_was(void **state)
{
	struct port *door = open_door(), *line = open_line(), *away;
	struct message m;
	struct err err;

	(void)state;
	away = open_port(PORT_LINE);
	assert_int_equal(port_connect(away, "tcp://127.0.0.1:1", &err), 0);
	message_init(&m);
	port_send(line, &no_route, text_of("batch"));
	recv_one(door, &m);
	assert_int_equal(port_pass(away, &m), PORT_AGAIN);
	assert_true(m.held);
	assert_frame(&m, "batch");
	assert_int_equal(port_pass(door, &m), PORT_DONE);
	recv_one(line, &m);
	assert_frame(&m, "batch");
	message_clear(&m);
	port_close(&away);
	port_close(&line);
	port_close(&door);
}

static void
a_peer_that_is_gone_is_gone(void **state)
{
	struct port *door = open_door(), *line = open_line();
	struct route nobody = { 3, { 2, 'n', 'o' } };
	struct message m;
	int64_t limit = clock_monotonic_ns() + (int64_t)PATIENCE_MS * 1000000;

	(void)state;
	message_init(&m);
	port_send(line, &no_route, text_of("x"));
	recv_one(door, &m);
	wait_peers(door, 1);
	port_close(&line);
	wait_peers(door, 0);
	/* libzmq says that the connection is gone before it drops the queue,
	 * which it does when it comes to its end while looking for messages;
	 * what is sent in between is lost with it. */
	while (port_send(door, &m.route, text_of("late")) != PORT_GONE) {
		assert_true(clock_monotonic_ns() < limit);
		assert_false(port_is_ready(door));
		sched_yield();
	}
	assert_int_equal(port_send(door, &nobody, text_of("?")), PORT_GONE);
	assert_int_equal(port_send(door, &no_route, text_of("?")), PORT_GONE);
	assert_int_equal(port_counters(door)->unreachable, 3);
	message_clear(&m);
	port_close(&door);
}

/* ---- malformed messages, from a bare socket ---- */

struct bare {
	void *context, *socket;
};

static struct bare
bare_connect(void)
{
	struct bare bare = { zmq_ctx_new(), NULL };

	bare.socket = zmq_socket(bare.context, ZMQ_DEALER);
	zmq_setsockopt(bare.socket, ZMQ_LINGER, &(int){ 0 }, sizeof(int));
	assert_int_equal(zmq_connect(bare.socket, where), 0);
	return bare;
}

static void
bare_close(struct bare *bare)
{
	zmq_close(bare->socket);
	zmq_ctx_term(bare->context);
}

static void
bare_send(struct bare *bare, uint32_t routes, size_t route_bytes)
{
	char route[1024] = { 0 };
	uint32_t i;

	for (i = 0; i < routes; i++)
		zmq_send(bare->socket, route, route_bytes, ZMQ_SNDMORE);
	zmq_send(bare->socket, "frame", 5, 0);
}

static void
routes_over_the_limits_are_dropped_and_counted(void **state)
{
	struct port *door = open_door();
	struct bare bare = bare_connect();
	struct message m;

	(void)state;
	message_init(&m);
	bare_send(&bare, 7, 10); /* and the peer's own: eight */
	recv_one(door, &m);
	assert_frame(&m, "frame");
	bare_send(&bare, 8, 10);
	bare_send(&bare, 1, 256);
	bare_send(&bare, 2, 125);
	bare_send(&bare, 500, 1000);
	bare_send(&bare, 1, 249); /* fits: 1 + 5 + 1 + 249 */
	recv_one(door, &m);
	assert_int_equal(m.route.bytes, PORT_ROUTE_BYTES_MAX);
	assert_int_equal(port_counters(door)->malformed, 4);
	message_clear(&m);
	port_close(&door);
	bare_close(&bare);
}

static void
random_shapes_come_out_whole_or_not_at_all(void **state)
{
	uint64_t seed = check_seed();
	struct port *door = open_door();
	struct bare bare = bare_connect();
	struct message m;
	uint64_t bad = 0;
	int i;

	(void)state;
	message_init(&m);
	for (i = 0; i < 2000; i++) {
		uint32_t routes = (uint32_t)(check_random(&seed) % 11);
		size_t bytes = check_random(&seed) % 64;
		bool fits = routes <= 7 &&
			    6 + routes * (1 + bytes) <= PORT_ROUTE_BYTES_MAX;

		bare_send(&bare, routes, bytes);
		if (!fits) {
			bad++;
			continue;
		}
		recv_one(door, &m);
		assert_frame(&m, "frame");
		assert_int_equal(m.route.bytes, 6 + routes * (1 + bytes));
	}
	bare_send(&bare, 0, 0);
	recv_one(door, &m);
	assert_int_equal(port_counters(door)->malformed, bad);
	message_clear(&m);
	port_close(&door);
	bare_close(&bare);
}

static void
a_frame_over_the_limit_costs_the_connection(void **state)
{
	struct port *door = open_door(), *line = open_line();
	char body[FRAME_MAX + 1] = { 0 };
	uint64_t connections;
	struct message m;

	(void)state;
	message_init(&m);
	port_send(line, &no_route, (struct text){ body, FRAME_MAX });
	recv_one(door, &m);
	assert_int_equal(m.frame.bytes, FRAME_MAX);
	connections = port_counters(line)->connections;
	port_send(line, &no_route, (struct text){ body, FRAME_MAX + 1 });
	while (port_counters(line)->connections == connections)
		wait_port(line);
	assert_int_equal(port_recv(door, &m), PORT_AGAIN);
	port_close(&line);
	port_close(&door);
}

/* ---- doors ---- */

static void
assert_not_bound(const char *endpoint, const char *why)
{
	struct port *door = open_port(PORT_DOOR);
	struct err err = { "" };

	assert_int_equal(port_bind(door, endpoint, &err), -1);
	if (strstr(err.text, why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.text, why);
	port_close(&door);
}

static void
a_door_that_is_open_to_the_network_needs_insecure(void **state)
{
	struct port_options options = { .kind = PORT_DOOR,
		.queue_messages = 1,
		.frame_bytes_max = 100,
		.insecure = true };
	struct port *door;
	struct err err;

	(void)state;
	assert_not_bound("tcp://*:0", "needs keys or --insecure");
	assert_not_bound("tcp://0.0.0.0:0", "needs keys or --insecure");
	assert_not_bound("tcp://127.example.com:1", "--insecure");
	assert_int_equal(port_open(&door, &options, &err), 0);
	assert_int_equal(port_bind(door, "tcp://0.0.0.0:*", &err), 0);
	port_close(&door);
}

static void
a_door_on_loopback_says_where_it_is_bound(void **state)
{
	struct port *door = open_port(PORT_DOOR), *line;
	struct message m;
	struct err err;

	(void)state;
	assert_int_equal(port_bind(door, "tcp://localhost:*", &err), 0);
	snprintf(where, sizeof(where), "%s", port_endpoint(door));
	assert_int_equal(strncmp(where, "tcp://127.0.0.1:", 16), 0);
	line = open_line();
	message_init(&m);
	port_send(line, &no_route, text_of("tcp"));
	recv_one(door, &m);
	assert_frame(&m, "tcp");
	message_clear(&m);
	port_close(&line);
	port_close(&door);
}

static void
a_socket_that_somebody_listens_on_is_not_taken_over(void **state)
{
	char path[SCRATCH_BYTES + 8];
	struct port *door = open_door();
	struct stat st;

	(void)state;
	assert_not_bound(where, "listens there");
	snprintf(path, sizeof(path), "%s/door", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	port_close(&door);
	assert_int_equal(stat(path, &st), -1);
	door = open_door(); /* now it is free */
	port_close(&door);
}

static void
wrong_endpoints_are_refused_with_a_sentence(void **state)
{
	char long_path[200] = "ipc:///tmp/";

	(void)state;
	memset(long_path + 11, 'x', 150);
	assert_not_bound(long_path, "longer than 107 bytes");
	assert_not_bound("udp://127.0.0.1:5", "begins with ipc:// or tcp://");
	assert_not_bound("ipc://@name", "path of a file");
	assert_not_bound("ipc:///proc/self/status", "not a socket");
	assert_not_bound("ipc:///nowhere/at/all", "No such file");
	assert_not_bound("tcp://127.0.0.1:http", "Invalid argument");
}

static void
what_was_sent_may_leave_after_port_finish(void **state)
{
	struct port *door, *line;
	struct message m;
	int round, i;

	(void)state;
	message_init(&m);
	for (round = 0; round < 20; round++) {
		door = open_door();
		line = open_line();
		for (i = 0; i < QUEUE; i++)
			assert_int_equal(
			    port_send(line, &no_route, text_of("last words")),
			    PORT_DONE);
		port_finish(&line, 5 * NS_PER_SECOND);
		for (i = 0; i < QUEUE; i++)
			recv_one(door, &m);
		message_clear(&m);
		port_close(&door);
	}
}

static void
a_line_can_be_connected_anew(void **state)
{
	struct port *door = open_door(), *line = open_line();
	struct message m;
	struct err err;

	(void)state;
	assert_int_equal(port_reconnect(line, &err), 0);
	assert_int_equal(port_counters(line)->peers, 0);
	wait_peers(line, 1);
	assert_int_equal(port_counters(line)->connections, 2);
	message_init(&m);
	port_send(line, &no_route, text_of("again"));
	recv_one(door, &m);
	assert_frame(&m, "again");
	message_clear(&m);
	port_close(&line);
	port_close(&door);
}

/* The door never looks meanwhile: the room that is made must be seen anyway. */
static void
a_peer_that_takes_everything_is_never_full(void **state)
{
	struct port *door = open_door(), *line = open_line();
	struct message m;
	struct route route;

	(void)state;
	message_init(&m);
	port_send(line, &no_route, text_of("hello"));
	recv_one(door, &m);
	route = m.route;
	for (int i = 0; i < 100 * QUEUE; i++) {
		assert_int_equal(
		    port_send(door, &route, text_of("tick")), PORT_DONE);
		recv_one(line, &m);
		assert_frame(&m, "tick");
	}
	message_clear(&m);
	port_close(&line);
	port_close(&door);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

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
		TEST(routes_over_the_limits_are_dropped_and_counted),
		TEST(random_shapes_come_out_whole_or_not_at_all),
		TEST(a_frame_over_the_limit_costs_the_connection),
		TEST(a_door_that_is_open_to_the_network_needs_insecure),
		TEST(a_door_on_loopback_says_where_it_is_bound),
		TEST(a_socket_that_somebody_listens_on_is_not_taken_over),
		TEST(wrong_endpoints_are_refused_with_a_sentence),
		TEST(what_was_sent_may_leave_after_port_finish),
		TEST(a_line_can_be_connected_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

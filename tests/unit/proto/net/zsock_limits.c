/*
 * Tests of proto/net/zsock.h, with real sockets: what is refused, and where a
 * listener may be.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/proto/net/zsock_help.h"

#include <sys/stat.h>
#include <unistd.h>

#include <zmq.h>

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
	struct zsock *listener = open_listener();
	struct bare bare = bare_connect();
	struct zsock_message m;

	zsock_message_init(&m);
	bare_send(&bare, 7, 10); /* and the peer's own: eight */
	recv_one(listener, &m);
	assert_frame(&m, "frame");
	bare_send(&bare, 8, 10);
	bare_send(&bare, 1, 256);
	bare_send(&bare, 2, 125);
	bare_send(&bare, 500, 1000);
	bare_send(&bare, 1, 249); /* fits: 1 + 5 + 1 + 249 */
	recv_one(listener, &m);
	assert_int_equal(m.route.bytes, ZSOCK_ROUTE_BYTES_MAX);
	assert_int_equal(zsock_counters(listener)->malformed, 4);
	zsock_message_clear(&m);
	zsock_close(&listener);
	bare_close(&bare);
}

static void
random_shapes_come_out_whole_or_not_at_all(void **state)
{
	uint64_t seed = check_seed();
	struct zsock *listener = open_listener();
	struct bare bare = bare_connect();
	struct zsock_message m;
	uint64_t bad = 0;
	int i;

	zsock_message_init(&m);
	for (i = 0; i < 2000; i++) {
		uint32_t routes = (uint32_t)(check_random(&seed) % 11);
		size_t bytes = check_random(&seed) % 64;
		bool fits = routes <= 7 &&
			    6 + routes * (1 + bytes) <= ZSOCK_ROUTE_BYTES_MAX;

		bare_send(&bare, routes, bytes);
		if (!fits) {
			bad++;
			continue;
		}
		recv_one(listener, &m);
		assert_frame(&m, "frame");
		assert_int_equal(m.route.bytes, 6 + routes * (1 + bytes));
	}
	bare_send(&bare, 0, 0);
	recv_one(listener, &m);
	assert_int_equal(zsock_counters(listener)->malformed, bad);
	zsock_message_clear(&m);
	zsock_close(&listener);
	bare_close(&bare);
}

static void
a_frame_over_the_limit_costs_the_connection(void **state)
{
	struct zsock *listener = open_listener(), *line = open_line();
	char body[FRAME_MAX + 1] = { 0 };
	uint64_t connections;
	struct zsock_message m;

	zsock_message_init(&m);
	zsock_send(line, &no_route, (struct text){ body, FRAME_MAX });
	recv_one(listener, &m);
	assert_int_equal(m.frame.bytes, FRAME_MAX);
	connections = zsock_counters(line)->connections;
	zsock_send(line, &no_route, (struct text){ body, FRAME_MAX + 1 });
	while (zsock_counters(line)->connections == connections)
		wait_port(line);
	assert_int_equal(zsock_recv(listener, &m), ZSOCK_AGAIN);
	zsock_close(&line);
	zsock_close(&listener);
}

/* ---- listeners ---- */

static void
assert_refused(struct zsock *listener, const char *endpoint, const char *why)
{
	struct err err = { 0 };

	assert_int_equal(zsock_bind(listener, endpoint, &err), -1);
	if (strstr(err.text, why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", err.text, why);
	zsock_close(&listener);
}

static void
assert_not_bound(const char *endpoint, const char *why)
{
	assert_refused(open_port(ZSOCK_LISTENER), endpoint, why);
}

static void
a_tcp_listener_needs_keys_or_insecure(void **state)
{
	struct zsock_options options = { .kind = ZSOCK_LISTENER,
		.queue_messages = 1,
		.frame_bytes_max = 100 };
	static const char *const endpoints[] = { "tcp://*:0", "tcp://0.0.0.0:0",
		"tcp://127.0.0.1:0", "tcp://localhost:0" };
	struct zsock *listener;
	struct err err;

	for (unsigned i = 0; i < sizeof(endpoints) / sizeof(*endpoints); i++) {
		assert_int_equal(zsock_open(&listener, &options, &err), 0);
		assert_refused(
		    listener, endpoints[i], "needs keys or --insecure");
	}
	options.insecure = true;
	assert_int_equal(zsock_open(&listener, &options, &err), 0);
	assert_int_equal(zsock_bind(listener, "tcp://0.0.0.0:*", &err), 0);
	zsock_close(&listener);
	options.kind = ZSOCK_CONNECTION;
	options.insecure = false;
	assert_int_equal(zsock_open(&listener, &options, &err), 0);
	assert_int_equal(
	    zsock_connect(listener, "tcp://127.0.0.1:1", &err), -1);
	assert_non_null(strstr(err.text, "needs a key or --insecure"));
	zsock_close(&listener);
}

static void
a_listener_on_loopback_says_where_it_is_bound(void **state)
{
	struct zsock *listener = open_port(ZSOCK_LISTENER), *line;
	struct zsock_message m;
	struct err err;

	assert_int_equal(zsock_bind(listener, "tcp://localhost:*", &err), 0);
	snprintf(where, sizeof(where), "%s", zsock_endpoint(listener));
	assert_int_equal(strncmp(where, "tcp://127.0.0.1:", 16), 0);
	line = open_line();
	zsock_message_init(&m);
	zsock_send(line, &no_route, text_of("tcp"));
	recv_one(listener, &m);
	assert_frame(&m, "tcp");
	zsock_message_clear(&m);
	zsock_close(&line);
	zsock_close(&listener);
}

static void
a_socket_that_somebody_listens_on_is_not_taken_over(void **state)
{
	char path[SCRATCH_BYTES + 8];
	struct zsock *listener = open_listener();
	struct stat st;

	assert_not_bound(where, "already listens there");
	snprintf(path, sizeof(path), "%s/door", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	zsock_close(&listener);
	assert_int_equal(stat(path, &st), -1);
	listener = open_listener(); /* now it is free */
	zsock_close(&listener);
}

static void
wrong_endpoints_are_refused_with_a_sentence(void **state)
{
	char long_path[200] = "ipc:///tmp/";

	memset(long_path + 11, 'x', 150);
	assert_not_bound(long_path, "longer than 107 bytes");
	assert_not_bound("udp://127.0.0.1:5", "begins with ipc:// or tcp://");
	assert_not_bound("ipc://@name", "file path");
	assert_not_bound("ipc:///proc/self/status", "not a socket");
	assert_not_bound("ipc:///nowhere/at/all", "No such file");
	assert_not_bound("tcp://127.0.0.1:http", "Invalid argument");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(routes_over_the_limits_are_dropped_and_counted),
		TEST(random_shapes_come_out_whole_or_not_at_all),
		TEST(a_frame_over_the_limit_costs_the_connection),
		TEST(a_tcp_listener_needs_keys_or_insecure),
		TEST(a_listener_on_loopback_says_where_it_is_bound),
		TEST(a_socket_that_somebody_listens_on_is_not_taken_over),
		TEST(wrong_endpoints_are_refused_with_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * zsock_help - ports in a temporary directory, and waiting for them.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_PROTO_NET_ZSOCK_HELP_H
#define TESTS_UNIT_PROTO_NET_ZSOCK_HELP_H

#include <poll.h>

#include "proto/net/zsock.h"
#include "proto/os/clock.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

enum { PATIENCE_MS = 20000, FRAME_MAX = 4096, QUEUE = 4 };

static char dir[SCRATCH_BYTES];
static char where[ENDPOINT_BYTES_MAX];

static inline int
set_up(void **state)
{
	(void)state;
	scratch_make(dir);
	snprintf(where, sizeof(where), "ipc://%s/door", dir);
	return 0;
}

static inline int
tear_down(void **state)
{
	(void)state;
	scratch_remove(dir);
	return 0;
}

static inline struct zsock *
open_port(enum zsock_kind kind)
{
	struct zsock_options options = { .kind = kind,
		.queue_messages = QUEUE,
		.frame_bytes_max = FRAME_MAX,
		.insecure = true };
	struct zsock *zsock;
	struct err err;

	assert_int_equal(zsock_open(&zsock, &options, &err), 0);
	return zsock;
}

static inline struct zsock *
open_listener(void)
{
	struct zsock *listener = open_port(ZSOCK_LISTENER);
	struct err err = { 0 };

	if (zsock_bind(listener, where, &err) != 0)
		fail_msg("%s", err.text);
	return listener;
}

/* Sleep until one of the port's descriptors says something.  The caller has
 * just asked zsock_is_ready, which reports that a line is ready only once. */
static inline void
sleep_port(struct zsock *zsock)
{
	struct pollfd fds[2] = { { zsock_fd(zsock), POLLIN, 0 },
		{ zsock_watch_fd(zsock), POLLIN, 0 } };

	assert_true(poll(fds, 2, PATIENCE_MS) > 0);
	zsock_watch(zsock);
}

static inline void
wait_port(struct zsock *zsock)
{
	if (!zsock_is_ready(zsock))
		sleep_port(zsock);
}

static inline void
recv_one(struct zsock *zsock, struct zsock_message *message)
{
	int64_t limit = clock_monotonic_ns() + (int64_t)PATIENCE_MS * 1000000;

	while (zsock_recv(zsock, message) != ZSOCK_DONE) {
		assert_true(clock_monotonic_ns() < limit);
		wait_port(zsock);
	}
}

static inline void
wait_peers(struct zsock *zsock, uint32_t peers)
{
	int64_t limit = clock_monotonic_ns() + (int64_t)PATIENCE_MS * 1000000;

	while (zsock_counters(zsock)->peers != peers) {
		assert_true(clock_monotonic_ns() < limit);
		wait_port(zsock);
	}
}

static inline struct zsock *
open_line(void)
{
	struct zsock *line = open_port(ZSOCK_CONNECTION);
	struct err err;

	assert_int_equal(zsock_connect(line, where, &err), 0);
	wait_peers(line, 1);
	return line;
}

static const struct route no_route;

static inline void
assert_frame(const struct zsock_message *message, const char *wanted)
{
	assert_int_equal(message->frame.bytes, strlen(wanted));
	assert_memory_equal(message->frame.at, wanted, strlen(wanted));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif

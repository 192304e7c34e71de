/*
 * accept_rate - real sockets that connect, at a simulated time.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/accept_rate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/os/clock.h"
#include "tests/unit/check.h"

enum {
	RATE = 4,
	BURST = RATE * ACCEPT_RATE_BURST_SECONDS,
	IN_VAIN_MS = 300,
	PATIENCE_MS = 30000, /* the kernel retries after 1, 3, 7 s */
	CONNECTIONS_MAX = 128,
};

static struct accept_rate accept_rate;
static struct sockaddr_in at;
static int listener, held[CONNECTIONS_MAX], connections;

static void
listen_somewhere(void)
{
	socklen_t bytes = sizeof(at);

	at = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, bytes), 0);
	assert_int_equal(listen(listener, CONNECTIONS_MAX), 0);
	getsockname(listener, (struct sockaddr *)&at, &bytes);
}

static int
set_up(void **state)
{
	connections = 0;
	listen_somewhere();
	accept_rate_init(&accept_rate, RATE);
	accept_rate_add(&accept_rate, listener);
	return 0;
}

static int
tear_down(void **state)
{
	while (connections > 0)
		close(held[--connections]);
	close(listener);
	return 0;
}

static int
keep(int fd)
{
	assert_true(fd >= 0 && connections < CONNECTIONS_MAX);
	held[connections++] = fd;
	return fd;
}

static int
knock(void)
{
	int fd = keep(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));

	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
		assert_int_equal(errno, EINPROGRESS);
	return fd;
}

static bool
is_in(int fd, int limit_ms)
{
	struct pollfd waits = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t bytes = sizeof(error);

	if (poll(&waits, 1, limit_ms) != 1)
		return false;
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
	assert_int_equal(error, 0);
	return true;
}

/* Somebody comes in; his end. */
static int
come(int64_t now_ns, int *ours)
{
	int fd = knock();

	assert_true(is_in(fd, PATIENCE_MS));
	*ours = keep(accept(listener, NULL, NULL));
	accept_rate_count(&accept_rate, *ours, now_ns);
	return fd;
}

static void
who_is_in_can_speak(int theirs, int ours)
{
	struct pollfd waits = { .fd = ours, .events = POLLIN };
	char byte = 'x';

	assert_int_equal(send(theirs, &byte, 1, 0), 1);
	assert_int_equal(poll(&waits, 1, PATIENCE_MS), 1);
	assert_int_equal(recv(ours, &byte, 1, 0), 1);
}

static void
more_than_a_burst_must_wait_and_who_is_in_goes_on(void **state)
{
	int64_t now_ns = 1000 * NS_PER_SECOND;
	int first, ours, last, ours_last, waiting;

	first = come(now_ns, &ours);
	for (int i = 1; i < BURST; i++)
		come(now_ns, &ours_last);
	assert_false(accept_rate.paused);
	last = come(now_ns, &ours_last);
	assert_true(accept_rate.paused);
	assert_int_equal(accept_rate.pauses, 1);
	waiting = knock();
	assert_false(is_in(waiting, IN_VAIN_MS));
	who_is_in_can_speak(first, ours);
	who_is_in_can_speak(last, ours_last);
	/* A quarter of a second pays for one. */
	accept_rate_check(&accept_rate, now_ns + NS_PER_SECOND / RATE - 1);
	assert_true(accept_rate.paused);
	accept_rate_check(&accept_rate, now_ns + NS_PER_SECOND / RATE);
	assert_false(accept_rate.paused);
	assert_true(is_in(waiting, PATIENCE_MS));
}

static void
at_the_rate_all_come_in(void **state)
{
	int64_t now_ns = 1000 * NS_PER_SECOND;
	int ours;

	for (int i = 0; i < BURST; i++)
		come(now_ns, &ours);
	for (int i = 1; i < 10; i++)
		come(now_ns + i * NS_PER_SECOND / RATE, &ours);
	assert_int_equal(accept_rate.pauses, 0);
}

static void
after_a_rest_there_is_a_burst_again(void **state)
{
	int64_t now_ns = 1000 * NS_PER_SECOND;
	int ours;

	for (int i = 0; i < BURST; i++)
		come(now_ns, &ours);
	now_ns += 3600 * NS_PER_SECOND;
	for (int i = 0; i < BURST; i++)
		accept_rate_count(&accept_rate, ours, now_ns);
	assert_false(accept_rate.paused);
	accept_rate_count(&accept_rate, ours, now_ns);
	assert_true(accept_rate.paused);
}

static void
however_many_came_it_opens_again_soon(void **state)
{
	int64_t now_ns = 1000 * NS_PER_SECOND;
	const int64_t limit_ns = ACCEPT_RATE_PAUSE_SECONDS * NS_PER_SECOND;

	for (int i = 0; i < 100 * BURST; i++)
		accept_rate_count(&accept_rate, -1, now_ns);
	accept_rate_check(&accept_rate, now_ns + limit_ns - 1);
	assert_true(accept_rate.paused);
	accept_rate_check(&accept_rate, now_ns + limit_ns);
	assert_false(accept_rate.paused);
	accept_rate_count(&accept_rate, -1, now_ns + limit_ns);
	assert_true(accept_rate.paused);
}

static void
a_listener_bound_while_it_is_shut_is_shut_too(void **state)
{
	int waiting, old = listener;

	for (int i = 0; i <= BURST; i++)
		accept_rate_count(&accept_rate, -1, NS_PER_SECOND);
	accept_rate_remove(&accept_rate, old);
	close(old);
	listen_somewhere();
	accept_rate_add(&accept_rate, listener);
	waiting = knock();
	assert_false(is_in(waiting, IN_VAIN_MS));
	accept_rate_check(&accept_rate, 3600 * NS_PER_SECOND);
	assert_true(is_in(waiting, PATIENCE_MS));
}

static void
unix_sockets_and_doors_without_a_limit_are_left_alone(void **state)
{
	int unix_socket = socket(AF_UNIX, SOCK_STREAM, 0);

	accept_rate_add(&accept_rate, unix_socket);
	accept_rate_add(&accept_rate, -1);
	assert_int_equal(accept_rate.listeners, 1);
	close(unix_socket);
	accept_rate_init(&accept_rate, 0);
	accept_rate_add(&accept_rate, listener);
	for (int i = 0; i < 100000; i++)
		accept_rate_count(&accept_rate, -1, NS_PER_SECOND);
	assert_false(accept_rate.paused);
	assert_true(is_in(knock(), PATIENCE_MS));
}

#define CASE(x) cmocka_unit_test_setup_teardown(x, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(more_than_a_burst_must_wait_and_who_is_in_goes_on),
		CASE(at_the_rate_all_come_in),
		CASE(after_a_rest_there_is_a_burst_again),
		CASE(however_many_came_it_opens_again_soon),
		CASE(a_listener_bound_while_it_is_shut_is_shut_too),
		CASE(unix_sockets_and_doors_without_a_limit_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

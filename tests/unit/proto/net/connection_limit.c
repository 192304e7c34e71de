/*
 * Connections of TCP as the guard of a listener sees them: real ones, but no
 * libzmq.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/connection_limit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/check.h"

enum { PAIRS = 8 };

static struct connection_limit connection_limit;
static int near[PAIRS], far[PAIRS]; /* accepted, and the stranger's end */

static void
make_pair(int i)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&at, bytes), 0);
	assert_int_equal(listen(listener, 1), 0);
	getsockname(listener, (struct sockaddr *)&at, &bytes);
	far[i] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(far[i], (struct sockaddr *)&at, bytes), 0);
	near[i] = accept(listener, NULL, NULL);
	assert_true(near[i] >= 0);
	close(listener);
}

static int
set_up(void **state)
{
	for (int i = 0; i < PAIRS; i++)
		make_pair(i);
	connection_limit_init(&connection_limit, 4);
	return 0;
}

static int
tear_down(void **state)
{
	for (int i = 0; i < PAIRS; i++) {
		close(near[i]);
		close(far[i]);
	}
	connection_limit_clear(&connection_limit);
	return 0;
}

/* Was it shut down from our side? */
static bool
is_over(int i)
{
	char byte;

	return recv(far[i], &byte, 1, MSG_DONTWAIT) == 0;
}

static void
pour(int i, size_t bytes)
{
	static char block[4096], room[4096];

	while (bytes > 0) {
		size_t n = bytes < sizeof(block) ? bytes : sizeof(block);

		assert_int_equal(send(far[i], block, n, 0), n);
		assert_int_equal(recv(near[i], room, n, MSG_WAITALL), n);
		bytes -= n;
	}
}

static void
beyond_the_share_the_oldest_goes_that_brought_nothing(void **state)
{
	for (int i = 0; i < 4; i++)
		connection_limit_accepted(&connection_limit, near[i]);
	connection_limit_delivered(&connection_limit, near[0]);
	connection_limit_delivered(&connection_limit, near[2]);
	assert_int_equal(connection_limit.evicted, 0);
	connection_limit_accepted(&connection_limit, near[4]);
	assert_true(is_over(1));
	connection_limit_accepted(&connection_limit, near[5]);
	assert_true(is_over(3));
	connection_limit_accepted(&connection_limit, near[6]);
	assert_true(is_over(4));
	assert_int_equal(connection_limit.evicted, 3);
	assert_int_equal(connection_limit.peers, 4);
	assert_false(is_over(0) || is_over(2) || is_over(5) || is_over(6));
}

static void
where_all_are_proven_it_is_the_newcomer(void **state)
{
	for (int i = 0; i < 4; i++) {
		connection_limit_accepted(&connection_limit, near[i]);
		connection_limit_delivered(&connection_limit, near[i]);
	}
	connection_limit_accepted(&connection_limit, near[4]);
	assert_true(is_over(4));
	connection_limit_closed(&connection_limit, near[4]);
	connection_limit_closed(&connection_limit, near[2]);
	connection_limit_accepted(&connection_limit, near[5]);
	assert_false(is_over(5));
	assert_int_equal(connection_limit.evicted, 1);
	assert_int_equal(connection_limit.peers, 4);
}

static void
who_sends_and_brings_no_message_is_cut(void **state)
{
	connection_limit_accepted(&connection_limit, near[0]);
	connection_limit_accepted(&connection_limit, near[1]);
	pour(0, 10000);
	pour(1, 9000);
	connection_limit_check(&connection_limit, 9500);
	assert_true(is_over(0));
	assert_false(is_over(1));
	pour(1, 9000);
	connection_limit_delivered(&connection_limit, near[1]);
	connection_limit_check(&connection_limit, 9500);
	pour(1, 9000);
	connection_limit_check(&connection_limit, 9500);
	assert_false(is_over(1));
	pour(1, 1000);
	connection_limit_check(&connection_limit, 9500);
	assert_true(is_over(1));
	assert_int_equal(connection_limit.dropped, 2);
	assert_int_equal(connection_limit.peers, 0);
}

static void
heartbeats_add_up_to_nothing(void **state)
{
	connection_limit_accepted(&connection_limit, near[0]);
	for (int i = 0; i < 2000; i++) {
		pour(0, 25);
		connection_limit_check(&connection_limit, 1000);
	}
	assert_false(is_over(0));
	assert_int_equal(connection_limit.dropped, 0);
}

static void
what_the_kernel_holds_is_not_ours(void **state)
{
	static char block[20000];

	connection_limit_accepted(&connection_limit, near[0]);
	assert_int_equal(send(far[0], block, sizeof(block), 0), sizeof(block));
	connection_limit_check(&connection_limit, 1000);
	assert_int_equal(connection_limit.dropped, 0);
}

static void
others_than_tcp_are_nobodys_business(void **state)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	connection_limit_accepted(&connection_limit, pair[0]);
	connection_limit_accepted(&connection_limit, -1);
	connection_limit_accepted(&connection_limit, INT32_MAX);
	connection_limit_accepted(&connection_limit, 900); /* closed */
	connection_limit_closed(&connection_limit, pair[0]);
	connection_limit_closed(&connection_limit, INT32_MAX);
	connection_limit_delivered(&connection_limit, -5);
	assert_int_equal(connection_limit.peers, 0);
	close(pair[0]);
	close(pair[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    beyond_the_share_the_oldest_goes_that_brought_nothing,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    where_all_are_proven_it_is_the_newcomer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    who_sends_and_brings_no_message_is_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    heartbeats_add_up_to_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    what_the_kernel_holds_is_not_ours, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    others_than_tcp_are_nobodys_business, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

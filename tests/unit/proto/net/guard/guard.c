/*
 * Tests of proto/net/guard/guard.h: what epoll says of a broken
 * connection, and the secret with a key that gives none.
 * SPDX-License-Identifier: MIT
 */
#include <sodium.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/net/guard/guard.h"
#include "tests/unit/check.h"

struct pair {
	int epoll, ours, theirs;
};

static int
change(const struct pair *pair, int what, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = 77 };

	return epoll_ctl(pair->epoll, what, pair->ours, &event);
}

static struct pair
pair_new(uint32_t events)
{
	struct pair pair = { .epoll = epoll_create1(0) };
	int fd[2];

	assert_true(pair.epoll >= 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	pair.ours = fd[0];
	pair.theirs = fd[1];
	assert_int_equal(change(&pair, EPOLL_CTL_ADD, events), 0);
	return pair;
}

static void
pair_close(const struct pair *pair)
{
	close(pair->ours);
	close(pair->epoll);
}

/* What epoll reports now; 0: nothing. */
static uint32_t
reported(const struct pair *pair)
{
	struct epoll_event event = { 0 };
	int count = epoll_wait(pair->epoll, &event, 1, 0);

	assert_true(count == 0 || event.data.fd == 77);
	return count == 0 ? 0 : event.events;
}

static void
who_waits_for_nothing_hears_nothing(void **state)
{
	struct pair pair = pair_new(EPOLLIN);

	assert_int_equal(change(&pair, EPOLL_CTL_MOD, 0), 0);
	assert_int_equal(change(&pair, EPOLL_CTL_MOD, 0), 0);
	close(pair.theirs);
	assert_int_equal(reported(&pair), 0);
	assert_int_equal(change(&pair, EPOLL_CTL_MOD, EPOLLIN), 0);
	assert_int_equal(reported(&pair), EPOLLIN);
	assert_int_equal(change(&pair, EPOLL_CTL_MOD, 0), 0);
	assert_int_equal(reported(&pair), 0);
	assert_int_equal(change(&pair, EPOLL_CTL_DEL, 0), 0);
	assert_int_equal(change(&pair, EPOLL_CTL_DEL, 0), -1);
	pair_close(&pair);
}

static void
who_waits_to_write_hears_that_it_can(void **state)
{
	struct pair pair = pair_new(EPOLLOUT);

	close(pair.theirs);
	assert_int_equal(reported(&pair), EPOLLOUT);
	assert_int_equal(change(&pair, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT), 0);
	assert_int_equal(reported(&pair), EPOLLIN | EPOLLOUT);
	pair_close(&pair);
}

/* libzmq would read twice, and its queue may be full after the first time. */
static void
who_waits_to_read_hears_of_an_end_with_input_once(void **state)
{
	struct pair pair = pair_new(EPOLLIN);

	assert_int_equal(write(pair.theirs, "x", 1), 1);
	assert_int_equal(write(pair.ours, "x", 1), 1); /* unread: a reset */
	close(pair.theirs);
	assert_int_equal(reported(&pair), EPOLLIN);
	pair_close(&pair);
}

/* A descriptor may be closed while it waits for nothing, and its number used
 * again. */
static void
a_number_that_is_used_again_waits_for_what_it_asks(void **state)
{
	struct pair pair = pair_new(EPOLLIN);
	int fd[2];

	assert_int_equal(change(&pair, EPOLL_CTL_MOD, 0), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(dup2(fd[0], pair.ours), pair.ours);
	assert_int_equal(change(&pair, EPOLL_CTL_ADD, EPOLLIN), 0);
	assert_int_equal(reported(&pair), 0);
	assert_int_equal(write(fd[1], "x", 1), 1);
	assert_int_equal(reported(&pair), EPOLLIN);
	close(fd[0]);
	close(fd[1]);
	close(pair.theirs);
	pair_close(&pair);
}

/* As the loop waits. */
static void
epoll_pwait_tells_all(void **state)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0), fd[2];

	assert_int_equal(pipe(fd), 0);
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, fd[0], &event), 0);
	close(fd[1]);
	assert_int_equal(epoll_pwait(epoll, &event, 1, 0, NULL), 1);
	assert_int_equal(event.events, EPOLLHUP);
	close(fd[0]);
	close(epoll);
}

/* 0 and 1 are points of small order: whatever the secret, the product is 0. */
static void
with_a_key_that_gives_no_secret_nobody_knows_it(void **state)
{
	unsigned char secret[crypto_box_SECRETKEYBYTES],
	    public[crypto_box_PUBLICKEYBYTES] = { 0 };
	unsigned char one[crypto_box_BEFORENMBYTES], two[sizeof(one)];

	for (unsigned char least = 0; least < 2; least++) {
		public[0] = least;
		randombytes_buf(secret, sizeof(secret));
		memset(one, 7, sizeof(one));
		memset(two, 7, sizeof(two));
		assert_int_equal(crypto_box_beforenm(one, public, secret), 0);
		assert_int_equal(crypto_box_beforenm(two, public, secret), 0);
		/* By chance equal: once in 2^64. */
		for (size_t i = 0; i < sizeof(one); i += 8)
			assert_memory_not_equal(one + i, two + i, 8);
	}
}

static void
the_program_exports_them(void **state)
{
	guard_check();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_for_nothing_hears_nothing),
		cmocka_unit_test(who_waits_to_write_hears_that_it_can),
		cmocka_unit_test(
		    who_waits_to_read_hears_of_an_end_with_input_once),
		cmocka_unit_test(
		    a_number_that_is_used_again_waits_for_what_it_asks),
		cmocka_unit_test(epoll_pwait_tells_all),
		cmocka_unit_test(
		    with_a_key_that_gives_no_secret_nobody_knows_it),
		cmocka_unit_test(the_program_exports_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

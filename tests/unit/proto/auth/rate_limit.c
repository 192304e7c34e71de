/*
 * rate_limit - who may bring how much, at a time that we make.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/rate_limit.h"

#include <string.h>

#include "proto/auth/forwarded_peer.h"
#include "proto/os/clock.h"
#include "tests/unit/check.h"

enum { RATE = 1000, FRAME = 500, BURST = RATE * RATE_LIMIT_BURST_SECONDS };
#define T0 (1000 * NS_PER_SECOND)

static struct rate_limit *rate_limit;

static int
set_up(void **state)
{
	rate_limit = rate_limit_new(RATE);
	return 0;
}

static int
tear_down(void **state)
{
	rate_limit_free(&rate_limit);
	return 0;
}

static struct zsock_message
of_key(uint32_t number)
{
	struct zsock_message message = { .peer = { .keyed = true },
		.frame = { "", FRAME } };

	memcpy(message.peer.key, &number, sizeof(number));
	return message;
}

/* How many it may bring at once. */
static int
brings(const struct zsock_message *message, int64_t now_ns, int most)
{
	int count = 0;

	while (count < most && rate_limit_take(rate_limit, message, now_ns))
		count++;
	return count;
}

static void
a_key_has_a_burst_and_then_its_rate(void **state)
{
	const struct zsock_message message = of_key(1);
	int all = BURST / FRAME + 1; /* the last one goes over */

	assert_int_equal(brings(&message, T0, 1000), all);
	assert_in_range(rate_limit_wait_ms(rate_limit, &message, T0), 1, 5000);
	assert_int_equal(brings(&message, T0 + NS_PER_SECOND, 1000), 2);
	assert_int_equal(brings(&message, T0 + 6 * NS_PER_SECOND, 1000), 10);
	assert_int_equal(
	    brings(&message, T0 + 3600 * NS_PER_SECOND, 1000), all);
}

static void
who_waits_as_long_as_reported_may(void **state)
{
	const struct zsock_message message = of_key(1);
	int64_t now_ns = T0;

	brings(&message, now_ns, 1000);
	for (int i = 0; i < 100; i++) {
		uint32_t ms = rate_limit_wait_ms(rate_limit, &message, now_ns);

		assert_in_range(ms, 1, 5000);
		now_ns += (int64_t)ms * (NS_PER_SECOND / 1000) + 1000000;
		assert_true(rate_limit_take(rate_limit, &message, now_ns));
	}
}

static void
the_flood_of_a_key_is_nothing_to_the_others(void **state)
{
	const struct zsock_message greedy = of_key(1);

	brings(&greedy, T0, 1000);
	for (uint32_t i = 2; i < 1000; i++) {
		const struct zsock_message other = of_key(i);

		assert_true(rate_limit_take(rate_limit, &other, T0));
	}
	assert_false(rate_limit_take(rate_limit, &greedy, T0));
}

static void
whom_a_broker_vouches_for_is_metered_by_his_key(void **state)
{
	struct zsock_message a = of_key(1), b = of_key(1);
	const struct zsock_peer one = of_key(7).peer, two = of_key(8).peer;

	memcpy(a.route.at, "\5route", 6);
	a.route.bytes = 6;
	b.route = a.route;
	assert_true(forwarded_peer_add(&a.route, &one));
	assert_true(forwarded_peer_add(&b.route, &two));
	brings(&a, T0, 1000);
	assert_false(rate_limit_take(rate_limit, &a, T0));
	assert_true(rate_limit_take(rate_limit, &b, T0));
}

static void
who_has_no_key_has_no_bound_nor_has_anybody_without_a_rate(void **state)
{
	struct zsock_message message = of_key(1);

	message.peer.keyed = false;
	assert_int_equal(brings(&message, T0, 1000), 1000);
	message.peer.keyed = true;
	rate_limit_change(rate_limit, 0);
	assert_int_equal(brings(&message, T0, 1000), 1000);
	rate_limit_change(rate_limit, RATE);
	assert_true(brings(&message, T0, 1000) < 1000);
}

/* More keys that owe than there are places: no more memory, and nobody is
 * locked out for longer than his neighbours owe. */
static void
more_keys_than_places_share_them(void **state)
{
	uint32_t later = 0, soon = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		const struct zsock_message message = of_key(i);

		later += !rate_limit_take(rate_limit, &message, T0);
	}
	for (uint32_t i = 0; i < 100000; i++) {
		const struct zsock_message message = of_key(i);

		soon += rate_limit_take(rate_limit, &message,
		    T0 + 60 * NS_PER_SECOND + i * 1000000);
	}
	assert_int_equal(later, 0);
	assert_int_equal(soon, 100000);
}

#define CASE(x) cmocka_unit_test_setup_teardown(x, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_key_has_a_burst_and_then_its_rate),
		CASE(who_waits_as_long_as_reported_may),
		CASE(the_flood_of_a_key_is_nothing_to_the_others),
		CASE(whom_a_broker_vouches_for_is_metered_by_his_key),
		CASE(
		    who_has_no_key_has_no_bound_nor_has_anybody_without_a_rate),
		CASE(more_keys_than_places_share_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

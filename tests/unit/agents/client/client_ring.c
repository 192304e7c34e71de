/*
 * client_ring - a ring against a list of what it should hold, and between
 * threads.
 * SPDX-License-Identifier: MIT
 */
#include "agents/client/ring.h"

#include <pthread.h>
#include <sched.h>

#include "tests/unit/check.h"

enum { SIZE = 4096 };

static _Alignas(8) unsigned char memory[SIZE];

/* A record of `bytes` that can be reported from others. */
static bool
put(struct client_ring *ring, uint32_t bytes, unsigned char mark)
{
	unsigned char *at = client_ring_reserve(ring, bytes);

	if (at == NULL)
		return false;
	memset(at, mark, bytes);
	client_ring_publish(ring);
	return true;
}

static void
check_next(struct client_ring *ring, uint32_t bytes, unsigned char mark)
{
	uint32_t there = 0;
	const unsigned char *at = client_ring_peek(ring, &there);

	assert_non_null(at);
	assert_int_equal(there, bytes);
	assert_int_equal((uintptr_t)at % 8, 0);
	for (uint32_t i = 0; i < bytes; i++)
		assert_int_equal(at[i], mark);
	client_ring_take(ring);
}

static void
records_of_any_size_come_out_whole_and_in_order(void **state)
{
	static struct {
		uint32_t bytes;
		unsigned char mark;
	} model[1 << 16];
	uint32_t first = 0, last = 0, refused = 0;
	uint64_t seed = 1;
	struct client_ring ring;
	uint32_t bytes;

	client_ring_init(&ring, memory, SIZE);
	while (last < sizeof(model) / sizeof(model[0]) - 1) {
		uint64_t random = check_random(&seed);

		bytes = (uint32_t)(random >> 8) % (random % 3 ? 64 : 1500);
		if (random % 2 == 0) {
			model[last].bytes = bytes;
			model[last].mark = (unsigned char)last;
			if (put(&ring, bytes, (unsigned char)last))
				last++;
			else
				refused++;
		} else if (first < last) {
			check_next(
			    &ring, model[first].bytes, model[first].mark);
			first++;
		}
		assert_true(client_ring_is_empty(&ring) == (first == last));
	}
	assert_true(refused > 100);
	for (; first < last; first++)
		check_next(&ring, model[first].bytes, model[first].mark);
	assert_null(client_ring_peek(&ring, &bytes));
}

static void
what_is_not_published_is_not_there(void **state)
{
	struct client_ring ring;
	uint32_t bytes;

	client_ring_init(&ring, memory, SIZE);
	assert_non_null(client_ring_reserve(&ring, 100));
	assert_null(client_ring_peek(&ring, &bytes));
	assert_true(client_ring_is_empty(&ring));
	assert_true(put(&ring, 50, 7));
	check_next(&ring, 50, 7);
	assert_null(client_ring_peek(&ring, &bytes));
}

static void
a_full_ring_refuses_until_something_is_taken(void **state)
{
	struct client_ring ring;
	uint32_t count = 0;

	client_ring_init(&ring, memory, SIZE);
	assert_false(client_ring_is_half_full(&ring));
	while (put(&ring, 56, (unsigned char)count))
		count++;
	/* Each has a head of 8 bytes. */
	assert_int_equal(count, SIZE / 64);
	assert_true(client_ring_is_half_full(&ring));
	check_next(&ring, 56, 0);
	assert_true(put(&ring, 56, 99));
	assert_false(put(&ring, 0, 1));
}

static void
what_could_never_fit_is_refused(void **state)
{
	struct client_ring ring;

	client_ring_init(&ring, memory, SIZE);
	assert_null(client_ring_reserve(&ring, SIZE / 2 + 1));
	client_ring_init(&ring, NULL, 0);
	assert_null(client_ring_reserve(&ring, 1));
	assert_true(client_ring_is_empty(&ring));
}

enum { HANDED = 200000 };

static void *
produce(void *arg)
{
	struct client_ring *ring = arg;

	for (uint32_t i = 0; i < HANDED; i++) {
		uint32_t words = 1 + i % 37, *at;

		while ((at = client_ring_reserve(ring, 4 * words)) == NULL)
			sched_yield();
		for (uint32_t k = 0; k < words; k++)
			at[k] = i;
		client_ring_publish(ring);
	}
	return NULL;
}

static void
another_thread_sees_each_record_whole_and_once(void **state)
{
	struct client_ring ring;
	pthread_t producer;

	client_ring_init(&ring, memory, SIZE);
	assert_int_equal(pthread_create(&producer, NULL, produce, &ring), 0);
	for (uint32_t i = 0; i < HANDED; i++) {
		const uint32_t *at;
		uint32_t bytes;

		while ((at = client_ring_peek(&ring, &bytes)) == NULL)
			sched_yield();
		assert_int_equal(bytes, 4 * (1 + i % 37));
		for (uint32_t k = 0; k < bytes / 4; k++)
			assert_int_equal(at[k], i);
		client_ring_take(&ring);
	}
	pthread_join(producer, NULL);
	assert_true(client_ring_is_empty(&ring));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    records_of_any_size_come_out_whole_and_in_order),
		cmocka_unit_test(what_is_not_published_is_not_there),
		cmocka_unit_test(a_full_ring_refuses_until_something_is_taken),
		cmocka_unit_test(what_could_never_fit_is_refused),
		cmocka_unit_test(
		    another_thread_sees_each_record_whole_and_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

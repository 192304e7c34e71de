/*
 * pairer - event after event it pairs as proto/record/pairing.h does, which
 * sees all events at once.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/phases/pairer.h"
#include "proto/record/pairing.h"

enum { EVENTS = 60 };

/* Events in the order of (time, ends first). */
static uint32_t
make(uint64_t *random, struct pairing at[static EVENTS])
{
	uint32_t count = (uint32_t)check_random(random) % EVENTS;
	int64_t time_ns = 0;
	bool is_end = true;

	for (uint32_t i = 0; i < count; i++) {
		int64_t step = (int64_t)(check_random(random) % 3);

		time_ns += step;
		is_end = (is_end || step > 0) && check_random(random) % 2 != 0;
		at[i] =
		    (struct pairing){ .time_ns = time_ns, .is_end = is_end };
	}
	return count;
}

static void
pair(struct pairing *at, uint32_t start, uint32_t end)
{
	at[start].partner = end;
	at[end].partner = start;
}

static void
pair_instant(struct pairer *pairer, struct pairing *at, uint32_t from,
    uint32_t to, bool fifo)
{
	uint32_t ends = 0;
	struct pairer_instant how;

	while (from + ends < to && at[from + ends].is_end)
		ends++;
	how = pairer_instant(pairer, to - from - ends, ends);
	for (uint32_t i = 0; i < how.waiting; i++)
		pair(at, (uint32_t)pairer_waiting(pairer, i).number, from + i);
	for (uint32_t i = 0; i < how.own; i++)
		pair(at, from + ends + i, from + how.waiting + i);
	pairer_pass(
	    pairer, &how, at[from].time_ns, from + ends + how.own, fifo);
}

static void
event_after_event_pairs_as_all_at_once(void **state)
{
	uint64_t random = check_seed();
	struct pairing at[EVENTS], all[EVENTS];
	struct pairer pairer = { .at = NULL };

	(void)state;
	for (int round = 0; round < 20000; round++) {
		bool fifo = check_random(&random) % 2 != 0;
		uint32_t count = make(&random, at);

		for (uint32_t i = 0; i < count; i++) {
			all[i] = at[i];
			at[i].partner = PAIRING_ALONE;
		}
		pairing_find(all, count, fifo);
		pairer_reset(&pairer);
		for (uint32_t from = 0, to; from < count; from = to) {
			for (to = from + 1; to < count; to++)
				if (at[to].time_ns != at[from].time_ns)
					break;
			pair_instant(&pairer, at, from, to, fifo);
		}
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(at[i].partner, all[i].partner);
	}
	pairer_clear(&pairer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_after_event_pairs_as_all_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

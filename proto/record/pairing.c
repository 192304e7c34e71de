/*
 * pairing - which end belongs to which start.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/pairing.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

/* ---- event after event ---- */

void
pairer_clear(struct pairer *pairer)
{
	free(pairer->at);
	*pairer = (struct pairer){ .at = NULL };
}

void
pairer_reset(struct pairer *pairer)
{
	pairer->first = pairer->count = 0;
}

static void
add_waiting(struct pairer *pairer, int64_t time_ns, uint64_t number)
{
	if (pairer->first > 0 &&
	    pairer->first + pairer->count == pairer->room) {
		memmove(pairer->at, pairer->at + pairer->first,
		    pairer->count * sizeof(*pairer->at));
		pairer->first = 0;
	}
	MEMORY_GROW(pairer->at, pairer->room, pairer->first + pairer->count);
	pairer->at[pairer->first + pairer->count++] =
	    (struct pairer_start){ time_ns, number };
}

void
pairer_pass(struct pairer *pairer, const struct pairer_instant *instant,
    int64_t time_ns, uint64_t number, bool fifo)
{
	pairer->first += instant->waiting;
	pairer->count -= instant->waiting;
	if (!fifo || pairer->count == 0)
		pairer_reset(pairer);
	if (!fifo && instant->left > 0)
		add_waiting(pairer, time_ns, number + instant->left - 1);
	for (uint32_t i = 0; fifo && i < instant->left; i++)
		add_waiting(pairer, time_ns, number + i);
}

bool
pairer_equal(const struct pairer *a, const struct pairer *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (pairer_waiting(a, i).time_ns !=
		    pairer_waiting(b, i).time_ns)
			return false;
	return true;
}

/* ---- events in memory ---- */

/* Events of one time: [from, to). */
struct instant {
	uint32_t from, to;
	uint32_t first; /* of its starts, a number among all starts */
};

/* Append the indexes of the starts; returns how many. */
static uint32_t
list_starts(
    const struct pairing *at, const struct instant *instant, uint32_t *start)
{
	uint32_t starts = 0;

	for (uint32_t i = instant->from; i < instant->to; i++)
		if (!at[i].is_end)
			start[instant->first + starts++] = i;
	return starts;
}

/* Give the ends of the instant their starts; `start` has the index of each. */
static void
join(struct pairing *at, const struct instant *instant,
    const struct pairer *pairer, const struct pairer_instant *how,
    const uint32_t *start)
{
	uint32_t ends = 0;

	for (uint32_t i = instant->from;
	     i < instant->to && ends < how->waiting + how->own; i++) {
		uint64_t number;

		if (!at[i].is_end)
			continue;
		number = ends < how->waiting
			     ? pairer_waiting(pairer, ends).number
			     : instant->first + (ends - how->waiting);
		at[i].partner = start[number];
		at[start[number]].partner = i;
		ends++;
	}
}

void
pairing_find(struct pairing *at, uint32_t count, bool fifo)
{
	uint32_t *start = memory_alloc((count + 1) * sizeof(*start));
	struct instant instant = { .from = 0, .first = 0 };
	struct pairer pairer = { .at = NULL };

	for (uint32_t i = 0; i < count; i++)
		at[i].partner = PAIRING_ALONE;
	for (; instant.from < count; instant.from = instant.to) {
		int64_t time_ns = at[instant.from].time_ns;
		struct pairer_instant how;
		uint32_t starts;

		instant.to = instant.from + 1;
		while (instant.to < count && at[instant.to].time_ns == time_ns)
			instant.to++;
		starts = list_starts(at, &instant, start);
		how = pairer_instant(
		    pairer.count, starts, instant.to - instant.from - starts);
		join(at, &instant, &pairer, &how, start);
		pairer_pass(
		    &pairer, &how, time_ns, instant.first + how.own, fifo);
		instant.first += starts;
	}
	pairer_clear(&pairer);
	free(start);
}

int64_t
pairing_duration(int64_t begin_ns, int64_t end_ns)
{
	int64_t ns;

	if (__builtin_sub_overflow(end_ns, begin_ns, &ns))
		return end_ns < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

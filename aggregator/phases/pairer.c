/*
 * pairer - which starts wait for their end.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/pairer.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

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

static uint32_t
least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

struct pairer_instant
pairer_instant(const struct pairer *pairer, uint32_t starts, uint32_t ends)
{
	struct pairer_instant instant;

	instant.waiting = least(ends, pairer->count);
	instant.own = least(ends - instant.waiting, starts);
	instant.left = starts - instant.own;
	return instant;
}

static void
add(struct pairer *pairer, int64_t time_ns, uint64_t number)
{
	if (pairer->first > 0 &&
	    pairer->first + pairer->count == pairer->room) {
		memmove(pairer->at, pairer->at + pairer->first,
		    pairer->count * sizeof(*pairer->at));
		pairer->first = 0;
	}
	pairer->at = memory_grow(pairer->at, &pairer->room,
	    pairer->first + pairer->count, sizeof(*pairer->at));
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
		add(pairer, time_ns, number + instant->left - 1);
	for (uint32_t i = 0; fifo && i < instant->left; i++)
		add(pairer, time_ns, number + i);
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

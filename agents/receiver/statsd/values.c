/*
 * values - what is kept of the values of a timer, and of a set.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/statsd/values.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/hash/prng.h"

enum { FIRST = 16 };

/* ---- timers ---- */

void
statsd_timer_add(
    struct statsd_timer *timer, double value, double weight, uint64_t *random)
{
	uint64_t at = timer->seen++;

	timer->count += weight;
	timer->sum += value * weight;
	timer->fell |= value < 0;
	timer->min = at == 0 || value < timer->min ? value : timer->min;
	timer->max = at == 0 || value > timer->max ? value : timer->max;
	/* J. S. Vitter, "Random sampling with a reservoir", 1985, algorithm R:
	 * each value of the period is among them with the same chance. */
	if (at >= STATSD_RESERVOIR) {
		at = prng_bits(random) % timer->seen;
		if (at >= STATSD_RESERVOIR)
			return;
	} else if (at >= timer->room) {
		timer->room = at == 0 ? FIRST : 2 * timer->room;
		timer->value = memory_resize_array(
		    timer->value, timer->room, sizeof(*timer->value));
	}
	timer->value[at] = value;
}

double
statsd_timer_p99(const struct statsd_timer *timer)
{
	uint64_t kept =
	    timer->seen < STATSD_RESERVOIR ? timer->seen : STATSD_RESERVOIR;
	double value[STATSD_RESERVOIR];

	memcpy(value, timer->value, kept * sizeof(*value));
	return quantile_select(value, kept, 99);
}

void
statsd_timer_next_period(struct statsd_timer *timer)
{
	timer->seen = 0;
}

void
statsd_timer_clear(struct statsd_timer *timer)
{
	free(timer->value);
	*timer = (struct statsd_timer){ .value = NULL };
}

/* ---- sets ---- */

/* Where the hash is, or a free slot for it. */
static uint64_t *
slot_of(const struct statsd_distinct *distinct, uint64_t hash)
{
	uint32_t mask = distinct->slots - 1, at = (uint32_t)hash & mask;

	while (distinct->slot[at] != 0 && distinct->slot[at] != hash)
		at = (at + 1) & mask;
	return &distinct->slot[at];
}

static void
grow(struct statsd_distinct *distinct)
{
	struct statsd_distinct more = {
		.slots = distinct->slots == 0 ? FIRST : 2 * distinct->slots,
		.count = distinct->count,
	};

	more.slot = memory_zero(more.slots, sizeof(*more.slot));
	for (uint32_t i = 0; i < distinct->slots; i++)
		if (distinct->slot[i] != 0)
			*slot_of(&more, distinct->slot[i]) = distinct->slot[i];
	free(distinct->slot);
	*distinct = more;
}

bool
statsd_distinct_add(struct statsd_distinct *distinct, uint64_t hash)
{
	uint64_t *slot;

	/* At most half of the slots are in use. */
	if (2 * distinct->count >= distinct->slots)
		grow(distinct);
	hash += hash == 0;
	slot = slot_of(distinct, hash);
	if (*slot == hash || distinct->count == STATSD_DISTINCT_MAX)
		return false;
	*slot = hash;
	distinct->count++;
	return true;
}

void
statsd_distinct_clear(struct statsd_distinct *distinct)
{
	free(distinct->slot);
	*distinct = (struct statsd_distinct){ .slot = NULL };
}

/*
 * pairer - which starts of one phase, key and node wait for their end, event
 * after event.
 *
 * It says what proto/record/pairing.h says, but needs neither the past nor the
 * future: the events come in the order of time, those of one time together.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_PAIRER_H
#define AGGREGATOR_PHASES_PAIRER_H

#include <stdbool.h>
#include <stdint.h>

/* Starts that wait; further ones are not stored. */
enum { PAIRER_WAITING_MAX = 4096 };

struct pairer_start {
	int64_t time_ns;
	uint64_t number; /* the caller's */
};

/* Zeroed it is empty and ready. */
struct pairer {
	struct pairer_start *at; /* those that wait, the oldest first */
	uint32_t first, count, room;
};

void pairer_clear(struct pairer *pairer);
void pairer_reset(struct pairer *pairer);

/* How the events of one time pair. */
struct pairer_instant {
	uint32_t waiting; /* the first ends, with the oldest that wait */
	uint32_t own;     /* the next ends, with the first starts of this time;
			     further ends are alone */
	uint32_t left;    /* starts that are left: the last ones */
};
struct pairer_instant pairer_instant(
    const struct pairer *pairer, uint32_t starts, uint32_t ends);

/* The i-th of those that wait. */
static inline struct pairer_start
pairer_waiting(const struct pairer *pairer, uint32_t i)
{
	return pairer->at[pairer->first + i];
}

/* Go on behind the instant.  Without `fifo` only the last start of it may wait;
 * those before are alone.  `number`: that of the first start that is left. */
void pairer_pass(struct pairer *pairer, const struct pairer_instant *instant,
    int64_t time_ns, uint64_t number, bool fifo);

/* Do the same starts wait? */
bool pairer_equal(const struct pairer *a, const struct pairer *b);

#endif

/*
 * pairing - which end belongs to which start: of events in memory, or event
 * after event.
 *
 * In the order of time, an end belongs to the nearest start before it that has
 * no end: a start that is followed by another start, and an end without a
 * start, are alone.  With `fifo` an end belongs to the oldest start before it
 * that has no end, so that spans may overlap.  Of events of one time, ends come
 * first while a start is open, otherwise starts: one span may end when the next
 * one starts, and a span may last no time at all.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_PAIRING_H
#define PROTO_RECORD_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

/* ---- events in memory ---- */

#define PAIRING_ALONE UINT32_MAX

struct pairing {
	int64_t time_ns;
	uint32_t partner; /* result: an index, or PAIRING_ALONE */
	bool is_end;
};

/* The events are sorted by time; their order within one time decides nothing
 * but which of several equal starts, or ends, is taken. */
void pairing_find(struct pairing *at, uint32_t count, bool fifo);

/* end - begin; saturates at the limits of int64. */
int64_t pairing_duration(int64_t begin_ns, int64_t end_ns);

/* ---- event after event ---- */

/* A pairer knows which starts of one phase, key and node wait for their end,
 * and needs neither the past nor the future: the events come in the order of
 * time, those of one time together. */

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

/* How the events of one time pair, when `waiting` starts wait. */
struct pairer_instant {
	uint32_t waiting; /* the first ends, with the oldest that wait */
	uint32_t own;     /* the next ends, with the first starts of this time;
			     further ends are alone */
	uint32_t left;    /* starts that are left: the last ones */
};
static inline struct pairer_instant
pairer_instant(uint32_t waiting, uint32_t starts, uint32_t ends)
{
	struct pairer_instant instant;

	instant.waiting = ends < waiting ? ends : waiting;
	ends -= instant.waiting;
	instant.own = ends < starts ? ends : starts;
	instant.left = starts - instant.own;
	return instant;
}

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

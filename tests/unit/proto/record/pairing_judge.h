/*
 * pairing_judge - pairs by the words of proto/record/pairing.h, all events at
 * once, and not by pairer.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_PROTO_RECORD_PAIRING_JUDGE_H
#define TESTS_UNIT_PROTO_RECORD_PAIRING_JUDGE_H

#include "proto/record/pairing.h"

/* The first start without an end in a range, or the end of the range. */
static inline uint32_t
pairing_judge_next(const struct pairing *at, uint32_t from, uint32_t to)
{
	while (
	    from < to && (at[from].is_end || at[from].partner != PAIRING_ALONE))
		from++;
	return from;
}

/* The last one, or the end of the range. */
static inline uint32_t
pairing_judge_last(const struct pairing *at, uint32_t from, uint32_t to)
{
	for (uint32_t i = to; i-- > from;)
		if (!at[i].is_end && at[i].partner == PAIRING_ALONE)
			return i;
	return to;
}

/* The events [from, to) have one time.  `*open`: the first start before them
 * that may have no end; `from`: none. */
static inline void
pairing_judge_instant(
    struct pairing *at, uint32_t from, uint32_t to, uint32_t *open)
{
	uint32_t own = from, start;

	for (uint32_t end = from; end < to; end++) {
		if (!at[end].is_end)
			continue;
		*open = pairing_judge_next(at, *open, from);
		if (*open < from) {
			start = *open;
		} else {
			start = own = pairing_judge_next(at, own, to);
			if (start == to)
				continue; /* alone */
		}
		at[start].partner = end;
		at[end].partner = start;
	}
}

static inline void
pairing_judge(struct pairing *at, uint32_t count, bool fifo)
{
	uint32_t open = 0, from, to;

	for (uint32_t i = 0; i < count; i++)
		at[i].partner = PAIRING_ALONE;
	for (from = 0; from < count; from = to) {
		for (to = from + 1; to < count; to++)
			if (at[to].time_ns != at[from].time_ns)
				break;
		pairing_judge_instant(at, from, to, &open);
		if (!fifo)
			open = pairing_judge_last(at, from, to);
	}
}

#endif

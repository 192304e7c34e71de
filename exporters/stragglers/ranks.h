/*
 * stragglers_ranks - which rank of a parallel job comes last to its
 * collectives, and what that costs the others.
 *
 * A step of a job ends for all ranks when the last one has arrived: their steps
 * are equally long, and only the arrivals differ.
 *
 * Who is late by chance?  Without a slow rank each of the R ranks of a step is
 * the last one with a probability of 1/R, whatever the others did in other
 * steps.  For each rank two sums are held against this: the steps in which it
 * was last, and by how much it was last in them.  The probability that such a
 * sum of independent terms is reached is at most Chernoff's bound (Hoeffding,
 * Journal of the American Statistical Association 58, 1963).  A rank is late if
 * one of its two bounds is at most RANKS_ALPHA / (2 x ranks): of a hundred jobs
 * without a slow rank at most one has a late one.  It must also have cost the
 * job RANKS_SHARE_MIN of its time: in 100,000 steps each difference is
 * significant.
 *
 * Clocks: a rank was certainly last if it was so by more than the errors of its
 * own clock and that of each other rank together; ranks of one node have one
 * clock.  Only such steps count for a rank.  A rank that would be late if
 * clocks had no errors, and is not as they are, is RANKS_CLOCK: it cannot
 * be decided.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_RANKS_H
#define EXPORTERS_STRAGGLERS_RANKS_H

#include <stdint.h>

#define RANKS_ALPHA     0.01
#define RANKS_SHARE_MIN 0.001
#define RANKS_NO_CLOCK  INT64_MAX

/* The work of a rank in a step. */
struct ranks_arrival {
	uint64_t step;
	uint32_t rank, node;      /* ranks are 0, 1, 2 ... */
	int64_t begin_ns, end_ns; /* it arrives at its end */
	int64_t error_ns; /* of these times; RANKS_NO_CLOCK: not known */
	int64_t wait_ns;  /* that followed; < 0: not known */
};

enum ranks_verdict {
	RANKS_CHANCE,
	RANKS_CLOCK,
	RANKS_LATE,
};

struct ranks_rank {
	uint32_t rank, node;
	enum ranks_verdict verdict;
	uint64_t steps;         /* that it was in, of two ranks or more */
	uint64_t last, certain; /* how often last; and certainly */
	double expected;        /* how often last by chance */
	double chance; /* a bound of the probability, for all ranks; <= 1 */
	/* Where it was last: how long the others waited for it, all together,
	 * and by how much it came after the next to last. */
	int64_t waited_ns, alone_ns;
};

struct ranks {
	struct ranks_rank *at; /* late ones first, then as they cost */
	uint32_t count;
	uint64_t steps;        /* of two ranks or more */
	uint64_t single;       /* steps of one rank: they say nothing */
	uint64_t incomplete;   /* steps that lack a rank */
	uint64_t uncertain;    /* steps of which clocks do not show the last */
	uint64_t steps_needed; /* fewer cannot make a rank late; 0: one rank */
	int64_t time_ns;       /* of the steps, begin to last arrival */
};

/* Sorts the arrivals.  Of two of one rank in one step the later counts. */
void ranks_find(
    struct ranks *ranks, struct ranks_arrival *arrivals, uint64_t count);
void ranks_clear(struct ranks *ranks);

#endif

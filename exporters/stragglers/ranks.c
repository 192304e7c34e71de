/*
 * stragglers_ranks - which rank of a parallel job comes last.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/ranks.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "proto/base/memory.h"

enum { MARGINS_TESTED = 8, HALVINGS = 60 };

/* Steps that are equally likely, and weigh the same. */
struct term {
	double weight, chance;
	double steps;
};

/* The steps as the tests see them. */
struct steps {
	struct term *count;  /* by the number of ranks in a step */
	struct term *margin; /* each step by itself */
	uint64_t margins;
	bool has_margins; /* false: some clock is not known */
	uint32_t ranks, numbers;
};

/* Of one rank, what `struct ranks_rank` does not have. */
struct sums {
	double margin, certain; /* seconds that it was last by; certainly */
	bool is_there;          /* numbers may have gaps */
};

/* ---- chance ---- */

/* Of the logarithm of the moment generating function of the sum, at `tilt`:
 * its value, and its slope. */
static double
moments(const struct term *terms, uint64_t count, double tilt, double *slope)
{
	double sum = 0;

	*slope = 0;
	for (uint64_t i = 0; i < count; i++) {
		const struct term *term = &terms[i];
		double grown = term->chance * exp(tilt * term->weight);
		double all = 1 - term->chance + grown;

		if (term->steps <= 0)
			continue;
		sum += term->steps * log(all);
		*slope += term->steps * term->weight * grown / all;
	}
	return sum;
}

/* A bound of the probability that the sum is at least `reached`: the least of
 * exp(log M(tilt) - tilt x reached).  Any tilt has a valid bound. */
static double
chernoff(const struct term *terms, uint64_t count, double reached)
{
	double low = 0, high = 0, greatest = 0, slope, bound = 1;

	for (uint64_t i = 0; i < count; i++)
		greatest = fmax(greatest, terms[i].weight);
	moments(terms, count, 0, &slope);
	if (greatest <= 0 || reached <= slope)
		return 1;
	/* exp(600) is finite. */
	high = 600 / greatest;
	for (int i = 0; i < HALVINGS; i++) {
		double tilt = (low + high) / 2;
		double log_bound =
		    moments(terms, count, tilt, &slope) - tilt * reached;

		bound = fmin(bound, exp(log_bound));
		*(slope < reached ? &low : &high) = tilt;
	}
	return bound;
}

/* ---- steps ---- */

static int
by_step(const void *left, const void *right)
{
	const struct ranks_arrival *a = left, *b = right;

	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* Drop all but the last arrival of a rank in a step. */
static uint64_t
remove_repeated(struct ranks_arrival *arrivals, uint64_t count)
{
	uint64_t kept = 0;

	for (uint64_t i = 0; i < count; i++)
		if (i + 1 == count ||
		    arrivals[i].step != arrivals[i + 1].step ||
		    arrivals[i].rank != arrivals[i + 1].rank)
			arrivals[kept++] = arrivals[i];
	return kept;
}

static double
seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

/* By how much the clocks of two ranks may differ. */
static double
error_between(const struct ranks_arrival *a, const struct ranks_arrival *b)
{
	if (a->node == b->node)
		return 0;
	if (a->error_ns == RANKS_NO_CLOCK || b->error_ns == RANKS_NO_CLOCK)
		return INFINITY;
	return seconds(a->error_ns) + seconds(b->error_ns);
}

/* The last one of a step, the others' waits for it, and the sums of it. */
static void
take_last(struct ranks *ranks, struct steps *steps, struct sums *sums,
    const struct ranks_arrival *step, uint32_t count)
{
	const struct ranks_arrival *last = step;
	double margin = INFINITY, certain = INFINITY, most = 0;
	struct ranks_rank *rank;
	int64_t begin_ns = step->begin_ns, waited_ns = 0, alone_ns = INT64_MAX;

	for (uint32_t i = 1; i < count; i++)
		if (step[i].end_ns > last->end_ns)
			last = &step[i];
	for (uint32_t i = 0; i < count; i++) {
		int64_t gap_ns = last->end_ns - step[i].end_ns;
		double error = error_between(last, &step[i]);

		if (step[i].begin_ns < begin_ns)
			begin_ns = step[i].begin_ns;
		if (&step[i] == last)
			continue;
		waited_ns += step[i].wait_ns >= 0 && step[i].wait_ns < gap_ns
				 ? step[i].wait_ns
				 : gap_ns;
		if (gap_ns < alone_ns)
			alone_ns = gap_ns;
		margin = fmin(margin, seconds(gap_ns));
		certain = fmin(certain, seconds(gap_ns) - error);
		most = fmax(most, error);
	}
	rank = &ranks->at[last->rank];
	rank->last++;
	rank->waited_ns += waited_ns;
	rank->alone_ns += alone_ns;
	ranks->time_ns += last->end_ns - begin_ns;
	steps->has_margins &= isfinite(most);
	sums[last->rank].margin += margin;
	/* Whoever was last was it by no more than this. */
	steps->margin[steps->margins++] =
	    (struct term){ margin + most, 1.0 / count, 1 };
	if (certain > 0) {
		rank->certain++;
		sums[last->rank].certain += certain;
	} else {
		ranks->uncertain++;
	}
}

static void
take_step(struct ranks *ranks, struct steps *steps, struct sums *sums,
    const struct ranks_arrival *step, uint32_t count)
{
	if (count < 2) {
		ranks->single++;
		return;
	}
	ranks->steps++;
	ranks->incomplete += count < ranks->count;
	steps->count[count] =
	    (struct term){ 1, 1.0 / count, steps->count[count].steps + 1 };
	for (uint32_t i = 0; i < count; i++) {
		ranks->at[step[i].rank].steps++;
		ranks->at[step[i].rank].expected += 1.0 / count;
	}
	take_last(ranks, steps, sums, step, count);
}

/* ---- verdicts ---- */

static bool
costs(const struct ranks *ranks, const struct ranks_rank *rank)
{
	return (double)rank->alone_ns >=
	       RANKS_SHARE_MIN * (double)ranks->time_ns;
}

/* Of all ranks and both tests. */
static double
of_all(const struct steps *steps, double chance)
{
	return fmin(1, 2.0 * steps->ranks * chance);
}

static double
chance_of_count(const struct steps *steps, uint64_t reached)
{
	return of_all(steps, chernoff(steps->count, (uint64_t)steps->ranks + 1,
				 (double)reached));
}

static double
chance_of_margin(const struct steps *steps, double reached)
{
	return of_all(steps, chernoff(steps->margin, steps->margins, reached));
}

/* The ranks that were last by most, of those that are not late yet: each test
 * reads all steps. */
static void
test_margins(
    struct ranks *ranks, const struct steps *steps, const struct sums *sums)
{
	uint32_t tested[MARGINS_TESTED], n = 0;

	for (uint32_t i = 0; i < steps->numbers; i++) {
		uint32_t at = n < MARGINS_TESTED ? n++ : MARGINS_TESTED;

		for (; at > 0 && sums[tested[at - 1]].margin < sums[i].margin;
		     at--)
			if (at < MARGINS_TESTED)
				tested[at] = tested[at - 1];
		if (at < MARGINS_TESTED)
			tested[at] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct ranks_rank *rank = &ranks->at[tested[i]];

		if (rank->verdict == RANKS_LATE || !costs(ranks, rank))
			continue;
		if (steps->has_margins)
			rank->chance = fmin(rank->chance,
			    chance_of_margin(steps, sums[tested[i]].certain));
		if (rank->chance <= RANKS_ALPHA)
			rank->verdict = RANKS_LATE;
		else if (chance_of_margin(steps, sums[tested[i]].margin) <=
			 RANKS_ALPHA)
			rank->verdict = RANKS_CLOCK;
	}
}

static void
test_counts(struct ranks *ranks, const struct steps *steps)
{
	for (uint32_t i = 0; i < steps->numbers; i++) {
		struct ranks_rank *rank = &ranks->at[i];

		rank->chance = 1;
		if (rank->last == 0)
			continue;
		rank->chance = chance_of_count(steps, rank->certain);
		if (!costs(ranks, rank))
			continue;
		if (rank->chance <= RANKS_ALPHA)
			rank->verdict = RANKS_LATE;
		else if (chance_of_count(steps, rank->last) <= RANKS_ALPHA)
			rank->verdict = RANKS_CLOCK;
	}
}

/* The late ones first, then those for which the others waited most. */
static int
by_cost(const void *left, const void *right)
{
	const struct ranks_rank *a = left, *b = right;

	if (a->verdict != b->verdict)
		return a->verdict > b->verdict ? -1 : 1;
	if (a->waited_ns != b->waited_ns)
		return a->waited_ns > b->waited_ns ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* A rank that is last in all of n steps has the chance 1/R^n. */
static uint64_t
steps_needed(uint32_t ranks)
{
	return ranks < 2 ? 0
			 : (uint64_t)ceil(log(2.0 * ranks / RANKS_ALPHA) /
					  log((double)ranks));
}

static void
note_rank(
    struct ranks *ranks, struct sums *sums, const struct ranks_arrival *arrival)
{
	ranks->count += !sums[arrival->rank].is_there;
	sums[arrival->rank].is_there = true;
	ranks->at[arrival->rank].rank = arrival->rank;
	ranks->at[arrival->rank].node = arrival->node;
}

static void
sort_ranks(
    struct ranks *ranks, const struct steps *steps, const struct sums *sums)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < steps->numbers; i++)
		if (sums[i].is_there)
			ranks->at[kept++] = ranks->at[i];
	qsort(ranks->at, kept, sizeof(*ranks->at), by_cost);
}

void
ranks_find(struct ranks *ranks, struct ranks_arrival *arrivals, uint64_t count)
{
	struct steps steps = { .has_margins = true };
	struct sums *sums;

	*ranks = (struct ranks){ .count = 0 };
	qsort(arrivals, count, sizeof(*arrivals), by_step);
	count = remove_repeated(arrivals, count);
	for (uint64_t i = 0; i < count; i++)
		if (arrivals[i].rank >= steps.numbers)
			steps.numbers = arrivals[i].rank + 1;
	ranks->at = memory_zero((size_t)steps.numbers + 1, sizeof(*ranks->at));
	sums = memory_zero((size_t)steps.numbers + 1, sizeof(*sums));
	for (uint64_t i = 0; i < count; i++)
		note_rank(ranks, sums, &arrivals[i]);
	steps.ranks = ranks->count;
	ranks->steps_needed = steps_needed(ranks->count);
	steps.count =
	    memory_zero((size_t)ranks->count + 1, sizeof(*steps.count));
	steps.margin = memory_zero(count + 1, sizeof(*steps.margin));
	for (uint64_t i = 0, end; i < count; i = end) {
		for (end = i;
		     end < count && arrivals[end].step == arrivals[i].step;)
			end++;
		take_step(
		    ranks, &steps, sums, &arrivals[i], (uint32_t)(end - i));
	}
	test_counts(ranks, &steps);
	test_margins(ranks, &steps, sums);
	sort_ranks(ranks, &steps, sums);
	free(sums);
	free(steps.count);
	free(steps.margin);
}

void
ranks_clear(struct ranks *ranks)
{
	free(ranks->at);
	*ranks = (struct ranks){ .count = 0 };
}

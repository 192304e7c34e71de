/*
 * compare_verdict - is it worse, better, the same, or undecided?
 * SPDX-License-Identifier: MIT
 */
#include "exporters/compare/verdict.h"

#include <math.h>
#include <stdlib.h>

#include "proto/base/memory.h"

#define NEEDED_MAX 1e6
/* What is added to see a change for the noise of the next comparison, in widths
 * of the surer limits; tests/bench/compare.c shows for which noise it is
 * enough. */
#define VISIBLE_WIDTHS 1.2

const char *const compare_verdict_words[] = { "same", "better", "worse",
	"undecided", NULL };

/* One that is judged, by how clear it is. */
struct ordered {
	struct compare_judged *of;
	double share;
};

static struct limits_groups
groups_of(const struct compare_judged *of, struct ranks_null *null)
{
	ranks_null_make(null, of->old_count, of->new_count);
	return (struct limits_groups){ of->old, of->new, of->old_count,
		of->new_count, null };
}

static bool
has_both(const struct compare_judged *of)
{
	return of->old_count > 0 && of->new_count > 0;
}

static int
by_share(const void *left, const void *right)
{
	double a = ((const struct ordered *)left)->share,
	       b = ((const struct ordered *)right)->share;

	return (a > b) - (a < b);
}

/* The least share at which a limit is beyond a difference. */
static double
share_beyond(const struct limits_groups *groups, double margin)
{
	uint64_t pairs = (uint64_t)groups->old_count * groups->new_count;
	uint64_t below = limits_count(groups, margin);
	uint64_t above =
	    pairs - limits_count(groups, nextafter(-margin, -HUGE_VAL));

	return ranks_null_share(groups->null, below < above ? below : above);
}

/* The least share at which there is a verdict of worse or better. */
static double
clearness(const struct limits_groups *groups, double margin)
{
	return fmax(share_beyond(groups, margin),
	    share_beyond(groups, 0) / COMPARE_CHANCE);
}

/* The limits, which are beyond no change only if the surer ones are, too.
 * Returns how far these are apart: without end if there are too few. */
static double
find_limits(
    const struct limits_groups *groups, double share, double *low, double *high)
{
	double sure_low, sure_high;

	limits_find(groups, share, low, high);
	limits_find(groups, share * COMPARE_CHANCE, &sure_low, &sure_high);
	if (sure_low <= 0)
		*low = fmin(*low, 0);
	if (sure_high >= 0)
		*high = fmax(*high, 0);
	return sure_high - sure_low;
}

static enum compare_verdict
verdict_of(double low, double high, double margin)
{
	if (low > margin)
		return COMPARE_WORSE;
	if (high < -margin)
		return COMPARE_BETTER;
	return low >= -margin && high <= margin ? COMPARE_SAME
						: COMPARE_UNDECIDED;
}

/* The width of the limits falls with the root of the number of runs.  It must
 * become less than what is between the estimate and the margin. */
static uint64_t
needed(const struct compare_judged *of, double estimate, double half,
    double margin)
{
	double far = fabs(fabs(estimate) - margin);
	double sides = 1.0 / of->old_count + 1.0 / of->new_count;
	double runs = ceil(2 * pow(half / far, 2) / sides);
	uint32_t least = 1, with;

	while ((with = limits_least(least, of->wrong * COMPARE_CHANCE)) == 0 ||
	       with > least)
		least++;
	if (!isfinite(half))
		return least;
	if (!(runs <= NEEDED_MAX))
		return 0;
	return runs > least ? (uint64_t)runs : least;
}

static void
judge_one(struct compare_judged *of, struct ranks_null *null, double share,
    double margin)
{
	struct limits_groups groups = groups_of(of, null);
	double low, high, estimate = limits_estimate(&groups);
	double width = find_limits(&groups, share, &low, &high);

	of->wrong = share;
	of->ratio = exp(estimate);
	of->low = isfinite(low) ? exp(low) : (double)NAN;
	of->high = isfinite(high) ? exp(high) : (double)NAN;
	of->visible = isfinite(width) ? exp(margin + VISIBLE_WIDTHS * width)
				      : (double)NAN;
	of->verdict = verdict_of(low, high, margin);
	if (of->verdict == COMPARE_UNDECIDED)
		of->needed = needed(of, estimate, (high - low) / 2, margin);
}

static void
judge_gates(struct ordered *ordered, uint32_t count, struct ranks_null *null,
    double margin)
{
	uint32_t left = count;

	for (uint32_t i = 0; i < count; i++) {
		struct limits_groups groups = groups_of(ordered[i].of, null);

		ordered[i].share = clearness(&groups, margin);
	}
	qsort(ordered, count, sizeof(*ordered), by_share);
	for (uint32_t i = 0; i < count; i++) {
		struct compare_judged *of = ordered[i].of;

		judge_one(of, null, COMPARE_WRONG / left, margin);
		if (of->verdict == COMPARE_WORSE ||
		    of->verdict == COMPARE_BETTER)
			left--;
	}
}

static void
judge_others(struct ordered *ordered, uint32_t count, struct ranks_null *null,
    double margin)
{
	uint32_t marked = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct compare_judged *of = ordered[i].of;

		judge_one(of, null, COMPARE_WRONG, margin);
		of->likeness = ordered[i].share = ranks_likeness(
		    of->old, of->old_count, of->new, of->new_count);
		of->verdict = COMPARE_NO_VERDICT;
		of->needed = 0;
	}
	qsort(ordered, count, sizeof(*ordered), by_share);
	for (uint32_t i = 0; i < count; i++)
		if (ordered[i].share <= COMPARE_DISCOVERED * (i + 1) / count)
			marked = i + 1;
	for (uint32_t i = 0; i < marked; i++)
		ordered[i].of->verdict =
		    ordered[i].of->ratio > 1 ? COMPARE_WORSE : COMPARE_BETTER;
}

void
compare_judge(struct compare_judged *judged, uint32_t count, double margin)
{
	struct ordered *ordered =
	    memory_zero((size_t)count + 1, sizeof(*ordered));
	struct ranks_null null = { 0 };

	for (uint32_t i = 0; i < count; i++) {
		struct compare_judged *of = &judged[i];

		of->verdict =
		    of->gates ? COMPARE_UNDECIDED : COMPARE_NO_VERDICT;
		of->ratio = of->low = of->high = of->visible = (double)NAN;
		of->wrong = of->likeness = (double)NAN;
		of->needed = 0;
	}
	for (int gates = 0; gates < 2; gates++) {
		uint32_t chosen = 0;

		for (uint32_t i = 0; i < count; i++)
			if (has_both(&judged[i]) && judged[i].gates == gates)
				ordered[chosen++].of = &judged[i];
		(gates ? judge_gates : judge_others)(
		    ordered, chosen, &null, log1p(margin));
	}
	ranks_null_clear(&null);
	free(ordered);
}

enum compare_verdict
compare_of_all(const struct compare_judged *judged, uint32_t count)
{
	bool undecided = true, better = false;

	for (uint32_t i = 0; i < count; i++)
		if (judged[i].gates && judged[i].verdict == COMPARE_WORSE)
			return COMPARE_WORSE;
	for (uint32_t i = 0; i < count; i++) {
		if (!judged[i].gates)
			continue;
		if (judged[i].verdict == COMPARE_UNDECIDED)
			return COMPARE_UNDECIDED;
		undecided = false;
		better = better || judged[i].verdict == COMPARE_BETTER;
	}
	return undecided ? COMPARE_UNDECIDED
	       : better  ? COMPARE_BETTER
			 : COMPARE_SAME;
}

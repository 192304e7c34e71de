/*
 * compare_verdict - is it worse, better, the same, or undecided?
 *
 * Worse: the lower limit of the ratio of new to old is above 1 + `margin`,
 * and wrong in at most one of a thousand comparisons; better: the upper one is
 * below 1 / (1 + margin); the same: both are between these.  A limit is beyond
 * 1 only if it would be with half that share, too: of runs that differ by
 * chance alone, whatever their spread, at most one of 2,000 comparisons says
 * worse. What is by more than the margin worse is seldom missed for it.
 *
 * Of several that decide, this holds for all together (S. Holm, "A simple
 * sequentially rejective multiple test procedure", Scandinavian Journal of
 * Statistics 6, 1979): the limits of the clearest one are those of a thousandth
 * divided by their number, those of the next one by one less, until one decides
 * nothing.
 *
 * Those that do not decide explain: of those that are marked one in twenty is
 * chance (Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate",
 * Journal of the Royal Statistical Society B 57, 1995).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_COMPARE_VERDICT_H
#define EXPORTERS_COMPARE_VERDICT_H

#include "exporters/compare/limits.h"

#define COMPARE_WRONG      0.001 /* share of comparisons */
#define COMPARE_CHANCE     0.5   /* part of it of those without a change */
#define COMPARE_DISCOVERED 0.05  /* share of what is marked */

enum compare_verdict {
	COMPARE_SAME,
	COMPARE_BETTER,
	COMPARE_WORSE,
	COMPARE_UNDECIDED,
	COMPARE_NO_VERDICT /* it explains, and chance may do so */
};
extern const char *const compare_verdict_words[];

/* One number of all runs: the caller sets what is above the line. */
struct compare_judged {
	double *old, *new; /* logarithms, sorted; counts 0: there are none */
	uint32_t old_count, new_count;
	bool gates; /* it decides */
	/* ---- */
	enum compare_verdict verdict;
	double ratio, low, high; /* NaN: unknown, and of limits: too few */
	double wrong;            /* of each limit */
	double likeness;         /* of ranks.h */
	double visible;          /* the least ratio that had been worse */
	uint64_t needed;         /* runs of each side; 0: unknown, or decided */
};

/* `margin`: 0.01 is a per cent. */
void compare_judge(
    struct compare_judged *judged, uint32_t count, double margin);
/* Of all that decide. */
enum compare_verdict compare_of_all(
    const struct compare_judged *judged, uint32_t count);

#endif

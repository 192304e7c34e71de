/*
 * top_trend - what a number of a row was in the last minutes, as small bars.
 *
 * It comes from the history: a bar each 15 s, or as often as the history has a
 * snapshot if these are rarer.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_TREND_H
#define EXPORTERS_TOP_TREND_H

#include "exporters/top/history.h"
#include "exporters/top/view/view.h"

enum { TREND_BARS = 8, TREND_BYTES = 4 * TREND_BARS + 1 };

/* Views of the history, valid as long as it does not change. */
struct trend {
	const struct top_snapshot *at[TREND_BARS + 1]; /* NULL: none */
	int64_t step_ns;
};

/* The bars end with `shown`. */
void trend_begin(struct trend *trend, const struct history *history,
    const struct top_snapshot *shown);

/* The bars of a row of a view that has them, and those of how many are in a
 * phase.  A blank is unknown; the lowest bar is nothing, the highest one all,
 * or the greatest of the numbers if it is no share. */
const char *trend_row(char to[static TREND_BYTES], const struct trend *trend,
    const struct view *view, uint32_t row, bool ascii);
const char *trend_phase(char to[static TREND_BYTES], const struct trend *trend,
    const char *label, bool ascii);

/* Bars of numbers.  `most`: of the highest one; NaN: the greatest. */
const char *trend_bars(char to[static TREND_BYTES],
    const double number[static TREND_BARS], double most, bool ascii);

#endif

/*
 * top_trend - what a number of a row was in the last minutes, as small bars.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/trend.h"

#include <math.h>
#include <string.h>

#include "proto/os/clock.h"

#define STEP_NS (15 * NS_PER_SECOND)

void
trend_begin(struct trend *trend, const struct history *history,
    const struct top_snapshot *shown)
{
	*trend = (struct trend){
		.step_ns = history->gap_ns > STEP_NS ? history->gap_ns : STEP_NS
	};
	trend->at[TREND_BARS] = shown;
	for (int i = 0; i < TREND_BARS; i++) {
		int64_t at_ns =
		    shown->taken_ns - (TREND_BARS - i) * trend->step_ns;
		const struct top_snapshot *of = history_find(history, at_ns);

		if (of != NULL && of->taken_ns <= at_ns &&
		    at_ns - of->taken_ns <= trend->step_ns)
			trend->at[i] = of;
	}
}

const char *
trend_bars(char to[static TREND_BYTES], const double number[static TREND_BARS],
    double most, bool ascii)
{
	static const char *const bars[2][8] = {
		{ "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" },
		{ "_", ".", ":", "-", "=", "+", "*", "#" },
	};
	char *at = to;

	if (isnan(most))
		most = 0;
	for (int i = 0; i < TREND_BARS; i++)
		if (number[i] > most)
			most = number[i];
	for (int i = 0; i < TREND_BARS; i++) {
		double part = most > 0 ? number[i] / most : number[i];
		const char *bar = isnan(part) ? " "
				  : part > 0  ? bars[ascii][(int)ceil(7 * part)]
					      : bars[ascii][0];

		at = stpcpy(at, bar);
	}
	return to;
}

/* ---- rows ---- */

const char *
trend_row(char to[static TREND_BYTES], const struct trend *trend,
    const struct view *view, uint32_t row, bool ascii)
{
	const struct top_snapshot *shown = trend->at[TREND_BARS];
	double number[TREND_BARS], before = NAN, rate = NAN;
	int64_t before_ns = 0;

	for (int i = 0; i <= TREND_BARS; i++) {
		const struct top_snapshot *of = trend->at[i];
		double is = NAN;
		int64_t at_ns = 0;
		uint32_t there;

		if (of != NULL && view->find(of, shown, row, &there))
			is = view->trend(of, there, &at_ns);
		/* It was not read again. */
		if (view->trend_is_share)
			rate = is;
		else if (isnan(is) || isnan(before))
			rate = NAN;
		else if (at_ns > before_ns)
			rate =
			    fmax(0, is - before) / (double)(at_ns - before_ns);
		before = is;
		before_ns = at_ns;
		if (i > 0)
			number[i - 1] = rate;
	}
	return trend_bars(to, number, view->trend_is_share ? 1 : NAN, ascii);
}

const char *
trend_phase(char to[static TREND_BYTES], const struct trend *trend,
    const char *label, bool ascii)
{
	double number[TREND_BARS];

	for (int i = 0; i < TREND_BARS; i++) {
		const struct top_snapshot *of = trend->at[i + 1];

		number[i] = of == NULL ? NAN : 0;
		for (uint32_t k = 0; of != NULL && k < of->phase_count; k++)
			if (strcmp(of->phases[k].label, label) == 0)
				number[i] = of->phases[k].open;
	}
	/* It stands in a line of text. */
	trend_bars(to, number, NAN, ascii);
	return to + strspn(to, " ");
}

/*
 * top_history - the snapshots of the last hour.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

static size_t
bytes_at(const struct history *history, uint32_t i)
{
	return top_snapshot_bytes(
	    history->at[i], i > 0 ? history->at[i - 1] : NULL);
}

/* All that nobody shows are packed. */
static void
pack(struct history *history)
{
	for (uint32_t i = 0; i < history->count; i++)
		if (history->at[i]->holds == 1 && history->at[i]->nodes != NULL)
			top_snapshot_pack(history->at[i]);
}

static void
count_bytes(struct history *history)
{
	history->bytes = 0;
	for (uint32_t i = 0; i < history->count; i++)
		history->bytes += bytes_at(history, i);
}

static void
drop_first(struct history *history, uint32_t many)
{
	for (uint32_t i = 0; i < many; i++)
		top_snapshot_drop(&history->at[i]);
	history->count -= many;
	memmove(history->at, history->at + many,
	    history->count * sizeof(*history->at));
}

/* The newest one and the oldest one stay. */
static void
drop_every_second(struct history *history)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < history->count; i++)
		if (i == 0 || (history->count - 1 - i) % 2 == 0)
			history->at[kept++] = history->at[i];
		else
			top_snapshot_drop(&history->at[i]);
	history->count = kept;
}

/* Is the newest one not needed next to its predecessor? */
static bool
is_near(const struct history *history)
{
	uint32_t count = history->count;

	return count >= 2 && history->at[count - 1]->taken_ns -
				     history->at[count - 2]->taken_ns <
				 history->gap_ns;
}

void
history_add(struct history *history, struct top_snapshot *snapshot)
{
	uint32_t old = 0;

	if (is_near(history))
		top_snapshot_drop(&history->at[--history->count]);
	*MEMORY_ADD(history->at, history->room, history->count) = snapshot;
	snapshot->holds++;
	while (old + 1 < history->count &&
	       snapshot->taken_ns - history->at[old]->taken_ns > HISTORY_NS)
		old++;
	if (old > 0)
		drop_first(history, old);
	pack(history);
	count_bytes(history);
	while (
	    history->count > 2 && (history->bytes > HISTORY_BYTES ||
				      history->count > HISTORY_SNAPSHOTS_MAX)) {
		drop_every_second(history);
		history->gap_ns = history->gap_ns == 0 ? INT64_C(2000000000)
						       : 2 * history->gap_ns;
		count_bytes(history);
	}
}

void
history_clear(struct history *history)
{
	drop_first(history, history->count);
	free(history->at);
	*history = (struct history){ .count = 0 };
}

struct top_snapshot *
history_find(const struct history *history, int64_t taken_ns)
{
	uint32_t i = history->count;

	while (i > 1 && history->at[i - 1]->taken_ns > taken_ns)
		i--;
	return i > 0 ? history->at[i - 1] : NULL;
}

struct top_snapshot *
history_step(const struct history *history, int64_t taken_ns, int direction)
{
	uint32_t i = 0;

	if (direction > 0) {
		while (
		    i < history->count && history->at[i]->taken_ns <= taken_ns)
			i++;
		return i < history->count ? history->at[i] : NULL;
	}
	i = history->count;
	while (i > 0 && history->at[i - 1]->taken_ns >= taken_ns)
		i--;
	return i > 0 ? history->at[i - 1] : NULL;
}

/* ---- trends ---- */

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

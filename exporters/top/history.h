/*
 * top_history - the snapshots of the last hour.
 *
 * They are packed and take at most HISTORY_BYTES.  When they would take more,
 * every second one is dropped, and from then on fewer are kept: of 60 nodes one
 * every second, of 10,000 one every few minutes.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_HISTORY_H
#define EXPORTERS_TOP_HISTORY_H

#include "exporters/top/snapshot.h"
#include "exporters/top/view.h"

#define HISTORY_NS (3600 * INT64_C(1000000000))
enum { HISTORY_BYTES = 2 << 20, HISTORY_SNAPSHOTS_MAX = 3600 };

/* Zero-initialised is empty. */
struct history {
	struct top_snapshot **at; /* the oldest first */
	uint32_t count, room;
	size_t bytes;
	int64_t gap_ns; /* between two that are kept, at least */
};

void history_clear(struct history *history);
/* The snapshot of now, which the history then holds as well as the caller; the
 * one before is dropped if it is too near to its own predecessor. */
void history_add(struct history *history, struct top_snapshot *snapshot);

/* The one that was shown at this time: the newest that is not later, or the
 * oldest; NULL: there is none. */
struct top_snapshot *history_find(
    const struct history *history, int64_t taken_ns);
/* The next one in a direction (-1 or 1); NULL: there is none. */
struct top_snapshot *history_step(
    const struct history *history, int64_t taken_ns, int direction);

/* What a number of a row was in the last minutes, as small bars: one each 15 s,
 * or as often as the history has a snapshot if these are rarer. */

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

/*
 * runs_page_picture - the runs of a model, newest first, twenty on each page,
 * as stacked bars.
 *
 * One bar for each run, the newest on top, divided into its steps; a step is
 * the sum of its iterations.  A step with a negative duration extends to the
 * left of zero.  The table has one line for each run: rank, id, state, seconds
 * of each step, "-" for a step that the run does not have.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_PAGE_PICTURE_H
#define EXPORTERS_RUNS_PAGE_PICTURE_H

#include <stdio.h>

#include "exporters/plot/gnuplot.h"
#include "exporters/runs/runs.h"
#include "proto/json/json.h"

/*
 * The runs of a model, newest first, twenty on each page.
 *
 * The newest run is the one whose first event was emitted last; for equal
 * times the one that appeared last.  The store has runs in the order of their
 * appearance, so finding the newest takes a pass over all.  Memory is bounded:
 * runs that do not fit are found by another pass, so there is no limit on the
 * number of runs.  Runs without events are on no page.
 */

enum {
	RUNS_PAGE = 20,
	RUNS_WINDOW = 6553 * RUNS_PAGE, /* half of the rows in memory */
};

/* A run in a picture: its time in each of the series. */
struct runs_bar {
	struct text id;
	int64_t time_ns;   /* time of the first event */
	uint64_t position; /* position in the order of appearance */
	uint64_t has;      /* one bit for each series: the run has that step */
	enum run_state state;
	bool known, error;
	int64_t ns[];
};

struct runs_page {
	uint64_t number;                    /* from 1 */
	uint64_t first;                     /* rank of its newest run, from 1 */
	const struct runs_bar *const *bars; /* newest first */
	uint32_t count;
};

struct runs_pages {
	struct runs *runs;
	struct text group; /* pattern */
	enum run_clock clock;
	/* The steps that contain no others, in the order of the model. */
	const struct runs_step *series[RUN_STEPS_MAX];
	uint32_t series_count;
	/* Of all runs; both are known from the first page on. */
	uint64_t total;
	struct runs_doubt doubt; /* of durations by the times of receipt */
	uint32_t window;         /* RUNS_WINDOW; a multiple of RUNS_PAGE */

	char *rows; /* bars, one after another */
	size_t row_bytes;
	uint32_t count, room;
	struct string_table texts;       /* indexes of the rows */
	const struct runs_bar **ordered; /* newest first */
	uint32_t usable, at;             /* their number; the next one */
	uint64_t given;
	bool began, ended;
	int64_t last_time_ns; /* the last run that was returned */
	uint64_t last_position;
};

/* Runs of groups that match `group` (empty: all).  `runs` must stay open. */
void runs_pages_begin(struct runs_pages *pages, struct runs *runs,
    struct text group, enum run_clock clock);
/* 1 and the next page (a view, valid until the next call), 0 at the end. */
int runs_pages_next(
    struct runs_pages *pages, struct runs_page *page, struct err *err);
void runs_pages_end(struct runs_pages *pages);

static inline bool
runs_bar_has(const struct runs_bar *bar, uint32_t series)
{
	return bar->has >> series & 1;
}

struct runs_picture {
	const struct runs_pages *pages;
	const struct runs_page *page;
};

void runs_picture_table(const void *picture, FILE *file);
void runs_picture_script(const void *picture, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

/* A page as an element of an array: labels newest first; for each series the
 * seconds of its runs, oldest first (as the chart of the older page requires),
 * null for a run without the step. */
struct byte_stream;
void runs_picture_series(
    const struct runs_picture *picture, struct byte_stream *byte_stream);

#endif

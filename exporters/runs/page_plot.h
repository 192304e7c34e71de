/*
 * runs_page_plot - the runs of a model, newest first, twenty a page.
 *
 * The newest is the one whose first event was emitted last; of those at one
 * time the one that appeared last.  Runs are kept in the order of their
 * appearance, so the newest are found by a pass over all: what is in memory is
 * bounded, and what does not fit is found by another pass, so that pages of
 * any number of runs can be made.  Runs without events are in none.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_PAGE_PLOT_H
#define EXPORTERS_RUNS_PAGE_PLOT_H

#include "exporters/runs/runs.h"

enum {
	RUNS_PAGE = 20,
	RUNS_WINDOW = 6553 * RUNS_PAGE, /* half of what is in memory */
};

/* A run in a picture: what it spent in each of the series. */
struct runs_bar {
	struct text id;
	int64_t time_ns; /* first event */
	uint64_t place;  /* in the order of appearance */
	uint64_t has;    /* bits by series: it went through that step */
	enum run_state state;
	bool known, error;
	int64_t ns[];
};

struct runs_page {
	uint64_t number; /* from 1 */
	uint64_t first;  /* its newest run is the first, from 1 */
	const struct runs_bar *const *bars; /* newest first */
	uint32_t count;
};

struct runs_pages {
	struct runs *runs;
	struct text group; /* pattern */
	enum run_clock clock;
	/* The steps that span no others, in the model's order. */
	const struct runs_step *series[RUN_STEPS_MAX];
	uint32_t series_count;
	uint64_t total;  /* runs; known from the first page on */
	uint32_t window; /* RUNS_WINDOW; a multiple of RUNS_PAGE */

	char *rows; /* bars, one behind the other */
	size_t row_bytes;
	uint32_t count, room;
	struct string_table texts;       /* of the rows */
	const struct runs_bar **ordered; /* newest first */
	uint32_t usable, at;             /* of them; the next */
	uint64_t given;
	bool began, ended;
	int64_t last_time_ns; /* of what was given */
	uint64_t last_place;
};

/* Runs of groups like `group` (empty: all).  `runs` must stay open. */
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

#endif

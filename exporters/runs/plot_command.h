/*
 * runs_plot_command - the pictures of poolscope-plot testrun.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_PLOT_COMMAND_H
#define EXPORTERS_RUNS_PLOT_COMMAND_H

#include "exporters/plot/gnuplot.h"
#include "exporters/runs/runs.h"
#include "exporters/source/source.h"

/* Initialize it with PLOT_TESTRUN_ALL; plot_testrun_check completes it. */
struct plot_testrun_options {
	const char *pages;    /* as given, or NULL */
	const char *series;   /* file for the series, or NULL */
	uint64_t first, last; /* page numbers, from 1 */
};
#define PLOT_TESTRUN_ALL                                                       \
	{                                                                      \
		.first = 1, .last = UINT64_MAX                                 \
	}

/* --pages, --series; bound to struct plot_testrun_options. */
extern const struct opt plot_testrun_options[];

/* Which pictures to draw; RUNS_VIEW_NONE: only --series. */
enum runs_view {
	RUNS_VIEW_NONE,
	RUNS_VIEW_PAGES,
	RUNS_VIEW_DISTRIBUTION,
	RUNS_VIEW_DAYS,
	RUNS_VIEW_ERRORS,
	RUNS_VIEW_ALL
};

/* What to draw, of which runs. */
struct plot_testrun_how {
	const struct plot_testrun_options *options;
	const struct runs_options *runs;
	enum runs_view view;
	const struct picture *picture; /* output options */
};

/* Exits on a usage error. */
void plot_testrun_check(
    struct plot_testrun_options *options, const struct runs_options *runs);

int plot_testrun(struct source *source, struct text partition,
    const struct plot_testrun_how *how, struct err *err);

#endif

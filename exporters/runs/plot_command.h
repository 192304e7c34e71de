/*
 * runs_plot_command - the pictures of what poolscope-plot testrun is asked for.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_PLOT_COMMAND_H
#define EXPORTERS_RUNS_PLOT_COMMAND_H

#include "exporters/gnuplot/picture.h"
#include "exporters/runs/runs.h"
#include "exporters/source/source.h"

/* Begins as PLOT_TESTRUN_ALL; completed by plot_testrun_check. */
struct plot_testrun_options {
	const char *pages;    /* as given, or NULL */
	const char *series;   /* the file of series to write, or NULL */
	uint64_t first, last; /* pages, from 1 */
};
#define PLOT_TESTRUN_ALL                                                       \
	{                                                                      \
		.first = 1, .last = UINT64_MAX                                 \
	}

/* --pages, --series; bound to struct plot_testrun_options. */
extern const struct opt plot_testrun_options[];

/* What is drawn; RUNS_VIEW_NONE leaves it at --series. */
enum runs_view {
	RUNS_VIEW_NONE,
	RUNS_VIEW_PAGES,
	RUNS_VIEW_DISTRIBUTION,
	RUNS_VIEW_ERRORS,
	RUNS_VIEW_ALL
};

/* What is drawn of which runs. */
struct plot_testrun_how {
	const struct plot_testrun_options *options;
	const struct runs_options *runs;
	enum runs_view view;
	const struct picture *picture; /* where and how */
};

/* Wrong use ends the program. */
void plot_testrun_check(
    struct plot_testrun_options *options, const struct runs_options *runs);

int plot_testrun(struct source *source, struct text partition,
    const struct plot_testrun_how *how, struct err *err);

#endif

/*
 * runs_plot_command - the pictures of what poolscope-plot testrun is asked for.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_PLOT_COMMAND_H
#define EXPORTERS_RUNS_PLOT_COMMAND_H

#include "exporters/gnuplot/picture.h"
#include "exporters/source/source.h"

/* --pages, --series. */
extern const struct opt plot_testrun_options[];

/* What is drawn; RUNS_VIEW_NONE leaves it at --series. */
enum runs_view {
	RUNS_VIEW_NONE,
	RUNS_VIEW_PAGES,
	RUNS_VIEW_DISTRIBUTION,
	RUNS_VIEW_ERRORS,
	RUNS_VIEW_ALL
};

/* Wrong use ends the program. */
void plot_testrun_check(void);
/* The file of series to write, or NULL. */
const char *plot_testrun_series(void);

/* `picture` says where and how; its base and contents are filled in here. */
int plot_testrun(struct source *source, struct text partition,
    enum runs_view view, const struct picture *picture, struct err *err);

#endif

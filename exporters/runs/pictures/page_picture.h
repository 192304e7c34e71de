/*
 * runs_page_picture - a page of runs as stacked bars: put_table and put_script
 * of a picture (gnuplot/picture.h).
 *
 * One bar for each run, the newest on top, divided into its steps; a step is
 * the sum of its iterations.  A step with a negative duration extends to the
 * left of zero.  The table has one line for each run: rank, id, state, seconds
 * of each step, "-" for a step that the run does not have.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_PICTURES_PAGE_PICTURE_H
#define EXPORTERS_RUNS_PICTURES_PAGE_PICTURE_H

#include <stdio.h>

#include "exporters/gnuplot/gnuplot.h"
#include "exporters/runs/pictures/page_plot.h"
#include "proto/json/json.h"

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

/* Exact seconds. */
void runs_put_seconds(FILE *file, int64_t ns);

/* "ongoing", "error"; "" for a run that has ended normally. */
const char *runs_bar_words(const struct runs_bar *bar);

#endif

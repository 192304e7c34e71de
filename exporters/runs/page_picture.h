/*
 * runs_page_picture - a page of runs as stacked bars: what put_table and
 * put_script of a picture (gnuplot/picture.h) are for it.
 *
 * A bar a run, the newest on top; its pieces are its steps, each the sum of
 * its iterations.  A step that took less than no time lies left of the
 * beginning.  The table has a line a run: rank, id, state, seconds of each
 * step, "-" where it has none.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_PAGE_PICTURE_H
#define EXPORTERS_RUNS_PAGE_PICTURE_H

#include <stdio.h>

#include "exporters/gnuplot/gnuplot.h"
#include "exporters/runs/page_plot.h"
#include "proto/format/json.h"

struct runs_picture {
	const struct runs_pages *pages;
	const struct runs_page *page;
};

void runs_picture_table(const void *picture, FILE *file);
void runs_picture_script(const void *picture, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

/* The colour of a step: what it has always had, or its own of a palette. */
const char *runs_colour(const struct runs_pages *pages, uint32_t series);

/* A page as a member of an array: labels newest first, of each series the
 * seconds of its runs oldest first (as the older page's chart wanted it), null
 * where a run has none. */
struct byte_stream;
void runs_picture_series(
    const struct runs_picture *picture, struct byte_stream *byte_stream);

/* Seconds, exactly. */
void runs_put_seconds(FILE *file, int64_t ns);

/* What a run is that has not just ended: "ongoing", "error"; else "". */
const char *runs_bar_words(const struct runs_bar *bar);

#endif

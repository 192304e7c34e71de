/*
 * boxes - how long each step took: one row for each, from the least to the
 * greatest duration, with the middle half, the median and p99.
 *
 * All are stored values (proto/base/quantile.h).  The axis is logarithmic if
 * one step takes hundreds of times as long as another.
 *
 * The table has one line for each row: number, name, count, and in seconds
 * min, p25, p50, p75, p99, max.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PLOT_BOXES_H
#define EXPORTERS_PLOT_BOXES_H

#include <stdint.h>
#include <stdio.h>

#include "exporters/plot/gnuplot.h"

enum { BOXES_VALUES = 6 }; /* min, p25, p50, p75, p99, max */

struct box {
	struct text name;
	uint64_t count;
	double seconds[BOXES_VALUES];
};

struct boxes {
	struct box *rows;
	uint32_t count, room;
	const char *title, *note; /* the two lines above the picture */
};

/* The second line above every such picture explains the rows. */
#define BOXES_NOTE "n durations a row; median and p99 are nearest ranks."

/* The same, and the start that is shown; `start` empty: none. */
void boxes_put_note(char *to, size_t room, const char *start);

/* Append a row; sorts the values.  The name must live as long as the rows;
 * nothing is appended if there are no values. */
void boxes_add(
    struct boxes *boxes, struct text name, double *seconds, uint64_t count);
void boxes_clear(struct boxes *boxes);

/* Callbacks of struct picture; the argument is a struct boxes with at least
 * one row. */
void boxes_table(const void *what, FILE *file);
void boxes_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

#endif

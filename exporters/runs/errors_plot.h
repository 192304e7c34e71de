/*
 * runs_errors_plot - how many of each group's runs ended with an error: what
 * put_table and put_script of a picture are for it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_ERRORS_PLOT_H
#define EXPORTERS_RUNS_ERRORS_PLOT_H

#include <stdio.h>

#include "exporters/gnuplot/gnuplot.h"
#include "exporters/runs/groups.h"

enum { RUNS_ERRORS_BARS = 60 }; /* in the picture; all are in the table */

struct runs_errors {
	const struct runs *runs;
	struct runs_error {
		struct text group; /* empty: runs that have none */
		int64_t runs, ended, errors;
		double of_ended, of_all; /* percent */
	} * rows; /* most of what has ended first; then by name */
	uint32_t count, room;
	struct string_table texts;
};

/* Groups like `pattern` (empty: all).  -1 also when there is none.  Clear it in
 * any case. */
int runs_errors_read(struct runs_errors *errors, struct runs *runs,
    struct text pattern, struct err *err);
void runs_errors_clear(struct runs_errors *errors);

void runs_errors_table(const void *errors, FILE *file);
void runs_errors_script(const void *errors, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

#endif

/*
 * runs_errors_plot - the number of runs with an error in each group: put_table
 * and put_script of a picture.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RUNS_ERRORS_PLOT_H
#define EXPORTERS_RUNS_ERRORS_PLOT_H

#include <stdio.h>

#include "exporters/gnuplot/gnuplot.h"
#include "exporters/runs/groups.h"

struct runs_errors {
	const struct runs *runs;
	struct runs_error {
		struct text group; /* empty: runs without a group */
		int64_t runs, ended, errors;
		double of_ended, of_all; /* percent */
	} * rows; /* sorted by errors in percent of the ended runs, highest
		     first; then by name */
	uint32_t count, room;
	struct string_table texts;
};

/* Read the groups that match `pattern` (empty: all).  -1 also when there are
 * none.  Clear it in any case. */
int runs_errors_read(struct runs_errors *errors, struct runs *runs,
    struct text pattern, struct err *err);
void runs_errors_clear(struct runs_errors *errors);

void runs_errors_table(const void *errors, FILE *file);
void runs_errors_script(const void *errors, FILE *file, const char *dat,
    enum gnuplot_terminal terminal);

#endif

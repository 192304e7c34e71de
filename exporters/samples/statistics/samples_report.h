/*
 * samples_report - statistics of metrics as a table of 80 columns, JSON
 * or CSV.
 *
 * The table of many nodes or metrics shows some of the rows, and says which it
 * leaves out; JSON and CSV have all.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_STATISTICS_SAMPLES_REPORT_H
#define EXPORTERS_SAMPLES_STATISTICS_SAMPLES_REPORT_H

#include <stdio.h>

#include "exporters/samples/statistics/sample_rows.h"
#include "exporters/source/clock_view.h"
#include "exporters/stats/stats_format.h"

enum {
	SAMPLES_REPORT_NODES = 20, /* of a metric in the table */
	SAMPLES_REPORT_ROWS = 200, /* of the table */
};

struct samples_report {
	const struct sample_rows *rows; /* finished */
	bool ordered;     /* as asked for: the table has all rows of a metric */
	uint32_t removed; /* rows that are not there, because of --top */
	struct text partition;
	char clock[SOURCE_CLOCK_WORDS]; /* "": unknown */
};

void samples_report_print(
    const struct samples_report *report, enum stats_format format, FILE *file);

#endif

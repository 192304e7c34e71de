/*
 * perf_report - a sample of set "perf" as the older sampler's report.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf_report.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/number.h"

bool
perf_report_is(const struct record *record)
{
	return record->kind == RECORD_SAMPLE &&
	       text_equal(record->source, text_of("perf"));
}

bool
perf_report_get(struct perf_report *report, const struct record *record)
{
	struct text rest = record->value_bytes;
	struct value value;

	if (!perf_report_is(record))
		return false;
	report->time_ns = record->time_ns;
	report->known = report->whole = 0;
	for (unsigned i = 0; i < PERF_COLUMNS; i++) {
		if (!record_next_value(&rest, &value))
			break;
		switch (value.type) {
		case VALUE_FLOAT: report->at[i].f = value.is.f; break;
		case VALUE_UINT: report->at[i].f = (double)value.is.u; break;
		case VALUE_INT:
			report->at[i].i = value.is.i;
			report->whole |= 1u << i;
			break;
		default: continue;
		}
		report->known |= 1u << i;
	}
	return true;
}

double
perf_report_number(const struct perf_report *report, enum perf_column column)
{
	if ((report->known >> column & 1) == 0)
		return NAN;
	return report->whole >> column & 1 ? (double)report->at[column].i
					   : report->at[column].f;
}

/* The quotient is rounded twice, which matters where it is all but in the
 * middle of two doubles: there the decimal decides. */
double
perf_seconds(int64_t time_ns)
{
	long double quotient = (long double)time_ns / 1e9L, off, half;
	double seconds = (double)quotient;
	char text[NUMBER_BYTES];

	if (time_ns == 0)
		return 0;
	off = fabsl(quotient - seconds);
	half = ldexpl(0.5L, ilogb(seconds) - DBL_MANT_DIG + 1);
	if (LDBL_MANT_DIG >= 64 &&
	    fabsl(off - half) > fabsl(quotient) * 0x1p-62L)
		return seconds;
	snprintf(text, sizeof(text), "%" PRId64 "e-9", time_ns);
	return strtod(text, NULL);
}

void
perf_report_put(struct json *json, const struct perf_report *report)
{
	static const enum perf_column order[PERF_REPORTED] = { PERF_CPU_AVG,
		PERF_CPU_MIN, PERF_CPU_MAX, PERF_MEM, PERF_DISK, PERF_READ,
		PERF_WRITE, PERF_LO_SENT, PERF_EXT_SENT, PERF_LO_RECV,
		PERF_EXT_RECV };

	for (int i = 0; i < PERF_REPORTED; i++) {
		enum perf_column c = order[i];

		json_name(json, perf_columns[c].name);
		if ((report->known >> c & 1) == 0)
			json_null(json);
		else if (report->whole >> c & 1)
			json_int(json, report->at[c].i);
		else
			json_float(json, report->at[c].f);
	}
	json_name(json, "timestamp");
	json_float(json, perf_seconds(report->time_ns));
}

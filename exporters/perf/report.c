/*
 * perf_report - convert a sample of metric group "perf" to a report of the
 * older sampler.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf/report.h"

#include <float.h>
#include <math.h>

#include "proto/os/clock.h"

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
	for (unsigned i = 0; i < PERF_GROUP_COLUMNS; i++) {
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
perf_report_number(
    const struct perf_report *report, enum perf_group_column column)
{
	if ((report->known >> column & 1) == 0)
		return NAN;
	return report->whole >> column & 1 ? (double)report->at[column].i
					   : report->at[column].f;
}

/* Correctly rounded with integers: a division of doubles would round the
 * nanoseconds first. */
double
perf_seconds(int64_t time_ns)
{
	uint64_t n = time_ns < 0 ? -(uint64_t)time_ns : (uint64_t)time_ns;
	unsigned __int128 scaled, quotient, low, half;
	unsigned shift, extra;
	uint64_t whole;
	double seconds;

	if (n == 0)
		return 0;
	shift = 32 + (unsigned)__builtin_clzll(n); /* scale to 96 bits */
	scaled = (unsigned __int128)n << shift;
	quotient = scaled / NS_PER_SECOND; /* drop to 53 of the 66 or 67 bits */
	extra = (quotient >> 66 != 0 ? 67 : 66) - DBL_MANT_DIG;
	whole = (uint64_t)(quotient >> extra);
	low = quotient - ((unsigned __int128)whole << extra);
	half = (unsigned __int128)1 << (extra - 1);
	if (low > half ||
	    (low == half && ((whole & 1) != 0 || scaled % NS_PER_SECOND != 0)))
		whole++;
	seconds = ldexp((double)whole, (int)extra - (int)shift);
	return time_ns < 0 ? -seconds : seconds;
}

const enum perf_group_column perf_report_order[PERF_GROUP_REPORTED] = {
	PERF_GROUP_CPU_AVG, PERF_GROUP_CPU_MIN, PERF_GROUP_CPU_MAX,
	PERF_GROUP_MEM, PERF_GROUP_DISK, PERF_GROUP_READ, PERF_GROUP_WRITE,
	PERF_GROUP_LO_SENT, PERF_GROUP_EXT_SENT, PERF_GROUP_LO_RECV,
	PERF_GROUP_EXT_RECV
};

void
perf_report_put(struct json *json, const struct perf_report *report)
{
	for (int i = 0; i < PERF_GROUP_REPORTED; i++) {
		enum perf_group_column c = perf_report_order[i];

		json_name(json, perf_group_columns[c].name);
		if ((report->known >> c & 1) == 0)
			json_null(json);
		else if (report->whole >> c & 1)
			json_int(json, report->at[c].i);
		else
			json_float(json, report->at[c].f);
	}
	json_add_float(json, "timestamp", perf_seconds(report->time_ns));
}

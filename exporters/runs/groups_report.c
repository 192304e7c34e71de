/*
 * runs_groups_report - statistics of groups of runs, as JSON, CSV or tables.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/groups_report.h"

#include <math.h>
#include <stdlib.h>

#include "exporters/runs/groups_table.h"
#include "exporters/select/ordered_rows.h"
#include "proto/base/nearest.h"
#include "proto/format/csv.h"
#include "proto/json/json.h"

struct report {
	struct runs *runs;
	enum run_clock clock;
	struct runs_doubt doubt; /* of mean durations by the times of receipt */
	enum stats_format format;
	FILE *file;
	struct json json;
	struct csv csv;
	const struct order *order; /* of tables and CSV */
	struct ordered_rows ordered;
	bool begun;
	/* The steps of the model, sorted by name. */
	uint32_t sorted[RUN_STEPS_MAX];
};

static const char unknown[] = "(unknown)";
static const char *const clocks[] = { "event_emit", "event_receive" };
static const char *const ofs[] = { "per_iteration", "per_run_total" };

/* The numbers of a step, sorted by their names. */
static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
#define NUMBER(name)                                                           \
	{                                                                      \
#name, offsetof(struct runs_stats, name)                       \
	}
	NUMBER(max),
	NUMBER(mean),
	NUMBER(min),
	NUMBER(p50),
	NUMBER(p90),
	NUMBER(p99),
	NUMBER(std_population),
	NUMBER(std_sample),
	NUMBER(sum),
#undef NUMBER
};
enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

static double
number_of(const struct runs_stats *stats, size_t i)
{
	double value;

	memcpy(&value, (const char *)stats + numbers[i].offset, sizeof(value));
	return value;
}

static bool
has_number(const struct runs_stats *stats, size_t i)
{
	return stats->count > 0 && !isnan(number_of(stats, i));
}

static struct text
name_of(const struct runs_group *group)
{
	return group->known ? group->name : text_of(unknown);
}

/* ---- JSON ---- */

static void
put_stats(struct json *json, const struct runs_stats *stats)
{
	json_begin_object(json);
	json_add_int(json, "count", stats->count);
	for (size_t i = 0; i < NUMBERS; i++) {
		json_name(json, numbers[i].name);
		if (has_number(stats, i))
			json_float(json, number_of(stats, i));
		else
			json_null(json);
	}
	json_end_object(json);
}

static void
put_phases(struct report *report, const struct runs_group *group)
{
	struct json *json = &report->json;

	json_add_object(json, "phases");
	for (uint32_t i = 0; i < report->runs->step_count; i++) {
		uint32_t step = report->sorted[i];

		json_key(json, report->runs->steps[step].name);
		json_begin_object(json);
		for (int clock = 0; clock < RUN_CLOCKS; clock++) {
			json_add_object(json, clocks[clock]);
			for (int of = 0; of < RUNS_OFS; of++) {
				json_name(json, ofs[of]);
				put_stats(json, &group->stats[step][clock][of]);
			}
			json_end_object(json);
		}
		json_end_object(json);
	}
	json_end_object(json);
}

/* Runs in this state; RUN_STATES: all. */
static void
put_list(struct json *json, const char *name, const struct runs_group *group,
    enum run_state state)
{
	json_add_array(json, name);
	for (uint32_t i = 0; i < group->listed_count; i++)
		if (state == RUN_STATES || group->listed[i].state == state)
			json_text(json, group->listed[i].id);
	json_end_array(json);
}

static void
put_requestors(struct json *json, const struct runs_group *group)
{
	json_add_array(json, "requestors");
	for (uint32_t i = 0; i < group->requestor_count; i++) {
		json_begin_array(json);
		json_text(json, group->requestors[i].name);
		json_int(json, group->requestors[i].runs);
		json_end_array(json);
	}
	json_end_array(json);
}

static void
put_json(struct report *report, const struct runs_group *group)
{
	struct json *json = &report->json;

	json_key(json, name_of(group));
	json_begin_object(json);
	json_add_float(json, "error_pct_of_all", runs_errors_of_all(group));
	json_add_float(json, "error_pct_of_ended", runs_errors_of_ended(group));
	json_add_int(json, "errors", group->errors);
	json_add_int(json, "finished", group->state[RUN_FINISHED]);
	put_list(json, "ongoing", group, RUN_ONGOING);
	put_phases(report, group);
	put_list(json, "queued", group, RUN_QUEUED);
	put_requestors(json, group);
	json_add_int(json, "runs", group->runs);
	if (!group->known)
		put_list(json, "unknown", group, RUN_STATES);
	json_end_object(json);
}

/* ---- CSV ---- */

static void
put_csv_titles(struct csv *csv)
{
	csv_titles(csv,
	    "group known runs queued ongoing finished errors "
	    "error_pct_of_ended error_pct_of_all phase time of count");
	for (size_t i = 0; i < NUMBERS; i++)
		csv_string(csv, numbers[i].name);
	csv_end_row(csv);
}

static void
put_csv_row(struct report *report, const struct runs_group *group,
    uint32_t step, int clock, int of)
{
	const struct runs_stats *stats = &group->stats[step][clock][of];
	struct csv *csv = &report->csv;

	csv_text(csv, group->name);
	csv_string(csv, group->known ? "true" : "false");
	csv_int(csv, group->runs);
	for (int state = 0; state < RUN_STATES; state++)
		csv_int(csv, group->state[state]);
	csv_int(csv, group->errors);
	csv_float(csv, runs_errors_of_ended(group));
	csv_float(csv, runs_errors_of_all(group));
	csv_text(csv, report->runs->steps[step].name);
	csv_string(csv, clocks[clock]);
	csv_string(csv, ofs[of]);
	csv_int(csv, stats->count);
	for (size_t i = 0; i < NUMBERS; i++) {
		if (has_number(stats, i))
			csv_float(csv, number_of(stats, i));
		else
			csv_none(csv);
	}
	csv_end_row(csv);
}

static void
put_csv(struct report *report, const struct runs_group *group)
{
	for (uint32_t step = 0; step < report->runs->step_count; step++)
		for (int clock = 0; clock < RUN_CLOCKS; clock++)
			for (int of = 0; of < RUNS_OFS; of++)
				put_csv_row(report, group, step, clock, of);
}

/* ---- order ---- */

const char *const runs_report_columns[] = { "group", "runs", "queued",
	"ongoing", "finished", "errors", "error_pct_of_ended",
	"error_pct_of_all", NULL };

static struct order_key
key_of(const struct runs_group *group, int column)
{
	const double values[] = { 0, (double)group->runs,
		(double)group->state[RUN_QUEUED],
		(double)group->state[RUN_ONGOING],
		(double)group->state[RUN_FINISHED], (double)group->errors,
		runs_errors_of_ended(group), runs_errors_of_all(group) };

	return (struct order_key){ .is_text = column <= 0,
		.text = name_of(group),
		.number = column > 0 ? values[column] : 0 };
}

/* ---- all formats ---- */

static void
begin(struct report *report)
{
	switch (report->format) {
	case STATS_TABLE:
		runs_table_begin(report->runs, report->clock, report->file);
		break;
	case STATS_CSV: put_csv_titles(&report->csv); break;
	default: json_begin_object(&report->json); break;
	}
}

/* The store has no single durations: judge by the means. */
static void
doubt(struct report *report, const struct runs_group *group)
{
	for (uint32_t i = 0; i < report->runs->step_count; i++) {
		const struct runs_stats *emitted =
		    &group->stats[i][RUN_EMIT][RUNS_OF_ITERATION];
		const struct runs_stats *received =
		    &group->stats[i][RUN_RECEIVE][RUNS_OF_ITERATION];

		if (received->count == 0)
			continue;
		report->doubt.durations++;
		report->doubt.doubtful +=
		    runs_is_doubtful(received->mean, emitted->mean);
	}
}

static void
put_group(struct report *report, const struct runs_group *group, FILE *file)
{
	report->csv.file = file;
	switch (report->format) {
	case STATS_TABLE:
		runs_table_put(report->runs, group, report->clock, file);
		break;
	case STATS_CSV: put_csv(report, group); break;
	default: put_json(report, group); break;
	}
}

static int
put(void *arg, const struct runs_group *group, struct err *err)
{
	struct report *report = arg;

	if (report->clock == RUN_RECEIVE)
		doubt(report, group);
	if (!report->begun)
		begin(report);
	report->begun = true;
	if (!order_is_given(report->order)) {
		put_group(report, group, report->file);
		return 0;
	}
	put_group(report, group, ordered_rows_begin(&report->ordered));
	return ordered_rows_end(
	    &report->ordered, key_of(group, report->order->column), err);
}

static void
sort_steps(struct report *report)
{
	const struct runs *runs = report->runs;

	for (uint32_t i = 0; i < runs->step_count; i++) {
		uint32_t at = i;

		for (; at > 0 &&
		       text_compare(runs->steps[i].name,
			   runs->steps[report->sorted[at - 1]].name) < 0;
		     at--)
			report->sorted[at] = report->sorted[at - 1];
		report->sorted[at] = i;
	}
}

/* No group matches: which one may have been meant? */
static int
refuse(struct runs *runs, struct text pattern, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_RUN);
	char typed[2 * NAME_BYTES_MAX + 2], name[NAME_BYTES_MAX + 1];
	char question[3 * NEAREST_WORD_BYTES + 32] = "", shown[300];
	struct nearest nearest;
	struct record record;
	struct err ignored;
	struct text group;

	snprintf(typed, sizeof(typed), "%.*s", (int)pattern.bytes,
	    pattern.bytes > 0 ? pattern.at : "");
	nearest_begin(&nearest, typed);
	query.name = runs->model;
	if (source_select(runs->source, SOURCE_STATS, runs->partition, &query,
		&ignored) == 0) {
		while (source_next(runs->source, &record, &ignored) > 0) {
			if (!text_equal(record.source, text_of("run-group")) ||
			    !record_find_text(&record, "group", &group))
				continue;
			snprintf(name, sizeof(name), "%.*s", (int)group.bytes,
			    group.at);
			nearest_offer(&nearest, name);
		}
		nearest_question(&nearest, "", question, sizeof(question));
	}
	/* It exists, and has no runs in the window. */
	if (nearest.count > 0 && nearest.at[0].distance == 0)
		question[0] = '\0';
	return err_set(err, "no runs of a matching group in partition %s%s",
	    text_quote(shown, sizeof(shown), runs->partition), question);
}

int
runs_report(struct runs *runs, struct text pattern, enum run_clock clock,
    const struct order *order, enum stats_format format, FILE *file,
    struct err *err)
{
	struct report report = { .runs = runs,
		.clock = clock,
		.format = format,
		.order = order,
		.file = file,
		.csv = { .file = file } };
	uint32_t count;
	int rc;

	json_init(&report.json, file, JSON_INDENTED | JSON_STRICT);
	sort_steps(&report);
	ordered_rows_init(&report.ordered, order);
	rc = runs_groups_each(runs, pattern, put, &report, &count, err);
	if (rc == 0 && order_is_given(order))
		ordered_rows_print(&report.ordered, file);
	ordered_rows_clear(&report.ordered);
	if (rc != 0)
		return -1;
	runs_doubt_warn(&report.doubt, "mean durations of groups");
	if (count == 0)
		return refuse(runs, pattern, err);
	if (format == STATS_JSON) {
		json_end_object(&report.json);
		putc('\n', file);
	}
	return 0;
}

/*
 * runs_stats_command - the statistics of test runs.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/stats_command.h"

#include <string.h>

#include "exporters/runs/clock_skew.h"
#include "exporters/runs/groups_report.h"
#include "exporters/runs/run_order.h"
#include "exporters/runs/run_table.h"
#include "exporters/runs/runs.h"
#include "exporters/samples/time_window.h"
#include "proto/format/csv.h"
#include "proto/json/json.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"

/* ---- one row for each run ---- */

static const char *
in_window(const struct runs_options *options)
{
	return runs_has_window(options->from_ns, options->to_ns)
		   ? " that began in that time"
		   : "";
}

static int
put_selected(struct runs_rows *rows, struct runs *runs,
    const struct runs_options *options, const char *id, struct err *err)
{
	struct text wanted = text_of(id);
	uint64_t before = rows->count;
	struct runs_run run;
	char shown[300];
	int rc;

	if (runs_select(runs, wanted, text_of(options->group), err) != 0)
		return -1;
	while ((rc = runs_next(runs, &run, err)) > 0) {
		if ((id == NULL || text_equal(run.id, wanted)) &&
		    runs_rows_put(rows, &run, err) != 0)
			return -1;
		/* The reader of our output has exited, or the disk is full. */
		if (ferror(rows->file))
			return 0;
	}
	if (rc == 0 && id != NULL && rows->count == before)
		return err_set(err, "no run '%s' of model %s%s%s",
		    text_quote(shown, sizeof(shown), wanted), options->model,
		    options->group != NULL ? " in a matching group" : "",
		    in_window(options));
	if (rc == 0 && rows->count == before &&
	    runs_has_window(options->from_ns, options->to_ns))
		return err_set(err, "no runs%s%s",
		    options->group != NULL ? " in a matching group" : "",
		    in_window(options));
	return rc;
}

static bool
is_repeated(const struct opt_operands *operands, uint32_t at)
{
	for (uint32_t i = 2; i < at; i++)
		if (strcmp(operands->at[i], operands->at[at]) == 0)
			return true;
	return false;
}

static int
put_rows(struct runs *runs, const struct runs_options *options,
    const struct opt_operands *operands, enum runs_rows_what what,
    const struct order *given, enum stats_format format, FILE *file,
    struct err *err)
{
	struct order order = *given;
	struct runs_rows rows = { .runs = runs,
		.what = what,
		.format = format,
		.clock = (enum run_clock)options->time,
		.order = &order,
		.file = file };
	struct err ignored;
	int rc;

	if (run_order_find(&order, runs, what, err) != 0)
		return -1;
	if (runs_rows_begin(&rows, err) != 0)
		return -1;
	rc = operands->count > 2
		 ? 0
		 : put_selected(&rows, runs, options, NULL, err);
	for (uint32_t i = 2; rc == 0 && i < operands->count; i++)
		if (!is_repeated(operands, i))
			rc = put_selected(
			    &rows, runs, options, operands->at[i], err);
	if (runs_rows_end(&rows, rc == 0, rc == 0 ? err : &ignored) != 0)
		rc = -1;
	return rc;
}

/* ---- skew ---- */

static const char *const skew_numbers[] = { "min", "mean", "max",
	"std_population", "std_sample" };
enum { SKEW_NUMBERS = sizeof(skew_numbers) / sizeof(*skew_numbers) };

static void
skew_of(const struct runs_skew_row *row, double to[static SKEW_NUMBERS])
{
	to[0] = (double)row->min_ns / NS_PER_SECOND;
	to[1] = runs_skew_mean(row);
	to[2] = (double)row->max_ns / NS_PER_SECOND;
	to[3] = runs_skew_deviation(row, false);
	to[4] = runs_skew_deviation(row, true);
}

static const char *const skew_columns[] = { "node", "event", "count",
	"negative", "min", "mean", "max", "std_population", "std_sample",
	NULL };

static struct order_key
skew_key_of(const void *arg, const void *at, int column)
{
	const struct runs_skew_row *row = at;
	double numbers[SKEW_NUMBERS];

	(void)arg;
	skew_of(row, numbers);
	return (struct order_key){ .is_text = column < 2,
		.text = column == 0 ? row->node : row->event,
		.number = column == 2   ? (double)row->count
			  : column == 3 ? (double)row->negative
			  : column > 3  ? numbers[column - 4]
					: 0 };
}

static void
put_skew_json(const struct runs_skew *skew, FILE *file)
{
	struct json json;

	json_init(&json, file, JSON_INDENTED | JSON_STRICT);
	json_begin_array(&json);
	for (uint32_t i = 0; i < skew->count; i++) {
		const struct runs_skew_row *row = &skew->rows[i];
		double numbers[SKEW_NUMBERS];

		skew_of(row, numbers);
		json_begin_object(&json);
		json_add_text(&json, "node", row->node);
		json_add_text(&json, "event", row->event);
		json_add_uint(&json, "count", row->count);
		json_add_uint(&json, "negative", row->negative);
		for (int k = 0; k < SKEW_NUMBERS; k++) {
			json_add_float(&json, skew_numbers[k], numbers[k]);
		}
		json_end_object(&json);
	}
	json_end_array(&json);
	putc('\n', file);
}

static void
put_skew_csv(const struct runs_skew *skew, FILE *file)
{
	struct csv csv = { .file = file };

	csv_titles(&csv, "node event count negative");
	for (int k = 0; k < SKEW_NUMBERS; k++)
		csv_string(&csv, skew_numbers[k]);
	csv_end_row(&csv);
	for (uint32_t i = 0; i < skew->count; i++) {
		const struct runs_skew_row *row = &skew->rows[i];
		double numbers[SKEW_NUMBERS];

		skew_of(row, numbers);
		csv_text(&csv, row->node);
		csv_text(&csv, row->event);
		csv_uint(&csv, row->count);
		csv_uint(&csv, row->negative);
		for (int k = 0; k < SKEW_NUMBERS; k++)
			csv_float(&csv, numbers[k]);
		csv_end_row(&csv);
	}
}

static void
put_skew_table(const struct runs_skew *skew, struct text partition, FILE *file)
{
	static const struct table_column columns[] = {
		{ "NODE", 18, false },
		{ "EVENT", 14, false },
		{ "COUNT", 7, true },
		{ "MIN", 7, true },
		{ "MEAN", 7, true },
		{ "MAX", 7, true },
		{ "STD", 7, true },
		{ "BEFORE", 6, true },
		{ .title = NULL },
	};
	struct table table;

	fputs("runs of ", file);
	table_put_elided(file, partition, 30);
	fputs(": seconds between emission and receipt\n\n", file);
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < skew->count; i++) {
		const struct runs_skew_row *row = &skew->rows[i];
		double numbers[SKEW_NUMBERS];

		skew_of(row, numbers);
		table_text(&table, row->node);
		table_text(&table, row->event);
		table_count(&table, row->count);
		for (int k = 0; k < 4; k++)
			table_number(&table, numbers[k]);
		table_count(&table, row->negative);
	}
	fputs(
	    "\nbefore: received before they were emitted, by the two clocks\n",
	    file);
}

static int
put_skew(struct runs *runs, struct text node, const struct order *order,
    enum stats_format format, FILE *file, struct err *err)
{
	struct runs_skew skew = { .rows = NULL };
	int rc = runs_skew_read(&skew, runs, node, err);

	if (rc == 0)
		skew.count = order_rows(order, skew.rows, skew.count,
		    sizeof(*skew.rows), skew_key_of, NULL);

	if (rc == 0 && format == STATS_JSON)
		put_skew_json(&skew, file);
	else if (rc == 0 && format == STATS_CSV)
		put_skew_csv(&skew, file);
	else if (rc == 0)
		put_skew_table(&skew, runs->partition, file);
	runs_skew_clear(&skew);
	return rc;
}

/* ---- all ---- */

static bool
is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static void
check_order(struct order *order, const char *what, enum stats_format format)
{
	if (is(what, "skew"))
		order_check(order, skew_columns);
	else if (is(what, "groups"))
		order_check(order, runs_report_columns);
	if (!is(what, "skew") && format == STATS_JSON &&
	    (order->sort != NULL || order->top > 0))
		opt_usage(
		    "testrun %s: --sort and --top are for table and csv", what);
}

void
stats_testrun_check(const struct runs_options *options,
    const struct opt_operands *operands, struct text node, struct order *order,
    enum stats_format format)
{
	const char *what = operands->at[1];
	bool rows =
	    is(what, "list") || is(what, "deltas") || is(what, "iterations");

	if (!rows && !is(what, "groups") && !is(what, "skew"))
		opt_usage("'%.64s' is not one of list, deltas, iterations, "
			  "groups, skew",
		    what);
	if (!rows && operands->count > 2)
		opt_usage("testrun %s covers all runs and takes no RUN", what);
	if (format == STATS_JSONL)
		opt_usage("testrun supports the formats table, json and csv");
	check_order(order, what, format);
	if (options->model[0] == '\0')
		opt_usage("--model needs NAME");
	if (is(what, "skew") && runs_option_is_given(RUNS_GROUP))
		opt_usage("--group is not for testrun skew");
	if ((is(what, "skew") || is(what, "iterations")) &&
	    runs_option_is_given(RUNS_TIME))
		opt_usage("--time is for testrun list, deltas and groups");
	if (options->newest > 0 && (!rows || operands->count > 2))
		opt_usage("--newest is for testrun list, deltas and iterations "
			  "of all runs");
	if (options->after != NULL &&
	    (options->newest == 0 || options->after[0] == '\0'))
		opt_usage("--after takes the id of a run, and goes with "
			  "--newest");
	if (!is(what, "skew") && node.bytes > 0)
		opt_usage("--node is for testrun skew");
	for (uint32_t i = 2; i < operands->count; i++)
		if (operands->at[i][0] == '\0')
			opt_usage("a run's id is empty");
}

int
stats_testrun(struct source *source, struct text partition,
    const struct runs_options *options, const struct opt_operands *operands,
    struct text node, const struct order *order, enum stats_format format,
    FILE *file, struct err *err)
{
	const char *what = operands->at[1];
	struct runs runs;
	int rc = runs_open(&runs, source, partition, options, err);

	if (rc == 0 && is(what, "groups"))
		rc = runs_report(&runs, text_of(options->group),
		    (enum run_clock)options->time, order, format, file, err);
	else if (rc == 0 && is(what, "skew"))
		rc = put_skew(&runs, node, order, format, file, err);
	else if (rc == 0)
		rc = put_rows(&runs, options, operands,
		    is(what, "list")     ? RUNS_LIST
		    : is(what, "deltas") ? RUNS_DELTAS
					 : RUNS_ITERATIONS,
		    order, format, file, err);
	runs_clear(&runs);
	return rc;
}

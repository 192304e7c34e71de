/*
 * perf_stats_command - print the summary of each node, or its reports.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf/stats_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/perf/list.h"
#include "proto/base/memory.h"
#include "proto/format/csv.h"
#include "proto/format/output.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	MAX_LENGTH = 1000, /* capacity of the older sampler's store */
	MAX_LENGTH_MAX = 10000000,
	WARNINGS_MAX = 10,
};

const struct opt stats_perf_options[] = {
	{ "now", 0, OPT_TIME, OPT_TO(struct stats_perf_options, now_ns), "TIME",
	    "perf: end the CPU hours at this time (default: the node's last "
	    "report)",
	    NULL, false },
	{ "cpu-count", 0, OPT_COUNT,
	    OPT_TO(struct stats_perf_options, cpu_count), "N",
	    "perf: assume this many CPUs per node (default: as in its last "
	    "report)",
	    NULL, false },
	{ "decimate", 0, OPT_CHOICE,
	    OPT_TO(struct stats_perf_options, decimate), "WAY",
	    "perf: reduce the reports: minmax preserves peaks and the end, "
	    "reference works like the older sampler",
	    "minmax|reference", false },
	{ "max-length", 0, OPT_COUNT,
	    OPT_TO(struct stats_perf_options, max_length), "N",
	    "perf: print at most N reports per node (default: 1000 with "
	    "--decimate)",
	    NULL, false },
	{ "since-boot", 0, OPT_FLAG,
	    OPT_TO(struct stats_perf_options, since_boot), NULL,
	    "perf: print totals since the node's boot instead of those of the "
	    "reports",
	    NULL, false },
	{ "mlflow-names", 0, OPT_FLAG,
	    OPT_TO(struct stats_perf_options, mlflow), NULL,
	    "perf: print the metric names that MLflow accepts", NULL, false },
	{ "prefix", 0, OPT_TEXT, OPT_TO(struct stats_perf_options, prefix),
	    "TEXT", "perf: begin the MLflow names with this text", NULL,
	    false },
	{ "save", 0, OPT_TEXT, OPT_TO(struct stats_perf_options, save), "FILE",
	    "perf: write the reports in the file format of the older sampler",
	    NULL, false },
	{ .name = NULL },
};

static bool
is_given(const void *option)
{
	return opt_origin_of(option) != OPT_DEFAULT;
}

void
stats_perf_sandbox(
    struct sandbox *sandbox, const struct stats_perf_options *options)
{
	output_sandbox(sandbox, options->save);
}

static struct perf_decimation
decimation(const struct stats_perf_options *options)
{
	if (!is_given(&options->decimate) && !is_given(&options->max_length))
		return (struct perf_decimation){ .way = PERF_ALL };
	return (struct perf_decimation){
		.way = options->decimate == 1 ? PERF_REFERENCE : PERF_MINMAX,
		.max_length = is_given(&options->max_length)
				  ? options->max_length
				  : MAX_LENGTH,
	};
}

void
stats_perf_check(const struct stats_perf_options *options)
{
	struct perf_decimation how = decimation(options);

	if (how.max_length > MAX_LENGTH_MAX)
		opt_usage("--max-length must be at most %d", MAX_LENGTH_MAX);
	if (how.way == PERF_MINMAX && how.max_length < 2)
		opt_usage("--max-length must be at least 2 (the first and the "
			  "last report)");
	if (is_given(&options->cpu_count) &&
	    (options->cpu_count == 0 || options->cpu_count > 1 << 20))
		opt_usage("--cpu-count must be from 1 to %d", 1 << 20);
	if (options->prefix[0] != '\0' && !options->mlflow)
		log_warn("--prefix requires --mlflow-names");
}

/* The names of the metrics. */
struct names {
	char mlflow[PERF_METRICS][PERF_MLFLOW_BYTES];
	const char *at[PERF_METRICS];
};

static void
get_names(struct names *names, const struct stats_perf_options *options)
{
	if (options->mlflow)
		perf_mlflow_names(names->mlflow, options->prefix);
	for (int m = 0; m < PERF_METRICS; m++)
		names->at[m] =
		    options->mlflow ? names->mlflow[m] : perf_metric_names[m];
}

static void
get_metrics(const struct perf_node *node,
    const struct stats_perf_options *options, double to[static PERF_METRICS])
{
	const struct perf_how how = {
		.has_now = is_given(&options->now_ns),
		.now_ns = options->now_ns,
		.cpu_count = options->cpu_count,
		.since_boot = options->since_boot,
	};

	perf_node_metrics(node, &how, to);
}

/* ---- order ---- */

/* The rows of the pool that are printed, and in which order. */
struct shown {
	uint32_t *rows, count;
};

/* The metrics of the table. */
static const enum perf_metric table_metrics[] = { PERF_UTILIZATION,
	PERF_MAX_CPU_AVG, PERF_MAX_MEM, PERF_CPU_HOURS, PERF_UNUSED_CPU_HOURS,
	PERF_TOTAL_READ, PERF_TOTAL_WRITE, PERF_TOTAL_EXT_SENT,
	PERF_TOTAL_EXT_RECV };
enum { TABLE_METRICS = sizeof(table_metrics) / sizeof(*table_metrics) };

const char *const stats_perf_columns[] = { "node", "reports", "cpu", "max",
	"mem", "hours", "unused", "read", "write", "sent", "recv", NULL };

struct sorting {
	const struct perf_pool *pool;
	const struct stats_perf_options *options;
};

static struct order_key
key_of(const void *arg, const void *row, int column)
{
	const struct sorting *by = arg;
	uint32_t number = by->pool->order[*(const uint32_t *)row];
	const struct perf_node *node = &by->pool->nodes[number];
	double metrics[PERF_METRICS];
	struct order_key key = { .is_text = column == 0,
		.text = by->pool->names.names[number],
		.number = column == 1 ? (double)node->reports : NAN };

	if (column < 2 || node->reports == 0)
		return key;
	get_metrics(node, by->options, metrics);
	key.number = metrics[table_metrics[column - 2]];
	if (!isfinite(key.number))
		key.number = NAN;
	return key;
}

static struct shown
get_shown(const struct perf_pool *pool,
    const struct stats_perf_options *options, const struct order *order)
{
	const struct sorting by = { pool, options };
	struct shown shown = {
		.rows = memory_alloc(pool->names.count * sizeof(*shown.rows)),
	};

	for (uint32_t i = 0; i < pool->names.count; i++)
		shown.rows[i] = i;
	shown.count = order_rows(order, shown.rows, pool->names.count,
	    sizeof(*shown.rows), key_of, &by);
	return shown;
}

/* ---- output formats ---- */

static void
put_json(const struct perf_pool *pool, const struct stats_perf_options *options,
    const struct shown *shown, FILE *file)
{
	struct names names;
	double metrics[PERF_METRICS];
	const char *before = "[";
	struct json json;

	get_names(&names, options);
	json_init(&json, file, JSON_STRICT);
	for (uint32_t i = 0; i < shown->count; i++) {
		uint32_t row = shown->rows[i];
		const struct perf_node *node = &pool->nodes[pool->order[row]];

		if (node->reports == 0)
			continue;
		get_metrics(node, options, metrics);
		for (int m = 0; m < PERF_METRICS; m++) {
			fputs(before, file);
			before = ",\n ";
			json_begin_array(&json);
			json_string(&json, names.at[m]);
			json_float(&json, metrics[m]);
			json_int(&json, perf_step(pool, row));
			json_end_array(&json);
		}
	}
	fputs("]\n", file);
}

static void
put_csv(const struct perf_pool *pool, const struct stats_perf_options *options,
    const struct shown *shown, FILE *file)
{
	struct csv csv = { .file = file };
	struct names names;
	double metrics[PERF_METRICS];

	get_names(&names, options);
	csv_titles(&csv, "node step reports");
	for (int m = 0; m < PERF_METRICS; m++)
		csv_string(&csv, names.at[m]);
	csv_end_row(&csv);
	for (uint32_t i = 0; i < shown->count; i++) {
		uint32_t row = shown->rows[i], number = pool->order[row];
		const struct perf_node *node = &pool->nodes[number];

		csv_text(&csv, pool->names.names[number]);
		csv_int(&csv, perf_step(pool, row));
		csv_uint(&csv, node->reports);
		get_metrics(node, options, metrics);
		for (int m = 0; m < PERF_METRICS; m++) {
			if (node->reports == 0 || !isfinite(metrics[m]))
				csv_none(&csv);
			else
				csv_float(&csv, metrics[m]);
		}
		csv_end_row(&csv);
	}
}

static void
put_table(const struct perf_pool *pool,
    const struct stats_perf_options *options, struct text partition,
    const struct shown *shown, FILE *file)
{
	static const struct table_column columns[] = {
		{ "NODE", 10, false },
		{ "REPORTS", 7, true },
		{ "CPU%", 5, true },
		{ "MAX%", 5, true },
		{ "MEM%", 5, true },
		{ "HOURS", 6, true },
		{ "UNUSED", 6, true },
		{ "READ", 6, true },
		{ "WRITE", 6, true },
		{ "SENT", 6, true },
		{ "RECV", 6, true },
		{ .title = NULL },
	};
	struct table table;
	double metrics[PERF_METRICS];

	fputs("reports of ", file);
	table_put_elided(file, partition, 60);
	fprintf(file, ", CPU hours, MiB %s\n\n",
	    options->since_boot ? "since boot" : "meanwhile");
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < shown->count; i++) {
		uint32_t number = pool->order[shown->rows[i]];
		const struct perf_node *node = &pool->nodes[number];

		table_text(&table, pool->names.names[number]);
		table_count(&table, node->reports);
		get_metrics(node, options, metrics);
		for (size_t m = 0; m < TABLE_METRICS; m++) {
			double value = metrics[table_metrics[m]];

			if (node->reports == 0 || !isfinite(value))
				table_none(&table);
			else
				table_number(&table, value);
		}
	}
}

/* ---- missing data ---- */

/* The number of nodes without a report; logs the first of them by name. */
static uint32_t
warn_missing(const struct perf_pool *pool,
    const struct stats_perf_options *options, bool hours)
{
	uint32_t missing = 0, uncounted = 0;
	char shown[300];

	for (uint32_t i = 0; i < pool->names.count; i++) {
		const struct perf_node *node = &pool->nodes[pool->order[i]];

		if (node->reports > 0) {
			uncounted += options->cpu_count == 0 &&
				     (node->known >> PERF_GROUP_CPUS & 1) == 0;
			continue;
		}
		if (++missing > WARNINGS_MAX)
			continue;
		text_quote(
		    shown, sizeof(shown), pool->names.names[pool->order[i]]);
		log_warn("node %s has no reports", shown);
	}
	if (missing > WARNINGS_MAX)
		log_warn("and %u more nodes", missing - WARNINGS_MAX);
	if (uncounted > 0 && hours)
		log_warn("%u nodes do not report their number of CPUs, so "
			 "their CPU hours are unknown; set --cpu-count",
		    uncounted);
	return missing;
}

static int
check(const struct perf_pool *pool, const struct perf_select *select,
    const struct stats_perf_options *options, bool strict, bool hours,
    struct err *err)
{
	uint32_t missing = warn_missing(pool, options, hours);
	char shown[300];

	if (missing == pool->names.count)
		return err_set(err, "no reports of partition %s in %s",
		    text_quote(shown, sizeof(shown), select->partition),
		    source_name(select->source));
	if (missing > 0 && strict)
		return err_set(err, "%u of %u nodes have no reports (--strict)",
		    missing, pool->names.count);
	return 0;
}

/* ---- the command ---- */

static int
save(const struct perf_pool *pool, const struct perf_select *select,
    const struct stats_perf_options *options, struct err *err)
{
	struct perf_decimation how = decimation(options);
	struct output output;

	if (output_open(&output, options->save, err) != 0)
		return -1;
	if (perf_list_save(select, pool, &how, output.file, err) != 0) {
		output_abort(&output);
		return -1;
	}
	return output_commit(&output, err);
}

static int
print(const struct perf_pool *pool, const struct perf_select *select,
    const struct stats_perf_options *options, const struct order *order,
    enum stats_format format, FILE *file, struct err *err)
{
	struct perf_decimation how = decimation(options);
	struct shown shown;

	if (format == STATS_JSONL)
		return perf_list_lines(select, pool, &how, file, err);
	shown = get_shown(pool, options, order);
	if (format == STATS_JSON)
		put_json(pool, options, &shown, file);
	else if (format == STATS_CSV)
		put_csv(pool, options, &shown, file);
	else
		put_table(pool, options, select->partition, &shown, file);
	free(shown.rows);
	return 0;
}

int
stats_perf(const struct perf_select *select,
    const struct stats_perf_options *options, const struct order *order,
    enum stats_format format, bool strict, FILE *file, struct err *err)
{
	struct perf_decimation how = decimation(options);
	struct perf_pool pool = { .nodes = NULL };
	int rc;

	rc = perf_read(&pool, select, err);
	if (rc == 0)
		rc = check(
		    &pool, select, options, strict, format != STATS_JSONL, err);
	if (rc == 0 && options->save != NULL)
		rc = save(&pool, select, options, err);
	/* The older tool computes its numbers from its own store. */
	if (rc == 0 && how.way == PERF_REFERENCE && format != STATS_JSONL)
		rc = perf_list_resum(select, &pool, &how, err);
	if (rc == 0)
		rc = print(&pool, select, options, order, format, file, err);
	perf_pool_clear(&pool);
	return rc;
}

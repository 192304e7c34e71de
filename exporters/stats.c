/*
 * poolscope-stats - print statistics of a pool and the state of the store.
 * poolscope-stats(1).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "exporters/cascade/read.h"
#include "exporters/cascade/report.h"
#include "exporters/metrics/metrics.h"
#include "exporters/nodes/node_states.h"
#include "exporters/nodes/nodes.h"
#include "exporters/nodes/pools.h"
#include "exporters/perf/stats_command.h"
#include "exporters/phases/timeline.h"
#include "exporters/runs/runs.h"
#include "exporters/runs/stats_command.h"
#include "exporters/samples/statistics/samples_order.h"
#include "exporters/samples/statistics/series_command.h"
#include "exporters/samples/statistics/stats_command.h"
#include "exporters/select/known.h"
#include "exporters/select/order.h"
#include "exporters/source/pool.h"
#include "exporters/source/source.h"
#include "exporters/starts/print.h"
#include "exporters/stats/clocks.h"
#include "exporters/stats/phases.h"
#include "exporters/stats/spans.h"
#include "exporters/stats/status.h"
#include "exporters/trace/scanner/stats_command.h"
#include "exporters/usage/usage.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

struct values {
	struct pool_options pool;
	struct source_options source;
	struct time_window_options window;
	struct metric_options metrics;
	struct stats_perf_options perf;
	struct runs_options runs;
	struct starts_options starts;
	const char *output, *name;
	struct order order;
	int format, by, as;
	uint64_t rows;
	int of_what; /* metrics */
	bool strict, fixed, verbose, prometheus;
	const struct opt_operands *operands;
	int *status; /* of the process, after an answer */
};

enum { METRICS_OF_POOLS, METRICS_OF_NODES };
enum { BY_POOL, BY_NODE, BY_NAME, BY_TRACK, BY_METRIC };

static const struct values defaults = { .window = TIME_WINDOW_ALL,
	.order = { .column = -1 },
	.perf = STATS_PERF_DEFAULT,
	.runs = RUNS_DEFAULT,
	.starts = STARTS_DEFAULT,
	.output = "-" };

static const struct opt options[] = {
	{ "format", 0, OPT_CHOICE, OPT_TO(struct values, format), "FORMAT",
	    "print in this format (default: table); "
	    "jsonl: only phases, spans, samples, nodes, pools, perf, clocks; "
	    "csv: not status",
	    "table|json|jsonl|csv", false },
	{ "output", 'o', OPT_TEXT, OPT_TO(struct values, output), "FILE",
	    "write to FILE instead of standard output", NULL, false },
	{ "by", 0, OPT_CHOICE, OPT_TO(struct values, by), "WHAT",
	    "print a row for each of these; phases: pool (default) or node; "
	    "spans: name (default), track or node; samples: metric (default) "
	    "or node",
	    "pool|node|name|track|metric", false },
	{ "name", 0, OPT_TEXT, OPT_TO(struct values, name), "PATTERN",
	    "show only phases or spans that match this pattern, such as "
	    "cascade:p*",
	    NULL, false },
	{ "strict", 0, OPT_FLAG, OPT_TO(struct values, strict), NULL,
	    "cascade, perf: fail when a node is incomplete, or has no report",
	    NULL, false },
	{ "fixed", 0, OPT_FLAG, OPT_TO(struct values, fixed), NULL,
	    "scanner: print more numbers, every node, and the interval of the "
	    "job",
	    NULL, false },
	{ "newest", 0, OPT_COUNT, OPT_TO(struct values, runs.newest), "N",
	    "testrun list, deltas, iterations: print the newest N runs, the "
	    "newest first; starts: the newest N (default: 20)",
	    NULL, false },
	{ "after", 0, OPT_TEXT, OPT_TO(struct values, runs.after), "RUN",
	    "with --newest: print those that follow this run in that order",
	    NULL, false },
	{ "rows", 0, OPT_COUNT, OPT_TO(struct values, rows), "N",
	    "timeline: print at most N rows, of which each stands for several "
	    "nodes (default: 800)",
	    NULL, false },
	{ "as", 0, OPT_CHOICE, OPT_TO(struct values, as), "FORM",
	    "series: a line for each node, or bands: the distribution of the "
	    "nodes (default: auto: lines of up to 12 nodes)",
	    "auto|lines|bands", false },
	{ "metrics", 0, OPT_CHOICE, OPT_TO(struct values, of_what), "WHAT",
	    "metrics: those of pools (default), or of their nodes too",
	    "pools|nodes", false },
	{ "prometheus", 0, OPT_FLAG, OPT_TO(struct values, prometheus), NULL,
	    "metrics: print the older text format 0.0.4 of Prometheus", NULL,
	    false },
	{ "verbose", 'v', OPT_FLAG, OPT_TO(struct values, verbose), NULL,
	    "status: print all counters", NULL, false },
	{ .name = NULL },
};

#define POOL    "partition configdir credentials config-json pool format output "
#define TESTRUN POOL "model time group newest after node from to sort top"

static const struct opt_topic topics[] = {
	{ "cascade", "", "the startup of a pool's nodes, step by step",
	    POOL "strict start gap from to sort top",
	    "poolscope stats cascade -p 'acct$pool'\n"
	    "poolscope stats cascade -p 'acct$pool' --format json\n" },
	{ "phases", "", "statistics of the phases that models define",
	    POOL "by name node start gap from to sort top",
	    "poolscope stats phases --from yesterday\n"
	    "poolscope stats phases --by node --sort p99 --top 5\n" },
	{ "starts", "", "the starts of a pool: how many nodes, ready when",
	    POOL "model newest gap from to sort top",
	    "poolscope stats starts -p 'acct$pool'\n"
	    "poolscope stats starts --newest 5 --gap 30m\n" },
	{ "timeline", "", "what each node did when: its time in each phase",
	    POOL "model node start gap from to rows sort top",
	    "poolscope stats timeline -p 'acct$pool'\n"
	    "poolscope stats timeline --sort total --top 20\n" },
	{ "spans", "", "how long commands, programs and their parts took",
	    POOL "by name node from to sort top",
	    "poolscope stats spans --from -1h\n"
	    "poolscope stats spans --by track --name 'cc*'\n" },
	{ "samples", "", "minimum, mean, quantiles and maximum of metrics",
	    POOL "by metric metric-group node from to sort top",
	    "poolscope stats samples -m 'system.cpu.*' --from -1h\n"
	    "poolscope stats samples --by node -m 'system.memory.*'\n" },
	{ "series", "", "metrics over time, in equal steps",
	    POOL "metric metric-group node job from to step as",
	    "poolscope stats series -m 'system.memory.*' --from -1h\n"
	    "poolscope stats series -m system.cpu.time.idle --as bands\n" },
	{ "usage", "", "what nodes and jobs used of processors, memory, disks",
	    POOL "node job from to step sort top",
	    "poolscope stats usage --from -1d\n"
	    "poolscope stats usage --job 4711\n" },
	{ "nodes", "", "which nodes are heard, and what is wrong with them",
	    POOL "node from sort top",
	    "poolscope nodes -p 'acct$pool'\n"
	    "poolscope nodes --sort clock -n 'cn1*'\n" },
	{ "pools", "", "the pools, how their nodes are, how new their records",
	    "partition format output sort top",
	    "poolscope stats pools\n"
	    "poolscope stats pools -p 'acct$*' --sort silent\n" },
	{ "metrics", "", "numbers of pools for Prometheus (OpenMetrics)",
	    "partition metrics prometheus output",
	    "poolscope stats metrics --prometheus -o poolscope.prom\n"
	    "poolscope stats metrics -p 'acct$*' --metrics nodes\n" },
	{ "perf", "", "the report of each node, as the older tool counts",
	    POOL "node job from to strict now cpu-count decimate max-length "
		 "since-boot mlflow-names prefix save sort top",
	    "poolscope stats perf --from -1h\n"
	    "poolscope stats perf --format json\n" },
	{ "clocks", "", "how far the nodes' clocks are from the aggregator's",
	    POOL "node from to sort top",
	    "poolscope stats clocks\n"
	    "poolscope stats clocks -n 'n1*' --from -1d\n" },
	{ "scanner", "", "where the time of a scanner job went",
	    POOL "job fixed sort top",
	    "poolscope stats scanner --job 17\n"
	    "poolscope stats scanner --job 17 --format csv\n" },
	{ "testrun", " WHAT [RUN...]",
	    "test runs; WHAT: list, groups, deltas, iterations, skew", TESTRUN,
	    "poolscope stats testrun groups -p 'acct$farm'\n"
	    "poolscope stats testrun deltas RUN\n"
	    "poolscope stats testrun list --newest 20\n" },
	{ "skew", "", "testrun skew: receive times against emit times", TESTRUN,
	    "poolscope stats skew\n"
	    "poolscope stats skew -n 'n1*'\n" },
	{ "status", "", "the state of the store and the broker",
	    "format output verbose",
	    "poolscope status\n"
	    "poolscope status --verbose\n" },
	{ .word = NULL },
};

static struct text
node_of(const struct values *values)
{
	return text_of(values->window.node.list);
}

static int
print_cascade(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	struct cascade cascade;
	int rc;

	cascade_init(&cascade);
	rc = cascade_read(&cascade, source, partition,
	    &(struct cascade_window){
		values->window.from_ns, values->window.to_ns },
	    err);
	if (rc == 0 && values->strict && cascade_has_missing(&cascade)) {
		cascade_warn_missing(&cascade);
		rc = cascade_refuse(&cascade, err);
	}
	if (rc == 0 && values->format == STATS_JSON)
		cascade_report_json(&cascade, file);
	else if (rc == 0 && values->format == STATS_CSV)
		cascade_report_csv(&cascade, file);
	else if (rc == 0)
		cascade_report_table(&cascade, file, partition, &values->order);
	if (rc == 0 && cascade.unread_sizes > 0)
		log_warn("unreadable image sizes: %u; they count as unknown",
		    cascade.unread_sizes);
	cascade_clear(&cascade);
	return rc;
}

static int
print_phases(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);

	query.node = node_of(values);
	query.name = text_of(values->name);
	query.from_ns = values->window.from_ns;
	query.to_ns = values->window.to_ns;
	return stats_phases(source, partition, &query, values->by == BY_NODE,
	    &values->order, (enum stats_format)values->format, file, err);
}

/* NULL: the first one that fits. */
static const char *
model_of(const struct values *values)
{
	return runs_option_is_given(RUNS_MODEL) ? values->runs.model : NULL;
}

static int
print_timeline(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	return stats_timeline(source, partition,
	    &(struct stats_timeline){ .model = model_of(values),
		.node = node_of(values),
		.from_ns = values->window.from_ns,
		.to_ns = values->window.to_ns,
		.rows = values->rows,
		.order = &values->order },
	    (enum stats_format)values->format, file, err);
}

static int
print_starts(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	return starts_print(source, partition,
	    &(struct starts_query){ .model = model_of(values),
		.from_ns = values->window.from_ns,
		.to_ns = values->window.to_ns,
		.gap_ns = values->starts.gap_ns },
	    values->runs.newest, &values->order,
	    (enum stats_format)values->format, file, err);
}

static int
print_series(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	return stats_series(source, partition, &values->metrics,
	    &values->window, (enum stats_series_as)values->as,
	    (enum stats_format)values->format, file, err);
}

static int
print_spans(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	return stats_spans(source, partition,
	    &(struct stats_spans_options){ .node = node_of(values),
		.name = text_of(values->name),
		.from_ns = values->window.from_ns,
		.to_ns = values->window.to_ns,
		.order = &values->order,
		.by = values->by == BY_NODE    ? STATS_SPANS_NODE
		      : values->by == BY_TRACK ? STATS_SPANS_TRACK
					       : STATS_SPANS_NAME },
	    (enum stats_format)values->format, file, err);
}

static int
print_samples(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	return stats_samples(source, partition, &values->metrics,
	    &values->window, values->by == BY_NODE, &values->order,
	    (enum stats_format)values->format, file, err);
}

static int
print_perf(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	struct perf_select select = {
		.source = source,
		.partition = partition,
		.node = node_of(values),
	};
	struct job_intervals job_intervals;
	int rc = 0;

	select.from_ns = values->window.from_ns;
	select.to_ns = values->window.to_ns;
	if (values->window.job != NULL) {
		rc = job_intervals_read(
		    &job_intervals, source, partition, values->window.job, err);
		select.jobs = &job_intervals;
	}
	if (rc == 0)
		rc = stats_perf(&select, &values->perf, &values->order,
		    (enum stats_format)values->format, values->strict, file,
		    err);
	if (select.jobs != NULL)
		job_intervals_clear(&job_intervals);
	return rc;
}

static int
print_scanner(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	return stats_scanner(source, partition, values->window.job,
	    &values->order, (enum stats_format)values->format, values->fixed,
	    file, err);
}

static int
print_clocks(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_SAMPLE);

	query.node = node_of(values);
	query.from_ns = values->window.from_ns;
	query.to_ns = values->window.to_ns;
	return stats_clocks(source, partition, &query, &values->order,
	    (enum stats_format)values->format, file, err);
}

static int
print_usage(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	struct usage usage;
	int rc = usage_read(&usage, source, partition, &values->window, err);

	if (rc == 0)
		usage_sort(&usage, &values->order);
	if (rc == 0 && values->format == STATS_JSON)
		usage_json(&usage, file);
	else if (rc == 0 && values->format == STATS_CSV)
		usage_csv(&usage, file);
	else if (rc == 0)
		usage_table(&usage, file, partition);
	usage_clear(&usage);
	return rc;
}

static bool
is_status(const struct opt_operands *operands)
{
	return strcmp(operands->at[0], "status") == 0;
}

/* Of the whole source; --partition, if any, is a pattern. */
static bool
is_of_all(const struct opt_operands *operands)
{
	return strcmp(operands->at[0], "pools") == 0 ||
	       strcmp(operands->at[0], "metrics") == 0;
}

static int
print_testrun(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	return stats_testrun(source, partition, &values->runs, values->operands,
	    node_of(values), &values->order, (enum stats_format)values->format,
	    file, err);
}

static int
print_nodes(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	const struct nodes_options how = {
		.node = node_of(values),
		.from_ns = values->window.from_ns != TIME_MIN_NS
			       ? values->window.from_ns
			       : clock_wall_ns() - NODE_STATES_HEARD_NS,
		.order = &values->order,
	};

	return nodes_print(source, partition, &how,
	    (enum stats_format)values->format, file, values->status, err);
}

/* A partition that is the default of this user is no wish to see it alone. */
static struct text
pattern_of(const struct values *values)
{
	return text_of(
	    opt_origin_of(&values->pool.partition) == OPT_COMMAND_LINE
		? values->pool.partition
		: "");
}

static int
print_pools(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	(void)partition;
	return pools_print(source, NULL, pattern_of(values),
	    source_places(&values->source), &values->order,
	    (enum stats_format)values->format, file, err);
}

/* A source that does not answer is an answer, too: it is down. */
static int
print_metrics(const struct values *values, FILE *file, struct err *err)
{
	enum exposition_format format =
	    values->prometheus ? EXPOSITION_PROMETHEUS : EXPOSITION_OPENMETRICS;
	struct metrics *metrics = NULL;
	struct source *source = NULL;
	int rc = source_open(&source, &values->source, err);

	if (rc == 0) {
		metrics = metrics_new(source, pattern_of(values),
		    values->of_what == METRICS_OF_NODES);
		rc = metrics_read(metrics, clock_wall_ns(), err);
	}
	if (rc == 0) {
		metrics_write(metrics, format, file);
	} else {
		metrics_write_down(format, file);
		log_fail(err);
		*values->status = 1;
	}
	metrics_free(&metrics);
	return source_finish(&source, 0, err);
}

static int
print(struct values *values, const char *partition, FILE *file, struct err *err)
{
	static const struct {
		const char *word;
		int (*print)(const struct values *values, struct source *source,
		    struct text partition, FILE *file, struct err *err);
	} printers[] = {
		{ "cascade", print_cascade },
		{ "phases", print_phases },
		{ "timeline", print_timeline },
		{ "starts", print_starts },
		{ "series", print_series },
		{ "spans", print_spans },
		{ "samples", print_samples },
		{ "usage", print_usage },
		{ "nodes", print_nodes },
		{ "pools", print_pools },
		{ "perf", print_perf },
		{ "clocks", print_clocks },
		{ "scanner", print_scanner },
		{ "testrun", print_testrun },
	};
	const char *what = values->operands->at[0];
	struct source *source = NULL;
	int rc;

	if (is_status(values->operands))
		return stats_status(&values->source,
		    values->format == STATS_JSON, values->verbose, file,
		    values->status, err);
	if (strcmp(what, "metrics") == 0)
		return print_metrics(values, file, err);
	rc = source_open(&source, &values->source, err);
	if (rc == 0 && !is_of_all(values->operands))
		rc = known_check_nodes(
		    source, text_of(partition), node_of(values), err);
	if (rc == 0)
		rc = starts_find_window(source, text_of(partition),
		    &values->starts, model_of(values), &values->window.from_ns,
		    &values->window.to_ns, err);
	for (size_t i = 0; i < sizeof(printers) / sizeof(*printers); i++)
		if (rc == 0 && strcmp(what, printers[i].word) == 0)
			rc = printers[i].print(
			    values, source, text_of(partition), file, err);
	if (source != NULL && !is_of_all(values->operands))
		rc = known_check_partition(source, text_of(partition), rc, err);
	return source_finish(&source, rc, err);
}

/* Phases are of the pool or of nodes, spans have names and tracks, samples
 * metrics. */
static void
check_by(struct values *values, const char *what)
{
	bool spans = strcmp(what, "spans") == 0;
	bool samples = strcmp(what, "samples") == 0;
	int by = values->by;

	if (opt_origin_of(&values->by) != OPT_COMMAND_LINE || by == BY_NODE)
		return;
	if (spans && by != BY_NAME && by != BY_TRACK)
		opt_usage("--by: spans has name, track and node");
	if (samples && by != BY_METRIC)
		opt_usage("--by: samples has metric and node");
	if (!spans && !samples && by != BY_POOL)
		opt_usage("--by: %s has pool and node", what);
}

static void
check_order(struct values *values, const char *what)
{
	static const struct {
		const char *word;
		const char *const *columns;
	} tables[] = {
		{ "phases", stats_phases_columns },
		{ "timeline", stats_timeline_columns },
		{ "starts", starts_columns },
		{ "spans", stats_spans_columns },
		{ "samples", stats_samples_columns },
		{ "usage", usage_columns },
		{ "nodes", nodes_columns },
		{ "pools", pools_columns },
		{ "clocks", stats_clocks_columns },
		{ "cascade", cascade_columns },
		{ "perf", stats_perf_columns },
		{ "scanner", stats_scanner_columns },
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (strcmp(what, tables[i].word) == 0)
			order_check(&values->order, tables[i].columns);
	if (!order_is_given(&values->order))
		return;
	if (strcmp(what, "cascade") == 0 && values->format != STATS_TABLE)
		opt_usage("cascade: --sort and --top are for the table");
	if (strcmp(what, "perf") == 0 && values->format == STATS_JSONL)
		opt_usage("perf: --sort and --top are not for jsonl");
	if (strcmp(what, "scanner") == 0 && values->format == STATS_JSON)
		opt_usage("scanner: --sort and --top are for table and csv");
}

/* Some tables do not have every format. */
static void
check_use(struct values *values, const struct opt_operands *operands)
{
	const char *what = operands->at[0];
	bool cascade = strcmp(what, "cascade") == 0;
	bool status = strcmp(what, "status") == 0;
	bool perf = strcmp(what, "perf") == 0;
	bool usage = strcmp(what, "usage") == 0;
	bool scanner = strcmp(what, "scanner") == 0;
	bool testrun = strcmp(what, "testrun") == 0;
	bool columns = strcmp(what, "timeline") == 0 ||
		       strcmp(what, "series") == 0 ||
		       strcmp(what, "starts") == 0;

	node_option_check(&values->window.node);
	if (!testrun && operands->count > 1)
		opt_usage("unexpected argument '%.64s'", operands->at[1]);
	if ((cascade || usage || scanner || columns) &&
	    values->format == STATS_JSONL)
		opt_usage("%s supports the formats table, json and csv", what);
	if (status && values->format > STATS_JSON)
		opt_usage("status supports the formats table and json");
	starts_options_check(
	    &values->starts, values->window.from_ns, values->window.to_ns);
	check_by(values, what);
	check_order(values, what);
	if (scanner && values->window.job == NULL)
		opt_usage("missing option: --job names the job");
	if (perf)
		stats_perf_check(&values->perf);
	if (testrun) {
		values->runs.from_ns = values->window.from_ns;
		values->runs.to_ns = values->window.to_ns;
		stats_testrun_check(&values->runs, operands, node_of(values),
		    &values->order, (enum stats_format)values->format);
		/* A corrected clock has no skew. */
		if (strcmp(operands->at[1], "skew") == 0)
			source_default_clock(&values->source, CLOCK_RAW);
	}
}

static void
enter_sandbox(const struct values *values)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	source_sandbox(&sandbox, &values->source);
	output_sandbox(&sandbox, values->output);
	stats_perf_sandbox(&sandbox, &values->perf);
	sandbox_close(&sandbox, false);
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { order_options, &values->order },
		{ time_window_options, &values->window },
		{ metric_options, &values->metrics },
		{ stats_perf_options, &values->perf },
		{ runs_options, &values->runs },
		{ starts_options, &values->starts },
		{ source_options, &values->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-stats",
		.synopsis = "WHAT [options]",
		.summary = "print numbers of a pool; WHAT is one of",
		.examples = "poolscope stats phases -p 'acct$pool'\n"
			    "poolscope stats usage --from -1d\n",
		.tables = tables,
		.topics = topics,
		.operands_min = 1,
		.operands_max = UINT32_MAX,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	char testrun[] = "testrun", of_skew[] = "skew";
	char *skew[] = { testrun, of_skew }; /* the word for "skew" */
	char partition[INSTANCE_PATH_BYTES] = "";
	struct opt_operands operands;
	struct output output;
	struct err err = { 0 };
	int rc = 0, status = 0;

	parse(&values, argc, argv, &operands);
	if (strcmp(operands.at[0], "skew") == 0 && operands.count == 1)
		operands = (struct opt_operands){ skew, 2 };
	values.operands = &operands;
	values.status = &status;
	check_use(&values, &operands);
	/* The files of --configdir are not in the sandbox. */
	if (!is_status(&operands) && !is_of_all(&operands))
		rc = pool_partition(partition, &values.pool, &err);
	enter_sandbox(&values);
	if (rc == 0)
		rc = output_open(&output, values.output, &err);
	if (rc == 0) {
		rc = print(&values, partition, output.file, &err);
		/* Status on standard output reports failures in its table. */
		if (rc == 0)
			rc = output_commit(&output, &err);
		else
			output_abort(&output);
	}
	if (rc != 0)
		log_fail(&err);
	return rc == 0 || status > 1 ? status : 1;
}

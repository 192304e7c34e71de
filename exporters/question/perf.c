/*
 * question_perf - the eighteen numbers of the older sampler, a row for each
 * node.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/question/perf.h"

#include <inttypes.h>
#include <math.h>

#include "proto/format/output.h"

struct row {
	struct text node;
	int64_t step;
	uint64_t reports;
	double at[PERF_METRICS];
};

#define METRIC(key, title, number, unit, help)                                 \
	{                                                                      \
		key, title, ANSWER_AT_NUMBER(struct row, at[number]), help,    \
		    unit, ANSWER_SPARE                                         \
	}

/* Their keys are those of the older tool. */
static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node), "the node" },
	{ "step", NULL, ANSWER_AT_WHOLE(struct row, step),
	    "the number by which the older tool calls it" },
	{ "reports", "REPORTS", ANSWER_AT_COUNT(struct row, reports),
	    "how many reports it has" },
	METRIC("max_t_(cpu_pct_per_cpu_avg)", "MAX%", PERF_MAX_CPU_AVG, "%",
	    "the greatest of the means over the CPUs"),
	METRIC("cpu_avg_utilization_pct", "CPU%", PERF_UTILIZATION, "%",
	    "the mean of these means"),
	METRIC("cpu_avg_utilization_at100_pct", NULL, PERF_AT100, "%",
	    "of the reports, those with a mean of 100"),
	METRIC("cpu_avg_utilization_over80_pct", NULL, PERF_OVER80, "%",
	    "of the reports, those with a mean of at least 80"),
	METRIC("cpu_avg_utilization_over40_pct", NULL, PERF_OVER40, "%",
	    "of the reports, those with a mean of at least 40"),
	METRIC("cpu_avg_utilization_over20_pct", NULL, PERF_OVER20, "%",
	    "of the reports, those with a mean of at least 20"),
	METRIC("max_t_(cpu_pct_per_cpu_min)", NULL, PERF_MAX_CPU_MIN, "%",
	    "the greatest of the least busy CPU"),
	METRIC("max_t_(cpu_pct_per_cpu_max)", NULL, PERF_MAX_CPU_MAX, "%",
	    "the greatest of the busiest CPU"),
	METRIC("node_cpu_hours", "HOURS", PERF_CPU_HOURS, "h",
	    "CPUs times the hours from the first report to now"),
	METRIC("node_unused_cpu_hours", "UNUSED", PERF_UNUSED_CPU_HOURS, "h",
	    "the idle part of these, by the mean"),
	METRIC("max_t_(mem_percent)", "MEM%", PERF_MAX_MEM, "%",
	    "the most memory that was used"),
	METRIC("max_t_disk_usage_percent", NULL, PERF_MAX_DISK, "%",
	    "the most space that was used"),
	METRIC("total_disk_io_read_mb", "READ", PERF_TOTAL_READ, "MiBy",
	    "read from disks"),
	METRIC("total_disk_io_write_mb", "WRITE", PERF_TOTAL_WRITE, "MiBy",
	    "written to disks"),
	METRIC("total_net_io_lo_sent_mb", NULL, PERF_TOTAL_LO_SENT, "MiBy",
	    "sent over loopback"),
	METRIC("total_net_io_ext_sent_mb", "SENT", PERF_TOTAL_EXT_SENT, "MiBy",
	    "sent over the others"),
	METRIC("total_net_io_lo_recv_mb", NULL, PERF_TOTAL_LO_RECV, "MiBy",
	    "received over loopback"),
	METRIC("total_net_io_ext_recv_mb", "RECV", PERF_TOTAL_EXT_RECV, "MiBy",
	    "received over the others"),
	{ .key = NULL },
};

struct metric_row {
	struct text node, name;
	int64_t step;
	double value;
};

static const struct answer_column metric_columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct metric_row, node), "the node" },
	{ "name", "NAME", ANSWER_AT_TEXT(struct metric_row, name),
	    "the name that MLflow accepts" },
	{ "value", "VALUE", ANSWER_AT_NUMBER(struct metric_row, value),
	    "the number" },
	{ "step", "STEP", ANSWER_AT_WHOLE(struct metric_row, step),
	    "the step that the older tool logs it with" },
	{ .key = NULL },
};

/* The second with --mlflow-names: what is passed to MLflow, in that order. */
static const struct answer_table tables[] = { { "nodes", columns },
	{ "mlflow", metric_columns }, { .name = NULL } };

/* False: it has no reports, and all is unknown. */
static bool
get(struct row *row, const struct question_reports *reports, uint32_t i,
    const struct question_values *values)
{
	const struct perf_pool *pool = &reports->pool;
	const struct perf_node *node = &pool->nodes[pool->order[i]];
	const struct perf_how how = {
		.has_now = question_is_given(values, "now"),
		.now_ns = values->perf.now_ns,
		.cpu_count = values->perf.cpu_count,
		.since_boot = values->perf.since_boot,
	};

	*row = (struct row){ .node = pool->names.names[pool->order[i]],
		.step = perf_step(pool, i),
		.reports = node->reports };
	for (int m = 0; m < PERF_METRICS; m++)
		row->at[m] = NAN;
	if (node->reports > 0)
		perf_node_metrics(node, &how, row->at);
	return node->reports > 0;
}

static void
put_mlflow(struct answer *answer, const struct question_reports *reports,
    const struct question_values *values)
{
	char names[PERF_METRICS][PERF_MLFLOW_BYTES];
	struct row row;

	perf_mlflow_names(names, values->perf.prefix);
	answer_begin_table(answer, "mlflow");
	for (uint32_t i = 0; i < reports->pool.names.count; i++) {
		if (!get(&row, reports, i, values))
			continue;
		for (int m = 0; m < PERF_METRICS; m++)
			answer_row(answer,
			    &(struct metric_row){ row.node, text_of(names[m]),
				row.step, row.at[m] },
			    NULL);
	}
}

static void
note_uncounted(const struct question_reports *reports,
    const struct question_values *values, struct answer *answer)
{
	uint32_t uncounted = 0;

	for (uint32_t i = 0; i < reports->pool.names.count; i++) {
		const struct perf_node *node = &reports->pool.nodes[i];

		uncounted += node->reports > 0 && values->perf.cpu_count == 0 &&
			     (node->known >> PERF_GROUP_CPUS & 1) == 0;
	}
	if (uncounted > 0)
		answer_note(answer, "cpus_unknown", uncounted,
		    "%" PRIu32 " node%s not report a number of CPUs, so that "
		    "the CPU hours are unknown; set --cpu-count",
		    uncounted, uncounted == 1 ? " does" : "s do");
}

static int
save(const struct question_reports *reports, const char *path, struct err *err)
{
	struct output output;

	if (output_open(&output, path, err) != 0)
		return -1;
	if (perf_list_save(&reports->select, &reports->pool, &reports->how,
		output.file, err) != 0) {
		output_abort(&output);
		return -1;
	}
	return output_commit(&output, err);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct question_values *values = asked->values;
	struct question_reports reports;
	struct row row;
	char shown[300];
	int rc = question_reports_read(&reports, asked, answer, err);

	answer_title(answer, "reports of %s, CPU hours, MiB %s",
	    text_quote(shown, sizeof(shown), asked->partition),
	    values->perf.since_boot ? "since boot" : "meanwhile");
	if (rc == 0 && values->perf.save != NULL)
		rc = save(&reports, values->perf.save, err);
	/* The older tool computes its numbers from its own store. */
	if (rc == 0 && reports.how.way == PERF_REFERENCE)
		rc = perf_list_resum(
		    &reports.select, &reports.pool, &reports.how, err);
	for (uint32_t i = 0; rc == 0 && i < reports.pool.names.count; i++) {
		get(&row, &reports, i, values);
		answer_row(answer, &row, NULL);
	}
	if (rc == 0 &&
	    (values->perf.mlflow || question_is_given(values, "prefix")))
		put_mlflow(answer, &reports, values);
	if (rc == 0)
		note_uncounted(&reports, values, answer);
	question_reports_clear(&reports);
	return rc;
}

static int
check(const struct question_values *values, struct err *err)
{
	if (question_is_given(values, "cpu-count") &&
	    (values->perf.cpu_count == 0 || values->perf.cpu_count > 1 << 20))
		return err_set(
		    err, "--cpu-count must be from 1 to %d", 1 << 20);
	return question_reports_check(values, err);
}

const struct question question_perf = { .word = "perf",
	.summary = "the report of each node, as the older tool counts",
	.options =
	    "node job user start gap from to strict now cpu-count decimate "
	    "max-length since-boot mlflow-names prefix save sort top "
	    "columns",
	.examples = "poolscope stats perf --from -1h\n"
		    "poolscope stats perf --mlflow-names --format json\n",
	.tables = tables,
	.kinds = 1u << RECORD_SAMPLE,
	.check = check,
	.ask = ask };

/*
 * perf_stats_command - the eighteen numbers of each node, or its reports.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/perf/stats_command.h"

#include <inttypes.h>
#include <math.h>

#include "exporters/perf/list.h"
#include "proto/format/csv.h"
#include "proto/format/output.h"
#include "proto/format/table.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	MAX_LENGTH = 1000, /* of the older sampler's store */
	MAX_LENGTH_MAX = 10000000,
	WARNINGS_MAX = 10,
};

static struct {
	int64_t now_ns;
	uint64_t cpu_count, max_length;
	const char *prefix, *save;
	int thin;
	bool mlflow, since_boot;
} values = { .prefix = "" };

enum { NOW, CPU_COUNT, THIN, MAX_LENGTH_OPTION };

const struct opt stats_perf_options[] = {
	[NOW] = { "now", 0, OPT_TIME, &values.now_ns, "TIME",
	    "perf: CPU hours end here (default: the node's last report)", NULL,
	    false },
	[CPU_COUNT] = { "cpu-count", 0, OPT_COUNT, &values.cpu_count, "N",
	    "perf: CPUs of each node (default: as its last report says)", NULL,
	    false },
	[THIN] = { "decimate", 0, OPT_CHOICE, &values.thin, "WAY",
	    "perf: fewer reports: minmax keeps peaks and the end, reference "
	    "is the older sampler's way",
	    "minmax|reference", false },
	[MAX_LENGTH_OPTION] = { "max-length", 0, OPT_COUNT, &values.max_length,
	    "N",
	    "perf: of a node's reports keep at most N (1000 with --decimate)",
	    NULL, false },
	{ "since-boot", 0, OPT_FLAG, &values.since_boot, NULL,
	    "perf: totals since the node's boot, not during the reports", NULL,
	    false },
	{ "mlflow-names", 0, OPT_FLAG, &values.mlflow, NULL,
	    "perf: names as MLflow gets them", NULL, false },
	{ "prefix", 0, OPT_TEXT, &values.prefix, "TEXT",
	    "perf: in front of MLflow's names", NULL, false },
	{ "save", 0, OPT_TEXT, &values.save, "FILE",
	    "perf: write the reports as the older sampler saves them", NULL,
	    false },
	{ .name = NULL },
};

static bool
is_given(int option)
{
	return opt_origin(&stats_perf_options[option]) != OPT_DEFAULT;
}

void
stats_perf_sandbox(struct sandbox *sandbox)
{
	output_sandbox(sandbox, values.save);
}

static struct perf_thinning
thinning(void)
{
	if (!is_given(THIN) && !is_given(MAX_LENGTH_OPTION))
		return (struct perf_thinning){ .way = PERF_ALL };
	return (struct perf_thinning){
		.way = values.thin == 1 ? PERF_REFERENCE : PERF_MINMAX,
		.max_length = is_given(MAX_LENGTH_OPTION) ? values.max_length
							  : MAX_LENGTH,
	};
}

void
stats_perf_check(void)
{
	struct perf_thinning how = thinning();

	if (how.max_length > MAX_LENGTH_MAX)
		opt_usage("--max-length is over %d", MAX_LENGTH_MAX);
	if (how.way == PERF_MINMAX && how.max_length < 2)
		opt_usage("--max-length is under 2, the first and the last");
	if (is_given(CPU_COUNT) &&
	    (values.cpu_count == 0 || values.cpu_count > 1 << 20))
		opt_usage("--cpu-count is not between 1 and %d", 1 << 20);
	if (values.prefix[0] != '\0' && !values.mlflow)
		log_warn("--prefix is only in front of --mlflow-names");
}

/* What the metrics are called. */
struct names {
	char mlflow[PERF_METRICS][PERF_MLFLOW_BYTES];
	const char *at[PERF_METRICS];
};

static void
get_names(struct names *names)
{
	if (values.mlflow)
		perf_mlflow_names(names->mlflow, values.prefix);
	for (int m = 0; m < PERF_METRICS; m++)
		names->at[m] =
		    values.mlflow ? names->mlflow[m] : perf_metric_names[m];
}

static void
get_metrics(const struct perf_node *node, double to[static PERF_METRICS])
{
	const struct perf_how how = {
		.has_now = is_given(NOW),
		.now_ns = values.now_ns,
		.cpu_count = values.cpu_count,
		.since_boot = values.since_boot,
	};

	perf_node_metrics(node, &how, to);
}

/* ---- the formats ---- */

static void
put_json(const struct perf_pool *pool, FILE *file)
{
	struct names names;
	double metrics[PERF_METRICS];
	const char *before = "[";
	struct json json;

	get_names(&names);
	json_init(&json, file, JSON_STRICT);
	for (uint32_t i = 0; i < pool->names.count; i++) {
		const struct perf_node *node = &pool->nodes[pool->order[i]];

		if (node->reports == 0)
			continue;
		get_metrics(node, metrics);
		for (int m = 0; m < PERF_METRICS; m++) {
			fputs(before, file);
			before = ",\n ";
			json_begin_array(&json);
			json_string(&json, names.at[m]);
			json_float(&json, metrics[m]);
			json_int(&json, perf_step(pool, i));
			json_end_array(&json);
		}
	}
	fputs("]\n", file);
}

static void
put_csv(const struct perf_pool *pool, FILE *file)
{
	struct csv csv = { .file = file };
	struct names names;
	double metrics[PERF_METRICS];

	get_names(&names);
	csv_string(&csv, "node");
	csv_string(&csv, "step");
	csv_string(&csv, "reports");
	for (int m = 0; m < PERF_METRICS; m++)
		csv_string(&csv, names.at[m]);
	csv_end_row(&csv);
	for (uint32_t i = 0; i < pool->names.count; i++) {
		const struct perf_node *node = &pool->nodes[pool->order[i]];

		csv_text(&csv, pool->names.names[pool->order[i]]);
		csv_int(&csv, perf_step(pool, i));
		csv_uint(&csv, node->reports);
		get_metrics(node, metrics);
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
put_table(const struct perf_pool *pool, struct text partition, FILE *file)
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
	static const enum perf_metric shown[] = { PERF_UTILIZATION,
		PERF_MAX_CPU_AVG, PERF_MAX_MEM, PERF_CPU_HOURS,
		PERF_UNUSED_CPU_HOURS, PERF_TOTAL_READ, PERF_TOTAL_WRITE,
		PERF_TOTAL_EXT_SENT, PERF_TOTAL_EXT_RECV };
	struct table table;
	double metrics[PERF_METRICS];

	fputs("reports of ", file);
	table_put_elided(file, partition, 60);
	fprintf(file, ", CPU hours, MiB %s\n\n",
	    values.since_boot ? "since boot" : "meanwhile");
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < pool->names.count; i++) {
		const struct perf_node *node = &pool->nodes[pool->order[i]];

		table_text(&table, pool->names.names[pool->order[i]]);
		table_count(&table, node->reports);
		get_metrics(node, metrics);
		for (size_t s = 0; s < sizeof(shown) / sizeof(*shown); s++) {
			if (node->reports == 0 || !isfinite(metrics[shown[s]]))
				table_none(&table);
			else
				table_number(&table, metrics[shown[s]]);
		}
	}
}

/* ---- what is missing ---- */

/* How many nodes have no report; the first of them by name. */
static uint32_t
warn_missing(const struct perf_pool *pool, bool hours)
{
	uint32_t missing = 0, uncounted = 0;
	char shown[300];

	for (uint32_t i = 0; i < pool->names.count; i++) {
		const struct perf_node *node = &pool->nodes[pool->order[i]];

		if (node->reports > 0) {
			uncounted += values.cpu_count == 0 &&
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
		log_warn("and %u more such nodes", missing - WARNINGS_MAX);
	if (uncounted > 0 && hours)
		log_warn("%u nodes do not say how many CPUs they have, so no "
			 "CPU hours are known; --cpu-count does",
		    uncounted);
	return missing;
}

static int
check(const struct perf_pool *pool, const struct perf_select *select,
    bool strict, bool hours, struct err *err)
{
	uint32_t missing = warn_missing(pool, hours);
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

/* ---- all of it ---- */

static int
save(const struct perf_pool *pool, const struct perf_select *select,
    struct err *err)
{
	struct perf_thinning how = thinning();
	struct output output;

	if (output_open(&output, values.save, err) != 0)
		return -1;
	if (perf_list_save(select, pool, &how, output.file, err) != 0) {
		output_abort(&output);
		return -1;
	}
	return output_commit(&output, err);
}

static int
print(const struct perf_pool *pool, const struct perf_select *select,
    enum stats_format format, FILE *file, struct err *err)
{
	struct perf_thinning how = thinning();

	switch (format) {
	case STATS_JSON: put_json(pool, file); break;
	case STATS_CSV: put_csv(pool, file); break;
	case STATS_TABLE: put_table(pool, select->partition, file); break;
	case STATS_JSONL: return perf_list_lines(select, pool, &how, file, err);
	}
	return 0;
}

int
stats_perf(const struct perf_select *select, enum stats_format format,
    bool strict, FILE *file, struct err *err)
{
	struct perf_thinning how = thinning();
	struct perf_pool pool = { .nodes = NULL };
	int rc;

	rc = perf_read(&pool, select, err);
	if (rc == 0)
		rc = check(&pool, select, strict, format != STATS_JSONL, err);
	if (rc == 0 && values.save != NULL)
		rc = save(&pool, select, err);
	/* Its store is what the older tool's numbers are of. */
	if (rc == 0 && how.way == PERF_REFERENCE && format != STATS_JSONL)
		rc = perf_list_resum(select, &pool, &how, err);
	if (rc == 0)
		rc = print(&pool, select, format, file, err);
	perf_pool_clear(&pool);
	return rc;
}

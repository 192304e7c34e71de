/*
 * upload_metrics - upload use of nodes to an MLflow run.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exporters/perf/list.h"
#include "exporters/perf/node_summary.h"
#include "exporters/samples/time_window.h"
#include "exporters/source/known.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

enum {
	PART_BYTES_MAX =
	    100, /* bytes of a node, group or metric name: three fit a key */
	NS_PER_MS = 1000000,
};

/* ---- names ---- */

static void
copy_part(char to[static PART_BYTES_MAX + 1], struct text from)
{
	uint32_t bytes =
	    from.bytes < PART_BYTES_MAX ? from.bytes : PART_BYTES_MAX;
	bool dots = true; /* "." and ".." are invalid path components */

	for (uint32_t i = 0; i < bytes; i++) {
		bool taken = perf_mlflow_takes(from.at[i]) && from.at[i] != '/';

		to[i] = '_';
		if (taken)
			to[i] = from.at[i];
		dots = dots && to[i] == '.';
	}
	to[bytes] = '\0';
	if (dots)
		memcpy(to, "_", 2);
}

/* The `n`th candidate for the key. */
static struct text
make_key(char to[static MLFLOW_KEY_BYTES_MAX + 1],
    const struct series_point *point, uint32_t n)
{
	char node[PART_BYTES_MAX + 1], group[PART_BYTES_MAX + 1];
	char metric[PART_BYTES_MAX + 1], end[16] = "";

	copy_part(node, point->node);
	copy_part(group, point->group);
	copy_part(metric, point->metric);
	if (n > 1)
		snprintf(end, sizeof(end), "-%u", n);
	if (n == 0)
		snprintf(
		    to, MLFLOW_KEY_BYTES_MAX + 1, "system/%s/%s", node, metric);
	else
		snprintf(to, MLFLOW_KEY_BYTES_MAX + 1,
		    "system/%.70s/%.70s.%.70s%s", node, group, metric, end);
	return text_of(to);
}

struct text
mlflow_system_key(struct mlflow_keys *keys, const struct series_point *point)
{
	char key[MLFLOW_KEY_BYTES_MAX + 1];
	uint32_t number, n = 0;
	struct text text;

	MEMORY_GROW_ZERO(keys->of, keys->room, point->number);
	if (keys->of[point->number] > 0)
		return keys->keys.names[keys->of[point->number] - 1];
	do
		text = make_key(key, point, n++);
	while (string_table_find(&keys->keys, text, &number));
	number = string_table_add(&keys->keys, text);
	keys->of[point->number] = number + 1;
	return keys->keys.names[number];
}

void
mlflow_keys_clear(struct mlflow_keys *keys)
{
	string_table_clear(&keys->keys);
	free(keys->of);
	*keys = (struct mlflow_keys){ .of = NULL };
}

/* ---- points ---- */

static int64_t
floor_divide(int64_t value, int64_t by)
{
	return value / by - (value % by < 0);
}

static void
show(const struct series_query *query, int64_t reached_ns, uint64_t points,
    int64_t began_ns)
{
	const struct progress progress = {
		.total = (uint64_t)(query->to_ns - query->from_ns),
		.done = reached_ns > query->from_ns
			    ? (uint64_t)(reached_ns - query->from_ns)
			    : 0,
		.rows = points,
		.began_ns = began_ns,
		.now_ns = clock_monotonic_ns(),
	};

	progress_show("samples", &progress);
}

static int
put_points(struct mlflow *mlflow, struct series *series,
    const struct series_query *query, struct mlflow_keys *keys,
    uint64_t *points, struct err *err)
{
	bool shows = !opt_common_values.quiet && progress_is_wanted();
	int64_t began_ns = clock_monotonic_ns();
	int64_t start_ns = mlflow_run_start_ms(mlflow) * NS_PER_MS;
	int64_t first = floor_divide(start_ns, query->step_ns);
	struct series_point point;
	int rc;

	while ((rc = series_next(series, &point, err)) > 0) {
		struct text key = mlflow_system_key(keys, &point);

		if (!isfinite(point.mean))
			continue;
		if (mlflow_put_metric(mlflow, key, point.mean,
			floor_divide(point.begin_ns, NS_PER_MS),
			floor_divide(point.begin_ns, query->step_ns) - first,
			err) != 0)
			return -1;
		if (++*points % MLFLOW_METRICS_MAX == 0 && shows)
			show(query, point.begin_ns, *points, began_ns);
	}
	if (shows)
		progress_clear();
	return rc;
}

/* Run `query` and upload its points; `*points` is their number. */
static int
mlflow_system_put(struct mlflow *mlflow, struct series *series,
    const struct series_query *query, uint64_t *points, struct err *err)
{
	struct mlflow_keys keys = { .of = NULL };
	int rc;

	*points = 0;
	if (series_select(series, query, err) != 0)
		return -1;
	string_table_init(&keys.keys);
	rc = put_points(mlflow, series, query, &keys, points, err);
	mlflow_keys_clear(&keys);
	return rc;
}

#define SCHEME  "mlflow:"
#define REPORTS "perf.json"

enum { FLAT, SYSTEM };
const struct opt upload_metrics_options[] = {
	{ "style", 0, OPT_CHOICE, OPT_TO(struct upload_metrics_values, style),
	    "STYLE",
	    "metrics: upload eighteen numbers per node (flat, the default), or "
	    "samples as curves (system)",
	    "flat|system" },
	{ "prefix", 0, OPT_TEXT, OPT_TO(struct upload_metrics_values, prefix),
	    "TEXT",
	    "metrics: begin the names of the eighteen numbers with this text" },
	{ "step", 0, OPT_DURATION,
	    OPT_TO(struct upload_metrics_values, step_ns), "TIME",
	    "metrics: set the time step of the points of a curve (default: "
	    "10s)" },
	{ "cpu-count", 0, OPT_COUNT,
	    OPT_TO(struct upload_metrics_values, cpu_count), "N",
	    "metrics: assume this many CPUs per node (default: as in its last "
	    "report)" },
	{ "param", 0, OPT_LIST, OPT_TO(struct upload_metrics_values, params),
	    "KEY=VALUE",
	    "metrics: set a parameter of the run; may be repeated" },
	{ "artifact", 0, OPT_LIST,
	    OPT_TO(struct upload_metrics_values, artifacts), "FILE",
	    "metrics: upload this file as an artifact of the run; may be "
	    "repeated" },
	{ .name = NULL },
};

/* Totals for the message at the end. */
struct sent {
	uint64_t metrics, nodes, artifacts;
	int64_t end_ms;
};

struct sending {
	const struct upload_values *upload;
	struct mlflow *mlflow;
	struct source *source;
	struct text partition;
	struct sent sent;
};

/* ---- usage ---- */

static struct text
base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return text_of(slash != NULL ? slash + 1 : path);
}

/* The artifact is named after the last component of the path. */
static void
check_artifacts(const struct upload_metrics_values *values)
{
	for (uint32_t i = 0; i < values->artifacts.count; i++) {
		struct text name = base_of(values->artifacts.at[i]);

		if (name.bytes == 0)
			opt_usage("--artifact %.200s is not a file",
			    values->artifacts.at[i]);
		if (values->style == FLAT && text_equal(name, text_of(REPORTS)))
			opt_usage("--artifact %.200s: " REPORTS
				  " is the name of the reports",
			    values->artifacts.at[i]);
		for (uint32_t j = 0; j < i; j++)
			if (text_equal(name, base_of(values->artifacts.at[j])))
				opt_usage("--artifact: two files have the name "
					  "%.200s",
				    name.at);
	}
}

static void
check(const struct upload_values *upload, const struct opt_operands *operands)
{
	const struct upload_metrics_values *values = &upload->metrics;
	const char *to = upload->targets.at[0];

	(void)operands;
	if (upload->targets.count != 1 ||
	    strncmp(to, SCHEME, strlen(SCHEME)) != 0 ||
	    to[strlen(SCHEME)] == '\0')
		opt_usage("metrics are uploaded to exactly one target: "
			  "--target " SCHEME "RUN");
	if (values->style == SYSTEM &&
	    opt_origin_of(&values->prefix) == OPT_COMMAND_LINE)
		opt_usage("--prefix requires --style flat");
	if (values->style == SYSTEM &&
	    opt_origin_of(&values->cpu_count) == OPT_COMMAND_LINE)
		opt_usage("--cpu-count requires --style flat");
	if (values->cpu_count > 1 << 20)
		opt_usage("--cpu-count must be at most %d", 1 << 20);
	if (values->style == FLAT &&
	    opt_origin_of(&values->step_ns) == OPT_COMMAND_LINE)
		opt_usage("--step requires --style system");
	if (values->step_ns <= 0)
		opt_usage("--step must be greater than 0");
	for (uint32_t i = 0; i < values->params.count; i++) {
		const char *equals = strchr(values->params.at[i], '=');

		if (equals == NULL || equals == values->params.at[i])
			opt_usage("--param %.200s is not KEY=VALUE",
			    values->params.at[i]);
	}
	check_artifacts(values);
}

/* ---- parameters and artifacts ---- */

static int
select_run(struct sending *s, int64_t start_ns, struct err *err)
{
	return mlflow_select(s->mlflow,
	    s->upload->targets.at[0] + strlen(SCHEME), s->partition,
	    start_ns / NS_PER_MS, err);
}

static int
put_params(struct sending *s, struct err *err)
{
	for (uint32_t i = 0; i < s->upload->metrics.params.count; i++) {
		const char *key = s->upload->metrics.params.at[i];
		const char *equals = strchr(key, '=');

		if (mlflow_put_param(s->mlflow,
			(struct text){ key, (uint32_t)(equals - key) },
			text_of(equals + 1), err) != 0)
			return -1;
	}
	/* Stops if the run already has another value of a parameter. */
	return mlflow_flush(s->mlflow, err);
}

static int
put_artifacts(struct sending *s, struct err *err)
{
	for (uint32_t i = 0; i < s->upload->metrics.artifacts.count; i++) {
		const char *path = s->upload->metrics.artifacts.at[i];
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		int rc;

		if (fd < 0)
			return err_set(
			    err, "%.300s: %s", path, strerror(errno));
		rc = mlflow_put_artifact(s->mlflow, base_of(path), fd, err);
		close(fd);
		if (rc != 0)
			return -1;
		s->sent.artifacts++;
	}
	return 0;
}

/* ---- style flat ---- */

static int
put_node(struct sending *s, const struct perf_pool *pool, uint32_t place,
    char names[PERF_METRICS][PERF_MLFLOW_BYTES], struct err *err)
{
	const struct perf_node *node = &pool->nodes[pool->order[place]];
	const struct perf_how how = { .cpu_count =
					  s->upload->metrics.cpu_count };
	double metrics[PERF_METRICS];

	if (node->reports == 0)
		return 0;
	perf_node_metrics(node, &how, metrics);
	for (int m = 0; m < PERF_METRICS; m++) {
		/* The time of the last report, so that a repeated upload sends
		 * the same points. */
		if (mlflow_put_metric(s->mlflow, text_of(names[m]), metrics[m],
			node->last_ns / NS_PER_MS, perf_step(pool, place),
			err) != 0)
			return -1;
		s->sent.metrics += metrics[m] == metrics[m];
	}
	s->sent.nodes++;
	return 0;
}

static int
put_reports(struct sending *s, const struct perf_pool *pool,
    const struct perf_select *select, struct err *err)
{
	const struct perf_decimation all = { .way = PERF_ALL };
	FILE *file = tmpfile();
	int rc;

	if (file == NULL)
		return err_set(
		    err, "the file of the reports: %s", strerror(errno));
	rc = perf_list_save(select, pool, &all, file, err);
	if (rc == 0 && fflush(file) != 0)
		rc = err_set(
		    err, "the file of the reports: %s", strerror(errno));
	if (rc == 0)
		rc = mlflow_put_artifact(
		    s->mlflow, text_of(REPORTS), fileno(file), err);
	fclose(file);
	s->sent.artifacts += rc == 0;
	return rc;
}

/* Time of the first and last report; false: there are none. */
static bool
get_extent(const struct perf_pool *pool, int64_t *first_ns, int64_t *last_ns)
{
	bool any = false;

	for (uint32_t i = 0; i < pool->names.count; i++) {
		const struct perf_node *node = &pool->nodes[i];

		if (node->reports == 0)
			continue;
		if (!any || node->first_ns < *first_ns)
			*first_ns = node->first_ns;
		if (!any || node->last_ns > *last_ns)
			*last_ns = node->last_ns;
		any = true;
	}
	return any;
}

static int
put_pool(struct sending *s, const struct perf_pool *pool,
    const struct perf_select *select, struct err *err)
{
	char names[PERF_METRICS][PERF_MLFLOW_BYTES], shown[300];
	int64_t first_ns = 0, last_ns = 0;

	if (!get_extent(pool, &first_ns, &last_ns))
		return err_set(err, "no reports of partition %s in %s",
		    text_quote(shown, sizeof(shown), s->partition),
		    source_name(s->source));
	s->sent.end_ms = last_ns / NS_PER_MS;
	perf_mlflow_names(names, s->upload->metrics.prefix);
	if (select_run(s, first_ns, err) != 0 || put_params(s, err) != 0)
		return -1;
	for (uint32_t i = 0; i < pool->names.count; i++)
		if (put_node(s, pool, i, names, err) != 0)
			return -1;
	return put_reports(s, pool, select, err);
}

static int
put_flat(struct sending *s, struct err *err)
{
	struct perf_select select = {
		.source = s->source,
		.partition = s->partition,
		.node = text_of(s->upload->node.list),
		.from_ns = s->upload->from_ns,
		.to_ns = s->upload->to_ns,
	};
	struct perf_pool pool = { .nodes = NULL };
	int rc = perf_read(&pool, &select, err);

	if (rc == 0)
		rc = put_pool(s, &pool, &select, err);
	perf_pool_clear(&pool);
	return rc;
}

/* ---- style system ---- */

static int
put_system(struct sending *s, struct err *err)
{
	struct time_window time_window = { .node =
					       text_of(s->upload->node.list),
		.from_ns = s->upload->from_ns,
		.to_ns = s->upload->to_ns };
	struct series_query query;
	struct series *series = NULL;
	int rc;

	if (time_window_fit(&time_window, s->source, s->partition, err) != 0)
		return -1;
	query = time_window_query(
	    &time_window, series_fit_step(s->upload->metrics.step_ns));
	s->sent.end_ms = time_window.to_ns / NS_PER_MS;
	rc = series_open(&series, s->source, s->partition, err);
	if (rc == 0)
		rc = select_run(s, time_window.from_ns, err);
	if (rc == 0)
		rc = put_params(s, err);
	if (rc == 0)
		rc = mlflow_system_put(
		    s->mlflow, series, &query, &s->sent.metrics, err);
	series_close(&series);
	time_window_close(&time_window);
	return rc;
}

/* ---- the command ---- */

static void
print_summary(const struct sending *s)
{
	uint64_t left_out = mlflow_left_out(s->mlflow);

	if (left_out > 0)
		log_error("%" PRIu64 " points were left out: the MLflow server "
			  "refuses them for good",
		    left_out);
	if (s->upload->http.dry_run || opt_common_values.quiet)
		return;
	printf("run %s: %" PRIu64 " %s, %u parameters, %" PRIu64 " artifacts\n",
	    mlflow_run_id(s->mlflow), s->sent.metrics - left_out,
	    s->upload->metrics.style == FLAT ? "metrics" : "points of curves",
	    s->upload->metrics.params.count, s->sent.artifacts);
}

static void
allow_files(const struct upload_values *upload, struct sandbox *sandbox,
    const struct opt_operands *operands)
{
	(void)operands;
	source_sandbox(sandbox, &upload->source);
	/* tmpfile() creates the unnamed file of the reports there. */
	sandbox_write(sandbox, P_tmpdir);
	for (uint32_t i = 0; i < upload->metrics.artifacts.count; i++)
		sandbox_read(sandbox, upload->metrics.artifacts.at[i]);
}

static int
run(struct upload_values *upload, const struct opt_operands *operands,
    struct err *err)
{
	struct sending s = { .upload = upload,
		.partition = text_of(upload->partition) };
	bool is_whole = true;
	int rc;

	(void)operands;
	rc = mlflow_open(&s.mlflow, &upload->http, err);
	if (rc == 0)
		rc = source_open(&s.source, &upload->source, err);
	if (rc == 0)
		rc = known_check_nodes(
		    s.source, s.partition, text_of(upload->node.list), err);
	if (rc == 0)
		rc = upload->metrics.style == FLAT ? put_flat(&s, err)
						   : put_system(&s, err);
	if (rc == 0)
		rc = put_artifacts(&s, err);
	if (rc == 0)
		rc = mlflow_finish(s.mlflow, s.sent.end_ms, err);
	if (rc == 0) {
		print_summary(&s);
		is_whole = mlflow_left_out(s.mlflow) == 0;
	}
	rc = source_finish(&s.source, rc, err);
	mlflow_close(&s.mlflow);
	return rc == 0 && is_whole ? 0 : 1;
}

const struct upload_command upload_metrics = {
	.word = "metrics",
	.allow_files = allow_files,
	.check = check,
	.run = run,
};

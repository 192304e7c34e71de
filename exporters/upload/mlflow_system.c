/*
 * mlflow_system - upload samples as series of an MLflow run.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/mlflow_system.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/perf/node_summary.h"
#include "proto/base/memory.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
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

	keys->of = memory_grow_zero(
	    keys->of, &keys->room, point->number, sizeof(*keys->of));
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

int
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

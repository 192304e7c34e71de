/*
 * mlflow_system - samples as series of a run, named so that MLflow draws them
 * as curves of its system metrics: system/NODE/METRIC.
 *
 * One number for each step of time: the mean, of a counter its rate per
 * second.  The step of a point is how many of them passed since the run began.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_MLFLOW_SYSTEM_H
#define EXPORTERS_UPLOAD_MLFLOW_SYSTEM_H

#include "exporters/cloud/mlflow/mlflow.h"
#include "exporters/samples/series.h"
#include "proto/hash/string_table.h"

/* How series are called; string_table_init `keys` first. */
struct mlflow_keys {
	struct string_table keys;
	uint32_t *of; /* by the number of a series: 1 + that of its key */
	uint32_t room;
};

/* The key of the point's series.  Characters that MLflow does not take, and
 * "/" in names, become "_"; where that, or two sets with a metric of one name,
 * would make two the same, the later one names its set or ends in "-2" ... */
struct text mlflow_system_key(
    struct mlflow_keys *keys, const struct series_point *point);
void mlflow_keys_clear(struct mlflow_keys *keys);

/* Read what `query` asks for and put it; `*points` how many there were. */
int mlflow_system_put(struct mlflow *mlflow, struct series *series,
    const struct series_query *query, uint64_t *points, struct err *err);

#endif

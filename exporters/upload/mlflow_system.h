/*
 * mlflow_system - upload samples as series of an MLflow run, with the names of
 * its system metrics, system/NODE/METRIC, so that MLflow draws curves.
 *
 * Each point is the mean of a time step, for counters the rate per second.
 * The step number counts time steps since the run began.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_MLFLOW_SYSTEM_H
#define EXPORTERS_UPLOAD_MLFLOW_SYSTEM_H

#include "exporters/cloud/mlflow.h"
#include "exporters/samples/series.h"
#include "proto/hash/string_table.h"

/* The keys of series; call string_table_init on `keys` first. */
struct mlflow_keys {
	struct string_table keys;
	uint32_t *of; /* indexed by series number: 1 + the number of its key */
	uint32_t room;
};

/* The key of the point's series.  Characters that MLflow does not accept, and
 * "/" in names, become "_".  If two keys would be equal, because of that or
 * because two metric groups have a metric of the same name, the later one
 * includes its group or ends in "-2" ... */
struct text mlflow_system_key(
    struct mlflow_keys *keys, const struct series_point *point);
void mlflow_keys_clear(struct mlflow_keys *keys);

/* Run `query` and upload its points; `*points` is their number. */
int mlflow_system_put(struct mlflow *mlflow, struct series *series,
    const struct series_query *query, uint64_t *points, struct err *err);

#endif

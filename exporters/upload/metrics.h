/*
 * upload_metrics - upload use of nodes to an MLflow run.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_METRICS_H
#define EXPORTERS_UPLOAD_METRICS_H

#include "exporters/cloud/mlflow.h"
#include "exporters/samples/series.h"
#include "exporters/upload/upload.h"
#include "proto/hash/string_table.h"

/* Bound to a struct upload_metrics_values. */
extern const struct opt upload_metrics_options[];
extern const struct upload_command upload_metrics;

/*
 * Upload samples as series of an MLflow run, with the names of its system
 * metrics, system/NODE/METRIC, so that MLflow draws curves.
 *
 * Each point is the mean of a time step, for counters the rate per second.
 * The step number counts time steps since the run began.
 */

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

#endif

/*
 * mlflow - a run on an MLflow tracking server: metrics, parameters, artifacts.
 *
 * MLFLOW_TRACKING_URI names the server; MLFLOW_TRACKING_USERNAME with
 * _PASSWORD, otherwise MLFLOW_TRACKING_TOKEN authenticate.  Everything can be
 * sent twice: the server stores a point (key, value, time, step) once, accepts
 * a parameter again with the same value, and replaces an artifact of the same
 * name.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_MLFLOW_H
#define EXPORTERS_CLOUD_MLFLOW_H

#include <stdint.h>

#include "exporters/cloud/deliver.h"
#include "exporters/cloud/mlflow_reply.h"
#include "proto/http/http.h"

struct mlflow; /* opaque */

enum {
	/* Limits of a request, set by the server. */
	MLFLOW_METRICS_MAX = 1000,
	MLFLOW_PARAMS_MAX = 100,
	MLFLOW_REQUEST_BYTES_MAX = 1000000,
	MLFLOW_KEY_BYTES_MAX = 250,
	MLFLOW_ARTIFACT_BYTES_MAX = 256 << 20,
};

int mlflow_open(
    struct mlflow **mlflow, const struct http_options *how, struct err *err);
void mlflow_close(struct mlflow **mlflow);

/* Select the run: by its id, or as EXPERIMENT/NAME, which is found or created
 * as a run of `partition` that began at `start_ms`.  Of several runs with the
 * name the one that began first is used. */
int mlflow_select(struct mlflow *mlflow, const char *run, struct text partition,
    int64_t start_ms, struct err *err);
/* The id of the run; its start in ms since the epoch. */
const char *mlflow_run_id(const struct mlflow *mlflow);
int64_t mlflow_run_start_ms(const struct mlflow *mlflow);

/* Add a point to the current batch, which is sent when full; values that are
 * not finite are omitted.  Points that the server refuses are left out. */
int mlflow_put_metric(struct mlflow *mlflow, struct text key, double value,
    int64_t time_ms, int64_t step, struct err *err);
int mlflow_put_param(
    struct mlflow *mlflow, struct text key, struct text value, struct err *err);
/* Upload all of `fd`, a regular file, as the artifact `name`. */
int mlflow_put_artifact(
    struct mlflow *mlflow, struct text name, int fd, struct err *err);
uint64_t mlflow_left_out(const struct mlflow *mlflow);
/* Send the current batch. */
int mlflow_flush(struct mlflow *mlflow, struct err *err);
/* Send the current batch; if this process created the run, end it at
 * `end_ms`. */
int mlflow_finish(struct mlflow *mlflow, int64_t end_ms, struct err *err);

/* Shared by the files of mlflow. */

#endif

/*
 * mlflow - a run of an MLflow tracking server: metrics, parameters, artifacts.
 *
 * The server is that of MLFLOW_TRACKING_URI; who one is says
 * MLFLOW_TRACKING_USERNAME with _PASSWORD, else MLFLOW_TRACKING_TOKEN.
 * Everything may be sent twice: the server keeps a point (key, value, time,
 * step) once, a parameter with the same value is no other, and an artifact of
 * the same name is replaced.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_MLFLOW_MLFLOW_H
#define EXPORTERS_CLOUD_MLFLOW_MLFLOW_H

#include <stdint.h>

#include "exporters/cloud/http/http.h"

struct mlflow; /* opaque */

enum {
	/* Of a request, as the server says. */
	MLFLOW_METRICS_MAX = 1000,
	MLFLOW_PARAMS_MAX = 100,
	MLFLOW_REQUEST_BYTES_MAX = 1000000,
	MLFLOW_KEY_BYTES_MAX = 250,
	MLFLOW_ARTIFACT_BYTES_MAX = 256 << 20,
};

int mlflow_open(
    struct mlflow **mlflow, const struct http_options *how, struct err *err);
void mlflow_close(struct mlflow **mlflow);

/* Which run the rest is for: the id of one, or EXPERIMENT/NAME, which is found
 * or else made, as one of `partition` that began at `start_ms`.  Of several
 * with the name it is the one that began first. */
int mlflow_select(struct mlflow *mlflow, const char *run, struct text partition,
    int64_t start_ms, struct err *err);
/* Of the run: its id, when it began (ms since the epoch). */
const char *mlflow_run_id(const struct mlflow *mlflow);
int64_t mlflow_run_start_ms(const struct mlflow *mlflow);

/* Sent when there are enough of them; one whose value is not finite is left
 * out. */
int mlflow_put_metric(struct mlflow *mlflow, struct text key, double value,
    int64_t time_ms, int64_t step, struct err *err);
int mlflow_put_param(
    struct mlflow *mlflow, struct text key, struct text value, struct err *err);
/* All of `fd`, a regular file, as the artifact `name`. */
int mlflow_put_artifact(
    struct mlflow *mlflow, struct text name, int fd, struct err *err);
/* Send what is there. */
int mlflow_flush(struct mlflow *mlflow, struct err *err);
/* The same; a run that this made has ended at `end_ms`. */
int mlflow_finish(struct mlflow *mlflow, int64_t end_ms, struct err *err);

#endif

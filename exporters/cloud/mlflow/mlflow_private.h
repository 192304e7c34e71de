/*
 * mlflow_private - what the files of mlflow share.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_MLFLOW_MLFLOW_PRIVATE_H
#define EXPORTERS_CLOUD_MLFLOW_MLFLOW_PRIVATE_H

#include <stdio.h>

#include "exporters/cloud/http/json_batch.h"
#include "exporters/cloud/mlflow/mlflow.h"
#include "exporters/cloud/mlflow/reply.h"
#include "proto/format/json.h"

enum {
	MLFLOW_BASE_BYTES_MAX = 1000,
	MLFLOW_PATH_BYTES = 4 * MLFLOW_URI_BYTES_MAX + 4096,
};
#define MLFLOW_API       "/api/2.0/mlflow/"
#define MLFLOW_ARTIFACTS "/api/2.0/mlflow-artifacts/artifacts/"

struct mlflow {
	struct http *http;
	char base[MLFLOW_BASE_BYTES_MAX + 1]; /* no "/" at its end */
	char *authorization; /* the header, in memory that is zeroed; NULL */
	struct mlflow_run run;
	char *begins[2]; /* of the requests below */
	struct json_batch metrics, params;
};

/* An object that is written into memory. */
void mlflow_json_begin(struct json_memory *json);
struct text mlflow_json_end(struct json_memory *json);
/* A member that is text. */
void mlflow_json_put(
    struct json_memory *json, const char *name, const char *value);

/* Send `body` (JSON unless `type` says otherwise) to base + path; any answer
 * is 0. */
int mlflow_call(struct mlflow *mlflow, const char *method, const char *path,
    const char *type, struct text body, struct http_answer *answer,
    struct err *err);
/* -1: the answer is not the one that is wanted, and what it says. */
int mlflow_judge(const struct mlflow *mlflow, const struct http_answer *answer,
    struct err *err);
/* Both. */
int mlflow_post(struct mlflow *mlflow, const char *path, struct text body,
    struct http_answer *answer, struct err *err);
/* After the run is known. */
void mlflow_begin(struct mlflow *mlflow);

#endif

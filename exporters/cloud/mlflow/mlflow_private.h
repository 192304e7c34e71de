/*
 * mlflow_private - shared by the files of mlflow.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_MLFLOW_MLFLOW_PRIVATE_H
#define EXPORTERS_CLOUD_MLFLOW_MLFLOW_PRIVATE_H

#include <stdio.h>

#include "exporters/cloud/common/deliver.h"
#include "exporters/cloud/common/json_batch.h"
#include "exporters/cloud/mlflow/mlflow.h"
#include "exporters/cloud/mlflow/reply.h"
#include "proto/json/json.h"

enum {
	MLFLOW_BASE_BYTES_MAX = 1000,
	MLFLOW_PATH_BYTES = 4 * MLFLOW_URI_BYTES_MAX + 4096,
};
#define MLFLOW_API       "/api/2.0/mlflow/"
#define MLFLOW_ARTIFACTS "/api/2.0/mlflow-artifacts/artifacts/"

struct mlflow {
	struct http *http;
	char base[MLFLOW_BASE_BYTES_MAX + 1]; /* without a trailing "/" */
	char *authorization; /* the header, in memory that is zeroed when freed;
				NULL: none */
	struct mlflow_run run;
	char *begins[2]; /* text before the items of `metrics` and `params` */
	struct json_batch metrics, params;
	/* Of `metrics`, while it is sent. */
	struct deliver_lines lines;
	struct buffer part;
	struct deliver_state state;
};

/* A JSON object that is written to memory. */
void mlflow_json_begin(struct json_memory *json);
struct text mlflow_json_end(struct json_memory *json);
/* Add a string member. */
void mlflow_json_put(
    struct json_memory *json, const char *name, const char *value);

/* Send `body` (JSON unless `type` is set) to base + path; returns 0 for any
 * answer. */
int mlflow_call(struct mlflow *mlflow, const char *method, const char *path,
    const char *type, struct text body, struct http_answer *answer,
    struct err *err);
/* Describe an unexpected answer in `err`; returns -1. */
int mlflow_judge(const struct mlflow *mlflow, const struct http_answer *answer,
    struct err *err);
/* Send `body`; any answer other than 2xx is a failure. */
int mlflow_post(struct mlflow *mlflow, const char *path, struct text body,
    struct http_answer *answer, struct err *err);
/* Call once the run is known. */
void mlflow_begin(struct mlflow *mlflow);

#endif

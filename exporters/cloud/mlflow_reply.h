/*
 * mlflow_reply - parse answers of a tracking server.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_MLFLOW_REPLY_H
#define EXPORTERS_CLOUD_MLFLOW_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum { MLFLOW_ID_BYTES_MAX = 64, MLFLOW_URI_BYTES_MAX = 1024 };
#define MLFLOW_OURS                                                            \
	"poolscope.partition" /* a tag of the runs that poolscope creates */

struct mlflow_run {
	char id[MLFLOW_ID_BYTES_MAX + 1];
	char artifacts[MLFLOW_URI_BYTES_MAX + 1]; /* "": not given */
	int64_t start_ms;
	bool active;  /* not deleted */
	bool running; /* has not ended */
	bool ours;
};

/* {"run": ...} */
int mlflow_read_run(
    struct mlflow_run *run, struct text answer, struct err *err);
/* Parse {"runs": [...]} and return the run that began first.  `*found` false:
 * the list is empty. */
int mlflow_read_runs(
    struct mlflow_run *run, bool *found, struct text answer, struct err *err);
/* Get the id from {"experiment": ...} or {"experiment_id": ...}; `*active`
 * false: the experiment was deleted. */
int mlflow_read_experiment(char id[static MLFLOW_ID_BYTES_MAX + 1],
    bool *active, struct text answer, struct err *err);
/* Get "CODE: message" from an error answer; false if it is not one. */
bool mlflow_read_error(struct text answer, struct err *err);
/* Is it an answer of MLflow at all? */
bool mlflow_is_object(struct text answer);
/* Does the error have this code? */
bool mlflow_error_is(struct text answer, const char *code);

#endif

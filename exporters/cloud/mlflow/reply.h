/*
 * mlflow_reply - what a tracking server answers.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_MLFLOW_REPLY_H
#define EXPORTERS_CLOUD_MLFLOW_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum { MLFLOW_ID_BYTES_MAX = 64, MLFLOW_URI_BYTES_MAX = 1024 };
#define MLFLOW_OURS "poolscope.partition" /* a tag of runs that we made */

struct mlflow_run {
	char id[MLFLOW_ID_BYTES_MAX + 1];
	char artifacts[MLFLOW_URI_BYTES_MAX + 1]; /* "": does not say where */
	int64_t start_ms;
	bool active;  /* not deleted */
	bool running; /* has not ended */
	bool ours;
};

/* {"run": ...} */
int mlflow_read_run(
    struct mlflow_run *run, struct text answer, struct err *err);
/* {"runs": [...]}: the one that began first.  `*found` false: none. */
int mlflow_read_runs(
    struct mlflow_run *run, bool *found, struct text answer, struct err *err);
/* The id in {"experiment": ...} or {"experiment_id": ...}; `*active` false: it
 * was deleted. */
int mlflow_read_experiment(char id[static MLFLOW_ID_BYTES_MAX + 1],
    bool *active, struct text answer, struct err *err);
/* "CODE: message"; false: it says no such thing. */
bool mlflow_read_error(struct text answer, struct err *err);
/* Is the error this one? */
bool mlflow_error_is(struct text answer, const char *code);

#endif

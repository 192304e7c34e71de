/*
 * target - somewhere that poolscope-upload sends to: "scheme:rest".
 *
 * A target is one short file: what its service wants to be reported of results,
 * records, files or metrics, as requests.  How they travel is
 * cloud/http/http.h's. SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_TARGETS_TARGET_H
#define EXPORTERS_UPLOAD_TARGETS_TARGET_H

#include "exporters/cloud/http/http.h"
#include "exporters/results/result_file.h"
#include "proto/keys/secret.h"
#include "proto/record/record.h"

struct target; /* of the target's own file */

/* A record on its way, with what it needs to be understood. */
struct target_row {
	struct text partition;
	const struct record *record; /* an event or a sample */
	/* Of a sample: the names and units of its columns. */
	const struct text *names, *units;
	uint32_t columns; /* that have names; a sample may have more values */
	/* Another one when the names or units of a set have changed; 0: look at
	 * them each time. */
	uint64_t definition;
};

/* What is sent. */
enum target_use {
	TARGET_RESULTS = 1,
	TARGET_FILES = 2,
	TARGET_METRICS = 4,
	TARGET_SAMPLES = 8,
	TARGET_EVENTS = 16,
};

struct target_type {
	const char *scheme; /* "s3" */
	const char *rest;   /* for help: "BUCKET/KEY"; NULL: there is none */
	unsigned takes;     /* of enum target_use */

	/* What is wrong with `rest` whatever the service says; may be NULL. */
	int (*check)(const char *rest, struct err *err);
	/* `rest` is what stands behind "scheme:"; it and `how` live as long.
	 */
	int (*open)(struct target **target, const char *rest,
	    const struct http_options *how, struct err *err);
	void (*close)(struct target **target);

	/* The same for the same place, whatever it was called and however the
	 * environment says where the service is; of those that take results. */
	const char *(*identity)(const struct target *target);

	/* What it cannot take is NULL. */

	/* All of a file, or nothing of it; the same once more changes
	 * nothing. */
	int (*put_result)(struct target *target,
	    const struct result_file *result, struct err *err);

	/* Take a record into the request in the making.  1: taken, 0: there is
	 * no room, flush first, -1. */
	int (*add)(struct target *target, const struct target_row *row,
	    struct err *err);
	/* Send what was added; 0: the service has it.  `name` is the same for
	 * the same records when they are sent again after a failure. */
	int (*flush)(struct target *target, const char *name, struct err *err);

	/* All bytes of `fd` from where it stands; `bytes` is -1 when that is
	 * not known before the end. */
	int (*put_file)(
	    struct target *target, int fd, int64_t bytes, struct err *err);
};

/* The type of "scheme:rest", and where its rest begins.  NULL: it cannot be
 * what was meant, and `err` says why.  Asks nobody. */
const struct target_type *target_find(
    const char *name, enum target_use use, const char **rest, struct err *err);

/* Those without functions are the commands' own. */
extern const struct target_type target_store, target_mlflow;
extern const struct target_type target_datastore, target_azure_table,
    target_azure_blob, target_s3, target_influx, target_http;

#endif

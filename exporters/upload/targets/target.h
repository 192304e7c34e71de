/*
 * target - a destination of poolscope-upload: "scheme:rest".
 *
 * Each target is one file that encodes results, records, files or metrics as
 * requests to its service.  proto/http/http.h sends them.  A new target: its
 * file, its line in types[] of target.c and below; signing for a service is in
 * exporters/cloud/.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_TARGETS_TARGET_H
#define EXPORTERS_UPLOAD_TARGETS_TARGET_H

#include "exporters/results/result_file.h"
#include "proto/http/http.h"
#include "proto/keys/secret.h"
#include "proto/record/record.h"

struct target; /* defined by the target's own file */

/* A record to upload, with the definitions needed to interpret it. */
struct target_row {
	struct text partition;
	const struct record *record; /* an event or a sample */
	/* For a sample: names and units of its columns, and labels. */
	const struct text *names, *units;
	struct text labels; /* JSON; empty: none */
	uint32_t columns;   /* number of named columns; a sample may have more
			       values */
	/* Changes when the names or units of the metric group change; 0:
	 * compare them each time. */
	uint64_t definition;
};

/* What can be uploaded. */
enum target_use {
	TARGET_RESULTS = 1,
	TARGET_FILES = 2,
	TARGET_METRICS = 4,
	TARGET_SAMPLES = 8,
	TARGET_EVENTS = 16,
};

struct target_type {
	const char *scheme; /* "s3" */
	const char *rest;   /* for --help: "BUCKET/KEY"; NULL: no rest */
	unsigned takes;     /* bits of enum target_use */

	/* Check `rest` without contacting the service; may be NULL. */
	int (*check)(const char *rest, struct err *err);
	/* `rest` is the text after "scheme:"; it and `how` must outlive the
	 * target. */
	int (*open)(struct target **target, const char *rest,
	    const struct http_options *how, struct err *err);
	void (*close)(struct target **target);

	/* Identifies the destination, independent of its notation and of the
	 * environment; for targets that accept results. */
	const char *(*identity)(const struct target *target);

	/* Functions for unsupported uses are NULL. */

	/* Upload a file completely or not at all; uploading it again changes
	 * nothing. */
	int (*put_result)(struct target *target,
	    const struct result_file *result, struct err *err);

	/* Add a record to the current request.  Returns 1 if added, 0 if there
	 * is no room (flush first), or -1. */
	int (*add)(struct target *target, const struct target_row *row,
	    struct err *err);
	/* Send the added records; 0: the service has confirmed that it stored
	 * them, except `left_out` of them, which it refuses for good.  `name`
	 * is the same when the same records are sent again after a failure. */
	int (*flush)(struct target *target, const char *name,
	    uint32_t *left_out, struct err *err);

	/* Upload all bytes of `fd` from its current position; `bytes` is -1 if
	 * the size is unknown. */
	int (*put_file)(
	    struct target *target, int fd, int64_t bytes, struct err *err);
};

/* The type of "scheme:rest", and its rest.  NULL if it is invalid, with `err`
 * set.  Does not contact the service. */
const struct target_type *target_find(
    const char *name, enum target_use use, const char **rest, struct err *err);

/* Targets without functions are implemented by the commands. */
extern const struct target_type target_store, target_mlflow;
extern const struct target_type target_datastore, target_azure_table,
    target_azure_blob, target_s3, target_influx, target_http;

/* The media type of a file, by its name's extension;
 * "application/octet-stream" for an unknown one. */
const char *content_type(const char *name);

#endif

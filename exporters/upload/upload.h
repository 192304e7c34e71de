/*
 * upload - shared by the parts of poolscope-upload.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_UPLOAD_H
#define EXPORTERS_UPLOAD_UPLOAD_H

#include "exporters/source/pool.h"
#include "exporters/source/select_options.h"
#include "exporters/source/source.h"
#include "exporters/upload/targets/target.h"
#include "proto/config/opt.h"

struct upload_values;

/* A command: what to upload. */
struct upload_command {
	const char *word; /* "results" */
	/* Files that it needs besides those of requests and the instance. */
	void (*allow_files)(const struct upload_values *upload,
	    struct sandbox *sandbox, const struct opt_operands *operands);
	/* Checks for usage errors that the option tables cannot express; may
	 * be NULL. */
	void (*check)(const struct upload_values *upload,
	    const struct opt_operands *operands);
	/* Returns the exit status.  `operands` follow the command. */
	int (*run)(struct upload_values *upload,
	    const struct opt_operands *operands, struct err *err);
};

/* The options --name, --follow, --cursor. */
struct upload_records_values {
	const char *name, *cursor;
	bool follow;
};

struct upload_results_values {
	const char *datadir, *archivedir;
	int64_t settle_ns, timeout_ns;
	bool strict, refuse, watch;
};

struct upload_metrics_values {
	struct opt_list artifacts, params;
	const char *prefix;
	int style;
	int64_t step_ns;
	uint64_t cpu_count;
};

/* Options of every command. */
struct upload_values {
	struct source_options source;
	struct http_options http;
	struct pool_options pool;
	char partition[INSTANCE_PATH_BYTES]; /* the pool that they name */
	struct opt_list targets;             /* targets: "scheme:rest" */
	struct opt_list
	    broker; /* brokers for records of uploads, in order of failover */
	/* Of commands that select records by node and time. */
	struct node_option node;
	const char *from, *to;  /* as the user gave it; "": not given */
	int64_t from_ns, to_ns; /* TIME_MIN_NS, TIME_MAX_NS: not given */

	/* Options of single commands. */
	struct upload_records_values records;
	struct upload_results_values results;
	struct upload_metrics_values metrics;
};
extern const struct upload_values upload_default;

/* Exits with a usage error unless each --target accepts this use. */
void upload_check_targets(
    const struct upload_values *upload, enum target_use use);

extern const struct upload_command upload_results, upload_file;
/* Bound to a struct upload_results_values. */
extern const struct opt upload_results_options[];

#endif

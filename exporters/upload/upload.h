/*
 * upload - what the parts of poolscope-upload share.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_UPLOAD_H
#define EXPORTERS_UPLOAD_UPLOAD_H

#include "exporters/source/source.h"
#include "exporters/upload/targets/target.h"
#include "proto/config/opt.h"

struct upload_values;

/* A word after poolscope-upload: what is sent. */
struct upload_command {
	const char *word;      /* "results" */
	const char *arguments; /* what stands behind it, for usage */
	uint32_t operands_min, operands_max; /* behind the word */
	/* Options that only some commands have; the others refuse them. */
	const struct opt *options;
	/* Does it take --node, --from and --until? */
	bool ranged;
	/* What it needs but requests and the instance's files. */
	void (*fence)(const struct upload_values *upload, struct sandbox *fence,
	    const struct opt_operands *operands);
	/* Wrong usage that the tables cannot see; may be NULL. */
	void (*check)(const struct upload_values *upload,
	    const struct opt_operands *operands);
	/* The exit status.  `operands` are those behind the word. */
	int (*run)(struct upload_values *upload,
	    const struct opt_operands *operands, struct err *err);
};

/* --name, --follow, --cursor. */
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

/* What every command has. */
struct upload_values {
	struct source_options source;
	struct http_options http;
	const char *partition; /* as given */
	struct opt_list to;    /* targets: "scheme:rest" */
	struct opt_list
	    broker; /* for what is remembered; the next when one fails */
	/* Of commands that are `ranged`. */
	const char *node;          /* pattern; "": all */
	const char *from, *until;  /* as given, "": not said */
	int64_t from_ns, until_ns; /* TIME_MIN_NS, TIME_MAX_NS: not said */

	/* Of single commands. */
	struct upload_records_values records;
	struct upload_results_values results;
	struct upload_metrics_values metrics;
};

/* Wrong usage unless each --to may be sent this. */
void upload_check_targets(
    const struct upload_values *upload, enum target_use use);

extern const struct upload_command upload_results, upload_file;
/* Bound to a struct upload_results_values. */
extern const struct opt upload_results_options[];

#endif

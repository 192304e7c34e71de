/*
 * upload - shared by the parts of poolscope-upload.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_UPLOAD_H
#define EXPORTERS_UPLOAD_UPLOAD_H

#include "exporters/source/source.h"
#include "exporters/upload/targets/target.h"
#include "proto/config/opt.h"

/* A command: what to upload. */
struct upload_command {
	const char *word;                    /* "results" */
	const char *arguments;               /* its operands, for usage */
	uint32_t operands_min, operands_max; /* maximum number of operands */
	/* Options of this command; other commands reject them. */
	const struct opt *options;
	/* Does it accept --node, --from and --until? */
	bool ranged;
	/* Files that it needs besides those of requests and the instance. */
	void (*allow_files)(
	    struct sandbox *sandbox, const struct opt_operands *operands);
	/* Checks for usage errors that the option tables cannot express; may
	 * be NULL. */
	void (*check)(const struct opt_operands *operands);
	/* Returns the exit status.  `operands` follow the command. */
	int (*run)(const struct opt_operands *operands, struct err *err);
};

/* Options of every command. */
struct upload_values {
	struct source_options source;
	struct http_options http;
	const char *partition; /* as the user gave it */
	struct opt_list to;    /* targets: "scheme:rest" */
	struct opt_list
	    broker; /* brokers for records of uploads, in order of failover */
	/* Options of `ranged` commands. */
	const char *node;          /* pattern; "": all */
	const char *from, *until;  /* as the user gave it; "": not given */
	int64_t from_ns, until_ns; /* TIME_MIN_NS, TIME_MAX_NS: not given */
};
extern struct upload_values upload_values;

/* Exits with a usage error unless each --to accepts this use. */
void upload_check_targets(enum target_use use);

extern const struct upload_command upload_results, upload_file;
extern const struct opt upload_results_options[];

#endif

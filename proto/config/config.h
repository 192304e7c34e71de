/*
 * config - the configuration of a host (libconfuse): poolscope.conf(5).
 *
 * A section is the name of a program without "poolscope-", its keys are the
 * long options with '_' for '-':
 *
 *     log = "warn"
 *     agent { partition = "acct$pool"  spool_bytes = "256MiB" }
 *
 * Keys outside sections hold for every program that has the option; they are
 * those that mean the same to all of them (config_shared).  The section's key
 * wins over the one outside, of equals that of the later file.  An unknown
 * section or key, and a value that is none, is an error with file and line.
 * A program knows the keys of its own section only; all together know all
 * (poolscope config check).
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_CONFIG_H
#define PROTO_CONFIG_CONFIG_H

#include "proto/base/err.h"
#include "proto/config/config_files.h"
#include "proto/config/opt.h"

/* Options that may stand outside of sections; NULL ends them. */
extern const char *const config_shared[];

struct config_value {
	const struct opt *opt;
	const char *file; /* where its last word is */
	int line;
	char **words; /* one, or those of a list */
	uint32_t count;
};

/* What the files say: values that opt_check has passed. */
struct config {
	struct config_value *values;
	uint32_t count;
	struct config_files files;
};

/* Read what `path` (NULL: the instance's, which may be absent) and conf.d
 * beside it say to `program`.  -1 and "file:line: what", or "file: what".
 * config_clear either way. */
int config_read(struct config *config, const struct opt_program *program,
    const char *path, struct err *err);
void config_clear(struct config *config);

/* The part of config_read behind the files, which are in `conf` and whose texts
 * are written over.  `found`: nobody named the file. */
int config_parse(struct config *config, const struct opt_program *program,
    bool found, struct err *err);

/* What is said of `opt`, or NULL. */
const struct config_value *config_find(
    const struct config *config, const struct opt *opt);

#endif

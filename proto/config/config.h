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
 * those that mean the same to all of them (conf_shared).  The section's key
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
extern const char *const conf_shared[];

struct conf_value {
	const struct opt *opt;
	const char *file; /* where its last word is */
	int line;
	char **words; /* one, or those of a list */
	uint32_t count;
};

/* What the files say: values that opt_check has passed. */
struct conf {
	struct conf_value *values;
	uint32_t count;
	struct conf_files files;
};

/* Read what `path` (NULL: the instance's, which may be absent) and conf.d
 * beside it say to `program`.  -1 and "file:line: what", or "file: what".
 * conf_clear either way. */
int conf_read(struct conf *conf, const struct opt_program *program,
    const char *path, struct err *err);
void conf_clear(struct conf *conf);

/* The part of conf_read behind the files, which are in `conf` and whose texts
 * are written over.  `found`: nobody named the file. */
int conf_parse(struct conf *conf, const struct opt_program *program, bool found,
    struct err *err);

/* What is said of `opt`, or NULL. */
const struct conf_value *conf_find(
    const struct conf *conf, const struct opt *opt);

#endif

/*
 * config - the configuration of a host (libconfuse): poolscope.conf(5).
 *
 * A section is the name of a program without "poolscope-"; its keys are the
 * long options with '_' for '-':
 *
 *     log = "warn"
 *     agent { partition = "acct$pool"  spool_bytes = "256MiB" }
 *
 * Keys outside sections hold for every program that has the option; only
 * options with one meaning in all programs are allowed there (config_shared).
 * A key in a section overrides the one outside; of equal keys the later file
 * wins.  An unknown section or key, or an invalid value, is an error with file
 * and line.  A program checks only the keys outside sections and in its own;
 * poolscope config check runs all programs and so checks all sections.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_CONFIG_H
#define PROTO_CONFIG_CONFIG_H

#include "proto/base/err.h"
#include "proto/config/config_files.h"
#include "proto/config/opt_table.h"

/* Options that are allowed outside sections; ends with NULL. */
extern const char *const config_shared[];

struct config_value {
	const struct opt *opt;
	const char *file; /* where its last value is */
	int line;
	char **words; /* one value, or those of a list */
	uint32_t count;
};

/* The content of the files: values that opt_check has accepted. */
struct config {
	struct config_value *values;
	uint32_t count;
	struct config_files files;
};

/* Read for `program` the file `path` (NULL: the instance's, which may be
 * absent) and the files of conf.d next to it.  -1: `err` is "file:line: reason"
 * or "file: reason".  Call config_clear in either case. */
int config_read(struct config *config, const struct opt_program *program,
    const char *path, struct err *err);
void config_clear(struct config *config);

/* What config_read does after reading: parse the texts in `config->files`,
 * which it overwrites.  `found`: the user did not name the file. */
int config_parse(struct config *config, const struct opt_program *program,
    bool found, struct err *err);

/* The configured values of `opt`, or NULL. */
const struct config_value *config_find(
    const struct config *config, const struct opt *opt);

#endif

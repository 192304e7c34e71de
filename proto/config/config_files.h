/*
 * config_files - finds and reads the configuration files of this host.
 *
 * The main file, then the files of conf.d next to it that end in ".conf", in
 * order of their names.  Root reads only files that root alone can write.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_CONFIG_FILES_H
#define PROTO_CONFIG_CONFIG_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/config/default_dir.h"

enum {
	CONFIG_FILES_MAX = 64,
	CONFIG_BYTES_MAX = 1 << 20, /* of all files together */
};

struct config_files {
	struct config_file {
		char *path;
		char *text; /* no NUL bytes but the last */
	} at[CONFIG_FILES_MAX];
	uint32_t count;
	uint64_t bytes;
};

/* The configuration file of the instance `dir` (NULL: as default_dir):
 * /etc/poolscope/poolscope.conf for /var/lib/poolscope, else
 * DIR/poolscope.conf.  -1: there is no instance. */
int config_default(char to[static DEFAULT_DIR_BYTES], const char *dir);

/* Read `path` and its conf.d; unless `must`, `path` may be absent.  -1: `err`
 * is "file: reason".  Call config_files_clear in either case. */
int config_files_read(
    struct config_files *files, const char *path, bool must, struct err *err);
void config_files_clear(struct config_files *files);

#endif

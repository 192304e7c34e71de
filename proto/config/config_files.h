/*
 * config_files - which files are the configuration of this host, and their
 * text.
 *
 * A file and, in their order of name, those of conf.d beside it that end in
 * ".conf".  Root reads only what root alone can write.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_CONFIG_FILES_H
#define PROTO_CONFIG_CONFIG_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/config/default_dir.h"

enum { CONFIG_FILES_MAX = 64, CONFIG_BYTES_MAX = 1 << 20 }; /* of all files */

struct config_files {
	struct config_file {
		char *path;
		char *text; /* without NUL bytes but the last */
	} at[CONFIG_FILES_MAX];
	uint32_t count;
	uint64_t bytes;
};

/* The file of the instance `dir` (NULL: as default_dir): that of the host's own
 * instance, /var/lib/poolscope, is /etc/poolscope/poolscope.conf, that of any
 * other DIR/poolscope.conf.  -1: there is no instance. */
int config_default(char to[static DEFAULT_DIR_BYTES], const char *dir);

/* Read `path` and what is beside it; a `path` that need not be there (`must`
 * false) may be absent.  -1 and "file: what" when one is not to be read.
 * config_files_clear either way. */
int config_files_read(
    struct config_files *files, const char *path, bool must, struct err *err);
void config_files_clear(struct config_files *files);

#endif

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

enum { CONF_FILES_MAX = 64, CONF_BYTES_MAX = 1 << 20 }; /* of all files */

struct conf_files {
	struct conf_file {
		char *path;
		char *text; /* without NUL bytes but the last */
	} at[CONF_FILES_MAX];
	uint32_t count;
	uint64_t bytes;
};

/* The file of the instance `dir` (NULL: as place_dir): that of the host's own
 * instance, /var/lib/poolscope, is /etc/poolscope/poolscope.conf, that of any
 * other DIR/poolscope.conf.  -1: there is no instance. */
int conf_default(char to[static PLACE_BYTES], const char *dir);

/* Read `path` and what is beside it; a `path` that need not be there (`must`
 * false) may be absent.  -1 and "file: what" when one is not to be read.
 * conf_files_clear either way. */
int conf_files_read(
    struct conf_files *files, const char *path, bool must, struct err *err);
void conf_files_clear(struct conf_files *files);

#endif

/*
 * pool - which pool an exporter is asked about.
 *
 * --partition, or the three JSON files that the older tools are configured
 * with: --configdir has credentials.json, config.json and pool.json, each can
 * be named by itself.  They are merged in that order, later over earlier; the
 * partition is credentials.batch.account $ pool_specification.id.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_POOL_H
#define EXPORTERS_SOURCE_POOL_H

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"

enum { POOL_FILES = 3 };

/* As given; NULL: not. */
struct pool_options {
	const char *partition, *configdir;
	const char *files[POOL_FILES]; /* credentials, config, pool */
};

/* --partition, --configdir, ...; bound to struct pool_options. */
extern const struct opt pool_options[];

/* The partition of the options; when they say nothing, of the environment
 * (proto/config/instance.h). */
int pool_partition(char to[static INSTANCE_PATH_BYTES],
    const struct pool_options *options, struct err *err);

/* The same from the files alone, of which none may be NULL. */
int pool_read_files(char to[static INSTANCE_PATH_BYTES],
    const char *const files[static POOL_FILES], struct err *err);

/* What stands behind the last '$'. */
struct text pool_id(struct text partition);

/* The partition as the beginning of file names: '-' for '$'.  A view of
 * `to`. */
struct text pool_base(
    char to[static INSTANCE_PATH_BYTES], struct text partition);

#endif

/*
 * pool - the pool that an exporter reads.
 *
 * Named by --partition, or by the three JSON files of the older tools:
 * --configdir has credentials.json, config.json and pool.json, and each file
 * can be named by its own option.  The files are merged in that order, a later
 * one overrides an earlier one; the partition is credentials.batch.account $
 * pool_specification.id.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_POOL_H
#define EXPORTERS_SOURCE_POOL_H

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"

enum { POOL_FILES = 3 };

/* As given; NULL: not given. */
struct pool_options {
	const char *partition, *configdir;
	const char *files[POOL_FILES]; /* credentials, config, pool */
};

/* --partition, --configdir, ...; bound to struct pool_options. */
extern const struct opt pool_options[];

/* The partition that the options name; without such options the one of the
 * environment (proto/config/instance.h). */
int pool_partition(char to[static INSTANCE_PATH_BYTES],
    const struct pool_options *options, struct err *err);

/* The partition that the three files name; none may be NULL. */
int pool_read_files(char to[static INSTANCE_PATH_BYTES],
    const char *const files[static POOL_FILES], struct err *err);

/* The part after the last '$'. */
struct text pool_id(struct text partition);

/* The partition as a prefix of file names, with '-' for '$'.  A view of
 * `to`. */
struct text pool_base(
    char to[static INSTANCE_PATH_BYTES], struct text partition);

#endif

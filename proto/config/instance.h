/*
 * instance - the directory of one installation.
 *
 *     DIR/run/broker.ipc  intake.ipc  reader.ipc  agent.sock  *.pid
 *     DIR/store/  spool/  fallback/  log/
 *
 * DIR is --dir, else as in default_dir.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_INSTANCE_H
#define PROTO_CONFIG_INSTANCE_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/config/default_dir.h"

enum { INSTANCE_PATH_BYTES = DEFAULT_DIR_BYTES };

/* The directory, absolute. */
int instance_dir(char to[static INSTANCE_PATH_BYTES], struct err *err);

/* DIR/name. */
int instance_path(
    char to[static INSTANCE_PATH_BYTES], const char *name, struct err *err);

/* "ipc://DIR/run/NAME.ipc" for "broker", "intake", "reader"; refuses a path
 * that does not fit a socket address (107 bytes). */
int instance_endpoint(
    char to[static INSTANCE_PATH_BYTES], const char *name, struct err *err);

/* Create a directory (and its parents) with mode 0700 if it does not exist,
 * and sync the new names: a file synced in a directory that a crash removes is
 * lost. */
int instance_make_dir(const char *path, struct err *err);

/* The partition and the node: `option` unless NULL, else from AZ_BATCH_*,
 * SLURM_* or AWS_BATCH_*, else "local$default" and the host name.  `why` gets
 * the origin for the log: "option", "Slurm", "default" ... */
int instance_partition(char to[static INSTANCE_PATH_BYTES], const char *option,
    const char **why, struct err *err);
/* A partition that a user wrote: account$pool, or account/pool for a shell.
 * Any other name is refused with a question: a shell replaces $pool within
 * double quotes. */
int instance_read_partition(
    char to[static INSTANCE_PATH_BYTES], const char *word, struct err *err);
int instance_node(char to[static INSTANCE_PATH_BYTES], const char *option,
    const char **why, struct err *err);

#endif

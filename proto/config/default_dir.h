/*
 * default_dir - the default instance directory.
 *
 * Separate from instance.h, so that libpoolscope needs no option tables.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_DEFAULT_DIR_H
#define PROTO_CONFIG_DEFAULT_DIR_H

#include "proto/base/err.h"

enum { DEFAULT_DIR_BYTES = 512 };

/* The directory: `dir` unless NULL, else $POOLSCOPE_DIR, else
 * /var/lib/poolscope for root, else $XDG_STATE_HOME/poolscope, else
 * ~/.local/state/poolscope; absolute. */
int default_dir(
    char to[static DEFAULT_DIR_BYTES], const char *dir, struct err *err);

#endif

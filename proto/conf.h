/*
 * conf - the configuration file of a host (libconfuse).
 *
 * A section is the name of a program without "poolscope-", its keys are the
 * long options with '_' for '-':
 *
 *     agent { partition = "acct$pool"  spool_bytes = "256MiB" }
 *
 * Keys outside sections hold for every program that has the option.  An
 * unknown section or key is an error with file and line.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONF_H
#define PROTO_CONF_H

#include "proto/err.h"
#include "proto/opt.h"

/* Set the options of `program` that neither command line nor environment has
 * set.  -1 and "file:line: what" when the file is bad: nothing is then set.  -1
 * and "file: --option: what" when a value is: those before it are set. */
int conf_load(
    const char *path, const struct opt_program *program, struct err *err);

#endif

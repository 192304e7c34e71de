/*
 * pass - the key with which this process goes to the TCP doors of others.
 *
 * --key FILE, else DIR/keys/NAME.key when that is there; --insecure goes
 * without.  Unix sockets need none.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_PASS_H
#define PROTO_PASS_H

#include <stdbool.h>

#include "proto/err.h"
#include "proto/opt.h"
#include "proto/port.h"

/* --key and --insecure, for the tables of clients. */
extern const struct opt pass_options[];

extern struct pass_values {
	const char *key;
	bool insecure;
} pass_values;

/* Complete the options of a line to `endpoint`.  `name`: the role, and the key
 * of the instance.  The key is read once and lives as long as the process. */
int pass_show(struct port_options *options, const char *endpoint,
    const char *name, struct err *err);

#endif

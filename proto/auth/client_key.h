/*
 * client_key - the key with which this process goes to the TCP doors of
 * others.
 *
 * --key FILE, else DIR/keys/NAME.key when that is there; --insecure goes
 * without.  Unix sockets need none.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_CLIENT_KEY_H
#define PROTO_AUTH_CLIENT_KEY_H

#include <stdbool.h>

#include "proto/base/err.h"
#include "proto/config/opt.h"
#include "proto/net/zsock.h"

/* --key and --insecure, for the tables of clients. */
extern const struct opt client_key_options[];

extern struct client_key_values {
	const char *key;
	bool insecure;
} client_key_values;

/* Complete the options of a line to `endpoint` with the key that was given, or
 * that of the instance called `name` (the role).  The key lives as long as the
 * process. */
int client_key_show(struct zsock_options *options,
    const struct client_key_values *given, const char *endpoint,
    const char *name, struct err *err);

/* Read again the keys that were shown, for they may have been rotated: the
 * lines' options have what is new, zsock_has_other_key says which lines still
 * go by what is old.  -1: the key of that file stays as it was. */
int client_key_renew(struct err *err);

#endif

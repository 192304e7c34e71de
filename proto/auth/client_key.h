/*
 * client_key - the key that this process uses to connect to TCP listeners.
 *
 * --key FILE, else DIR/keys/NAME.key if it exists; --insecure uses none.  Unix
 * sockets need none.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_CLIENT_KEY_H
#define PROTO_AUTH_CLIENT_KEY_H

#include <stdbool.h>

#include "proto/base/err.h"
#include "proto/config/opt.h"
#include "proto/net/zsock.h"

/* As given by --key and --insecure. */
struct client_key_values {
	const char *key; /* file, or NULL */
	bool insecure;
};

/* Complete the socket options for a connection to `endpoint`: with the given
 * key, or else with DIR/keys/`name`.key.  The key lives as long as the
 * process. */
int client_key_load(struct zsock_options *options,
    const struct client_key_values *given, const char *endpoint,
    const char *name, struct err *err);

/* Read the key files in use again, because keys may have been rotated.  The
 * socket options then have the new keys; zsock_key_has_changed finds the
 * connections that still use old ones.  -1: a file is bad, and its key stays as
 * it was; the others are renewed. */
int client_key_renew(struct err *err);

/* A listener answers "forbidden": the key may have been rotated, and the old
 * one be gone.  Reads the files again, at most every five seconds; `again_ns`
 * is the caller's, 0 at first.  True: they were read. */
bool client_key_forbidden(int64_t *again_ns);

#endif

/*
 * endpoint - the address of a listener: "ipc:///path" or "tcp://host:port".
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ENDPOINT_H
#define PROTO_NET_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/os/lockfile.h"

enum {
	ENDPOINT_BYTES_MAX = 256,
	ENDPOINT_PATH_BYTES = 108, /* sun_path, with its NUL */
};

/* 0: it is a valid endpoint of either kind. */
int endpoint_check(const char *endpoint, struct err *err);

/* The path of an ipc endpoint (a view), or NULL. */
const char *endpoint_path(const char *endpoint);

/* Is any of these on TCP? */
bool endpoint_any_tcp(const char *const *endpoints, uint32_t count);

/* A tcp endpoint in the form that libzmq can bind, which takes no host names:
 * "localhost" becomes 127.0.0.1. */
int endpoint_bindable(
    char to[static ENDPOINT_BYTES_MAX], const char *endpoint, struct err *err);

/* Is there nobody who listens at this path, or nobody whom we may reach?  Then
 * `err` says so, without the path.  A listener that is busy is there. */
bool endpoint_is_deserted(const char *path, struct err *err);

/* The right to listen at the path of a Unix socket; zeroed: not held. */
struct endpoint_claim {
	struct lockfile lockfile; /* of PATH.lock */
	char *path;               /* NULL: not held */
	struct held_file *held;   /* the socket, once it is bound */
};

/* Claim a path before libzmq binds it, because libzmq unlinks whatever is
 * there.  -1: another process holds the claim, the path is not a socket, or
 * others can write its directory. */
int endpoint_claim(
    struct endpoint_claim *claim, const char *path, struct err *err);
/* After the bind: the socket must stay where it is (held_file_add). */
void endpoint_bound(struct endpoint_claim *claim);
/* Unlinks the socket.  Does nothing without a claim. */
void endpoint_release(struct endpoint_claim *claim);

#endif

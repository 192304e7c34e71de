/*
 * zsock_profile - the options that poolscope sets on libzmq sockets: limits,
 * signs of life, keys.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_NET_ZSOCK_PROFILE_H
#define PROTO_NET_ZSOCK_PROFILE_H

#include <stdbool.h>

#include "proto/base/err.h"
#include "proto/keys/keyfile.h"
#include "proto/net/zsock.h"

/* The domains in libzmq's authentication requests (RFC 27). */
#define ZSOCK_DOMAIN_KEYS  "poolscope"
#define ZSOCK_DOMAIN_LOCAL "local"

int zsock_profile_set(void *zmq, int option, int value, struct err *err);

/* Options that do not depend on the endpoint; set once. */
int zsock_profile_begin(
    void *zmq, const struct zsock_options *options, struct err *err);

/* Options that do, set before each bind and connect: the keys, or none (NULL).
 * `*uses_zap`, initially false: the listener has had keys, now or earlier. */
int zsock_profile_listener_keys(
    void *zmq, const unsigned char *secret, bool *uses_zap, struct err *err);
int zsock_profile_connection_keys(
    void *zmq, const struct keyfile *key, uint32_t server, struct err *err);
int zsock_profile_endpoint(void *zmq, const char *endpoint, struct err *err);

#endif

/*
 * refusal - explains why a TCP listener refuses a connection.
 *
 * A key that may connect but not publish: agents/delivery/direct_uplink.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_REFUSAL_H
#define PROTO_AUTH_REFUSAL_H

#include "proto/base/err.h"
#include "proto/net/zsock.h"

/* As zsock_trouble.  Except for ZSOCK_FINE and ZSOCK_TRY_NEXT, `err` gets what
 * is wrong and what the user can do about it. */
enum zsock_trouble refusal_get(const struct zsock *zsock, struct err *err);

#endif

/*
 * rate_limit - how many bytes of batches a second each key may bring.
 *
 * Who has no key (Unix sockets, doors with --insecure) is not metered; for
 * whom a broker vouches is.  A key that owes nothing takes no room, so that a
 * table of fixed size is enough: when all its places are taken keys share one.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_RATE_LIMIT_H
#define PROTO_AUTH_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/net/zsock.h"

/* A key may bring so many seconds' worth at once. */
enum { RATE_LIMIT_BURST_SECONDS = 10 };
#define RATE_LIMIT_BYTES_PER_SECOND (UINT64_C(64) << 20) /* by default */

struct rate_limit; /* opaque */

/* `per_second` 0: any number. */
struct rate_limit *rate_limit_new(uint64_t per_second);
void rate_limit_free(struct rate_limit **rate_limit);
/* From now on; what a key owes it still owes. */
void rate_limit_change(struct rate_limit *rate_limit, uint64_t per_second);

/* 0: the sender of this message may bring it; else how many ms to wait. */
uint32_t rate_limit_wait_ms(struct rate_limit *rate_limit,
    const struct message *message, int64_t now_ns);
/* It was taken. */
void rate_limit_charge(struct rate_limit *rate_limit,
    const struct message *message, int64_t now_ns);
/* Both at once; false: not yet. */
bool rate_limit_take(struct rate_limit *rate_limit,
    const struct message *message, int64_t now_ns);

#endif

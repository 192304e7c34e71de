/*
 * rate_limit - limits the bytes of batches a second that each key may send.
 *
 * Peers without a key (Unix sockets, listeners with --insecure) are not
 * limited; forwarded identities are.  A key without debt occupies no slot, so
 * a table of fixed size is enough; when all slots are taken keys share one.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_AUTH_RATE_LIMIT_H
#define PROTO_AUTH_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/net/zsock.h"

/* The burst of a key, in seconds of its rate. */
enum { RATE_LIMIT_BURST_SECONDS = 10 };
#define RATE_LIMIT_BYTES_PER_SECOND (UINT64_C(64) << 20) /* the default */

struct rate_limit; /* opaque */

/* `per_second` 0: no limit. */
struct rate_limit *rate_limit_new(uint64_t per_second);
void rate_limit_free(struct rate_limit **rate_limit);
/* Takes effect now; a key keeps its debt. */
void rate_limit_change(struct rate_limit *rate_limit, uint64_t per_second);

/* 0: the sender of this message may send it; otherwise the ms to wait. */
uint32_t rate_limit_wait_ms(struct rate_limit *rate_limit,
    const struct zsock_message *message, int64_t now_ns);
/* The message was taken: charge it. */
void rate_limit_charge(struct rate_limit *rate_limit,
    const struct zsock_message *message, int64_t now_ns);
/* Check and charge in one step; false: over the limit. */
bool rate_limit_take(struct rate_limit *rate_limit,
    const struct zsock_message *message, int64_t now_ns);

#endif

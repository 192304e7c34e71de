/*
 * rate_limit - limits what each key may send a second: bytes of batches, or
 * requests.
 *
 * Forwarded identities are limited like direct peers; peers without a key (Unix
 * sockets, listeners with --insecure) are not.  A key that has sent less than
 * its rate allows needs no slot, so a table of fixed size is enough; when it is
 * full, keys share slots.
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

/* Returns a new limiter of `per_second` bytes; 0: no limit. */
struct rate_limit *rate_limit_new(uint64_t per_second);
void rate_limit_free(struct rate_limit **rate_limit);
/* Takes effect at once; a key still pays for what it has sent. */
void rate_limit_change(struct rate_limit *rate_limit, uint64_t per_second);

/* How long the sender of this message must wait before it may send it; 0: it
 * may do so now. */
uint32_t rate_limit_wait_ms(struct rate_limit *rate_limit,
    const struct zsock_message *message, int64_t now_ns);
/* The message was accepted: charge it to its sender. */
void rate_limit_charge(struct rate_limit *rate_limit,
    const struct zsock_message *message, int64_t now_ns);
/* Check and charge in one step; false: over the limit. */
bool rate_limit_take(struct rate_limit *rate_limit,
    const struct zsock_message *message, int64_t now_ns);
/* The same for an amount of whatever is limited, and a key that came in no
 * message.  0: it is charged; else how long it must wait. */
uint32_t rate_limit_take_of_key(struct rate_limit *rate_limit,
    const unsigned char key[static ZSOCK_KEY_BYTES], uint64_t amount,
    int64_t now_ns);

#endif

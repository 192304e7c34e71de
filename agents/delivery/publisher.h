/*
 * publisher - records brought to the aggregator by who has no agent.
 *
 * The agents' public face: exporters link this and nothing else of agents/.
 * Records go to a broker in batches, a bounded number of bytes at a time, in a
 * session of the process's own; what was acknowledged is on the aggregator's
 * disk.  One that was not may be there all the same: who sends it again sends
 * it under the same name (an entity), which changes nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DELIVERY_PUBLISHER_H
#define AGENTS_DELIVERY_PUBLISHER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/auth/client_key.h"
#include "proto/base/err.h"
#include "proto/config/opt.h"
#include "proto/record/record.h"

struct publisher; /* opaque */

/* `brokers`: endpoints, one is used at a time, not copied; none: that of the
 * instance.  The texts are copied.  INT and TERM make every call below fail
 * with ERR_INTERRUPTED. */
int publisher_open(struct publisher **publisher, const struct opt_list *brokers,
    const struct client_key_values *key, struct text partition,
    struct text node, int64_t timeout_ns, struct err *err);
void publisher_close(struct publisher **publisher);

/* Take in a record (its node is the publisher's); waits while as much is under
 * way as may be.  -1: nothing for so long as the time-out, refused, or it does
 * not fit a batch (`*fits` false; the others are not harmed). */
int publisher_put(struct publisher *publisher, const struct record *record,
    bool *fits, struct err *err);
/* How many were taken in, and how many of them, from the first on, are
 * acknowledged. */
uint64_t publisher_taken(const struct publisher *publisher);
uint64_t publisher_acked(const struct publisher *publisher);
/* Send what is there; wait until `upto` of them are acknowledged. */
int publisher_await(
    struct publisher *publisher, uint64_t upto, struct err *err);

#endif

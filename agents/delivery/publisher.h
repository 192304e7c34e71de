/*
 * publisher - sends records to the aggregator without an agent.
 *
 * This is the public interface of agents/: exporters link this and nothing
 * else of it.  Records go to a broker in batches, with a bounded number of
 * bytes unacknowledged, in a session of the process's own.  Acknowledged
 * records are on the aggregator's disk.  An unacknowledged record may be there
 * as well: sending it again under the same name (an entity) changes nothing.
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

/* `brokers`: endpoints, not copied; one is used at a time; none: the broker of
 * the instance.  The texts are copied.  INT and TERM make every call below
 * fail with ERR_INTERRUPTED. */
int publisher_open(struct publisher **publisher, const struct opt_list *brokers,
    const struct client_key_values *key, struct text partition,
    struct text node, int64_t timeout_ns, struct err *err);
void publisher_close(struct publisher **publisher);

/* Add a record (its node is the publisher's); waits while the window is full.
 * -1: no progress within the time-out, refused, or it does not fit in a batch
 * (`*fits` is false; other records are not affected). */
int publisher_put(struct publisher *publisher, const struct record *record,
    bool *fits, struct err *err);
/* The number of records added, and how many of them, counted from the first,
 * are acknowledged. */
uint64_t publisher_taken(const struct publisher *publisher);
uint64_t publisher_acked(const struct publisher *publisher);
/* Send all added records; wait until `upto` of them are acknowledged. */
int publisher_await(
    struct publisher *publisher, uint64_t upto, struct err *err);

#endif

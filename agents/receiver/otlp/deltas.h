/*
 * otlp_deltas - adds up the sums that clients send as differences.
 *
 * A request that comes again (its hash is one of the last) adds nothing: the
 * agent keeps what it became the first time.  A series of which nothing came
 * for five minutes ends when its place is needed.  From any thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_OTLP_DELTAS_H
#define AGENTS_RECEIVER_OTLP_DELTAS_H

#include <stdbool.h>

#include "proto/record/record.h"

enum {
	OTLP_DELTAS_MAX = 10000,     /* series */
	OTLP_DELTAS_REQUESTS = 4096, /* that are remembered */
};

struct otlp_deltas; /* opaque */

void otlp_deltas_new(struct otlp_deltas **deltas);
void otlp_deltas_free(struct otlp_deltas **deltas);

/* Is this the first time that the request comes? */
bool otlp_deltas_begin(struct otlp_deltas *deltas,
    const unsigned char request[static RECORD_ID_BYTES]);

/* Add `*value` (a number) to the sum of the series, if `first`, and set it to
 * the sum.  False: there are OTLP_DELTAS_MAX others. */
bool otlp_deltas_add(struct otlp_deltas *deltas, struct text series, bool first,
    struct value *value);

#endif

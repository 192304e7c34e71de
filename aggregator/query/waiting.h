/*
 * waiting - queries that wait until what they ask for is indexed.
 *
 * They are copies in a list that is bounded in number and bytes, so that the
 * thread of the query server answers others meanwhile.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_WAITING_H
#define AGGREGATOR_QUERY_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/net/zsock.h"

enum { WAITING_MAX = 256, WAITING_BYTES = 1 << 20 };

struct waiting_query {
	struct route route;
	uint64_t number; /* of the journal entry that must be indexed */
	int64_t received_ns, until_ns;
	struct text frame;
};

struct waiting {
	uint32_t count, bytes; /* bytes of the frames */
	struct waiting_query at[WAITING_MAX];
};

void waiting_clear(struct waiting *waiting);
/* Copies the query, unless it waits already.  False: there is no room. */
bool waiting_add(struct waiting *waiting, const struct waiting_query *query);
/* Take a query out; its frame belongs to the caller, who frees it. */
struct waiting_query waiting_take(struct waiting *waiting, uint32_t index);

#endif

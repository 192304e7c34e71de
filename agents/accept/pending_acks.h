/*
 * pending_acks - who wants to hear when the aggregator has what he put.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_PENDING_ACKS_H
#define AGENTS_ACCEPT_PENDING_ACKS_H

#include <stdbool.h>
#include <stdint.h>

enum { WAIT_MAX = 1024 };

struct wait {
	uint64_t client, number; /* the owner's business, as is: */
	int64_t sent_ns;
	uint32_t stream;
	uint64_t from, upto; /* batches; stored when `upto` is */
};

struct wait_list {
	struct wait at[WAIT_MAX];
	uint32_t count;
};

/* False: there are WAIT_MAX. */
bool wait_add(struct wait_list *list, const struct wait *wait);

/* Take out those for whom `is_over` is true; it says what there is to say. */
void wait_sweep(struct wait_list *list,
    bool (*is_over)(void *arg, struct wait *wait), void *arg);

#endif

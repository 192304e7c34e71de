/*
 * pending_acks - clients waiting for a stored acknowledgement.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_ACCEPT_PENDING_ACKS_H
#define AGENTS_ACCEPT_PENDING_ACKS_H

#include <stdbool.h>
#include <stdint.h>

enum { PENDING_ACKS_MAX = 1024 };

struct pending_ack {
	uint64_t client, number; /* for the caller, as is sent_ns */
	int64_t sent_ns;
	uint32_t stream;
	uint64_t from, upto; /* batches; stored when `upto` is */
	bool repeated; /* ... and what earlier sessions have of the partition */
};

struct pending_acks {
	struct pending_ack at[PENDING_ACKS_MAX];
	uint32_t count;
};

/* False: the list is full. */
bool pending_acks_add(
    struct pending_acks *list, const struct pending_ack *pending_ack);

/* Remove the entries for which `is_over` is true; it sends the answer. */
void pending_acks_sweep(struct pending_acks *list,
    bool (*is_over)(void *arg, struct pending_ack *pending_ack), void *arg);

#endif

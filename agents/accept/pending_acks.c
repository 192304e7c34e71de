/*
 * pending_acks - clients waiting for a stored acknowledgement.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/pending_acks.h"

bool
pending_acks_add(
    struct pending_acks *list, const struct pending_ack *pending_ack)
{
	if (list->count == PENDING_ACKS_MAX)
		return false;
	list->at[list->count++] = *pending_ack;
	return true;
}

void
pending_acks_sweep(struct pending_acks *list,
    bool (*is_over)(void *arg, struct pending_ack *pending_ack), void *arg)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++)
		if (!is_over(arg, &list->at[i]))
			list->at[kept++] = list->at[i];
	list->count = kept;
}

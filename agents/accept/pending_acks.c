/*
 * pending_acks - who wants to hear when the aggregator has what he put.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/pending_acks.h"

bool
wait_add(struct wait_list *list, const struct wait *wait)
{
	if (list->count == WAIT_MAX)
		return false;
	list->at[list->count++] = *wait;
	return true;
}

void
wait_sweep(struct wait_list *list,
    bool (*is_over)(void *arg, struct wait *wait), void *arg)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++)
		if (!is_over(arg, &list->at[i]))
			list->at[kept++] = list->at[i];
	list->count = kept;
}

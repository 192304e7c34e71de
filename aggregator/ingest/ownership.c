/*
 * ownership - does this store accept a partition?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/ownership.h"

bool
ownership_find(const struct opt_list *accept, struct text partition)
{
	for (uint32_t i = 0; accept != NULL && i < accept->count; i++)
		if (text_match_partition(text_of(accept->at[i]), partition))
			return true;
	return accept == NULL || accept->count == 0;
}

/*
 * ownership - is a partition assigned to this store?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/ownership.h"

static bool
may_begin(const struct opt_list *accept, struct text partition)
{
	for (uint32_t i = 0; accept != NULL && i < accept->count; i++)
		if (text_match_partition(text_of(accept->at[i]), partition))
			return true;
	return accept == NULL || accept->count == 0;
}

enum ownership
ownership_find(struct db_txn *txn, struct text partition,
    const struct opt_list *accept, struct owner *owner)
{
	if (!owner_get(txn, partition, owner))
		return OWNERSHIP_LATER;
	switch (owner->state) {
	case OWNER_OWN: return OWNERSHIP_OURS;
	case OWNER_FROZEN:
	case OWNER_COMING: return OWNERSHIP_LATER;
	case OWNER_GONE: return OWNERSHIP_ELSEWHERE;
	default: break;
	}
	return may_begin(accept, partition) ? OWNERSHIP_OURS
					    : OWNERSHIP_ELSEWHERE;
}

void
ownership_begin(struct db_txn *txn, struct text partition,
    const struct owner *owner, int64_t now_ns)
{
	const struct owner own = { .state = OWNER_OWN, .since_ns = now_ns };

	if (owner->state == OWNER_NONE)
		owner_put(txn, partition, &own);
}

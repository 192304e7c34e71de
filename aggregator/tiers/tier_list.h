/*
 * tier_list - which tiers there are of one hour, node and set.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TIERS_TIER_LIST_H
#define AGGREGATOR_TIERS_TIER_LIST_H

#include "aggregator/db/db.h"
#include "aggregator/tables/key.h"
#include "aggregator/tiers/tier.h"

/* The first row of a tier; `band` says of what, its run is not looked at. */
bool tier_list_find(struct db_txn *txn, enum tier_step tier,
    const struct key_head *band, struct text *value);
/* Is there any of any tier? */
bool tier_list_any(struct db_txn *txn, const struct key_head *band);
/* Do the samples stand for any tier that is kept? */
bool tier_list_need_samples(struct db_txn *txn, const struct key_head *band);

#endif

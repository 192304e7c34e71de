/*
 * tier_list - which tiers there are of one hour, node and set.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tiers/tier_list.h"

#include <string.h>

#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/tables.h"

bool
tier_list_find(struct db_txn *txn, enum tier_step tier,
    const struct key_head *band, struct text *value)
{
	struct db_cursor *cursor = db_cursor_open(txn, tables_tier(tier));
	struct key_head head = *band;
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key;
	bool found;

	head.run = tier;
	head.first_ns = INT64_MIN;
	head.row = 0;
	found = db_seek(cursor, lane_key(bytes, &head), &key, value) &&
		key.bytes == sizeof(bytes) &&
		memcmp(key.at, bytes, TIER_PREFIX_BYTES) == 0;
	db_cursor_close(&cursor);
	return found;
}

bool
tier_list_any(struct db_txn *txn, const struct key_head *band)
{
	struct text value;

	for (enum tier_step tier = TIER_10S; tier < TIERS; tier++)
		if (tier_list_find(txn, tier, band, &value))
			return true;
	return false;
}

bool
tier_list_need_samples(struct db_txn *txn, const struct key_head *band)
{
	struct text value;

	for (enum tier_step tier = TIER_10S; tier < TIERS; tier++)
		if (tier_list_find(txn, tier, band, &value) &&
		    tier_is_samples(value))
			return true;
	return false;
}

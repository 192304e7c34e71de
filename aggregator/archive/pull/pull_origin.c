/*
 * pull_origin - how far the archive counted when a store was made of it.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pull/pull_origin.h"

#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"

/* An open epoch counts up to the same position in all partitions. */
void
pull_origin_put(struct db_txn *txn, const struct epochs *claims)
{
	struct buffer value = { NULL, 0, 0 };

	for (uint32_t i = 0; i < claims->epochs; i++) {
		const struct epoch *epoch = &claims->epoch[i];
		bool is_known = !epoch->is_open || epoch->until == 0;

		for (uint32_t j = 0; j < i && !is_known; j++)
			is_known = claims->epoch[j].is_open &&
				   claims->epoch[j].epoch == epoch->epoch;
		if (is_known)
			continue;
		varint_put(&value, epoch->epoch);
		varint_put(&value, epoch->until);
	}
	db_put(txn, TABLES_META, text_of(FACT_ORIGIN), buffer_text(&value));
	buffer_clear(&value);
}

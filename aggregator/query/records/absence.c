/*
 * absence - hours that a page needs and the store lacks.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/records/absence.h"

#include "aggregator/query/series/series_block.h"

/* The hour before which retention has deleted the records.  While there
 * are rollups, buckets are made of them. */
static int32_t
cut_of(const struct page *page, uint8_t kind)
{
	bool has_raw = kind == RECORD_SAMPLE && page->series == NULL;

	return tables_cut(page->txn, has_raw ? ROLLUP_RAW : ROLLUP_1H);
}

static int32_t
next_noted(const struct page *page, struct db_cursor *meta,
    const struct key_row_block *first)
{
	struct absent_hour from = { first->partition, first->kind,
		first->hour };
	int32_t hour = absent_next(meta, &from);

	for (unsigned i = ROLLUP_1MIN; page->series != NULL && i < ROLLUPS;
	     i++) {
		int32_t other;

		from.kind = (uint8_t)(ABSENT_ROLLUP + i);
		other = absent_next(meta, &from);
		if (other < hour)
			hour = other;
	}
	return hour;
}

int32_t
absence_next(const struct page *page, struct db_cursor *meta,
    const struct key_row_block *first)
{
	switch (page->reader->lacks) {
	case ABSENT_NOTED: return next_noted(page, meta, first);
	case ABSENT_DELETED:
		return first->hour < cut_of(page, first->kind) ? first->hour
							       : INT32_MAX;
	default: return INT32_MAX;
	}
}

static bool
needs(struct page *page, const struct absent_need *need)
{
	page_meet_absent(page, need);
	return true;
}

static bool
ends_at_noted(struct page *page, struct absent_need *need)
{
	enum rollup_step rollup =
	    page->series != NULL
		? series_block_wanted_rollup(page, need->first.hour)
		: ROLLUP_RAW;
	struct absent_need rollups = *need;
	enum absent_state state;

	rollups.first.kind = (uint8_t)(ABSENT_ROLLUP + rollup);
	rollups.node = 0;
	if (rollup != ROLLUP_RAW && absent_get(page->txn, &rollups.first))
		return needs(page, &rollups);
	state = absent_get(page->txn, &need->first);
	page->rolled_up = state == ABSENT_ROLLED_UP && rollup != ROLLUP_RAW;
	if (state == ABSENT_NOT || page->rolled_up)
		return false;
	need->rollups_do = rollup != ROLLUP_RAW;
	if (!need->rollups_do && need->node != 0 &&
	    absent_has_node(page->txn, &need->first, need->node))
		return false;
	return needs(page, need);
}

bool
absence_ends(struct page *page, const struct key_row_block *hour, uint32_t node)
{
	struct absent_need need = {
		.first = { hour->partition, hour->kind, hour->hour },
		.end = page->hour_end,
		.node = node,
	};

	page->rolled_up = false;
	switch (page->reader->lacks) {
	case ABSENT_NOTED: return ends_at_noted(page, &need);
	case ABSENT_DELETED:
		need.end = cut_of(page, hour->kind);
		return hour->hour < need.end && needs(page, &need);
	default: return false;
	}
}

/*
 * absence - hours that a page needs and the store lacks.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/records/absence.h"

#include "aggregator/rollup/rollup.h"

/* The hour before which retention has deleted the records.  While there
 * are rollups, buckets are made of them. */
static int32_t
cut_of(const struct page *page, uint8_t kind)
{
	bool has_raw = kind == RECORD_SAMPLE && page->series == NULL;

	return tables_cut(page->txn, has_raw ? ROLLUP_RAW : ROLLUP_1H);
}

int32_t
absence_next(const struct page *page, const struct key_row_block *first)
{
	if (page->reader->lacks == ABSENT_NONE)
		return INT32_MAX;
	return first->hour < cut_of(page, first->kind) ? first->hour
						       : INT32_MAX;
}

bool
absence_ends(struct page *page, const struct key_row_block *hour, uint32_t node)
{
	const struct absent_need need = {
		.first = { hour->partition, hour->kind, hour->hour },
		.end = cut_of(page, hour->kind),
		.node = node,
	};

	if (page->reader->lacks == ABSENT_NONE || hour->hour >= need.end)
		return false;
	page_meet_absent(page, &need);
	return true;
}

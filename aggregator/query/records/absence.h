/*
 * absence - hours that a page needs and the store lacks.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_RECORDS_ABSENCE_H
#define AGGREGATOR_QUERY_RECORDS_ABSENCE_H

#include "aggregator/query/page/page.h"

/* The next hour, at or after that of `first`, of which something is absent;
 * INT32_MAX: there is none. */
int32_t absence_next(
    const struct page *page, const struct key_row_block *first);

/* Is something absent that the page needs of this hour, of one node or (0) of
 * all?  Then the page ends here, and the reader knows what it needs. */
bool absence_ends(
    struct page *page, const struct key_row_block *hour, uint32_t node);

#endif

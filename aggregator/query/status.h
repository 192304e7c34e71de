/*
 * status - what is in the store, as entities of kind "status".
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_STATUS_H
#define AGGREGATOR_QUERY_STATUS_H

#include "aggregator/query/page/page.h"

/* Append the entity of the store, then one of each partition, from page->cursor
 * on.  False when the page is full or `*rc` is -1 (see `err`). */
bool query_status(struct page *page, int *rc, struct err *err);
/* The number of batches in the journal that are not indexed yet. */
int query_lag(struct reader *reader, uint64_t *batches, struct err *err);

#endif

/*
 * records - stored records and entities that a query selects.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_RECORDS_RECORDS_H
#define AGGREGATOR_QUERY_RECORDS_RECORDS_H

#include "aggregator/query/page/page.h"

/* Append the records of `kind` from page->cursor on, in the order (hour, node,
 * track, time).  False when the page is full. */
bool query_records(struct page *page, enum record_kind kind);
/* Append the entities from page->cursor on, in the order (kind, id).  False
 * when the page is full. */
bool query_entities(struct page *page);

/* Append an entity of kind "node" for each node, from page->cursor on.  False
 * when the page is full. */
bool query_nodes(struct page *page);

#endif

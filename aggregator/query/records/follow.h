/*
 * follow - the records of the journal, in the order in which they arrived.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_RECORDS_FOLLOW_H
#define AGGREGATOR_QUERY_RECORDS_FOLLOW_H

#include "aggregator/query/page/page.h"

/* Make a page of what the journal has of `partition` from query->cursor (a
 * struct wire_position) on.  `*last`: the journal has nothing more now. */
int query_follow(
    struct page *page, struct text partition, bool *last, struct err *err);

#endif

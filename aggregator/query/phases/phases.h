/*
 * phases - phases as records, and their statistics as entities.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_PHASES_PHASES_H
#define AGGREGATOR_QUERY_PHASES_PHASES_H

#include "aggregator/query/page/page.h"

/* Each appends from page->cursor on; false when the page is full. */

/* One record for each pair, or for a lone start or end, in the order (phase,
 * key, node or run, time of the first event). */
bool query_phases(struct page *page);
/* The statistics of each phase of the models, or of each phase and node. */
bool query_phase_stats(struct page *page, bool by_node);

#endif

/*
 * runs - test runs, their steps and the statistics of their groups.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_RUNS_RUNS_H
#define AGGREGATOR_QUERY_RUNS_RUNS_H

#include "aggregator/query/page/page.h"

/* Each appends from page->cursor on; false when the page is full. */

/* Runs, in the order (model, number of the run); with page->newest those of a
 * model in the order of the times of their first events, the newest first,
 * those without a known time last. */
bool query_runs(struct page *page);
/* Steps of runs as phase records, after all other phases. */
bool query_steps(struct page *page);
/* The definitions of run models, and the statistics of each group of runs. */
bool query_run_groups(struct page *page);

#endif

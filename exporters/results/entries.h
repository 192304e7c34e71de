/*
 * result_entries - the entries of tests, one after another.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_ENTRIES_H
#define EXPORTERS_RESULTS_ENTRIES_H

#include "exporters/results/query.h"

/* Call `on_entry` for each entry of the latest start of a test: of
 * query->test, or of all tests in the order of their names if it is empty; only
 * for query->entry if it is not.  It may ask the source, and returns 0 to go
 * on; another number is returned.  -1 also when there is no such test. */
int result_entries_each(const struct result_query *query,
    int (*on_entry)(
	void *arg, struct text test, struct text entry, struct err *err),
    void *arg, struct err *err);

#endif

/*
 * db - the tables of the aggregator's store, in memory: what aggregator/db/db.h
 * promises of transactions, for journal, owner and keep as they are.  Crashes
 * in the middle of a commit are the business of store_states.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_MEMORY_DB_H
#define TESTS_FAULT_MEMORY_DB_H

#include "aggregator/db/db.h"

/* There is one store, whatever its path; it outlives its handles.  This makes
 * it empty; before the first use, too. */
void memory_db_reset(void);

#endif

/*
 * names_rig - a partition of an empty store, with a writing transaction, for
 * tests of records as columns.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_ARCHIVE_NAMES_RIG_H
#define TESTS_UNIT_AGGREGATOR_ARCHIVE_NAMES_RIG_H

#include "tests/unit/aggregator/rig.h"

#include "aggregator/tables/lookup.h"
#include "aggregator/tables/tables.h"

enum { PARTITION = 3 };

static char folder[64];
static struct db *db;
static struct db_txn *txn;
static struct dictionary *dictionary;
static struct lookup names;

/* Names beyond `limit` have no number.  -1: no directory. */
static int
names_rig_open(uint32_t limit)
{
	struct db_options options = { .map_bytes = 64 << 20 };
	struct err err = { 0 };

	strcpy(folder, "/tmp/poolscope-columns-XXXXXX");
	if (mkdtemp(folder) == NULL)
		return -1;
	rig_good(tables_open(&db, folder, &options, &err), &err);
	rig_good(db_begin(db, true, &txn, &err), &err);
	dictionary = dictionary_new(limit);
	names = (struct lookup){ .txn = NULL };
	lookup_use(&names, txn, PARTITION);
	return 0;
}

static int
names_rig_close(void **state)
{
	(void)state;
	lookup_clear(&names);
	db_abort(&txn);
	db_close(&db);
	dictionary_free(&dictionary);
	return nftw(folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS);
}

#endif

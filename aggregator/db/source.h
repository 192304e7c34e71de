/*
 * source - rows that are made when a reader asks for them, in place of those of
 * LMDB.
 *
 * A handle of a source is read as any other: db_begin, db_get, cursors.  So
 * whoever reads a store reads what has no store, too, with the same code.
 * Nothing is written through it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_SOURCE_H
#define AGGREGATOR_DB_SOURCE_H

#include "aggregator/db/db.h"

enum db_source_place {
	DB_SOURCE_AT,     /* the row of the key */
	DB_SOURCE_FROM,   /* the first row of the key or behind it */
	DB_SOURCE_AFTER,  /* the first row behind it */
	DB_SOURCE_BEFORE, /* the last row before it */
	DB_SOURCE_LAST,   /* of the table */
};

struct db_source {
	/* 1: `found` and `value` are views, valid until `end`; of records,
	 * until those of some other hours were asked for.  0: there is no such
	 * row; -1: it cannot be made, and the transaction has failed. */
	int (*row)(void *arg, unsigned table, enum db_source_place place,
	    struct text key, struct text *found, struct text *value,
	    struct err *err);
	/* A transaction has ended.  There is one at a time. */
	void (*end)(void *arg);
	void *arg;
};

/* `source` must outlive the handle. */
struct db *db_open_source(const struct db_source *source);

#endif

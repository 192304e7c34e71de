/*
 * absent - hours whose records only the archive has.
 *
 * A mirror of an archive (archive/mirror) notes in its table `meta` which hours
 * of records, and of rollups, it would have to read.  No other store has such
 * rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_ABSENT_H
#define AGGREGATOR_TABLES_ABSENT_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/record/record.h"

/* Which ones may a store lack?  Those that it notes here (of a mirror), or
 * those that retention has deleted (of an aggregator with an archive). */
enum absent_hours { ABSENT_NONE, ABSENT_NOTED, ABSENT_DELETED };

/* Kinds beyond those of records: this + enum rollup_step. */
enum { ABSENT_ROLLUP = RECORD_KINDS };

struct absent_hour {
	uint32_t partition;
	uint8_t kind; /* enum record_kind, or ABSENT_ROLLUP + step */
	int32_t hour;
};

/* What a question needs: the hour, and it will need those up to `end`. */
struct absent_need {
	struct absent_hour first;
	int32_t end;     /* exclusive */
	uint32_t node;   /* records of this one; 0: of all nodes */
	bool rollups_do; /* nothing, if rollups have all samples of the hour */
};

enum absent_state {
	ABSENT_NOT, /* the hour is here, or nowhere */
	ABSENT_ALL,
	ABSENT_ROLLED_UP, /* samples, and rollups have all of them */
};

void absent_put(struct db_txn *txn, const struct absent_hour *hour,
    enum absent_state state);
enum absent_state absent_get(
    struct db_txn *txn, const struct absent_hour *hour);
/* The first absent hour of the same partition and kind, at or after
 * `from->hour`; INT32_MAX: there is none.  `cursor` is one of TABLES_META. */
int32_t absent_next(struct db_cursor *cursor, const struct absent_hour *from);

/* Of an hour that is absent, the records of this node are here. */
void absent_put_node(
    struct db_txn *txn, const struct absent_hour *hour, uint32_t node);
bool absent_has_node(
    struct db_txn *txn, const struct absent_hour *hour, uint32_t node);
/* No node of it is here any more. */
void absent_forget_nodes(struct db_txn *txn, const struct absent_hour *hour);

#endif

/*
 * absent - hours whose records only the archive has.
 *
 * A mirror of an archive (archive/mirror) notes in its table `meta` which hours
 * of records it would have to read.  No other store has such rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_ABSENT_H
#define AGGREGATOR_TABLES_ABSENT_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"

/* Which ones may a store lack?  Those that it notes here (of a mirror), or
 * those that retention has deleted (of an aggregator with an archive). */
enum absent_hours { ABSENT_NONE, ABSENT_NOTED, ABSENT_DELETED };

struct absent_hour {
	uint32_t partition;
	uint8_t kind; /* enum record_kind */
	int32_t hour;
};

void absent_put(struct db_txn *txn, const struct absent_hour *hour);
void absent_delete(struct db_txn *txn, const struct absent_hour *hour);
bool absent_has(struct db_txn *txn, const struct absent_hour *hour);
/* The first absent hour of the same partition and kind, at or after
 * `from->hour`; INT32_MAX: there is none.  `cursor` is one of TABLES_META. */
int32_t absent_next(struct db_cursor *cursor, const struct absent_hour *from);

#endif

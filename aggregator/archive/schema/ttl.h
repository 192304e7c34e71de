/*
 * ttl - the TTL of a table: what the servers delete by themselves.
 *
 * `create --ttl` makes one, and so does a site by SQL (ALTER TABLE ... MODIFY
 * TTL).  The engine's own words in system.tables are the only source.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_SCHEMA_TTL_H
#define AGGREGATOR_ARCHIVE_SCHEMA_TTL_H

#include "proto/base/buffer.h"
#include "proto/base/text.h"

enum ttl {
	TTL_NONE,    /* it deletes nothing: no TTL, or it moves rows */
	TTL_BY_TIME, /* it deletes rows by their `hour` or `ts` alone */
	TTL_OTHER,   /* by other columns, or under a condition */
};

/* What the TTL of a table does, of which `engine` is `engine_full`.  By time:
 * append to `deleted` (NULL: do not) a condition in SQL, which is true for
 * `hour` and `ts` of rows that it deletes by now, or in an hour: no two clocks
 * are the same. */
enum ttl ttl_read(struct text engine, struct buffer *deleted);

#endif

/*
 * state_key - keys of the store's tables in the archive: without the number of
 * the partition, which differs from store to store.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ROWS_STATE_KEY_H
#define AGGREGATOR_ARCHIVE_ROWS_STATE_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/base/text.h"

/* A key of a table, taken apart. */
struct state_key {
	bool is_common;     /* a fact about all partitions of the store */
	uint32_t partition; /* 0: the list of partitions itself */
	uint32_t bytes;     /* the rest */
	unsigned char rest[DB_KEY_BYTES_MAX];
};

/* False: the key is malformed. */
bool state_key_split(struct state_key *to, unsigned table, struct text key);
/* The key in a store where the partition has `from->partition`; a view of
 * `room`.  Empty: the rest is malformed. */
struct text state_key_join(unsigned char room[static DB_KEY_BYTES_MAX],
    unsigned table, const struct state_key *from);

#endif

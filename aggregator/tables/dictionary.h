/*
 * dictionary - texts as numbers: nodes, events, tracks, sets, keys, streams.
 *
 * Numbers are given from 1 on in each partition, in order of appearance, and
 * never change; partition 0 holds the partitions.  A partition may have
 * NAMES_MAX names, of them a quarter from one sender, so that nobody fills the
 * store with new ones and none takes the room of all: what comes beyond has
 * number 0, and whoever needs one uses NAMES_OTHER.  Partitions are fewer.
 * Streams (sessions) do not count, since the intake bounds them.
 *
 * Writing goes through a cache of fixed size (dictionary_cache.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_DICTIONARY_H
#define AGGREGATOR_TABLES_DICTIONARY_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "proto/record/record.h"

enum {
	NAMES_MAX = 1000000,
	NAMES_SENDER_SHARE = 4, /* one in so many */
	NAMES_PARTITIONS_MAX = 10000,
	NAMES_STREAM_BYTES = 17,
};

#define NAMES_OTHER "_other"

struct names; /* opaque: the cache of the one writer */

/* `limit`: NAMES_MAX, tests use less. */
struct names *names_new(uint32_t limit);
void names_free(struct names **names);
/* The transaction that new names went into was aborted: forget them. */
void names_forget(struct names *names);
/* New names of this partition are those of this node from now on (a view, used
 * until the next call); partition 0: of nobody. */
void names_sender(struct names *names, uint32_t partition, struct text node);
/* How many lookups met the limit. */
uint64_t names_over(const struct names *names);

/* The number of `text`, a new one when it has none; 0 beyond the limit. */
uint32_t names_number(struct names *names, struct db_txn *txn,
    uint32_t partition, struct text text);
/* The same, but NAMES_OTHER's beyond the limit: for keys. */
uint32_t names_number_or_other(struct names *names, struct db_txn *txn,
    uint32_t partition, struct text text);
/* The same, without limit: for names that we bound elsewhere. */
uint32_t names_number_always(struct names *names, struct db_txn *txn,
    uint32_t partition, struct text text);
/* The same of a node; `*fresh` when it is seen for the first time. */
uint32_t names_node(struct names *names, struct db_txn *txn, uint32_t partition,
    struct text node, bool *fresh);
uint32_t names_stream(struct names *names, struct db_txn *txn,
    uint32_t partition, const struct session_id *session);

/* ---- for who moves a partition: past the cache of the one writer ---- */

/* A number that nobody has had, for a partition that has no name yet. */
uint32_t names_reserve(struct db_txn *txn);
/* Name it, and take its name away. */
void names_announce(struct db_txn *txn, uint32_t partition, struct text text);
void names_retire(struct db_txn *txn, uint32_t partition, struct text text);

/* ---- reading: any transaction ---- */

/* 0: there is none. */
uint32_t names_find(struct db_txn *txn, uint32_t partition, struct text text);
/* View, valid as db_get's; false when there is none. */
bool names_text(
    struct db_txn *txn, uint32_t partition, uint32_t number, struct text *text);
/* A stream's text as its session. */
bool names_session(struct text text, struct session_id *session);
/* How many numbers were given. */
uint32_t names_last(struct db_txn *txn, uint32_t partition);

#endif

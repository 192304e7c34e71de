/*
 * dictionary - texts as numbers: nodes, events, tracks, sets, keys, streams.
 *
 * Numbers are given from 1 on in each partition, in order of appearance, and
 * never change; partition 0 holds the partitions.  A partition may have
 * DICTIONARY_MAX names, of them a quarter from one sender, so that nobody fills
 * the store with new ones and none takes the room of all: what comes beyond has
 * number 0, and whoever needs one uses DICTIONARY_OTHER.  Partitions are fewer.
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
	DICTIONARY_MAX = 1000000,
	DICTIONARY_SENDER_SHARE = 4, /* one in so many */
	DICTIONARY_PARTITIONS_MAX = 10000,
	DICTIONARY_STREAM_BYTES = 17,
};

#define DICTIONARY_OTHER "_other"

struct dictionary; /* opaque: the cache of the one writer */

/* `limit`: DICTIONARY_MAX, tests use less. */
struct dictionary *dictionary_new(uint32_t limit);
void dictionary_free(struct dictionary **dictionary);
/* The transaction that new names went into was aborted: forget them. */
void dictionary_forget(struct dictionary *dictionary);
/* New names of this partition are those of this node from now on (a view, used
 * until the next call); partition 0: of nobody. */
void dictionary_sender(
    struct dictionary *dictionary, uint32_t partition, struct text node);
/* How many lookups met the limit. */
uint64_t dictionary_over(const struct dictionary *dictionary);

/* The number of `text`, a new one when it has none; 0 beyond the limit. */
uint32_t dictionary_number(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text text);
/* The same, but DICTIONARY_OTHER's beyond the limit: for keys. */
uint32_t dictionary_number_or_other(struct dictionary *dictionary,
    struct db_txn *txn, uint32_t partition, struct text text);
/* The same, without limit: for names that we bound elsewhere. */
uint32_t dictionary_number_always(struct dictionary *dictionary,
    struct db_txn *txn, uint32_t partition, struct text text);
/* The same of a node; `*fresh` when it is seen for the first time. */
uint32_t dictionary_node(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text node, bool *fresh);
uint32_t dictionary_stream(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, const struct session_id *session);

/* ---- for who moves a partition: past the cache of the one writer ---- */

/* A number that nobody has had, for a partition that has no name yet. */
uint32_t dictionary_reserve(struct db_txn *txn);
/* Name it, and take its name away. */
void dictionary_announce(
    struct db_txn *txn, uint32_t partition, struct text text);
void dictionary_retire(
    struct db_txn *txn, uint32_t partition, struct text text);

/* ---- reading: any transaction ---- */

/* 0: there is none. */
uint32_t dictionary_find(
    struct db_txn *txn, uint32_t partition, struct text text);
/* View, valid as db_get's; false when there is none. */
bool dictionary_text(
    struct db_txn *txn, uint32_t partition, uint32_t number, struct text *text);
/* A stream's text as its session. */
bool dictionary_session(struct text text, struct session_id *session);
/* How many numbers were given. */
uint32_t dictionary_last(struct db_txn *txn, uint32_t partition);

#endif

/*
 * dictionary - names as numbers: nodes, events, tracks, metric groups,
 * attribute keys, sessions.
 *
 * Each partition numbers its names from 1 in order of appearance; a number
 * never changes.  Partition 0 has the names of the partitions.  A partition may
 * have DICTIONARY_MAX names, and a sender may add at most a quarter of them, so
 * that no sender can fill the store with new names or use up those of the
 * others. Names beyond the limit have the number 0; a caller that needs a
 * number uses that of DICTIONARY_OTHER.  There may be fewer partitions than
 * names.  Sessions (in the tables: streams) do not count, because the receiver
 * limits them.
 *
 * The writer has a cache of fixed size (dictionary_cache.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_DICTIONARY_H
#define AGGREGATOR_TABLES_DICTIONARY_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/packed/packed.h"
#include "proto/record/record.h"

enum {
	DICTIONARY_MAX = 1000000,
	DICTIONARY_SENDER_SHARE = 4, /* a sender may add 1/4 of the names */
	DICTIONARY_PARTITIONS_MAX = 10000,
	DICTIONARY_STREAM_BYTES = 17,
};

#define DICTIONARY_OTHER "_other"

struct dictionary; /* opaque: the cache of the only writer */

/* `limit`: DICTIONARY_MAX; tests use less. */
struct dictionary *dictionary_new(uint32_t limit);
void dictionary_free(struct dictionary **dictionary);
/* Forget the names that were added in a transaction that was aborted. */
void dictionary_forget(struct dictionary *dictionary);
/* New names of this partition count for this node (a view) until the next call.
 * Partition 0: they count for nobody. */
void dictionary_set_sender(
    struct dictionary *dictionary, uint32_t partition, struct text node);
/* The number of lookups that failed because of the limit. */
uint64_t dictionary_over_limit(const struct dictionary *dictionary);

/* Returns the number of `text`; adds it if it has none; 0 beyond the limit. */
uint32_t dictionary_number(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text text);
/* As dictionary_number, but returns the number of DICTIONARY_OTHER beyond the
 * limit: for keys of rows. */
uint32_t dictionary_number_or_other(struct dictionary *dictionary,
    struct db_txn *txn, uint32_t partition, struct text text);
/* Without a limit, for names that are limited elsewhere. */
uint32_t dictionary_number_always(struct dictionary *dictionary,
    struct db_txn *txn, uint32_t partition, struct text text);
/* The same for the id of a test run. */
uint32_t dictionary_run(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text text);
/* Does a row of the table of names belong to the id of a run, and of which
 * number? */
bool dictionary_is_run(struct text key, struct text value, uint32_t *number);
/* For a node; `*fresh`: it is new, and counts.  `is_host`: it imports, which
 * makes no node of the pool: it does not count until it comes otherwise. */
uint32_t dictionary_node(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text node, bool is_host, bool *fresh);
uint32_t dictionary_stream(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, const struct session_id *session);
/* The same for a session that a sender names, whose number nobody else limits:
 * 0 beyond the limit. */
uint32_t dictionary_named_stream(struct dictionary *dictionary,
    struct db_txn *txn, uint32_t partition, const struct session_id *session);

/* Put a name that another store has under this number, without the writer's
 * cache. */
void dictionary_put(struct db_txn *txn, uint32_t partition, uint32_t number,
    struct text text, bool is_run);

/* Remove the name of a partition, without the writer's cache. */
void dictionary_remove_partition(
    struct db_txn *txn, uint32_t partition, struct text text);

/* ---- reading, in any transaction ---- */

/* Returns 0 when the name has no number. */
uint32_t dictionary_find(
    struct db_txn *txn, uint32_t partition, struct text text);
/* A view, valid as that of packed_keep; false when the number has no name. */
bool dictionary_text(
    struct db_txn *txn, uint32_t partition, uint32_t number, struct text *text);
/* The id of a run; the view is valid as that of packed_get. */
bool dictionary_run_text(struct packed *packed, struct db_txn *txn,
    uint32_t partition, uint32_t number, struct text *text);
/* Has the session a number in the partition? */
bool dictionary_has_stream(
    struct db_txn *txn, uint32_t partition, const struct session_id *session);
/* Count a number that a stored row refers to and that has no name.  A row whose
 * key was damaged is not noticed any more where it should be, once another row
 * was written next to it. */
void dictionary_note_lost(
    struct db_txn *txn, uint32_t partition, uint32_t number);
/* Convert the text of a stream to its session id. */
bool dictionary_session(struct text text, struct session_id *session);
/* The next number of a node, from `*number` on; false: there is none. */
bool dictionary_next_node(
    struct db_txn *txn, uint32_t partition, uint32_t *number);
/* The highest number given. */
uint32_t dictionary_last(struct db_txn *txn, uint32_t partition);

#endif

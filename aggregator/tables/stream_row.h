/*
 * stream_row - how far each stream is indexed: rows of TABLES_STREAMS.
 *
 * The journal knows how far a stream was received, but it does not survive the
 * loss of its host.  A store that has an archive keeps here, in the transaction
 * that indexes an entry, what a store restored at this position accepts next.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_STREAM_ROW_H
#define AGGREGATOR_TABLES_STREAM_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/journal/journal.h"
#include "proto/base/varint.h"

enum {
	STREAM_ROW_KEY_BYTES = 20, /* partition u32, session */
	STREAM_ROW_BYTES_MAX = 6 * VARINT_BYTES + NAME_BYTES_MAX,
};

struct stream_row {
	uint64_t last_seq;  /* all numbers up to this one are indexed */
	int64_t receive_ns; /* of its last entry */
	bool derived;       /* its session is derived from the content */
	uint64_t owner;     /* as in struct journal_stream, with its node */
	struct text node;
	uint64_t hash; /* running hash after it; 0: not known */
};

/* Note the entry, if the store has an archive. */
void stream_row_advance(
    struct db_txn *txn, uint32_t partition, const struct journal_entry *entry);

/* Raise a stream to the number of `row`, with its node and time. */
void stream_row_raise(struct db_txn *txn, uint32_t partition,
    const struct session_id *session, const struct stream_row *row);

/* The node is not longer than a name. */
struct text stream_row_encode(unsigned char to[static STREAM_ROW_BYTES_MAX],
    const struct stream_row *row);
/* `row->node` is a view into `value`; false: malformed. */
bool stream_row_decode(struct text value, struct stream_row *row);
bool stream_row_get_key(
    struct text key, uint32_t *partition, struct session_id *session);

#endif

/*
 * stream_row - how far each stream is indexed.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/stream_row.h"

#include <string.h>

#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"

bool
stream_row_decode(struct text value, struct stream_row *row)
{
	struct varint_reader u = varint_reader_of(value);

	row->last_seq = varint_get(&u);
	row->derived = varint_get_max(&u, 1) != 0;
	row->receive_ns = varint_unzigzag(varint_get(&u));
	row->node = varint_get_text(&u);
	row->hash = varint_get(&u);
	row->owner = varint_get(&u);
	return !u.bad && u.at == u.end && row->last_seq > 0 &&
	       row->node.bytes <= NAME_BYTES_MAX;
}

bool
stream_row_get_key(
    struct text key, uint32_t *partition, struct session_id *session)
{
	if (key.bytes != STREAM_ROW_KEY_BYTES)
		return false;
	*partition = varint_get_u32_be(key.at);
	memcpy(session->bytes, key.at + 4, sizeof(session->bytes));
	return true;
}

struct text
stream_row_encode(
    unsigned char to[static STREAM_ROW_BYTES_MAX], const struct stream_row *row)
{
	unsigned char *at = varint_encode(to, row->last_seq);

	at = varint_encode(at, row->derived);
	at = varint_encode(at, varint_zigzag(row->receive_ns));
	at = varint_encode(at, row->node.bytes);
	if (row->node.bytes > 0)
		memcpy(at, row->node.at, row->node.bytes);
	at = varint_encode(at + row->node.bytes, row->hash);
	at = varint_encode(at, row->owner);
	return (struct text){ (const char *)to, (uint32_t)(at - to) };
}

void
stream_row_raise(struct db_txn *txn, uint32_t partition,
    const struct session_id *session, const struct stream_row *row)
{
	unsigned char key[STREAM_ROW_KEY_BYTES];
	unsigned char bytes[STREAM_ROW_BYTES_MAX];
	const struct text name = { (const char *)key, sizeof(key) };
	struct stream_row old;
	struct text value;

	if (row->node.bytes > NAME_BYTES_MAX || row->last_seq == 0)
		return;
	varint_put_u32_be(key, partition);
	memcpy(key + 4, session->bytes, sizeof(session->bytes));
	/* Who restores must never accept a number twice. */
	if (db_get(txn, TABLES_STREAMS, name, &value) &&
	    stream_row_decode(value, &old) && old.last_seq >= row->last_seq)
		return;
	db_put(txn, TABLES_STREAMS, name, stream_row_encode(bytes, row));
}

/* As the receiver computes it: proto/delivery.md, "Terms". */
static uint64_t
hash_after(const struct journal_entry *entry)
{
	const struct wire_header *header = &entry->header;

	if (header->type == WIRE_GAP)
		return header->chain_after;
	if (header->chain == 0 && header->seq != 1)
		return 0;
	return hash_chain(header->chain,
	    crc32c(0, entry->body.at, entry->body.bytes), entry->body.bytes,
	    header->records);
}

void
stream_row_advance(
    struct db_txn *txn, uint32_t partition, const struct journal_entry *entry)
{
	const struct wire_header *header = &entry->header;
	struct stream_row row = { .last_seq = header->type == WIRE_GAP
						  ? header->last_seq
						  : header->seq,
		.receive_ns = entry->receive_ns,
		.derived = (header->flags & WIRE_FLAG_DERIVED) != 0,
		.owner = entry->owner,
		.node = header->node };

	if (tables_fact(txn, FACT_ARCHIVE) == 0)
		return;
	row.hash = hash_after(entry);
	stream_row_raise(txn, partition, &header->session, &row);
}

/*
 * rejected_batch - records of batches that cannot be indexed.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/rejected_batch.h"

#include <sodium.h>

#include "aggregator/tables/row_block.h"

struct record
rejected_batch_encode(const struct journal_entry *entry, const char *reason,
    uint64_t left, char hash[static REJECTED_BATCH_HASH_BYTES + 1])
{
	struct record record =
	    journal_entry_record(entry, RECORD_REJECTED, reason);
	struct text body = entry->body;
	unsigned char sum[crypto_hash_sha256_BYTES];

	_Static_assert(
	    2 * sizeof(sum) == REJECTED_BATCH_HASH_BYTES, "of SHA-256");
	crypto_hash_sha256(sum, (const unsigned char *)body.at, body.bytes);
	sodium_bin2hex(hash, REJECTED_BATCH_HASH_BYTES + 1, sum, sizeof(sum));
	record.key = (struct text){ hash, REJECTED_BATCH_HASH_BYTES };
	record.count = body.bytes;
	if (body.bytes > REJECTED_BATCH_BYTES_MAX)
		body.bytes = REJECTED_BATCH_BYTES_MAX;
	if (body.bytes <= left)
		record.value_bytes = body;
	return record;
}

static uint64_t
bytes_of(const struct row_block_item *item)
{
	struct row_block_body body;

	return row_block_get_body(
		   item->body, RECORD_REJECTED, item->time_ns, &body)
		   ? body.value_bytes.bytes
		   : 0;
}

uint64_t
rejected_batch_bytes_of_row(struct text value)
{
	struct row_block_reader rows;
	struct row_block_item item;
	uint64_t bytes = 0;

	if (!row_block_open(&rows, value, 0))
		return 0;
	while (row_block_next(&rows, &item))
		bytes += bytes_of(&item);
	return bytes;
}

uint64_t
rejected_batch_bytes_of_chunk(
    struct compacted_row_rows *room, struct text value)
{
	struct row_block_item item;
	uint64_t bytes = 0;

	if (!compacted_row_open(room, value) ||
	    !compacted_row_read_bodies(room))
		return 0;
	for (uint32_t i = 0; i < room->count; i++) {
		compacted_row_get(room, i, &item);
		bytes += bytes_of(&item);
	}
	return bytes;
}

/*
 * dead_letter_encode - dead letters.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/fold/dead_letter.h"

#include <sodium.h>

#include "aggregator/tables/head.h"

struct record
dead_letter_encode(const struct journal_entry *entry, const char *reason,
    uint64_t left, char hash[static DEAD_LETTER_HASH_BYTES + 1])
{
	struct record record = journal_about(entry, RECORD_DEAD, reason);
	struct text body = entry->body;
	unsigned char sum[crypto_hash_sha256_BYTES];

	_Static_assert(2 * sizeof(sum) == DEAD_LETTER_HASH_BYTES, "of SHA-256");
	crypto_hash_sha256(sum, (const unsigned char *)body.at, body.bytes);
	sodium_bin2hex(hash, DEAD_LETTER_HASH_BYTES + 1, sum, sizeof(sum));
	record.key = (struct text){ hash, DEAD_LETTER_HASH_BYTES };
	record.count = body.bytes;
	if (body.bytes > DEAD_LETTER_BYTES_MAX)
		body.bytes = DEAD_LETTER_BYTES_MAX;
	if (body.bytes <= left)
		record.value_bytes = body;
	return record;
}

static uint64_t
bytes_of(const struct head_item *item)
{
	struct head_body body;

	return head_get_body(item->body, RECORD_DEAD, item->time_ns, &body)
		   ? body.value_bytes.bytes
		   : 0;
}

uint64_t
dead_letter_bytes_of_row(struct text value)
{
	struct head_rows rows;
	struct head_item item;
	uint64_t bytes = 0;

	if (!head_open(&rows, value, 0))
		return 0;
	while (head_next(&rows, &item))
		bytes += bytes_of(&item);
	return bytes;
}

uint64_t
dead_letter_bytes_of_chunk(struct sealed_row_rows *room, struct text value)
{
	struct head_item item;
	uint64_t bytes = 0;

	if (!sealed_row_open(room, value) || !sealed_row_read_bodies(room))
		return 0;
	for (uint32_t i = 0; i < room->count; i++) {
		sealed_row_get(room, i, &item);
		bytes += bytes_of(&item);
	}
	return bytes;
}

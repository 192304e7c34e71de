/*
 * dead_letter - dead letters.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/fold/dead_letter.h"

#include <sodium.h>

#include "aggregator/tables/head.h"

struct record
dead_letter(const struct journal_entry *entry, const char *reason,
    uint64_t left, char hash[static DEAD_HASH_BYTES + 1])
{
	struct record record = journal_about(entry, RECORD_DEAD, reason);
	struct text body = entry->body;
	unsigned char sum[crypto_hash_sha256_BYTES];

	_Static_assert(2 * sizeof(sum) == DEAD_HASH_BYTES, "of SHA-256");
	crypto_hash_sha256(sum, (const unsigned char *)body.at, body.bytes);
	sodium_bin2hex(hash, DEAD_HASH_BYTES + 1, sum, sizeof(sum));
	record.key = (struct text){ hash, DEAD_HASH_BYTES };
	record.count = body.bytes;
	if (body.bytes > DEAD_BYTES_MAX)
		body.bytes = DEAD_BYTES_MAX;
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
dead_bytes_of_row(struct text value)
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
dead_bytes_of_chunk(struct seal_rows *room, struct text value)
{
	struct head_item item;
	uint64_t bytes = 0;

	if (!seal_open(room, value) || !seal_read_bodies(room))
		return 0;
	for (uint32_t i = 0; i < room->count; i++) {
		seal_get(room, i, &item);
		bytes += bytes_of(&item);
	}
	return bytes;
}

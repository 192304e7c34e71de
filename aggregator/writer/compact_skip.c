/*
 * compact_skip - hours whose compaction crashes the program.
 *
 * Readers do not need them compacted, so they stay uncompacted until another
 * version of the program tries.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include <string.h>

#include "proto/base/version.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

/* A key of table meta: this word and the first bytes of a row key, up to the
 * hour. The value is the version of the program. */
#define WORD "uncompacted:"
enum { WORD_BYTES = sizeof(WORD) - 1, ROW_BYTES = WORD_BYTES + KEY_HOUR_BYTES };

/* An hour packed into the number that the quarantine stores.  Record times are
 * closer to 1970 than its limits. */
enum { BUCKET_BITS = 22, KIND_BITS = 4 };
#define BUCKET_ZERO (1 << (BUCKET_BITS - 1))

static uint64_t
number_of(const struct key_row_block *hour)
{
	uint32_t bucket = (uint32_t)hour->hour + BUCKET_ZERO;

	return (uint64_t)hour->partition << (BUCKET_BITS + KIND_BITS) |
	       (uint64_t)hour->kind << BUCKET_BITS |
	       (bucket & ((1u << BUCKET_BITS) - 1));
}

static struct key_row_block
hour_of(uint64_t number)
{
	return (struct key_row_block){
		.partition = (uint32_t)(number >> (BUCKET_BITS + KIND_BITS)),
		.kind = number >> BUCKET_BITS & ((1u << KIND_BITS) - 1),
		.hour =
		    (int32_t)(number & ((1u << BUCKET_BITS) - 1)) - BUCKET_ZERO,
		.first_ns = INT64_MIN,
	};
}

static struct text
row_key(
    unsigned char to[static DB_KEY_BYTES_MAX], const struct key_row_block *hour)
{
	unsigned char row_key[KEY_ROW_BLOCK_BYTES];

	key_put_row_block(row_key, hour);
	return db_word_key(
	    to, WORD, (struct text){ (const char *)row_key, KEY_HOUR_BYTES });
}

static void
skip_hour(struct db_txn *txn, const struct key_row_block *hour)
{
	unsigned char bytes[DB_KEY_BYTES_MAX];
	char when[CLOCK_TEXT_BYTES];
	struct text partition = { "?", 1 };

	db_put(txn, TABLES_META, row_key(bytes, hour), text_of(VERSION));
	dictionary_text(txn, 0, hour->partition, &partition);
	log_error("indexer: compacting the hour from %s (%s of %.*s) crashed "
		  "the aggregator %d times; it stays uncompacted until another "
		  "version tries",
	    clock_text(when, hour->hour * KEY_HOUR_NS, 0),
	    hour->kind < RECORD_KINDS
		? record_kind_name((enum record_kind)hour->kind)
		: "?",
	    (int)partition.bytes, partition.at, QUARANTINE_CRASHES);
}

/* Forget the hours that this version may compact.  Returns how many are
 * left. */
static uint64_t
forget_other_versions(struct db_txn *txn)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_META);
	struct text word = text_of(WORD), key, value;
	uint64_t count = 0;

	for (bool more = db_seek(cursor, word, &key, &value);
	     more && key.bytes >= WORD_BYTES &&
	     memcmp(key.at, WORD, WORD_BYTES) == 0;
	     more = db_next(cursor, &key, &value)) {
		if (key.bytes == ROW_BYTES &&
		    text_equal(value, text_of(VERSION)))
			count++;
		else
			db_cursor_del(cursor);
	}
	db_cursor_close(&cursor);
	return count;
}

uint64_t
compact_skip_open(struct writer *writer, struct db_txn *txn)
{
	const struct quarantine *quarantine = &writer->compact_quarantine;

	if (quarantine_gives_up(quarantine, quarantine->first)) {
		struct key_row_block hour = hour_of(quarantine->first);

		skip_hour(txn, &hour);
	}
	return forget_other_versions(txn);
}

bool
compact_skips(struct db_txn *txn, const struct key_row_block *hour)
{
	unsigned char bytes[DB_KEY_BYTES_MAX];
	struct text value;

	return db_get(txn, TABLES_META, row_key(bytes, hour), &value);
}

void
compact_enter(struct writer *writer)
{
	uint64_t number = number_of(&writer->compact.job.hour);

	quarantine_enter(&writer->compact_quarantine, number, number);
}

void
compact_leave(struct writer *writer, bool done)
{
	uint64_t number = number_of(&writer->compact.job.hour);

	done = done && quarantine_suspects(&writer->compact_quarantine, number);
	quarantine_leave(&writer->compact_quarantine, done ? number : 0);
}

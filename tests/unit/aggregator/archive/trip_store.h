/*
 * trip_store - all records of a store through the columns of the archive, and
 * back into the store.
 *
 * Row blocks and compacted rows are read as a reader does, and replaced by row
 * blocks with what came back: whoever asks the store next must notice nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_ARCHIVE_TRIP_STORE_H
#define TESTS_UNIT_AGGREGATOR_ARCHIVE_TRIP_STORE_H

#include "tests/unit/aggregator/archive/trip.h"

#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/tables.h"

enum { TRIP_HOURS_MAX = 4096 };

struct trip_store {
	struct db_txn *txn;
	struct lookup names;
	struct compacted_cursor_cache cache;
	struct merge merge;
	struct hour_cursor cursor;
	struct key_row_block hour[TRIP_HOURS_MAX];
	unsigned hours;
	uint32_t row;       /* the last row number */
	struct buffer rows; /* new ones: key, u32 length, value */
	uint64_t records;
	uint64_t sent, got; /* sums of the hashes of identities */
};

static inline uint32_t
trip_store_number(void *context, struct text name)
{
	struct trip_store *store = context;

	return dictionary_find(store->txn, store->names.partition, name);
}

/* Every hour of a kind that a table has rows of, once. */
static inline void
trip_store_find(struct trip_store *store, unsigned table)
{
	struct db_cursor *cursor = db_cursor_open(store->txn, table);
	struct key_row_block found;
	struct text key, value;
	bool more = db_seek(cursor, (struct text){ NULL, 0 }, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		unsigned i = 0;

		assert_true(key_get_row_block(key, &found));
		while (i < store->hours &&
		       (store->hour[i].partition != found.partition ||
			   store->hour[i].kind != found.kind ||
			   store->hour[i].hour != found.hour))
			i++;
		if (i < store->hours)
			continue;
		assert_true(store->hours < TRIP_HOURS_MAX);
		store->hour[store->hours++] = (struct key_row_block){
			.partition = found.partition,
			.kind = found.kind,
			.hour = found.hour,
		};
	}
	db_cursor_close(&cursor);
}

static inline void
trip_store_put(struct trip_store *store, struct key_row_block key,
    struct row_block_builder *row)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text value = row_block_finish(row);

	if (row->records == 0)
		return;
	key.first_ns = row->first_ns;
	key.row = ++store->row;
	key_put_row_block(bytes, &key);
	buffer_put(&store->rows, bytes, sizeof(bytes));
	buffer_put(&store->rows, &value.bytes, sizeof(value.bytes));
	buffer_put_text(&store->rows, value);
	row_block_begin(row);
}

/* What came back of a series block, as row blocks. */
static inline uint32_t
trip_store_session(struct trip_store *store, struct text session)
{
	char text[DICTIONARY_STREAM_BYTES] = { 1 };

	assert_int_equal(session.bytes, sizeof(text) - 1);
	memcpy(text + 1, session.at, session.bytes);
	return trip_store_number(store, (struct text){ text, sizeof(text) });
}

static inline void
trip_store_take(struct trip_store *store, struct trip *trip,
    const struct key_row_block *key)
{
	const struct archive_numbers numbers = { trip_store_number, store };
	struct row_block_builder row = { .records = 0 };
	struct archive_row from;

	trip_send(trip);
	row_block_begin(&row);
	while (trip_next(trip, &from)) {
		struct archive_row_id id = { from.part, from.hour,
			trip_store_number(store, from.node),
			trip_store_number(store, from.track), from.pos };
		struct row_block_item item;
		uint64_t hash;

		from.stream = trip_store_session(store, from.session);
		assert_true(archive_record(
		    &from, trip->kind, &numbers, &item, &trip->body));
		assert_true(archive_put_record(
		    trip->block, trip->kind, &id, &item, &store->names, &hash));
		store->got += hash;
		if (!row_block_add(&row, &item)) {
			trip_store_put(store, *key, &row);
			assert_true(row_block_add(&row, &item));
		}
		store->records++;
	}
	trip_store_put(store, *key, &row);
	native_reset(trip->block); /* which was for the hashes */
	buffer_clear(&row.bytes);
}

static inline void
trip_store_hour(struct trip_store *store, const struct key_row_block *hour)
{
	static struct trip trip;
	struct row_block_item item;
	struct key_row_block key;

	trip_open(&trip, (enum record_kind)hour->kind);
	lookup_use(&store->names, store->txn, hour->partition);
	hour_cursor_open(
	    &store->cursor, store->txn, &store->cache, hour, &hour_cursor_all);
	while (hour_cursor_series_block(&store->cursor, &key)) {
		struct archive_row_id id = { hour->partition, hour->hour,
			key.node, key.track, 1 };

		merge_reset(&store->merge);
		hour_cursor_collect(
		    &store->cursor, &key, &store->merge, INT64_MIN);
		merge_sort(&store->merge);
		while (merge_next(&store->merge, &item)) {
			uint64_t hash;

			assert_true(archive_put_record(trip.block, trip.kind,
			    &id, &item, &store->names, &hash));
			store->sent += hash;
		}
		key.slice = 0;
		if (native_rows(trip.block) > 0)
			trip_store_take(store, &trip, &key);
	}
	hour_cursor_close(&store->cursor);
	trip_close(&trip);
}

static inline void
trip_store_empty(struct db_txn *txn, unsigned table)
{
	struct db_cursor *cursor = db_cursor_open(txn, table);
	struct text key, value;
	bool more = db_seek(cursor, (struct text){ NULL, 0 }, &key, &value);

	for (; more; more = db_next(cursor, &key, &value))
		db_cursor_del(cursor);
	db_cursor_close(&cursor);
}

static inline void
trip_store_write(struct trip_store *store)
{
	const char *at = (const char *)store->rows.at;
	const char *end = at + store->rows.bytes;
	uint32_t bytes;

	trip_store_empty(store->txn, TABLES_ROW_BLOCKS);
	trip_store_empty(store->txn, TABLES_CHUNKS);
	while (at < end) {
		struct text key = { at, KEY_ROW_BLOCK_BYTES };

		memcpy(&bytes, at + KEY_ROW_BLOCK_BYTES, sizeof(bytes));
		at += KEY_ROW_BLOCK_BYTES + sizeof(bytes);
		db_put(store->txn, TABLES_ROW_BLOCKS, key,
		    (struct text){ at, bytes });
		at += bytes;
	}
	if (tables_fact(store->txn, FACT_ROW) < store->row)
		tables_put_fact(store->txn, FACT_ROW, store->row);
}

/* Returns the number of records. */
static inline uint64_t
trip_store(struct db *db)
{
	static struct trip_store store;
	struct err err = { 0 };

	memset(&store, 0, sizeof(store));
	if (db_begin(db, true, &store.txn, &err) != 0)
		fail_msg("%s", err.text);
	trip_store_find(&store, TABLES_ROW_BLOCKS);
	trip_store_find(&store, TABLES_CHUNKS);
	for (unsigned i = 0; i < store.hours; i++)
		trip_store_hour(&store, &store.hour[i]);
	assert_true(store.sent == store.got);
	hour_cursor_clear(&store.cursor);
	compacted_cursor_cache_clear(&store.cache);
	merge_clear(&store.merge);
	trip_store_write(&store);
	lookup_clear(&store.names);
	buffer_clear(&store.rows);
	if (db_commit(&store.txn, &err) != DB_OK)
		fail_msg("%s", err.text);
	return store.records;
}

#endif

/*
 * marks_all - mark what is in a store when it gets an archive.
 *
 * FACT_MARKING has the place that was reached: the table, and the key of the
 * next row.  What changes meanwhile is marked by whoever changes it, so rows
 * may come and go on both sides of the place.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/marks/marks.h"

#include <string.h>

/* The place; rows of a table that were written later may lie before it. */
struct place {
	unsigned table;
	uint32_t key_bytes;
	unsigned char key[DB_KEY_BYTES_MAX];
};

static struct text
key_of(const struct place *place)
{
	return (struct text){ (const char *)place->key, place->key_bytes };
}

static void
set_key(struct place *place, struct text key)
{
	place->key_bytes = key.bytes;
	memcpy(place->key, key.at, key.bytes);
}

static bool
read_place(struct db_txn *txn, struct place *place)
{
	struct text value;

	if (!db_need(txn, TABLES_META, text_of(FACT_MARKING), &value) ||
	    value.bytes == 0)
		return false;
	place->table = (unsigned char)value.at[0];
	set_key(place, (struct text){ value.at + 1, value.bytes - 1 });
	return true;
}

static void
put_place(struct db_txn *txn, const struct place *place)
{
	unsigned char bytes[1 + DB_KEY_BYTES_MAX];

	if (place->table == TABLES_COUNT) {
		db_del(txn, TABLES_META, text_of(FACT_MARKING));
		return;
	}
	bytes[0] = (unsigned char)place->table;
	memcpy(bytes + 1, place->key, place->key_bytes);
	db_put(txn, TABLES_META, text_of(FACT_MARKING),
	    (struct text){ (const char *)bytes, 1 + place->key_bytes });
}

void
marks_begin_again(struct db_txn *txn)
{
	const struct place first = { .table = 0 };

	put_place(txn, &first);
}

void
marks_begin(struct db_txn *txn, uint64_t entry)
{
	if (marks_are_kept(txn))
		return;
	tables_put_fact(txn, FACT_ARCHIVE, entry + 1);
	marks_begin_again(txn);
}

bool
marks_are_kept(struct db_txn *txn)
{
	return tables_fact(txn, FACT_ARCHIVE) != 0;
}

bool
marks_are_complete(struct db_txn *txn)
{
	struct place place;

	return marks_are_kept(txn) && !read_place(txn, &place) &&
	       tables_fact(txn, FACT_INDEXED) + 1 >=
		   tables_fact(txn, FACT_ARCHIVE);
}

/* Which part of the keys of a table is marked.  Chunks are marked only here:
 * the archive has no other way to their records. */
static uint32_t
bytes_of(unsigned table)
{
	return table == TABLES_CHUNKS ? MARKS_SLICE_BYTES
				      : tables_marked(table)->key_bytes;
}

static struct text
front_of(unsigned table)
{
	const char *front = tables_marked(table)->front;

	return front == NULL ? (struct text){ NULL, 0 } : text_of(front);
}

/* Set the key to the least one behind all that begin with it. */
static bool
pass(struct place *place)
{
	while (place->key_bytes > 0 &&
	       place->key[place->key_bytes - 1] == UINT8_MAX)
		place->key_bytes--;
	if (place->key_bytes == 0)
		return false;
	place->key[place->key_bytes - 1]++;
	return true;
}

/* Mark the row, or the slice, and go on behind it.  False: there is none. */
static bool
mark_next(struct db_txn *txn, struct db_cursor *cursor, struct place *place)
{
	uint32_t bytes = bytes_of(place->table);
	struct text front = front_of(place->table), key;

	/* Only the key: a row with a wrong checksum counts as one. */
	if (!db_seek_key(
		cursor, place->key_bytes > 0 ? key_of(place) : front, &key) ||
	    key.bytes < front.bytes ||
	    (front.bytes > 0 && memcmp(key.at, front.at, front.bytes) != 0))
		return false;
	set_key(place, key);
	if (bytes != DB_MARK_WHOLE && bytes < key.bytes) {
		place->key_bytes = bytes;
		db_mark(txn, place->table, key_of(place),
		    place->table == TABLES_ROW_BLOCKS ? 1 : 0);
		/* Also its rows of before the last commit to an archive that
		 * has lost a table. */
		if (place->table == TABLES_ROW_BLOCKS)
			db_mark(txn, TABLES_CHUNKS, key_of(place), 0);
		return pass(place);
	}
	db_mark(txn, place->table, key_of(place), 0);
	/* The least key behind this one. */
	if (place->key_bytes == DB_KEY_BYTES_MAX)
		return pass(place);
	place->key[place->key_bytes++] = 0;
	return true;
}

/* False: the table is done. */
static bool
mark_table(struct db_txn *txn, struct place *place, uint32_t *rows)
{
	struct db_cursor *cursor;
	bool more = true;

	if (bytes_of(place->table) == 0)
		return false;
	cursor = db_cursor_open(txn, place->table);
	for (; more && *rows > 0; --*rows)
		more = mark_next(txn, cursor, place);
	db_cursor_close(&cursor);
	return more;
}

enum db_result
marks_all_step(struct db *db, uint32_t rows, bool *more, struct err *err)
{
	struct place place = { .table = 0 };
	struct db_txn *txn;

	*more = false;
	if (db_begin(db, true, &txn, err) != 0)
		return DB_BROKEN;
	if (!read_place(txn, &place))
		return db_commit(&txn, err);
	while (rows > 0 && place.table < TABLES_COUNT)
		if (!mark_table(txn, &place, &rows)) {
			place.table++;
			place.key_bytes = 0;
		}
	*more = place.table < TABLES_COUNT;
	put_place(txn, &place);
	return db_commit(&txn, err);
}

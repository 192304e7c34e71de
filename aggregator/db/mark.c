/*
 * db_mark - notes which rows have changed, in the transaction that changes
 * them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/txn.h"

#include <assert.h>
#include <string.h>

#include "proto/base/varint.h"

/* A number of table meta.  A damaged one fails the transaction: a change number
 * that begins again would be taken for an old one. */
static uint64_t
number_of(struct db_txn *txn, const char *name)
{
	struct varint_reader u;
	struct text value;

	if (!db_need(txn, txn->db->marking->meta, text_of(name), &value))
		return 0;
	u = varint_reader_of(value);
	return varint_get(&u);
}

/* The change number of this transaction. */
static uint64_t
change_of(struct db_txn *txn)
{
	const struct db_marking *marking = txn->db->marking;
	unsigned char bytes[VARINT_BYTES];

	if (txn->change != 0)
		return txn->change;
	txn->change = number_of(txn, marking->counter) + 1;
	db_put(txn, marking->meta, text_of(marking->counter),
	    (struct text){ (const char *)bytes,
		(uint32_t)(varint_encode(bytes, txn->change) - bytes) });
	return txn->change;
}

static void
put_mark(struct db_txn *txn, struct text key, uint32_t first_row)
{
	unsigned marks = txn->db->marking->marks;
	unsigned char bytes[DB_MARK_BYTES];
	uint64_t change = change_of(txn);
	struct text old;

	if (db_get(txn, marks, key, &old) && old.bytes == DB_MARK_BYTES) {
		uint32_t first = varint_get_u32_be(old.at + 8);

		if (first < first_row)
			first_row = first;
		if (first == first_row && varint_get_u64_be(old.at) == change)
			return;
	} else if (txn->damaged && first_row > 0) {
		first_row = 1; /* the old one is not known */
	}
	varint_put_u64_be(bytes, change);
	varint_put_u32_be(bytes + 8, first_row);
	db_put(txn, marks, key,
	    (struct text){ (const char *)bytes, sizeof(bytes) });
}

void
db_mark(struct db_txn *txn, unsigned table, struct text key, uint32_t first_row)
{
	bool damaged = txn->damaged; /* of the caller's last db_get */
	unsigned char *bytes = txn->marked;
	uint32_t length = key.bytes + 1;

	assert(txn->db->marking != NULL && table <= UINT8_MAX);
	assert(length <= DB_KEY_BYTES_MAX);
	/* Rows of a slice follow one another. */
	if (txn->marked_bytes == length && bytes[0] == table &&
	    txn->marked_row <= first_row &&
	    memcmp(bytes + 1, key.at, key.bytes) == 0)
		return;
	bytes[0] = (unsigned char)table;
	memcpy(bytes + 1, key.at, key.bytes);
	txn->marked_bytes = length;
	txn->marked_row = first_row;
	put_mark(txn, (struct text){ (const char *)bytes, length }, first_row);
	txn->damaged = damaged;
}

void
db_pause_marks(struct db_txn *txn, bool paused)
{
	txn->is_unmarked = paused;
}

/* Are marks kept at all?  Asked once a transaction. */
static bool
is_on(struct db_txn *txn)
{
	bool damaged = txn->damaged;

	if (!txn->knows_marking) {
		txn->knows_marking = true;
		txn->is_marking = number_of(txn, txn->db->marking->is_on) != 0;
		txn->damaged = damaged;
	}
	return txn->is_marking;
}

static bool
has_front(struct text key, const char *front)
{
	size_t bytes;

	if (front == NULL)
		return true;
	bytes = strlen(front);
	return key.bytes >= bytes && memcmp(key.at, front, bytes) == 0;
}

void
db_txn_mark(
    struct db_txn *txn, unsigned table, struct text key, enum db_change change)
{
	const struct db_marking *marking = txn->db->marking;
	const struct db_marked *how;
	uint32_t row = 0;

	if (marking == NULL || txn->is_unmarked || txn->rc != 0)
		return;
	how = &marking->of[table];
	if (how->key_bytes == 0 ||
	    (change == CHANGE_DELETE && !how->deletions) ||
	    !has_front(key, how->front) || !is_on(txn))
		return;
	if (how->key_bytes != DB_MARK_WHOLE) {
		assert(key.bytes >= how->key_bytes + 4u);
		row = varint_get_u32_be(key.at + key.bytes - 4);
		key.bytes = how->key_bytes;
	}
	db_mark(txn, table, key, row);
}

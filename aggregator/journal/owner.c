/*
 * owner - the store to which a partition is assigned: rows of the journal's
 * meta table.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/journal/owner.h"

#include <endian.h>
#include <string.h>

#include "aggregator/journal/journal.h"

#define WORD "owner:"

enum {
	WORD_BYTES = sizeof(WORD) - 1,
	FIXED_BYTES = 8 + OWNER_MOVE_BYTES + 8 + 8,
};

const char *
owner_state_name(enum owner_state state)
{
	static const char *const words[OWNER_STATES] = { "", "own", "frozen",
		"coming", "gone" };

	return words[state];
}

static uint64_t
get64(const char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

static void
put64(unsigned char *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

static bool
decode(struct text value, struct owner *owner)
{
	const char *at = value.at;
	uint32_t bytes = value.bytes - FIXED_BYTES;

	if (value.bytes < FIXED_BYTES || bytes >= OWNER_STORE_BYTES ||
	    (unsigned char)at[0] == OWNER_NONE ||
	    (unsigned char)at[0] >= OWNER_STATES)
		return false;
	owner->state = (enum owner_state)at[0];
	owner->cleaned = at[1] != 0;
	memcpy(owner->move, at + 8, OWNER_MOVE_BYTES);
	owner->number = get64(at + 8 + OWNER_MOVE_BYTES);
	owner->since_ns = (int64_t)get64(at + 16 + OWNER_MOVE_BYTES);
	memcpy(owner->other_store, at + FIXED_BYTES, bytes);
	owner->other_store[bytes] = '\0';
	return true;
}

bool
owner_get(struct db_txn *txn, struct text partition, struct owner *owner)
{
	unsigned char key[DB_KEY_BYTES_MAX];
	struct text value;

	*owner = (struct owner){ .state = OWNER_NONE };
	if (!db_get(
		txn, JOURNAL_META, db_word_key(key, WORD, partition), &value))
		return !db_was_damaged(txn);
	return decode(value, owner);
}

void
owner_put(struct db_txn *txn, struct text partition, const struct owner *owner)
{
	unsigned char key[DB_KEY_BYTES_MAX];
	unsigned char value[FIXED_BYTES + OWNER_STORE_BYTES] = { 0 };
	uint32_t bytes = (uint32_t)strlen(owner->other_store);

	value[0] = (unsigned char)owner->state;
	value[1] = owner->cleaned;
	memcpy(value + 8, owner->move, OWNER_MOVE_BYTES);
	put64(value + 8 + OWNER_MOVE_BYTES, owner->number);
	put64(value + 16 + OWNER_MOVE_BYTES, (uint64_t)owner->since_ns);
	memcpy(value + FIXED_BYTES, owner->other_store, bytes);
	db_put(txn, JOURNAL_META, db_word_key(key, WORD, partition),
	    (struct text){ (const char *)value, FIXED_BYTES + bytes });
}

bool
owner_same_move(const struct owner *a, const struct owner *b)
{
	return memcmp(a->move, b->move, OWNER_MOVE_BYTES) == 0;
}

bool
owner_was_moved(const struct owner *owner)
{
	static const unsigned char none[OWNER_MOVE_BYTES];

	return owner->state == OWNER_OWN &&
	       memcmp(owner->move, none, OWNER_MOVE_BYTES) != 0;
}

void
owner_each(struct db_txn *txn,
    void (*on_owner)(
	void *arg, struct text partition, const struct owner *owner),
    void *arg)
{
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_META);
	struct text key, value, front = text_of(WORD);
	bool more = db_seek(cursor, front, &key, &value);
	struct owner owner;

	for (; more && key.bytes > WORD_BYTES &&
	       memcmp(key.at, WORD, WORD_BYTES) == 0;
	     more = db_next(cursor, &key, &value))
		if (decode(value, &owner))
			on_owner(arg,
			    (struct text){
				key.at + WORD_BYTES, key.bytes - WORD_BYTES },
			    &owner);
	db_cursor_close(&cursor);
}

/*
 * once - keep a record of an import once, however often it comes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/once.h"

#include "aggregator/tables/key.h"
#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"

#include <sodium.h>
#include <string.h>

enum { ONCE_VALUE_BYTES = 4 + 8 };

/* With its length, so that different lists of texts differ. */
static void
add_text(crypto_generichash_state *state, struct text text)
{
	unsigned char bytes[4];

	varint_put_u32_be(bytes, text.bytes);
	crypto_generichash_update(state, bytes, sizeof(bytes));
	if (text.bytes > 0)
		crypto_generichash_update(
		    state, (const unsigned char *)text.at, text.bytes);
}

static void
add_number(crypto_generichash_state *state, int64_t number)
{
	unsigned char bytes[8];

	varint_put_u64_be(bytes, (uint64_t)number);
	crypto_generichash_update(state, bytes, sizeof(bytes));
}

struct hash {
	unsigned char bytes[crypto_generichash_BYTES_MIN];
};

/* What the record is known by, without an identity. */
static struct hash
hash_content(const struct record *record)
{
	crypto_generichash_state state;
	struct hash hash;

	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	add_number(&state, record->kind);
	add_text(&state, record->key);
	if (record->kind != RECORD_EVENT || record->key.bytes == 0) {
		add_text(&state, record->node);
		add_number(&state, record->time_ns);
		add_number(&state, record->end_ns);
		add_text(&state, record->source);
		add_text(&state, record->name);
		add_text(&state, record->pairs);
		add_text(&state, record->value_bytes);
		add_number(&state, (int64_t)record->count);
	}
	crypto_generichash_final(&state, hash.bytes, sizeof(hash));
	return hash;
}

/* What the place of the record in the tables depends on. */
static struct hash
hash_place(const struct record *record)
{
	bool has_track =
	    record->kind == RECORD_SAMPLE || record->kind == RECORD_SPAN;
	const struct text none = { NULL, 0 };
	const struct text session = { (const char *)record->id.session.bytes,
		RECORD_ID_BYTES };
	crypto_generichash_state state;
	struct hash hash;

	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	add_number(&state, record->kind);
	add_text(&state, record->node);
	add_number(&state, record->time_ns);
	add_text(&state, has_track ? record->source : none);
	add_text(&state, session);
	add_number(&state, (int64_t)record->id.seq);
	add_number(&state, record->id.index);
	crypto_generichash_final(&state, hash.bytes, sizeof(hash));
	return hash;
}

/* The place, and what tells two records of one place apart. */
static struct hash
hash_named(const struct record *record, const struct hash *place)
{
	crypto_generichash_state state;
	struct hash hash;

	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	add_text(&state,
	    (struct text){ (const char *)place->bytes, sizeof(place->bytes) });
	add_number(&state, record->end_ns);
	add_text(&state, record->source);
	add_text(&state, record->name);
	add_number(&state, (int64_t)record->count);
	crypto_generichash_final(&state, hash.bytes, sizeof(hash));
	return hash;
}

/* Note the hash; false: it was noted before, `*value` is what with. */
static bool
note(struct db_txn *txn, uint32_t partition, const struct record *record,
    const struct hash *hash, struct text *value)
{
	struct key_once once = { .partition = partition,
		.hour = key_hour(record->time_ns) };
	unsigned char bytes[KEY_ONCE_BYTES];
	struct text key = { (const char *)bytes, sizeof(bytes) }, old;

	memcpy(once.hash, hash->bytes, KEY_ONCE_HASH_BYTES);
	key_put_once(bytes, &once);
	if (!db_get(txn, TABLES_ONCE, key, &old)) {
		db_put(txn, TABLES_ONCE, key, *value);
		return true;
	}
	*value = old;
	return false;
}

bool
once_is_new(struct db_txn *txn, uint32_t partition, const struct record *record)
{
	struct text none = { NULL, 0 };
	struct hash hash;

	if (record->kind == RECORD_ENTITY)
		return true;
	hash = hash_content(record);
	return note(txn, partition, record, &hash, &none);
}

enum once
once_take(struct db_txn *txn, uint32_t partition, const struct record *record,
    uint32_t stream)
{
	unsigned char bytes[ONCE_VALUE_BYTES];
	struct text value = { (const char *)bytes, sizeof(bytes) }, own = value;
	struct text none = { NULL, 0 };
	struct hash place, named;
	bool is_same;

	if (record->kind == RECORD_ENTITY)
		return ONCE_NEW;
	place = hash_place(record);
	named = hash_named(record, &place);
	varint_put_u32_be(bytes, stream);
	memcpy(bytes + 4, named.bytes, sizeof(bytes) - 4);
	if (note(txn, partition, record, &place, &value))
		return ONCE_NEW;
	/* The value is a view: to note more may move it. */
	is_same = value.bytes != own.bytes || memcmp(value.at, own.at, 4) == 0;
	if (value.bytes != own.bytes ||
	    memcmp(value.at + 4, own.at + 4, own.bytes - 4) == 0 ||
	    !note(txn, partition, record, &named, &none))
		return ONCE_REPEATED;
	return is_same ? ONCE_REPEATED : ONCE_CLAIMED;
}

/* No record is of this hour, and retention never reaches it. */
static struct text
session_key(unsigned char to[static KEY_ONCE_BYTES], uint32_t partition,
    const struct session_id *session)
{
	struct key_once once = { .partition = partition, .hour = INT32_MAX };
	unsigned char hash[crypto_generichash_BYTES_MIN];

	crypto_generichash(hash, sizeof(hash), session->bytes,
	    sizeof(session->bytes), NULL, 0);
	memcpy(once.hash, hash, KEY_ONCE_HASH_BYTES);
	key_put_once(to, &once);
	return (struct text){ (const char *)to, KEY_ONCE_BYTES };
}

bool
once_has_session(
    struct db_txn *txn, uint32_t partition, const struct session_id *session)
{
	unsigned char key[KEY_ONCE_BYTES];
	struct text value;

	return db_get(
	    txn, TABLES_ONCE, session_key(key, partition, session), &value);
}

void
once_name_session(
    struct db_txn *txn, uint32_t partition, const struct session_id *session)
{
	unsigned char key[KEY_ONCE_BYTES];

	db_put(txn, TABLES_ONCE, session_key(key, partition, session),
	    (struct text){ "", 0 });
}

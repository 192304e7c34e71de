/*
 * once - keep a record of an import once, however often it comes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/once.h"

#include "aggregator/tables/key.h"
#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"

#include <sodium.h>

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

static void
hash_record(unsigned char to[static KEY_ONCE_HASH_BYTES],
    const struct record *record, bool named)
{
	unsigned char hash[crypto_generichash_BYTES_MIN];
	crypto_generichash_state state;
	bool has_uuid = record->kind == RECORD_EVENT && record->key.bytes > 0;

	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	add_number(&state, record->kind);
	if (!named)
		add_text(&state, record->key);
	if (!has_uuid || named) {
		add_text(&state, record->node);
		add_number(&state, record->time_ns);
		add_number(&state, record->end_ns);
		add_text(&state, record->source);
		add_text(&state, record->name);
	}
	if (!has_uuid && !named) {
		add_text(&state, record->pairs);
		add_text(&state, record->value_bytes);
	}
	if (named) {
		add_text(&state,
		    (struct text){ (const char *)record->id.session.bytes,
			RECORD_ID_BYTES });
		add_number(&state, (int64_t)record->id.seq);
		add_number(&state, record->id.index);
	}
	crypto_generichash_final(&state, hash, sizeof(hash));
	memcpy(to, hash, KEY_ONCE_HASH_BYTES);
}

bool
once_is_new(struct db_txn *txn, uint32_t partition, const struct record *record,
    bool named)
{
	struct key_once once = { .partition = partition,
		.hour = key_hour(record->time_ns) };
	unsigned char bytes[KEY_ONCE_BYTES];
	struct text key = { (const char *)bytes, sizeof(bytes) }, value;

	if (record->kind == RECORD_ENTITY)
		return true;
	hash_record(once.hash, record, named);
	key_put_once(bytes, &once);
	if (db_get(txn, TABLES_ONCE, key, &value))
		return false;
	db_put(txn, TABLES_ONCE, key, (struct text){ "", 0 });
	return true;
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

/*
 * dictionary - names as numbers.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/dictionary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/tables/dictionary_cache.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/base/varint.h"

enum {
	KEY_ROOM = 5 + NAME_BYTES_MAX,
	STREAM_MARK = 1, /* no name begins with a control character */
	NUMBER_BYTES = 4,
	RUN_MARK = 1, /* behind the number of the id of a run */
	RUN_BYTES = NUMBER_BYTES + 1,
};

struct dictionary {
	uint32_t limit;
	uint64_t over;
	struct sender {
		uint32_t partition; /* 0: unknown sender, no limit of its own */
		struct text node;
	} sender;
	struct dictionary_cache cache;
};

/* The row of number 0: the numbers given so far. */
struct last {
	uint32_t number; /* the highest number */
	uint32_t names;  /* numbers that count towards the limit */
};

struct dictionary *
dictionary_new(uint32_t limit)
{
	struct dictionary *dictionary = memory_alloc(sizeof(*dictionary));

	dictionary->limit = limit;
	dictionary->over = 0;
	dictionary->sender.partition = 0;
	dictionary_cache_init(&dictionary->cache);
	return dictionary;
}

void
dictionary_free(struct dictionary **dictionary)
{
	if (*dictionary == NULL)
		return;
	dictionary_cache_clear(&(*dictionary)->cache);
	free(*dictionary);
	*dictionary = NULL;
}

void
dictionary_forget(struct dictionary *dictionary)
{
	dictionary_cache_forget(&dictionary->cache);
}

uint64_t
dictionary_over_limit(const struct dictionary *dictionary)
{
	return dictionary->over;
}

/* ---- rows ---- */

static struct text
text_key(unsigned char to[static KEY_ROOM], char table, uint32_t partition,
    struct text t)
{
	assert(t.bytes <= NAME_BYTES_MAX);
	to[0] = (unsigned char)table;
	varint_put_u32_be(to + 1, partition);
	if (t.bytes > 0)
		memcpy(to + 5, t.at, t.bytes);
	return (struct text){ (const char *)to, 5 + t.bytes };
}

static struct text
number_key(
    unsigned char to[static 9], char table, uint32_t partition, uint32_t number)
{
	to[0] = (unsigned char)table;
	varint_put_u32_be(to + 1, partition);
	varint_put_u32_be(to + 5, number);
	return (struct text){ (const char *)to, 9 };
}

static struct last
get_last(struct db_txn *txn, uint32_t partition)
{
	unsigned char key[9];
	struct last last = { 0, 0 };
	struct text value;

	/* Restarting from 0 would give one number to two names. */
	if (db_need(txn, TABLES_NAMES, number_key(key, 'n', partition, 0),
		&value) &&
	    value.bytes == 8) {
		last.number = varint_get_u32_be(value.at);
		last.names = varint_get_u32_be(value.at + 4);
	}
	return last;
}

static void
put_last(struct db_txn *txn, uint32_t partition, struct last last)
{
	unsigned char key[9], value[8];

	varint_put_u32_be(value, last.number);
	varint_put_u32_be(value + 4, last.names);
	db_put(txn, TABLES_NAMES, number_key(key, 'n', partition, 0),
	    (struct text){ (const char *)value, 8 });
}

/* What a name is, which says against which limit it counts, and whether it may
 * be packed. */
enum counted { NAME, OWN, RUN };

static void
put_number(struct db_txn *txn, uint32_t partition, uint32_t number,
    struct text text, enum counted counted)
{
	unsigned char key[KEY_ROOM], value[RUN_BYTES];
	uint32_t bytes = NUMBER_BYTES;

	varint_put_u32_be(value, number);
	if (counted == RUN)
		value[bytes++] = RUN_MARK;
	db_put(txn, TABLES_NAMES, text_key(key, 't', partition, text),
	    (struct text){ (const char *)value, bytes });
}

static void
put_name(struct db_txn *txn, uint32_t partition, uint32_t number,
    struct text text, enum counted counted)
{
	unsigned char key[9];

	put_number(txn, partition, number, text, counted);
	db_put(txn, TABLES_NAMES,
	    number_key(key, counted == RUN ? 'r' : 'n', partition, number),
	    text);
}

void
dictionary_put(struct db_txn *txn, uint32_t partition, uint32_t number,
    struct text text, bool is_run)
{
	struct session_id session;
	struct last last = get_last(txn, partition);

	put_name(txn, partition, number, text, is_run ? RUN : NAME);
	if (number > last.number)
		last.number = number;
	last.names += !is_run && !dictionary_session(text, &session);
	put_last(txn, partition, last);
}

static uint32_t
get_number(struct text value)
{
	return value.bytes == NUMBER_BYTES || value.bytes == RUN_BYTES
		   ? varint_get_u32_be(value.at)
		   : 0;
}

bool
dictionary_is_run(struct text key, struct text value, uint32_t *number)
{
	if (key.bytes == 9 && key.at[0] == 'r') {
		*number = varint_get_u32_be(key.at + 5);
		return true;
	}
	*number = get_number(value);
	return key.bytes > 5 && key.at[0] == 't' && value.bytes == RUN_BYTES;
}

uint32_t
dictionary_last(struct db_txn *txn, uint32_t partition)
{
	return get_last(txn, partition).number;
}

bool
dictionary_next_node(struct db_txn *txn, uint32_t partition, uint32_t *number)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_NAMES);
	unsigned char key[9];
	struct text found;
	bool good;

	good = db_seek_key(
		   cursor, number_key(key, 'd', partition, *number), &found) &&
	       found.bytes == sizeof(key) &&
	       memcmp(found.at, key, sizeof(key) - 4) == 0;
	if (good)
		*number = varint_get_u32_be(found.at + 5);
	db_cursor_close(&cursor);
	return good;
}

/* From the rows that have the texts of numbers. */
static uint32_t
find_by_numbers(
    struct db_txn *txn, char which, uint32_t partition, struct text text)
{
	struct packed_cursor *cursor =
	    packed_cursor_open(txn, tables_run_names);
	unsigned char first[9];
	struct text key, found;
	uint32_t number = 0;
	bool more = packed_seek(
	    cursor, number_key(first, which, partition, 1), &key, &found);

	/* `which` and the partition are five bytes. */
	while (more && key.bytes == sizeof(first) &&
	       memcmp(key.at, first, 5) == 0 && !text_equal(found, text))
		more = packed_next(cursor, &key, &found);
	if (more && key.bytes == sizeof(first) && memcmp(key.at, first, 5) == 0)
		number = varint_get_u32_be(key.at + 5);
	packed_cursor_close(&cursor);
	return number;
}

/* `is_mended`: the row of the text is damaged, but not that of its number. */
static uint32_t
find(struct db_txn *txn, uint32_t partition, struct text text, bool *is_mended)
{
	unsigned char key[KEY_ROOM];
	struct text value;
	uint32_t number = 0;

	*is_mended = false;
	if (text.bytes > NAME_BYTES_MAX)
		return 0;
	if (packed_keep(txn, tables_run_names,
		text_key(key, 't', partition, text), &value))
		return get_number(value);
	if (db_was_damaged(txn)) {
		number = find_by_numbers(txn, 'n', partition, text);
		if (number == 0)
			number = find_by_numbers(txn, 'r', partition, text);
		*is_mended = number != 0;
	}
	return number;
}

uint32_t
dictionary_find(struct db_txn *txn, uint32_t partition, struct text text)
{
	bool is_mended;

	return find(txn, partition, text, &is_mended);
}

bool
dictionary_text(
    struct db_txn *txn, uint32_t partition, uint32_t number, struct text *text)
{
	unsigned char key[9];

	/* Few texts of runs are asked for by number, and the other way round
	 * this would be a search of two tables for each name. */
	return number != 0 &&
	       (db_get(txn, TABLES_NAMES,
		    number_key(key, 'n', partition, number), text) ||
		   packed_keep(txn, tables_run_names,
		       number_key(key, 'r', partition, number), text));
}

bool
dictionary_run_text(struct packed *packed, struct db_txn *txn,
    uint32_t partition, uint32_t number, struct text *text)
{
	unsigned char key[9];

	return packed_get(packed, txn, tables_run_names,
	    number_key(key, 'r', partition, number), text);
}

void
dictionary_note_lost(struct db_txn *txn, uint32_t partition, uint32_t number)
{
	unsigned char key[9];

	db_note_damage(
	    txn, TABLES_NAMES, number_key(key, 'n', partition, number));
}

bool
dictionary_has_stream(
    struct db_txn *txn, uint32_t partition, const struct session_id *session)
{
	char text[DICTIONARY_STREAM_BYTES] = { STREAM_MARK };

	memcpy(text + 1, session->bytes, sizeof(session->bytes));
	return dictionary_find(
		   txn, partition, (struct text){ text, sizeof(text) }) != 0;
}

bool
dictionary_session(struct text text, struct session_id *session)
{
	if (text.bytes != DICTIONARY_STREAM_BYTES || text.at[0] != STREAM_MARK)
		return false;
	memcpy(session->bytes, text.at + 1, sizeof(session->bytes));
	return true;
}

/* Count one more name of the sender; false when the sender's share is used
 * up. */
static bool
take_share(
    struct dictionary *dictionary, struct db_txn *txn, uint32_t partition)
{
	unsigned char key[KEY_ROOM], count[4];
	struct text at, value;
	uint32_t used = 0;

	if (dictionary->sender.partition == 0 ||
	    dictionary->sender.partition != partition)
		return true;
	at = text_key(key, 's', partition, dictionary->sender.node);
	if (db_get(txn, TABLES_NAMES, at, &value) && value.bytes == 4)
		used = varint_get_u32_be(value.at);
	if (used >= dictionary->limit / DICTIONARY_SENDER_SHARE)
		return false;
	varint_put_u32_be(count, used + 1);
	db_put(txn, TABLES_NAMES, at, (struct text){ (const char *)count, 4 });
	return true;
}

static bool
is_over(struct dictionary *dictionary, struct db_txn *txn, uint32_t partition,
    uint32_t given)
{
	if (given >= dictionary->limit)
		return true;
	if (partition == 0)
		return given >= DICTIONARY_PARTITIONS_MAX;
	return !take_share(dictionary, txn, partition);
}

static uint32_t
add(struct dictionary *dictionary, struct db_txn *txn, uint32_t partition,
    struct text text, enum counted counted)
{
	struct last last = get_last(txn, partition);

	if (last.number == UINT32_MAX ||
	    (counted == NAME &&
		is_over(dictionary, txn, partition, last.names))) {
		dictionary->over++;
		return 0;
	}
	last.number++;
	last.names += counted == NAME;
	put_name(txn, partition, last.number, text, counted);
	put_last(txn, partition, last);
	return last.number;
}

void
dictionary_remove_partition(
    struct db_txn *txn, uint32_t partition, struct text text)
{
	unsigned char key[KEY_ROOM];
	struct last last = get_last(txn, 0);

	if (db_del(txn, TABLES_NAMES, text_key(key, 't', 0, text)))
		last.names--;
	db_del(txn, TABLES_NAMES, number_key(key, 'n', 0, partition));
	put_last(txn, 0, last);
}

/* ---- numbers, through the cache ---- */

/* Returns the cache slot of a name, valid until the next call.  Number 0: the
 * name is beyond the limit. */
static struct dictionary_slot *
look_up(struct dictionary *dictionary, struct db_txn *txn, uint32_t partition,
    struct text text, enum counted counted)
{
	struct dictionary_slot *slot =
	    dictionary_cache_slot(&dictionary->cache, partition, text);
	bool is_mended = false;

	if (slot->number == 0)
		slot->number = find(txn, partition, text, &is_mended);
	/* With a new number one name would have two. */
	if (is_mended)
		put_number(txn, partition, slot->number, text, counted);
	if (slot->number == 0)
		slot->number = add(dictionary, txn, partition, text, counted);
	return slot;
}

uint32_t
dictionary_number(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text text)
{
	uint32_t number =
	    dictionary_cache_find_short(&dictionary->cache, partition, text);

	if (number != 0)
		return number;
	number = look_up(dictionary, txn, partition, text, NAME)->number;
	dictionary_cache_store_short(
	    &dictionary->cache, partition, text, number);
	return number;
}

static struct dictionary_slot *
look_up_or_other(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text text)
{
	struct dictionary_slot *slot =
	    look_up(dictionary, txn, partition, text, NAME);

	if (slot->number != 0)
		return slot;
	return look_up(
	    dictionary, txn, partition, text_of(DICTIONARY_OTHER), OWN);
}

uint32_t
dictionary_number_or_other(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text text)
{
	return look_up_or_other(dictionary, txn, partition, text)->number;
}

uint32_t
dictionary_number_always(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text text)
{
	return look_up(dictionary, txn, partition, text, OWN)->number;
}

uint32_t
dictionary_run(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text text)
{
	return look_up(dictionary, txn, partition, text, RUN)->number;
}

uint32_t
dictionary_node(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, struct text node, bool is_host, bool *fresh)
{
	const struct text host = { "h", 1 };
	struct dictionary_slot *slot =
	    look_up_or_other(dictionary, txn, partition, node);
	unsigned char key[9];
	struct text at, found = { NULL, 0 };
	bool is_known;

	*fresh = false;
	if (slot->is_node == 1 || (is_host && slot->is_node != 0))
		return slot->number;
	at = number_key(key, 'd', partition, slot->number);
	is_known = db_get(txn, TABLES_NAMES, at, &found);
	*fresh = !is_host && (!is_known || found.bytes > 0);
	if (*fresh || !is_known)
		db_put(txn, TABLES_NAMES, at,
		    is_host ? host : (struct text){ NULL, 0 });
	slot->is_node = is_host && (!is_known || found.bytes > 0) ? 2 : 1;
	return slot->number;
}

void
dictionary_set_sender(
    struct dictionary *dictionary, uint32_t partition, struct text node)
{
	dictionary->sender = (struct sender){ partition, node };
}

static uint32_t
look_up_stream(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, const struct session_id *session, enum counted counted)
{
	char text[DICTIONARY_STREAM_BYTES] = { STREAM_MARK };

	memcpy(text + 1, session->bytes, sizeof(session->bytes));
	return look_up(dictionary, txn, partition,
	    (struct text){ text, sizeof(text) }, counted)
	    ->number;
}

uint32_t
dictionary_stream(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, const struct session_id *session)
{
	return look_up_stream(dictionary, txn, partition, session, OWN);
}

uint32_t
dictionary_named_stream(struct dictionary *dictionary, struct db_txn *txn,
    uint32_t partition, const struct session_id *session)
{
	return look_up_stream(dictionary, txn, partition, session, NAME);
}

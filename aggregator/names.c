/*
 * names - texts as numbers.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/names.h"

#include <assert.h>
#include <stdlib.h>

#include "proto/pack.h"
#include "aggregator/tables.h"
#include "proto/hash.h"

enum {
	SETS = 1 << 14,
	WAYS = 4, /* one cache line a set */
	KEY_ROOM = 5 + NAME_BYTES_MAX,
	STREAM_MARK = 1, /* no name begins with a control character */
};

struct slot {
	uint64_t hash;
	uint32_t number; /* 0: empty */
	uint32_t is_node;
};

/* Short texts that come again and again (event names, keys) are found by
 * themselves, which is cheaper than a hash that nobody can aim at. */
enum { MEMO_SLOTS = 256, MEMO_BYTES = 24 };

struct memo {
	uint32_t partition, number; /* number 0: empty */
	uint32_t bytes;
	char at[MEMO_BYTES];
};

struct names {
	struct hash_key key;
	uint32_t limit;
	uint64_t over;
	struct sender {
		uint32_t partition; /* 0: not known, without a share */
		struct text node;
	} sender;
	struct slot *slots; /* SETS * WAYS, most recent first in a set */
	struct memo memo[MEMO_SLOTS];
};

/* The row of number 0: what was given out so far. */
struct last {
	uint32_t number; /* the last one given */
	uint32_t names;  /* how many of them are names */
};

struct names *
names_new(uint32_t limit)
{
	struct names *names = malloc(sizeof(*names));
	size_t bytes = (size_t)SETS * WAYS * sizeof(*names->slots);

	if (names == NULL)
		abort();
	names->key = hash_key_random();
	names->limit = limit;
	names->over = 0;
	names->sender.partition = 0;
	names->slots = aligned_alloc(64, bytes);
	if (names->slots == NULL)
		abort();
	names_forget(names);
	return names;
}

void
names_free(struct names **names)
{
	if (*names == NULL)
		return;
	free((*names)->slots);
	free(*names);
	*names = NULL;
}

void
names_forget(struct names *names)
{
	memset(names->slots, 0, (size_t)SETS * WAYS * sizeof(*names->slots));
	memset(names->memo, 0, sizeof(names->memo));
}

uint64_t
names_over(const struct names *names)
{
	return names->over;
}

/* ---- rows ---- */

static struct text
text_key(unsigned char to[static KEY_ROOM], char table, uint32_t partition,
    struct text t)
{
	assert(t.bytes <= NAME_BYTES_MAX);
	to[0] = (unsigned char)table;
	put_u32_be(to + 1, partition);
	if (t.bytes > 0)
		memcpy(to + 5, t.at, t.bytes);
	return (struct text){ (const char *)to, 5 + t.bytes };
}

static struct text
number_key(
    unsigned char to[static 9], char table, uint32_t partition, uint32_t number)
{
	to[0] = (unsigned char)table;
	put_u32_be(to + 1, partition);
	put_u32_be(to + 5, number);
	return (struct text){ (const char *)to, 9 };
}

static struct last
get_last(struct db_txn *txn, uint32_t partition)
{
	unsigned char key[9];
	struct last last = { 0, 0 };
	struct text value;

	/* Counting from 0 again would give two texts one number. */
	if (db_need(txn, TABLES_NAMES, number_key(key, 'n', partition, 0),
		&value) &&
	    value.bytes == 8) {
		last.number = get_u32_be(value.at);
		last.names = get_u32_be(value.at + 4);
	}
	return last;
}

uint32_t
names_last(struct db_txn *txn, uint32_t partition)
{
	return get_last(txn, partition).number;
}

uint32_t
names_find(struct db_txn *txn, uint32_t partition, struct text text)
{
	unsigned char key[KEY_ROOM];
	struct text value;

	if (text.bytes > NAME_BYTES_MAX ||
	    !db_get(txn, TABLES_NAMES, text_key(key, 't', partition, text),
		&value) ||
	    value.bytes != 4)
		return 0;
	return get_u32_be(value.at);
}

bool
names_text(
    struct db_txn *txn, uint32_t partition, uint32_t number, struct text *text)
{
	unsigned char key[9];

	return number != 0 &&
	       db_get(txn, TABLES_NAMES,
		   number_key(key, 'n', partition, number), text);
}

bool
names_session(struct text text, struct session_id *session)
{
	if (text.bytes != NAMES_STREAM_BYTES || text.at[0] != STREAM_MARK)
		return false;
	memcpy(session->bytes, text.at + 1, sizeof(session->bytes));
	return true;
}

enum counted { NAME, OWN };

/* Count one more name of the sender; false: it has its share. */
static bool
take_share(struct names *names, struct db_txn *txn, uint32_t partition)
{
	unsigned char key[KEY_ROOM], count[4];
	struct text at, value;
	uint32_t used = 0;

	if (names->sender.partition == 0 ||
	    names->sender.partition != partition)
		return true;
	at = text_key(key, 's', partition, names->sender.node);
	if (db_get(txn, TABLES_NAMES, at, &value) && value.bytes == 4)
		used = get_u32_be(value.at);
	if (used >= names->limit / NAMES_SENDER_SHARE)
		return false;
	put_u32_be(count, used + 1);
	db_put(txn, TABLES_NAMES, at, (struct text){ (const char *)count, 4 });
	return true;
}

static bool
is_over(
    struct names *names, struct db_txn *txn, uint32_t partition, uint32_t given)
{
	if (given >= names->limit)
		return true;
	if (partition == 0)
		return given >= NAMES_PARTITIONS_MAX;
	return !take_share(names, txn, partition);
}

static uint32_t
add(struct names *names, struct db_txn *txn, uint32_t partition,
    struct text text, enum counted counted)
{
	unsigned char key[KEY_ROOM], value[8];
	struct last last = get_last(txn, partition);

	if (last.number == UINT32_MAX ||
	    (counted == NAME && is_over(names, txn, partition, last.names))) {
		names->over++;
		return 0;
	}
	last.number++;
	last.names += counted == NAME;
	put_u32_be(value, last.number);
	put_u32_be(value + 4, last.names);
	db_put(txn, TABLES_NAMES, text_key(key, 't', partition, text),
	    (struct text){ (const char *)value, 4 });
	db_put(txn, TABLES_NAMES, number_key(key, 'n', partition, last.number),
	    text);
	db_put(txn, TABLES_NAMES, number_key(key, 'n', partition, 0),
	    (struct text){ (const char *)value, 8 });
	return last.number;
}

/* ---- partitions that move ---- */

static void
put_last(struct db_txn *txn, uint32_t partition, struct last last)
{
	unsigned char key[9], value[8];

	put_u32_be(value, last.number);
	put_u32_be(value + 4, last.names);
	db_put(txn, TABLES_NAMES, number_key(key, 'n', partition, 0),
	    (struct text){ (const char *)value, 8 });
}

uint32_t
names_reserve(struct db_txn *txn)
{
	struct last last = get_last(txn, 0);

	assert(last.number < UINT32_MAX);
	last.number++;
	put_last(txn, 0, last);
	return last.number;
}

void
names_announce(struct db_txn *txn, uint32_t partition, struct text text)
{
	unsigned char key[KEY_ROOM], number[4];
	struct last last = get_last(txn, 0);

	put_u32_be(number, partition);
	db_put(txn, TABLES_NAMES, text_key(key, 't', 0, text),
	    (struct text){ (const char *)number, 4 });
	db_put(txn, TABLES_NAMES, number_key(key, 'n', 0, partition), text);
	last.names++;
	put_last(txn, 0, last);
}

void
names_retire(struct db_txn *txn, uint32_t partition, struct text text)
{
	unsigned char key[KEY_ROOM];
	struct last last = get_last(txn, 0);

	if (db_del(txn, TABLES_NAMES, text_key(key, 't', 0, text)))
		last.names--;
	db_del(txn, TABLES_NAMES, number_key(key, 'n', 0, partition));
	put_last(txn, 0, last);
}

/* ---- the cache ---- */

static struct slot *
find_slot(struct names *names, uint64_t hash, bool *found)
{
	struct slot *set = names->slots + (hash % SETS) * WAYS;
	struct slot hit;
	int i;

	for (i = 0; i < WAYS - 1; i++) {
		if (set[i].hash == hash && set[i].number != 0)
			break;
	}
	*found = set[i].hash == hash && set[i].number != 0;
	hit = set[i];
	for (; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = hit;
	if (!*found)
		set[0] = (struct slot){ hash, 0, 0 };
	return set;
}

/* The slot is valid until the next call; number 0: beyond the limit. */
static struct slot *
look_up(struct names *names, struct db_txn *txn, uint32_t partition,
    struct text text, enum counted counted)
{
	struct hash_key key = names->key;
	struct slot *slot;
	bool found;

	key.k0 ^= partition;
	slot = find_slot(names, hash_bytes(key, text.at, text.bytes), &found);
	if (found)
		return slot;
	slot->number = names_find(txn, partition, text);
	if (slot->number == 0)
		slot->number = add(names, txn, partition, text, counted);
	return slot;
}

static struct memo *
memo_of(struct names *names, uint32_t partition, struct text text)
{
	uint32_t place = text.bytes * 31 + partition;

	place = place * 31 + (unsigned char)text.at[0];
	place = place * 31 + (unsigned char)text.at[text.bytes / 2];
	place = place * 31 + (unsigned char)text.at[text.bytes - 1];
	return &names->memo[place % MEMO_SLOTS];
}

uint32_t
names_number(struct names *names, struct db_txn *txn, uint32_t partition,
    struct text text)
{
	struct memo *memo;
	uint32_t number;

	if (text.bytes == 0 || text.bytes > MEMO_BYTES)
		return look_up(names, txn, partition, text, NAME)->number;
	memo = memo_of(names, partition, text);
	if (memo->number != 0 && memo->partition == partition &&
	    memo->bytes == text.bytes &&
	    memcmp(memo->at, text.at, text.bytes) == 0)
		return memo->number;
	number = look_up(names, txn, partition, text, NAME)->number;
	memo->partition = partition;
	memo->number = number;
	memo->bytes = text.bytes;
	memcpy(memo->at, text.at, text.bytes);
	return number;
}

static struct slot *
look_up_or_other(struct names *names, struct db_txn *txn, uint32_t partition,
    struct text text)
{
	struct slot *slot = look_up(names, txn, partition, text, NAME);

	if (slot->number != 0)
		return slot;
	return look_up(names, txn, partition, text_of(NAMES_OTHER), OWN);
}

uint32_t
names_number_or_other(struct names *names, struct db_txn *txn,
    uint32_t partition, struct text text)
{
	return look_up_or_other(names, txn, partition, text)->number;
}

uint32_t
names_number_always(struct names *names, struct db_txn *txn, uint32_t partition,
    struct text text)
{
	return look_up(names, txn, partition, text, OWN)->number;
}

uint32_t
names_node(struct names *names, struct db_txn *txn, uint32_t partition,
    struct text node, bool *fresh)
{
	struct slot *slot = look_up_or_other(names, txn, partition, node);
	unsigned char key[9];
	struct text at, none = { NULL, 0 };

	*fresh = false;
	if (slot->is_node)
		return slot->number;
	at = number_key(key, 'd', partition, slot->number);
	*fresh = !db_get(txn, TABLES_NAMES, at, &none);
	if (*fresh)
		db_put(txn, TABLES_NAMES, at, (struct text){ NULL, 0 });
	slot->is_node = 1;
	return slot->number;
}

void
names_sender(struct names *names, uint32_t partition, struct text node)
{
	names->sender = (struct sender){ partition, node };
}

uint32_t
names_stream(struct names *names, struct db_txn *txn, uint32_t partition,
    const struct session_id *session)
{
	char text[NAMES_STREAM_BYTES] = { STREAM_MARK };

	memcpy(text + 1, session->bytes, sizeof(session->bytes));
	return look_up(
	    names, txn, partition, (struct text){ text, sizeof(text) }, OWN)
	    ->number;
}

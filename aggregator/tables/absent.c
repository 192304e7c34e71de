/*
 * absent - hours whose records only the archive has.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/absent.h"

#include <string.h>

#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"

/* Keys are a word, partition, kind and hour, in the order of the hours; of
 * nodes that are here another word, and the node follows. */
#define WORD      "absent"
#define WORD_NODE "nodeat"
enum {
	AT_PARTITION = sizeof(WORD) - 1,
	AT_KIND = AT_PARTITION + 4,
	AT_HOUR = AT_KIND + 1,
	AT_NODE = AT_HOUR + 4,
	KEY_BYTES = AT_NODE,
	NODE_KEY_BYTES = AT_NODE + 4,
};
#define HOUR_ZERO 0x80000000u

static void
put_place(char *to, const char *word, const struct absent_hour *hour)
{
	memcpy(to, word, AT_PARTITION);
	varint_put_u32_be((unsigned char *)to + AT_PARTITION, hour->partition);
	to[AT_KIND] = (char)hour->kind;
	varint_put_u32_be(
	    (unsigned char *)to + AT_HOUR, (uint32_t)hour->hour ^ HOUR_ZERO);
}

static struct text
put_key(char to[static KEY_BYTES], const struct absent_hour *hour)
{
	put_place(to, WORD, hour);
	return (struct text){ to, KEY_BYTES };
}

static struct text
put_node_key(char to[static NODE_KEY_BYTES], const struct absent_hour *hour,
    uint32_t node)
{
	put_place(to, WORD_NODE, hour);
	varint_put_u32_be((unsigned char *)to + AT_NODE, node);
	return (struct text){ to, NODE_KEY_BYTES };
}

/* ---- hours ---- */

void
absent_put(
    struct db_txn *txn, const struct absent_hour *hour, enum absent_state state)
{
	char key[KEY_BYTES];
	const char value = (char)state;

	if (state == ABSENT_NOT)
		db_del(txn, TABLES_META, put_key(key, hour));
	else
		db_put(txn, TABLES_META, put_key(key, hour),
		    (struct text){ &value, 1 });
}

enum absent_state
absent_get(struct db_txn *txn, const struct absent_hour *hour)
{
	char key[KEY_BYTES];
	struct text value;

	if (!db_get(txn, TABLES_META, put_key(key, hour), &value))
		return ABSENT_NOT;
	return value.bytes == 1 && value.at[0] == ABSENT_ROLLED_UP
		   ? ABSENT_ROLLED_UP
		   : ABSENT_ALL;
}

int32_t
absent_next(struct db_cursor *cursor, const struct absent_hour *from)
{
	char room[KEY_BYTES];
	struct text key, value;

	if (!db_seek(cursor, put_key(room, from), &key, &value) ||
	    key.bytes != KEY_BYTES || memcmp(key.at, room, AT_HOUR) != 0)
		return INT32_MAX;
	return (int32_t)(varint_get_u32_be(key.at + AT_HOUR) ^ HOUR_ZERO);
}

/* ---- nodes ---- */

void
absent_put_node(
    struct db_txn *txn, const struct absent_hour *hour, uint32_t node)
{
	char key[NODE_KEY_BYTES];

	db_put(txn, TABLES_META, put_node_key(key, hour, node), text_of("1"));
}

bool
absent_has_node(
    struct db_txn *txn, const struct absent_hour *hour, uint32_t node)
{
	char key[NODE_KEY_BYTES];
	struct text value;

	return db_get(txn, TABLES_META, put_node_key(key, hour, node), &value);
}

void
absent_forget_nodes(struct db_txn *txn, const struct absent_hour *hour)
{
	char room[NODE_KEY_BYTES];
	struct text prefix = put_node_key(room, hour, 0);

	prefix.bytes = AT_NODE;
	tables_delete(txn, TABLES_META, prefix, UINT64_MAX);
}

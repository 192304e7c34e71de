/*
 * absent - hours whose records only the archive has.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/absent.h"

#include <string.h>

#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"

/* Keys are the word, partition, kind and hour, in the order of the hours. */
#define WORD "absent"
enum {
	AT_PARTITION = sizeof(WORD) - 1,
	AT_KIND = AT_PARTITION + 4,
	AT_HOUR = AT_KIND + 1,
	KEY_BYTES = AT_HOUR + 4,
};
#define HOUR_ZERO 0x80000000u

static struct text
put_key(char to[static KEY_BYTES], const struct absent_hour *hour)
{
	memcpy(to, WORD, AT_PARTITION);
	varint_put_u32_be((unsigned char *)to + AT_PARTITION, hour->partition);
	to[AT_KIND] = (char)hour->kind;
	varint_put_u32_be(
	    (unsigned char *)to + AT_HOUR, (uint32_t)hour->hour ^ HOUR_ZERO);
	return (struct text){ to, KEY_BYTES };
}

void
absent_put(struct db_txn *txn, const struct absent_hour *hour)
{
	char key[KEY_BYTES];

	db_put(txn, TABLES_META, put_key(key, hour), text_of("1"));
}

void
absent_delete(struct db_txn *txn, const struct absent_hour *hour)
{
	char key[KEY_BYTES];

	db_del(txn, TABLES_META, put_key(key, hour));
}

bool
absent_has(struct db_txn *txn, const struct absent_hour *hour)
{
	char key[KEY_BYTES];
	struct text value;

	return db_get(txn, TABLES_META, put_key(key, hour), &value);
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

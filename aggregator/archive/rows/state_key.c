/*
 * state_key - keys of the store's tables in the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/rows/state_key.h"

#include <endian.h>
#include <string.h>

#include "aggregator/tables/tables.h"

enum { NUMBER_BYTES = 4 };

/* The number of the partition follows that many bytes of the key. */
static const char counts_of[] = "partition";

static bool
before_number(unsigned table, struct text key, uint32_t *bytes)
{
	if (table == TABLES_NAMES || table == TABLES_NAME_BLOCKS)
		*bytes = 1;
	else if (table == TABLES_META)
		*bytes = sizeof(counts_of) - 1;
	else
		*bytes = 0;
	return key.bytes >= *bytes;
}

static bool
is_of_store(unsigned table, struct text key)
{
	return table == TABLES_META &&
	       (key.bytes < sizeof(counts_of) - 1 ||
		   memcmp(key.at, counts_of, sizeof(counts_of) - 1) != 0);
}

bool
state_key_split(struct state_key *to, unsigned table, struct text key)
{
	uint32_t before;

	to->is_common = is_of_store(table, key);
	to->partition = 0;
	if (key.bytes == 0 || key.bytes > DB_KEY_BYTES_MAX)
		return false;
	if (to->is_common) {
		to->bytes = key.bytes;
		memcpy(to->rest, key.at, key.bytes);
		return true;
	}
	if (!before_number(table, key, &before) ||
	    key.bytes < before + NUMBER_BYTES)
		return false;
	memcpy(&to->partition, key.at + before, NUMBER_BYTES);
	to->partition = be32toh(to->partition);
	to->bytes = key.bytes - NUMBER_BYTES;
	memcpy(to->rest, key.at, before);
	memcpy(to->rest + before, key.at + before + NUMBER_BYTES,
	    to->bytes - before);
	return true;
}

struct text
state_key_join(unsigned char room[static DB_KEY_BYTES_MAX], unsigned table,
    const struct state_key *from)
{
	const struct text rest = { (const char *)from->rest, from->bytes };
	const uint32_t number = htobe32(from->partition);
	uint32_t before;

	if (is_of_store(table, rest)) {
		memcpy(room, from->rest, from->bytes);
		return (struct text){ (const char *)room, from->bytes };
	}
	if (!before_number(table, rest, &before) ||
	    from->bytes + NUMBER_BYTES > DB_KEY_BYTES_MAX)
		return (struct text){ NULL, 0 };
	memcpy(room, from->rest, before);
	memcpy(room + before, &number, NUMBER_BYTES);
	memcpy(room + before + NUMBER_BYTES, from->rest + before,
	    from->bytes - before);
	return (struct text){ (const char *)room, from->bytes + NUMBER_BYTES };
}

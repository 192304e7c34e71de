/*
 * latest - the last record of each node.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/latest.h"

#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"

void
latest_encode(const struct latest_row *row, struct buffer *to)
{
	unsigned char *start =
	    buffer_need(to, (1 + 2 * (size_t)LATEST_NODES) * VARINT_BYTES);
	unsigned char *at = varint_encode(start, row->has);
	int64_t before_ns = 0;

	for (unsigned i = 0; i < LATEST_NODES; i++) {
		const struct latest *latest = &row->at[i];

		if ((row->has >> i & 1) == 0)
			continue;
		at = varint_encode(
		    at, varint_delta(before_ns, latest->receive_ns));
		at = varint_encode(
		    at, varint_delta(latest->receive_ns, latest->time_ns));
		before_ns = latest->receive_ns;
	}
	to->bytes += (size_t)(at - start);
}

bool
latest_decode(struct latest_row *row, struct text value)
{
	struct varint_reader u = varint_reader_of(value);
	int64_t before_ns = 0;

	for (unsigned i = 0; i < LATEST_NODES; i++)
		row->at[i] = LATEST_NONE;
	row->has = varint_get(&u);
	for (unsigned i = 0; i < LATEST_NODES; i++) {
		struct latest *latest = &row->at[i];

		if ((row->has >> i & 1) == 0)
			continue;
		latest->receive_ns = varint_undelta(before_ns, varint_get(&u));
		latest->time_ns =
		    varint_undelta(latest->receive_ns, varint_get(&u));
		before_ns = latest->receive_ns;
	}
	if (!u.bad && u.at == u.end)
		return true;
	*row = (struct latest_row){ .has = 0 };
	for (unsigned i = 0; i < LATEST_NODES; i++)
		row->at[i] = LATEST_NONE;
	return false;
}

void
latest_put_key(unsigned char key[static LATEST_KEY_BYTES], uint32_t partition,
    uint32_t block)
{
	key[0] = 'l';
	varint_put_u32_be(key + 1, partition);
	varint_put_u32_be(key + 5, block);
}

bool
latest_get_key(struct text key, uint32_t *partition, uint32_t *block)
{
	if (key.bytes != LATEST_KEY_BYTES || key.at[0] != 'l')
		return false;
	*partition = varint_get_u32_be(key.at + 1);
	*block = varint_get_u32_be(key.at + 5);
	return true;
}

void
latest_read(struct db_txn *txn, uint32_t partition, uint32_t block,
    struct latest_row *row)
{
	unsigned char key[LATEST_KEY_BYTES];
	struct text value;

	latest_put_key(key, partition, block);
	if (!db_get(txn, TABLES_NAMES,
		(struct text){ (const char *)key, sizeof(key) }, &value))
		value = (struct text){ NULL, 0 };
	latest_decode(row, value);
}

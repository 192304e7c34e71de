/*
 * latest - what was last heard of each node.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/latest.h"

#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"

/* What a node has. */
enum { HAS_SAMPLE = 1, HAS_CLOCK = 2, HAS_SPOOL = 4, HAS_LIFE = 8 };

static bool
take_value(struct latest_value *latest, struct latest_value other)
{
	int64_t before_ns = latest->time_ns;

	latest_take_value(latest, other);
	return latest->time_ns != before_ns;
}

bool
latest_take(struct latest *latest, const struct latest *other)
{
	bool changed = other->receive_ns > latest->receive_ns ||
		       (other->receive_ns == latest->receive_ns &&
			   other->time_ns > latest->time_ns);

	if (changed) {
		latest->receive_ns = other->receive_ns;
		latest->time_ns = other->time_ns;
	}
	if (other->sample_ns > latest->sample_ns) {
		latest->sample_ns = other->sample_ns;
		changed = true;
	}
	changed |= take_value(&latest->clock, other->clock);
	changed |= take_value(&latest->spool, other->spool);
	if (other->life.time_ns != INT64_MIN &&
	    (other->life.time_ns != latest->life.time_ns ||
		other->life.value != latest->life.value)) {
		latest->life = other->life;
		changed = true;
	}
	return changed;
}

static unsigned char *
put_value(
    unsigned char *at, const struct latest *latest, struct latest_value value)
{
	if (value.time_ns == INT64_MIN)
		return at;
	at = varint_encode(at, varint_delta(latest->sample_ns, value.time_ns));
	return varint_encode(at, varint_zigzag(value.value));
}

static unsigned char *
put(unsigned char *at, const struct latest *latest, int64_t before_ns)
{
	unsigned has = (latest->sample_ns != INT64_MIN ? HAS_SAMPLE : 0) |
		       (latest->clock.time_ns != INT64_MIN ? HAS_CLOCK : 0) |
		       (latest->spool.time_ns != INT64_MIN ? HAS_SPOOL : 0) |
		       (latest->life.time_ns != INT64_MIN ? HAS_LIFE : 0);

	at = varint_encode(at, varint_delta(before_ns, latest->receive_ns));
	at = varint_encode(
	    at, varint_delta(latest->receive_ns, latest->time_ns));
	at = varint_encode(at, has);
	if ((has & HAS_LIFE) != 0) {
		at = varint_encode(
		    at, varint_delta(latest->receive_ns, latest->life.time_ns));
		at = varint_encode(at, varint_zigzag(latest->life.value));
	}
	if ((has & HAS_SAMPLE) != 0)
		at = varint_encode(
		    at, varint_delta(latest->time_ns, latest->sample_ns));
	at = put_value(at, latest, latest->clock);
	return put_value(at, latest, latest->spool);
}

void
latest_encode(const struct latest_row *row, struct buffer *to)
{
	unsigned char *start =
	    buffer_need(to, (1 + 10 * (size_t)LATEST_NODES) * VARINT_BYTES);
	unsigned char *at = varint_encode(start, row->has);
	int64_t before_ns = 0;

	for (unsigned i = 0; i < LATEST_NODES; i++) {
		if ((row->has >> i & 1) == 0)
			continue;
		at = put(at, &row->at[i], before_ns);
		before_ns = row->at[i].receive_ns;
	}
	to->bytes += (size_t)(at - start);
}

static struct latest_value
get_value(struct varint_reader *u, const struct latest *latest)
{
	struct latest_value value = { .time_ns = varint_undelta(
					  latest->sample_ns, varint_get(u)) };

	value.value = varint_unzigzag(varint_get(u));
	/* A value is of a sample. */
	if (value.time_ns == INT64_MIN || value.time_ns > latest->sample_ns)
		u->bad = true;
	return value;
}

static void
get(struct varint_reader *u, struct latest *latest, int64_t before_ns)
{
	uint64_t has;

	latest->receive_ns = varint_undelta(before_ns, varint_get(u));
	latest->time_ns = varint_undelta(latest->receive_ns, varint_get(u));
	has = varint_get(u);
	if (has > (HAS_SAMPLE | HAS_CLOCK | HAS_SPOOL | HAS_LIFE) ||
	    ((has & (HAS_CLOCK | HAS_SPOOL)) != 0 && (has & HAS_SAMPLE) == 0))
		u->bad = true;
	if ((has & HAS_LIFE) != 0) {
		latest->life.time_ns =
		    varint_undelta(latest->receive_ns, varint_get(u));
		latest->life.value = varint_unzigzag(varint_get(u));
		if (latest->life.time_ns == INT64_MIN ||
		    (latest->life.value != LATEST_ALIVE &&
			latest->life.value != LATEST_STOPPED))
			u->bad = true;
	}
	if ((has & HAS_SAMPLE) != 0)
		latest->sample_ns =
		    varint_undelta(latest->time_ns, varint_get(u));
	if ((has & HAS_CLOCK) != 0)
		latest->clock = get_value(u, latest);
	if ((has & HAS_SPOOL) != 0)
		latest->spool = get_value(u, latest);
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
		if ((row->has >> i & 1) == 0)
			continue;
		get(&u, &row->at[i], before_ns);
		before_ns = row->at[i].receive_ns;
	}
	if (!u.bad && u.at == u.end && row->has >> LATEST_NODES == 0)
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

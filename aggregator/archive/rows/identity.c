/*
 * identity - a hash of what identifies a row of the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/rows/identity.h"

#include "proto/hash/hash.h"

static const struct hash_key no_key;

uint64_t
archive_part(struct text partition)
{
	return hash_bytes(no_key, partition.at, partition.bytes);
}

/* Nodes have numbers that follow each other: mix them, or a cluster of two
 * shards would have the pairs of a pool in one. */
unsigned
archive_shard(unsigned shards, uint64_t part, uint32_t node)
{
	uint64_t mixed = (part ^ node) * UINT64_C(0x9e3779b97f4a7c15);

	return (unsigned)((mixed >> 32) % shards);
}

/* One step: intHash64 of ClickHouse, which is the finalizer of MurmurHash3 by
 * Austin Appleby after an exclusive-or. */
static inline uint64_t
mix(uint64_t hash, uint64_t column)
{
	hash ^= column ^ UINT64_C(0x4cf2d2baae6da887);
	hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
	hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return hash ^ hash >> 33;
}

#define MIX(hash, column) "intHash64(bitXor(" hash ",toUInt64(" column ")))"
/* The first: 0 xor column. */
#define FIRST(column) "intHash64(toUInt64(" column "))"

uint64_t
archive_identity_hash(
    const struct archive_row_id *id, const struct row_block_item *item)
{
	uint64_t hash = mix(0, id->part);

	hash = mix(hash, (uint64_t)id->hour);
	hash = mix(hash, id->node);
	hash = mix(hash, id->track);
	hash = mix(hash, (uint64_t)item->time_ns);
	hash = mix(hash, item->stream);
	hash = mix(hash, item->seq);
	return mix(hash, item->index);
}

const char *
archive_identity_sql(enum record_kind kind)
{
	static const char sql[] = MIX(
	    MIX(MIX(MIX(MIX(MIX(MIX(FIRST("part"), "hour"), "node"), "track"),
			"ts"),
		    "stream"),
		"seq"),
	    "idx");

	return archive_table(kind) == NULL ? NULL : sql;
}

uint64_t
archive_change_hash(const struct archive_change *change)
{
	uint64_t hash = mix(0, change->part);

	hash = mix(hash, change->tbl);
	hash = mix(hash, hash_bytes(no_key, change->k.at, change->k.bytes));
	hash = mix(hash, change->pos);
	hash = mix(hash, change->del);
	return mix(hash, hash_bytes(no_key, change->v.at, change->v.bytes));
}

const char *
archive_change_sql(void)
{
	return MIX(
	    MIX(MIX(MIX(MIX(FIRST("part"), "tbl"), "sipHash64(k)"), "pos"),
		"del"),
	    "sipHash64(v)");
}

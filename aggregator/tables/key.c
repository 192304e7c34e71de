/*
 * key - encoding and decoding of row keys.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/key.h"

#include <endian.h>

/* Converts the order of signed numbers to that of unsigned numbers. */
#define SIGN32 UINT32_C(0x80000000)
#define SIGN64 UINT64_C(0x8000000000000000)

static unsigned char *
put32(unsigned char *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static unsigned char *
put64(unsigned char *p, uint64_t v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static uint32_t
get32(const char **p)
{
	uint32_t v;

	memcpy(&v, *p, sizeof(v));
	*p += sizeof(v);
	return be32toh(v);
}

static uint64_t
get64(const char **p)
{
	uint64_t v;

	memcpy(&v, *p, sizeof(v));
	*p += sizeof(v);
	return be64toh(v);
}

bool
key_next_series(struct key_row_block *row_key)
{
	bool by_track = key_is_by_track(row_key->kind);
	uint32_t *last = by_track ? &row_key->node : &row_key->track;
	uint32_t *first = by_track ? &row_key->track : &row_key->node;

	if (++*last != 0)
		return true;
	return ++*first != 0;
}

void
key_put_row_block(unsigned char key[static KEY_ROW_BLOCK_BYTES],
    const struct key_row_block *row_key)
{
	unsigned char *p = put32(key, row_key->partition);
	bool by_track = key_is_by_track(row_key->kind);

	*p++ = row_key->kind;
	p = put32(p, (uint32_t)row_key->hour ^ SIGN32);
	p = put32(p, row_key->slice);
	p = put32(p, by_track ? row_key->track : row_key->node);
	p = put32(p, by_track ? row_key->node : row_key->track);
	p = put64(p, (uint64_t)row_key->first_ns ^ SIGN64);
	put32(p, row_key->row);
}

bool
key_get_row_block(struct text key, struct key_row_block *row_key)
{
	const char *p = key.at;

	if (key.bytes != KEY_ROW_BLOCK_BYTES)
		return false;
	row_key->partition = get32(&p);
	row_key->kind = (uint8_t)*p++;
	row_key->hour = (int32_t)(get32(&p) ^ SIGN32);
	row_key->slice = get32(&p);
	row_key->node = get32(&p);
	row_key->track = get32(&p);
	if (key_is_by_track(row_key->kind)) {
		uint32_t node = row_key->track;

		row_key->track = row_key->node;
		row_key->node = node;
	}
	row_key->first_ns = (int64_t)(get64(&p) ^ SIGN64);
	row_key->row = get32(&p);
	return true;
}

int32_t
key_hour(int64_t time_ns)
{
	int64_t hours = time_ns / KEY_HOUR_NS;

	/* Division truncates towards zero; this rounds down for times before
	 * 1970 too. */
	return (int32_t)(time_ns % KEY_HOUR_NS < 0 ? hours - 1 : hours);
}

void
key_put_once(
    unsigned char key[static KEY_ONCE_BYTES], const struct key_once *once)
{
	unsigned char *p = put32(key, once->partition);

	p = put32(p, (uint32_t)once->hour ^ SIGN32);
	memcpy(p, once->hash, sizeof(once->hash));
}

bool
key_get_once(struct text key, struct key_once *once)
{
	const char *p = key.at;

	if (key.bytes != KEY_ONCE_BYTES)
		return false;
	once->partition = get32(&p);
	once->hour = (int32_t)(get32(&p) ^ SIGN32);
	memcpy(once->hash, p, sizeof(once->hash));
	return true;
}

void
key_put_phase(
    unsigned char key[static KEY_PHASE_BYTES], const struct key_phase *phase)
{
	unsigned char *p = put32(key, phase->partition);

	p = put32(p, phase->phase);
	p = put64(p, phase->key_hash);
	put32(p, phase->scope);
}

bool
key_get_phase(struct text key, struct key_phase *phase)
{
	const char *p = key.at;

	if (key.bytes != KEY_PHASE_BYTES)
		return false;
	phase->partition = get32(&p);
	phase->phase = get32(&p);
	phase->key_hash = get64(&p);
	phase->scope = get32(&p);
	return true;
}

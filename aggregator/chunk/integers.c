/*
 * integers - streams of integers.
 *
 * First, what all values share is removed: the first value is subtracted, then
 * all are divided by their greatest common divisor.  The results are written
 * as they are, as differences, or as differences of differences, whichever has
 * the fewest bits.  These numbers are then split: a small number is one byte;
 * a larger one is a byte that gives its length, plus its lower bits.  The
 * bytes are compressed with zstd.  The bits are noise and stay uncompressed.
 * All arithmetic is modulo 2^64, so nothing can overflow.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/chunk/chunk_private.h"

#include <assert.h>
#include <stdlib.h>

#include "proto/base/memory.h"

int64_t *
chunk_ints_room(struct chunk_ints *ints, uint32_t count)
{
	if (count > ints->room) {
		free(ints->at);
		ints->room = count < 1024 ? 1024 : count;
		ints->at = memory_alloc(ints->room * sizeof(*ints->at));
	}
	return ints->at;
}

enum { PROBES = 96 }; /* rows compared to find a reference column */

/* ---- symbols and bits ---- */

struct bits_writer {
	unsigned char *at;
	uint64_t held;
	unsigned count; /* below 8 between calls */
};

/* `count` is at most 56. */
static inline void
put_bits(struct bits_writer *w, uint64_t value, unsigned count)
{
	w->held |= value << w->count;
	w->count += count;
	memcpy(w->at, &w->held, sizeof(w->held));
	w->at += w->count / 8;
	w->held >>= w->count & ~7u;
	w->count &= 7;
}

/* A number of k > 6 bits becomes the symbol 64 + 2 (k - 7) + its second bit,
 * followed by its lower k - 2 bits. */
static void
split(struct chunk_writer *w, const uint64_t *values, uint32_t count)
{
	struct bits_writer bits;
	unsigned char *symbol;
	uint32_t i;

	w->symbols.bytes = w->bits.bytes = 0;
	symbol = buffer_need(&w->symbols, count);
	bits =
	    (struct bits_writer){ buffer_need(&w->bits, (size_t)count * 8 + 16),
		    0, 0 };
	for (i = 0; i < count; i++) {
		uint64_t value = values[i];
		unsigned below;

		if (value < CHUNK_SMALL) {
			symbol[i] = (unsigned char)value;
			continue;
		}
		below = chunk_bit_length(value) - 2;
		symbol[i] = (unsigned char)(CHUNK_SMALL +
					    2 * (below + 1 - CHUNK_SMALL_BITS) +
					    (value >> below & 1));
		if (below > 32) {
			put_bits(&bits, value & UINT32_MAX, 32);
			value >>= 32;
			below -= 32;
		}
		put_bits(&bits, value & ((UINT64_C(1) << below) - 1), below);
	}
	w->symbols.bytes = count;
	w->bits.bytes = (size_t)(bits.at - w->bits.at) + (bits.count > 0);
}

static void
write_split(struct chunk_writer *w, const uint64_t *values, uint32_t count)
{
	split(w, values, count);
	chunk_write_blob(w, w->symbols.at, count);
	varint_put(&w->body, w->bits.bytes);
	buffer_put(&w->body, w->bits.at, w->bits.bytes);
}

/* ---- common parts ---- */

static uint64_t
common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The greatest common divisor of all differences to the first value; 0 when
 * all values are equal. */
static uint64_t
find_divisor(const int64_t *values, uint32_t count)
{
	uint64_t divisor = 0;

	for (uint32_t i = 1; i < count && divisor != 1; i++) {
		int64_t d = chunk_minus(values[i], values[0]);
		uint64_t size = d < 0 ? -(uint64_t)d : (uint64_t)d;

		if (size != 0 && (divisor == 0 || size % divisor != 0))
			divisor = common_divisor(size, divisor);
	}
	/* An int64_t divisor cannot hold 2^63. */
	return divisor > INT64_MAX ? 1 : divisor;
}

/* The differences to the first value, divided. */
static void
divide(const int64_t *values, uint32_t count, uint64_t divisor, int64_t *to)
{
	uint32_t i;

	if ((divisor & (divisor - 1)) == 0) {
		unsigned shift = chunk_bit_length(divisor) - 1;

		for (i = 0; i < count; i++)
			to[i] = chunk_minus(values[i], values[0]) >> shift;
		return;
	}
	for (i = 0; i < count; i++)
		to[i] = chunk_minus(values[i], values[0]) / (int64_t)divisor;
}

/* ---- prediction ---- */

static enum chunk_predict
choose(const int64_t *q, uint32_t count, int64_t *least)
{
	uint64_t bits[CHUNK_PREDICTS] = { 0 };
	int64_t before = 0, slope = 0;
	enum chunk_predict best = CHUNK_PLAIN;
	uint32_t i;

	*least = q[0];
	for (i = 0; i < count; i++)
		*least = q[i] < *least ? q[i] : *least;
	for (i = 0; i < count; i++) {
		int64_t d = chunk_minus(q[i], before);

		bits[CHUNK_PLAIN] +=
		    chunk_bit_length((uint64_t)chunk_minus(q[i], *least));
		bits[CHUNK_DELTA] += chunk_bit_length(varint_zigzag(d));
		bits[CHUNK_DELTA2] +=
		    chunk_bit_length(varint_zigzag(chunk_minus(d, slope)));
		before = q[i];
		slope = d;
	}
	for (i = CHUNK_DELTA; i < CHUNK_PREDICTS; i++)
		best = bits[i] < bits[best] ? (enum chunk_predict)i : best;
	return best;
}

static void
predict(enum chunk_predict how, const int64_t *q, uint32_t count, int64_t least,
    uint64_t *to)
{
	int64_t before = 0, slope = 0;

	for (uint32_t i = 0; i < count; i++) {
		int64_t d = chunk_minus(q[i], before);

		if (how == CHUNK_PLAIN)
			to[i] = (uint64_t)chunk_minus(q[i], least);
		else if (how == CHUNK_DELTA)
			to[i] = varint_zigzag(d);
		else
			to[i] = varint_zigzag(chunk_minus(d, slope));
		before = q[i];
		slope = d;
	}
}

/* ---- difference to a reference column ---- */

/* The total size in bits of the differences of some rows in the middle. */
static uint64_t
probe(const int64_t *values, const int64_t *other, int64_t sign, uint32_t count)
{
	uint32_t from = count > PROBES ? (count - PROBES) / 2 : 0, i;
	uint32_t to = from + (count > PROBES ? PROBES : count);
	int64_t before = 0;
	uint64_t bits = 0;

	for (i = from; i < to; i++) {
		int64_t value = values[i];

		if (other != NULL)
			value = sign > 0 ? chunk_minus(value, other[i])
					 : chunk_plus(value, other[i]);
		if (i > from)
			bits += chunk_bit_length(
			    varint_zigzag(chunk_minus(value, before)));
		before = value;
	}
	return bits;
}

/* The best reference column, or NULL.  `*sign`: 1 when the values are added to
 * it, -1 when they are subtracted from it.  A reference must save an eighth of
 * the bits. */
static const struct chunk_reference *
find_reference(struct chunk_writer *w, const int64_t *values, uint32_t count,
    int64_t *sign)
{
	uint64_t best = probe(values, NULL, 0, count) / 8 * 7;
	const struct chunk_reference *found = NULL;

	for (uint32_t i = 0; i < CHUNK_REFERENCES && best > 0; i++) {
		const struct chunk_reference *back = &w->back[i];

		if (back->count != count)
			continue;
		for (int64_t s = 1; s >= -1; s -= 2) {
			uint64_t bits =
			    probe(values, back->values.at, s, count);

			if (bits >= best)
				continue;
			best = bits;
			found = back;
			*sign = s;
		}
	}
	return found;
}

/* Remember a column as a reference for later ones. */
static void
keep_reference(struct chunk_writer *w, const int64_t *values, uint32_t count)
{
	struct chunk_reference *back = &w->back[w->columns % CHUNK_REFERENCES];

	memcpy(chunk_ints_room(&back->values, count), values,
	    count * sizeof(*values));
	back->count = count;
	back->column = w->columns;
}

/* ---- a stream ---- */

static void
write_stream(struct chunk_writer *w, const int64_t *values, uint32_t count,
    const struct chunk_reference *back, int64_t sign)
{
	uint64_t divisor = find_divisor(values, count);
	unsigned char tag = 0;
	enum chunk_predict how = CHUNK_PLAIN;
	int64_t first = values[0], least = 0;
	int64_t *q = chunk_ints_room(&w->more, count);
	uint64_t *residual = (uint64_t *)chunk_ints_room(&w->residual, count);

	if (divisor == 0) {
		tag = CHUNK_CONSTANT;
	} else {
		divide(values, count, divisor, q);
		how = choose(q, count, &least);
		predict(how, q, count, least, residual);
		tag = (unsigned char)how;
		if (how == CHUNK_PLAIN)
			first = chunk_plus(
			    first, (int64_t)((uint64_t)least * divisor));
		if (divisor > 1)
			tag |= CHUNK_DIVIDED;
	}
	if (back != NULL)
		tag |= CHUNK_REFERS | (sign < 0 ? CHUNK_NEGATIVE : 0);
	buffer_put(&w->body, &tag, 1);
	if (back != NULL)
		varint_put(&w->body, w->columns - back->column);
	varint_put(&w->body, varint_zigzag(first));
	if (tag & CHUNK_DIVIDED)
		varint_put(&w->body, divisor);
	if (!(tag & CHUNK_CONSTANT))
		write_split(w, residual, count);
}

void
chunk_write_ints(
    struct chunk_writer *w, const int64_t *values, uint32_t count, bool refer)
{
	const struct chunk_reference *back = NULL;
	int64_t sign = 1;

	if (count == 0)
		return;
	if (refer)
		back = find_reference(w, values, count, &sign);
	if (back == NULL) {
		write_stream(w, values, count, NULL, 0);
		/* Only a column without a reference becomes one, so that
		 * reading takes one step. */
		if (refer)
			keep_reference(w, values, count);
		return;
	}
	{
		int64_t *rest = chunk_ints_room(&w->ints, count);

		for (uint32_t i = 0; i < count; i++)
			rest[i] =
			    sign > 0
				? chunk_minus(values[i], back->values.at[i])
				: chunk_plus(values[i], back->values.at[i]);
		write_stream(w, rest, count, back, sign);
	}
}

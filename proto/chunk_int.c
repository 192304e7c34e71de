/*
 * chunk - streams of integers.
 *
 * What all values share goes first: the first value is taken off, then their
 * greatest common divisor.  The rest is written as it is, as differences or
 * as differences of differences, whichever has fewer bits.  What remains is
 * split: small numbers are a byte, larger ones a byte that says how long they
 * are and the bits below; the bytes go through zstd, the bits are noise and
 * stay.  Arithmetic is modulo 2^64 throughout, so that nothing can overflow.
 * SPDX-License-Identifier: MIT
 */
#include "proto/chunk_core.h"

#include <assert.h>
#include <stdlib.h>

/* The first byte of a stream. */
enum {
	PREDICT = 3,   /* mask: PLAIN, DELTA, DELTA2 */
	CONSTANT = 4,  /* all the same: nothing follows the first value */
	DIVIDED = 8,   /* a divisor follows */
	LEANS = 16,    /* how far back the other column is follows */
	NEGATIVE = 32, /* the other column is subtracted from, not added to */
	KNOWN = 63,
};
enum predict { PLAIN, DELTA, DELTA2, PREDICTS };

enum {
	SMALL = 64, /* numbers below are a symbol */
	SMALL_BITS = 6,
	SYMBOLS = SMALL + 2 * (64 - SMALL_BITS),
	PROBES = 96, /* rows looked at to find a column to lean on */
};

int64_t *
chunk_ints_room(struct chunk_ints *ints, uint32_t count)
{
	if (count > ints->room) {
		free(ints->at);
		ints->room = count < 1024 ? 1024 : count;
		ints->at = malloc(ints->room * sizeof(*ints->at));
		if (ints->at == NULL)
			abort();
	}
	return ints->at;
}

static inline int64_t
minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t
plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline unsigned
bit_length(uint64_t value)
{
	return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* ---- symbols and bits ---- */

struct bits_writer {
	unsigned char *at;
	uint64_t held;
	unsigned count; /* below 8 between puts */
};

/* At most 56 bits. */
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

/* A number of k > 6 bits: symbol 64 + 2 (k - 7) + its second bit, then the
 * k - 2 bits below. */
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

		if (value < SMALL) {
			symbol[i] = (unsigned char)value;
			continue;
		}
		below = bit_length(value) - 2;
		symbol[i] =
		    (unsigned char)(SMALL + 2 * (below + 1 - SMALL_BITS) +
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
	put_varint(&w->body, w->bits.bytes);
	put_bytes(&w->body, w->bits.at, w->bits.bytes);
}

/* What each symbol means: so many bits follow, on top of that number. */
void
chunk_symbols_init(struct chunk_symbols *table)
{
	for (unsigned s = 0; s < 256; s++) {
		unsigned below = (s - SMALL) / 2 + SMALL_BITS - 1;

		table->bits[s] = s < SMALL ? 0 : (uint8_t)below;
		table->base[s] =
		    s < SMALL ? s : (UINT64_C(2) | (s & 1)) << (below & 63);
	}
}

/* How many bits `count` symbols want; UINT64_MAX: a symbol means nothing. */
static uint64_t
count_bits(const struct chunk_symbols *table, const unsigned char *symbol,
    uint32_t count)
{
	unsigned most = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		sum += table->bits[symbol[i]];
		most = symbol[i] > most ? symbol[i] : most;
	}
	return most < SYMBOLS ? sum : UINT64_MAX;
}

static inline uint64_t
load(const unsigned char *bits, uint64_t from)
{
	uint64_t word;

	memcpy(&word, bits + from / 8, sizeof(word));
	return word >> (from & 7);
}

/* `bits` has 8 bytes behind its end. */
static void
join(const struct chunk_symbols *table, const unsigned char *symbol,
    const unsigned char *bits, uint64_t *to, uint32_t count)
{
	uint64_t from = 0;

	for (uint32_t i = 0; i < count; i++) {
		unsigned below = table->bits[symbol[i]];
		uint64_t word = load(bits, from);

		if (below > 56)
			word = (word & UINT32_MAX) | load(bits, from + 32)
							 << 32;
		to[i] = table->base[symbol[i]] |
			(word & ((UINT64_C(1) << below) - 1));
		from += below;
	}
}

static enum chunk_fault
read_split(
    struct chunk_reader *r, struct unpack *u, uint64_t *to, uint32_t count)
{
	const unsigned char *symbol;
	enum chunk_fault fault;
	struct text bits;
	uint64_t wanted;

	fault = chunk_read_blob(r, u, count, &r->symbols, &symbol);
	if (fault != CHUNK_OK)
		return fault;
	bits = get_text(u);
	wanted = count_bits(&r->table, symbol, count);
	if (u->bad || wanted == UINT64_MAX || (wanted + 7) / 8 != bits.bytes)
		return CHUNK_DAMAGED;
	r->bits.bytes = 0;
	put_bytes(&r->bits, bits.at, bits.bytes);
	memset(buffer_need(&r->bits, 16), 0, 16);
	join(&r->table, symbol, r->bits.at, to, count);
	return CHUNK_OK;
}

/* ---- what all have in common ---- */

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

/* Of all differences to the first value; 0: there are none. */
static uint64_t
find_divisor(const int64_t *values, uint32_t count)
{
	uint64_t divisor = 0;

	for (uint32_t i = 1; i < count && divisor != 1; i++) {
		int64_t d = minus(values[i], values[0]);
		uint64_t size = d < 0 ? -(uint64_t)d : (uint64_t)d;

		if (size != 0 && (divisor == 0 || size % divisor != 0))
			divisor = common_divisor(size, divisor);
	}
	/* -2^63 has no place in an int64_t divisor. */
	return divisor > INT64_MAX ? 1 : divisor;
}

/* Differences to the first, divided. */
static void
divide(const int64_t *values, uint32_t count, uint64_t divisor, int64_t *to)
{
	uint32_t i;

	if ((divisor & (divisor - 1)) == 0) {
		unsigned shift = bit_length(divisor) - 1;

		for (i = 0; i < count; i++)
			to[i] = minus(values[i], values[0]) >> shift;
		return;
	}
	for (i = 0; i < count; i++)
		to[i] = minus(values[i], values[0]) / (int64_t)divisor;
}

/* ---- prediction ---- */

static enum predict
choose(const int64_t *q, uint32_t count, int64_t *least)
{
	uint64_t bits[PREDICTS] = { 0 };
	int64_t before = 0, slope = 0;
	enum predict best = PLAIN;
	uint32_t i;

	*least = q[0];
	for (i = 0; i < count; i++)
		*least = q[i] < *least ? q[i] : *least;
	for (i = 0; i < count; i++) {
		int64_t d = minus(q[i], before);

		bits[PLAIN] += bit_length((uint64_t)minus(q[i], *least));
		bits[DELTA] += bit_length(pack_zigzag(d));
		bits[DELTA2] += bit_length(pack_zigzag(minus(d, slope)));
		before = q[i];
		slope = d;
	}
	for (i = DELTA; i < PREDICTS; i++)
		best = bits[i] < bits[best] ? (enum predict)i : best;
	return best;
}

static void
predict(enum predict how, const int64_t *q, uint32_t count, int64_t least,
    uint64_t *to)
{
	int64_t before = 0, slope = 0;

	for (uint32_t i = 0; i < count; i++) {
		int64_t d = minus(q[i], before);

		if (how == PLAIN)
			to[i] = (uint64_t)minus(q[i], least);
		else if (how == DELTA)
			to[i] = pack_zigzag(d);
		else
			to[i] = pack_zigzag(minus(d, slope));
		before = q[i];
		slope = d;
	}
}

static void
unpredict(enum predict how, const uint64_t *residual, uint32_t count,
    int64_t first, int64_t divisor, int64_t *to)
{
	uint64_t value = (uint64_t)first, step = (uint64_t)divisor, slope = 0;
	uint32_t i;

	if (how == PLAIN) {
		for (i = 0; i < count; i++)
			to[i] = (int64_t)(value + residual[i] * step);
	} else if (how == DELTA) {
		for (i = 0; i < count; i++) {
			value += (uint64_t)pack_unzigzag(residual[i]) * step;
			to[i] = (int64_t)value;
		}
	} else {
		for (i = 0; i < count; i++) {
			slope += (uint64_t)pack_unzigzag(residual[i]) * step;
			value += slope;
			to[i] = (int64_t)value;
		}
	}
}

/* ---- leaning on another column ---- */

/* How many bits the differences of a few rows in the middle have. */
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
			value = sign > 0 ? minus(value, other[i])
					 : plus(value, other[i]);
		if (i > from)
			bits += bit_length(pack_zigzag(minus(value, before)));
		before = value;
	}
	return bits;
}

/* The column to lean on, or NULL; `*sign`: 1 is added to, -1 subtracted from.
 * It must save a good part of the bits. */
static const struct chunk_back *
find_back(struct chunk_writer *w, const int64_t *values, uint32_t count,
    int64_t *sign)
{
	uint64_t best = probe(values, NULL, 0, count) / 8 * 7;
	const struct chunk_back *found = NULL;

	for (uint32_t i = 0; i < CHUNK_BACK && best > 0; i++) {
		const struct chunk_back *back = &w->back[i];

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

/* Keep a column for those that follow. */
static void
keep_back(struct chunk_writer *w, const int64_t *values, uint32_t count)
{
	struct chunk_back *back = &w->back[w->columns % CHUNK_BACK];

	memcpy(chunk_ints_room(&back->values, count), values,
	    count * sizeof(*values));
	back->count = count;
	back->column = w->columns;
}

/* ---- a stream ---- */

static void
write_stream(struct chunk_writer *w, const int64_t *values, uint32_t count,
    const struct chunk_back *back, int64_t sign)
{
	uint64_t divisor = find_divisor(values, count);
	unsigned char head = 0;
	enum predict how = PLAIN;
	int64_t first = values[0], least = 0;
	int64_t *q = chunk_ints_room(&w->more, count);
	uint64_t *residual = (uint64_t *)chunk_ints_room(&w->residual, count);

	if (divisor == 0) {
		head = CONSTANT;
	} else {
		divide(values, count, divisor, q);
		how = choose(q, count, &least);
		predict(how, q, count, least, residual);
		head = (unsigned char)how;
		if (how == PLAIN)
			first =
			    plus(first, (int64_t)((uint64_t)least * divisor));
		if (divisor > 1)
			head |= DIVIDED;
	}
	if (back != NULL)
		head |= LEANS | (sign < 0 ? NEGATIVE : 0);
	put_bytes(&w->body, &head, 1);
	if (back != NULL)
		put_varint(&w->body, w->columns - back->column);
	put_varint(&w->body, pack_zigzag(first));
	if (head & DIVIDED)
		put_varint(&w->body, divisor);
	if (!(head & CONSTANT))
		write_split(w, residual, count);
}

void
chunk_write_ints(
    struct chunk_writer *w, const int64_t *values, uint32_t count, bool lean)
{
	const struct chunk_back *back = NULL;
	int64_t sign = 1;

	if (count == 0)
		return;
	if (lean)
		back = find_back(w, values, count, &sign);
	if (back == NULL) {
		write_stream(w, values, count, NULL, 0);
		/* Only who stands by itself: one step to unpack. */
		if (lean)
			keep_back(w, values, count);
		return;
	}
	{
		int64_t *rest = chunk_ints_room(&w->ints, count);

		for (uint32_t i = 0; i < count; i++)
			rest[i] = sign > 0
				      ? minus(values[i], back->values.at[i])
				      : plus(values[i], back->values.at[i]);
		write_stream(w, rest, count, back, sign);
	}
}

/* Add, or subtract from, the column that is `back` before this one. */
static enum chunk_fault
lean_on(struct chunk_reader *r, int64_t *to, uint32_t count, uint32_t column,
    uint64_t back, bool negative)
{
	const struct chunk_column *other;
	enum chunk_fault fault;
	struct unpack u;
	int64_t *values;

	if (column == UINT32_MAX || back == 0 || back > column)
		return CHUNK_DAMAGED;
	other = &r->column[column - back];
	/* An integer column, or a column of values that are all integers, that
	 * does not lean itself. */
	u = chunk_column_unpack(other);
	if (other->type == CHUNK_VALUE && get_varint(&u) != VALUE_INT)
		return CHUNK_DAMAGED;
	if ((other->type != CHUNK_INT && other->type != CHUNK_VALUE) ||
	    other->count != count)
		return CHUNK_DAMAGED;
	values = chunk_ints_room(&r->lean, count);
	fault = chunk_read_ints(r, &u, values, count, UINT32_MAX);
	for (uint32_t i = 0; fault == CHUNK_OK && i < count; i++)
		to[i] =
		    negative ? minus(to[i], values[i]) : plus(to[i], values[i]);
	return fault;
}

enum chunk_fault
chunk_read_ints(struct chunk_reader *r, struct unpack *u, int64_t *to,
    uint32_t count, uint32_t column)
{
	enum chunk_fault fault = CHUNK_OK;
	uint64_t back = 0, divisor = 1;
	unsigned head;
	int64_t first;

	if (count == 0)
		return CHUNK_OK;
	head = u->at < u->end ? *u->at++ : KNOWN + 1;
	if (head > KNOWN || (head & PREDICT) == PREDICTS)
		return CHUNK_METHOD;
	if (head & LEANS)
		back = get_varint(u);
	first = pack_unzigzag(get_varint(u));
	if (head & DIVIDED)
		divisor = get_varint(u);
	if (u->bad)
		return CHUNK_TRUNCATED;
	if (head & CONSTANT) {
		for (uint32_t i = 0; i < count; i++)
			to[i] = first;
	} else {
		uint64_t *residual =
		    (uint64_t *)chunk_ints_room(&r->residual, count);

		fault = read_split(r, u, residual, count);
		if (fault == CHUNK_OK)
			unpredict((enum predict)(head & PREDICT), residual,
			    count, first, (int64_t)divisor, to);
	}
	if (fault == CHUNK_OK && (head & LEANS))
		fault = lean_on(r, to, count, column, back, head & NEGATIVE);
	return fault;
}

/*
 * integers_read - reading the streams that integers.c writes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/chunk/chunk_private.h"

/* For each symbol: its base value and the number of bits that follow. */
void
chunk_symbols_init(struct chunk_symbols *table)
{
	for (unsigned s = 0; s < 256; s++) {
		unsigned below = (s - CHUNK_SMALL) / 2 + CHUNK_SMALL_BITS - 1;

		table->bits[s] = s < CHUNK_SMALL ? 0 : (uint8_t)below;
		table->base[s] = s < CHUNK_SMALL
				     ? s
				     : (UINT64_C(2) | (s & 1)) << (below & 63);
	}
}

/* The number of bits that `count` symbols need; UINT64_MAX: a symbol is
 * invalid. */
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
	return most < CHUNK_SYMBOLS ? sum : UINT64_MAX;
}

static inline uint64_t
load(const unsigned char *bits, uint64_t from)
{
	uint64_t word;

	memcpy(&word, bits + from / 8, sizeof(word));
	return word >> (from & 7);
}

/* `bits` must have 8 readable bytes after its end. */
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
read_split(struct chunk_reader *r, struct varint_reader *u, uint64_t *to,
    uint32_t count)
{
	const unsigned char *symbol;
	enum chunk_fault fault;
	struct text bits;
	uint64_t wanted;

	fault = chunk_read_blob(r, u, count, &r->symbols, &symbol);
	if (fault != CHUNK_OK)
		return fault;
	bits = varint_get_text(u);
	wanted = count_bits(&r->table, symbol, count);
	if (u->bad || wanted == UINT64_MAX || (wanted + 7) / 8 != bits.bytes)
		return CHUNK_DAMAGED;
	r->bits.bytes = 0;
	buffer_put(&r->bits, bits.at, bits.bytes);
	memset(buffer_need(&r->bits, 16), 0, 16);
	join(&r->table, symbol, r->bits.at, to, count);
	return CHUNK_OK;
}

static void
unpredict(enum chunk_predict how, const uint64_t *residual, uint32_t count,
    int64_t first, int64_t divisor, int64_t *to)
{
	uint64_t value = (uint64_t)first, step = (uint64_t)divisor, slope = 0;
	uint32_t i;

	if (how == CHUNK_PLAIN) {
		for (i = 0; i < count; i++)
			to[i] = (int64_t)(value + residual[i] * step);
	} else if (how == CHUNK_DELTA) {
		for (i = 0; i < count; i++) {
			value += (uint64_t)varint_unzigzag(residual[i]) * step;
			to[i] = (int64_t)value;
		}
	} else {
		for (i = 0; i < count; i++) {
			slope += (uint64_t)varint_unzigzag(residual[i]) * step;
			value += slope;
			to[i] = (int64_t)value;
		}
	}
}

/* Add the values to the column `back` columns before this one, or subtract
 * them from it. */
static enum chunk_fault
add_reference(struct chunk_reader *r, int64_t *to, uint32_t count,
    uint32_t column, uint64_t back, bool negative)
{
	const struct chunk_column *other;
	enum chunk_fault fault;
	struct varint_reader u;
	int64_t *values;

	if (column == UINT32_MAX || back == 0 || back > column)
		return CHUNK_DAMAGED;
	other = &r->column[column - back];
	/* A reference column is an integer column, or a column of values that
	 * are all integers, without a reference of its own. */
	u = chunk_column_unpack(other);
	if (other->type == CHUNK_VALUE && varint_get(&u) != VALUE_INT)
		return CHUNK_DAMAGED;
	if ((other->type != CHUNK_INT && other->type != CHUNK_VALUE) ||
	    other->count != count)
		return CHUNK_DAMAGED;
	values = chunk_ints_room(&r->reference, count);
	fault = chunk_read_ints(r, &u, values, count, UINT32_MAX);
	for (uint32_t i = 0; fault == CHUNK_OK && i < count; i++)
		to[i] = negative ? chunk_minus(to[i], values[i])
				 : chunk_plus(to[i], values[i]);
	return fault;
}

enum chunk_fault
chunk_read_ints(struct chunk_reader *r, struct varint_reader *u, int64_t *to,
    uint32_t count, uint32_t column)
{
	enum chunk_fault fault = CHUNK_OK;
	uint64_t back = 0, divisor = 1;
	unsigned tag;
	int64_t first;

	if (count == 0)
		return CHUNK_OK;
	tag = u->at < u->end ? *u->at++ : CHUNK_KNOWN + 1;
	if (tag > CHUNK_KNOWN || (tag & CHUNK_PREDICT) == CHUNK_PREDICTS)
		return CHUNK_METHOD;
	if (tag & CHUNK_REFERS)
		back = varint_get(u);
	first = varint_unzigzag(varint_get(u));
	if (tag & CHUNK_DIVIDED)
		divisor = varint_get(u);
	if (u->bad)
		return CHUNK_TRUNCATED;
	if (tag & CHUNK_CONSTANT) {
		for (uint32_t i = 0; i < count; i++)
			to[i] = first;
	} else {
		uint64_t *residual =
		    (uint64_t *)chunk_ints_room(&r->residual, count);

		fault = read_split(r, u, residual, count);
		if (fault == CHUNK_OK)
			unpredict((enum chunk_predict)(tag & CHUNK_PREDICT),
			    residual, count, first, (int64_t)divisor, to);
	}
	if (fault == CHUNK_OK && (tag & CHUNK_REFERS))
		fault = add_reference(
		    r, to, count, column, back, tag & CHUNK_NEGATIVE);
	return fault;
}

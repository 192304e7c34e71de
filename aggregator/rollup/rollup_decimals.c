/*
 * rollup_decimals - the numbers of a metric's buckets as decimals.
 *
 * Most metrics are integers or have few digits after the point.  What a bucket
 * has of a gauge lies between its least and its greatest value; what it has of
 * a counter follows nearly from its first and its last value.  So little is
 * left to store of each.  A double comes back bit for bit: what is no decimal
 * is not stored like this.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/rollup_private.h"

#define WHOLE_MAX 9007199254740992.0 /* 2^53 */

/* One of these for each column of a metric. */
struct columns {
	int64_t at[ROLLUP_METRIC_COLUMNS][ROLLUP_ROWS];
	uint32_t inner; /* of those that only buckets with a range have */
};

static int64_t
minus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t
plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t
times(uint64_t a, int64_t b)
{
	return (int64_t)(a * (uint64_t)b);
}

/* ---- writing ---- */

static bool
as_decimal(double value, unsigned digits, int64_t *whole)
{
	double scaled = value * rollup_power(digits), back;

	if (!(fabs(scaled) < WHOLE_MAX))
		return false;
	*whole = llrint(scaled);
	back = (double)*whole / rollup_power(digits);
	return memcmp(&back, &value, sizeof(back)) == 0;
}

static bool
as_value(const struct value *value, unsigned digits, int64_t *whole)
{
	return as_decimal(counter_rate_number(value), digits, whole);
}

/* Find the digits that a number needs beyond `*digits`. */
static bool
extend_digits(double value, unsigned *digits)
{
	int64_t whole;

	while (!as_decimal(value, *digits, &whole))
		if (++*digits > ROLLUP_DIGITS)
			return false;
	return true;
}

static bool
find_digits(const struct bucket *const *bucket, uint32_t count, bool counter,
    unsigned *digits)
{
	*digits = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct bucket *b = bucket[i];

		if (!extend_digits(
			counter_rate_number(&b->first.value), digits) ||
		    !extend_digits(counter_rate_number(&b->last.value), digits))
			return false;
		if (!counter && (!extend_digits(b->low, digits) ||
				    !extend_digits(b->high, digits)))
			return false;
	}
	return true;
}

/* The type that all values have. */
static bool
find_type(
    const struct bucket *const *bucket, uint32_t count, enum rollup_type *type)
{
	enum value_type common = bucket[0]->first.value.type;

	for (uint32_t i = 0; i < count; i++)
		if (bucket[i]->first.value.type != common ||
		    bucket[i]->last.value.type != common)
			return false;
	switch (common) {
	case VALUE_INT: *type = ROLLUP_INT; return true;
	case VALUE_UINT: *type = ROLLUP_UINT; return true;
	case VALUE_FLOAT: *type = ROLLUP_FLOAT; return true;
	default: return false;
	}
}

static bool
take_gauge(struct columns *columns, const struct bucket *b, uint32_t i,
    unsigned digits)
{
	int64_t low, high, first, last, sum;

	if (!as_decimal(b->low, digits, &low) ||
	    !as_decimal(b->high, digits, &high) ||
	    !as_value(&b->first.value, digits, &first) ||
	    !as_value(&b->last.value, digits, &last) ||
	    !as_decimal(b->sum, digits, &sum))
		return false;
	columns->at[ROLLUP_LOW][i] = low;
	columns->at[ROLLUP_HIGH][i] = minus(high, low);
	sum = minus(sum, times(b->count, low));
	if (high == low)
		return sum == 0;
	columns->at[ROLLUP_FIRST][columns->inner] = minus(first, low);
	columns->at[ROLLUP_LAST][columns->inner] = minus(last, low);
	columns->at[ROLLUP_SUM][columns->inner++] = sum;
	return true;
}

/* 0 is a rate of 0: a code that is not near that of the mean. */
static bool
take_rate(double rate, int64_t mean, int64_t *to)
{
	int64_t code = rollup_rate_code(rate), away = minus(code, mean);
	uint64_t bits = (uint64_t)code << ROLLUP_RATE_SHIFT;

	if (memcmp(&bits, &rate, sizeof(bits)) != 0)
		return false;
	*to = code == 0 ? 0 : away >= 0 ? plus(away, 1) : away;
	return true;
}

static bool
take_counter(struct columns *columns, const struct bucket *b, uint32_t i,
    unsigned digits, int64_t *before)
{
	int64_t mean = rollup_mean_code(b), first, last;

	if (!as_value(&b->first.value, digits, &first) ||
	    !as_value(&b->last.value, digits, &last))
		return false;
	columns->at[ROLLUP_FIRST][i] = minus(first, *before);
	columns->at[ROLLUP_LAST][i] = minus(last, first);
	*before = last;
	return take_rate(b->low, mean, &columns->at[ROLLUP_LOW][i]) &&
	       take_rate(b->high, mean, &columns->at[ROLLUP_HIGH][i]);
}

static void
put_columns(struct chunk_writer *chunk, const struct columns *columns,
    const struct bucket *const *bucket, uint32_t count, unsigned flags)
{
	bool counter = (flags & ROLLUP_COUNTER) != 0;
	double sums[ROLLUP_ROWS];

	for (enum rollup_own c = ROLLUP_LOW; c < ROLLUP_SUM; c++)
		chunk_put_int(chunk, columns->at[c],
		    counter || c < ROLLUP_FIRST ? count : columns->inner);
	if (!counter) {
		chunk_put_int(chunk, columns->at[ROLLUP_SUM], columns->inner);
		return;
	}
	if (flags & ROLLUP_GROWS)
		return;
	for (uint32_t i = 0; i < count; i++)
		sums[i] = bucket[i]->sum;
	chunk_put_float(chunk, sums, count);
}

bool
rollup_put_decimals(struct chunk_writer *chunk,
    const struct bucket *const *bucket, uint32_t count, unsigned flags,
    uint8_t *decimal)
{
	bool counter = (flags & ROLLUP_COUNTER) != 0, good = true;
	struct columns columns = { .inner = 0 };
	enum rollup_type type = ROLLUP_INT;
	int64_t before = 0;
	unsigned digits;

	if (count == 0 || !find_type(bucket, count, &type) ||
	    !find_digits(bucket, count, counter, &digits) ||
	    (type != ROLLUP_FLOAT && digits > 0))
		return false;
	for (uint32_t i = 0; i < count && good; i++)
		good = counter ? take_counter(
				     &columns, bucket[i], i, digits, &before)
			       : take_gauge(&columns, bucket[i], i, digits);
	if (!good)
		return false;
	*decimal = (uint8_t)(digits | type << ROLLUP_TYPE_SHIFT);
	put_columns(chunk, &columns, bucket, count, flags);
	return true;
}

/* ---- reading ---- */

static bool
make_value(struct value *value, int64_t whole, uint8_t decimal)
{
	switch ((enum rollup_type)(decimal >> ROLLUP_TYPE_SHIFT)) {
	case ROLLUP_INT:
		*value = (struct value){ VALUE_INT, { .i = whole } };
		return true;
	case ROLLUP_UINT:
		*value = (struct value){ VALUE_UINT, { .u = (uint64_t)whole } };
		return whole >= 0;
	default:
		*value = (struct value){ VALUE_FLOAT,
			{ .f = (double)whole / rollup_power(decimal) } };
		return true;
	}
}

static bool
give_gauge(const struct columns *columns, uint32_t i, uint32_t *inner,
    struct bucket *b, uint8_t decimal)
{
	int64_t low = columns->at[ROLLUP_LOW][i], first = low, last = low;
	int64_t range = columns->at[ROLLUP_HIGH][i];
	int64_t sum = times(b->count, low);

	if (range != 0) {
		first = plus(low, columns->at[ROLLUP_FIRST][*inner]);
		last = plus(low, columns->at[ROLLUP_LAST][*inner]);
		sum = plus(sum, columns->at[ROLLUP_SUM][*inner]);
		++*inner;
	}
	b->low = (double)low / rollup_power(decimal);
	b->high = (double)plus(low, range) / rollup_power(decimal);
	b->sum = (double)sum / rollup_power(decimal);
	b->seconds = 0;
	return make_value(&b->first.value, first, decimal) &&
	       make_value(&b->last.value, last, decimal);
}

static double
give_rate(int64_t away, int64_t mean)
{
	int64_t code = away == 0  ? 0
		       : away > 0 ? plus(mean, away - 1)
				  : plus(mean, away);
	uint64_t bits = (uint64_t)code << ROLLUP_RATE_SHIFT;
	double rate;

	memcpy(&rate, &bits, sizeof(rate));
	return rate;
}

static bool
give_counter(const struct columns *columns, uint32_t i, int64_t *before,
    struct bucket *b, uint8_t decimal)
{
	int64_t first = plus(*before, columns->at[ROLLUP_FIRST][i]);
	int64_t last = plus(first, columns->at[ROLLUP_LAST][i]), mean;

	*before = last;
	if (!make_value(&b->first.value, first, decimal) ||
	    !make_value(&b->last.value, last, decimal))
		return false;
	mean = rollup_mean_code(b);
	b->low = give_rate(columns->at[ROLLUP_LOW][i], mean);
	b->high = give_rate(columns->at[ROLLUP_HIGH][i], mean);
	b->sum = rollup_growth(b);
	return true;
}

static bool
get_columns(struct chunk_reader *chunk, uint32_t column,
    struct columns *columns, uint32_t count, bool counter)
{
	for (enum rollup_own c = ROLLUP_LOW;
	     c <= (counter ? ROLLUP_LAST : ROLLUP_SUM); c++) {
		if (!rollup_get_numbers(chunk, column + c,
			counter || c < ROLLUP_FIRST ? count : columns->inner,
			columns->at[c]))
			return false;
		for (uint32_t i = 0; c == ROLLUP_HIGH && i < count; i++)
			columns->inner += columns->at[ROLLUP_HIGH][i] != 0;
	}
	return true;
}

bool
rollup_get_decimals(struct chunk_reader *chunk, uint32_t column,
    struct bucket *bucket, uint32_t count, unsigned flags, uint8_t decimal)
{
	bool counter = (flags & ROLLUP_COUNTER) != 0, good = true;
	bool sums = counter && (flags & ROLLUP_GROWS) == 0;
	uint32_t full = 0, inner = 0, n = 0;
	struct columns columns = { .inner = 0 };
	double sum[ROLLUP_ROWS];
	int64_t before = 0;

	for (uint32_t i = 0; i < count; i++)
		full += bucket[i].count > 0;
	if (!get_columns(chunk, column, &columns, full, counter) ||
	    (sums && !rollup_get_floats(chunk, column + ROLLUP_SUM, full, sum)))
		return false;
	for (uint32_t i = 0; i < count && good; i++) {
		if (bucket[i].count == 0)
			continue;
		good = counter ? give_counter(
				     &columns, n, &before, &bucket[i], decimal)
			       : give_gauge(
				     &columns, n, &inner, &bucket[i], decimal);
		if (sums)
			bucket[i].sum = sum[n];
		n++;
	}
	return good;
}

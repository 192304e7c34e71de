/*
 * doubles - streams of doubles.
 *
 * Most measurements are decimals: an integer divided by a power of ten.  If
 * the quotient is off by a few units in the last place (as the mean of
 * decimals is), the differences form a second stream.  A column that does not
 * consist of decimals (NaN, infinities and -0.0 are none) is stored as the
 * exclusive or of each value with the one before, byte plane by byte plane.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/chunk/chunk_private.h"

#include <math.h>

/* The first byte of a stream. */
enum { DECIMAL = 0, XOR = 1 };
/* The byte after DECIMAL: the number of digits after the point, and */
enum { DIGITS = 15, CORRECTED = 16 };

enum {
	ULPS_MAX = 8, /* a value that is further off is no decimal */
	PROBES = 64,  /* values sampled to find the number of digits */
};
#define WHOLE_MAX 9007199254740992.0 /* 2^53 */

static const double power[DIGITS + 1] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6,
	1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };

static inline int64_t
bits_of(double value)
{
	int64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline double
double_of(int64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline int64_t
difference(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Find value = whole / 10^digits + `ulps` units in the last place.  False: the
 * value is not close to a decimal. */
static inline bool
as_decimal(double value, double scale, int64_t *whole, int64_t *ulps)
{
	double scaled = value * scale;

	if (!(fabs(scaled) < WHOLE_MAX))
		return false;
	*whole = llrint(scaled);
	*ulps = difference(bits_of(value), bits_of((double)*whole / scale));
	return *ulps >= -ULPS_MAX && *ulps <= ULPS_MAX;
}

/* The smallest number of digits with which all sampled values are decimals;
 * exact decimals are preferred.  -1: there is none. */
static int
find_digits(const double *values, uint32_t count, int from)
{
	uint32_t step = count > PROBES ? count / PROBES : 1, i;
	int nearly = -1;

	for (int digits = from; digits <= DIGITS; digits++) {
		bool all = true;
		uint32_t off = 0;

		for (i = 0; all && i < count; i += step) {
			int64_t whole, ulps = 0;

			all =
			    as_decimal(values[i], power[digits], &whole, &ulps);
			off += ulps != 0;
		}
		if (!all)
			continue;
		if (off == 0)
			return digits;
		if (nearly < 0)
			nearly = digits;
	}
	return nearly;
}

struct decimals {
	int64_t *whole, *ulps;
	bool corrected;
};

/* False: one of the values is no decimal. */
static bool
take_decimals(
    struct decimals *d, const double *values, uint32_t count, int digits)
{
	double scale = power[digits];
	int64_t off = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!as_decimal(values[i], scale, &d->whole[i], &d->ulps[i]))
			return false;
		off |= d->ulps[i];
	}
	d->corrected = off != 0;
	return true;
}

static void
write_decimals(struct chunk_writer *w, const struct decimals *d, uint32_t count,
    int digits)
{
	unsigned char tag[2] = { DECIMAL, (unsigned char)digits };

	if (d->corrected)
		tag[1] |= CORRECTED;
	buffer_put(&w->body, tag, sizeof(tag));
	chunk_write_ints(w, d->whole, count, false);
	if (d->corrected)
		chunk_write_ints(w, d->ulps, count, false);
}

static void
write_xor(struct chunk_writer *w, const double *values, uint32_t count)
{
	unsigned char tag = XOR, *planes;
	uint64_t before = 0;

	buffer_put(&w->body, &tag, 1);
	w->symbols.bytes = 0;
	planes = buffer_need(&w->symbols, (size_t)count * 8);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t bits = (uint64_t)bits_of(values[i]);

		for (unsigned k = 0; k < 8; k++)
			planes[(size_t)k * count + i] =
			    (unsigned char)((bits ^ before) >> 8 * k);
		before = bits;
	}
	for (unsigned k = 0; k < 8; k++)
		chunk_write_blob(w, planes + (size_t)k * count, count);
}

void
chunk_write_floats(struct chunk_writer *w, const double *values, uint32_t count)
{
	struct decimals d = { chunk_ints_room(&w->wholes, count),
		chunk_ints_room(&w->ulps, count), false };
	int digits = -1;
	bool taken = false;

	if (count == 0)
		return;
	do {
		digits = find_digits(values, count, digits + 1);
		taken = digits >= 0 && take_decimals(&d, values, count, digits);
	} while (digits >= 0 && !taken && digits < DIGITS);
	if (taken)
		write_decimals(w, &d, count, digits);
	else
		write_xor(w, values, count);
}

/* ---- reading ---- */

static enum chunk_fault
read_decimals(
    struct chunk_reader *r, struct varint_reader *u, double *to, uint32_t count)
{
	unsigned tag = u->at < u->end ? *u->at++ : 255;
	int64_t *ints = chunk_ints_room(&r->ints, count);
	double scale = power[tag & DIGITS];
	enum chunk_fault fault;
	uint32_t i;

	if (tag > (DIGITS | CORRECTED))
		return CHUNK_METHOD;
	fault = chunk_read_ints(r, u, ints, count, UINT32_MAX);
	for (i = 0; fault == CHUNK_OK && i < count; i++)
		to[i] = (double)ints[i] / scale;
	if (fault == CHUNK_OK && (tag & CORRECTED)) {
		fault = chunk_read_ints(r, u, ints, count, UINT32_MAX);
		for (i = 0; fault == CHUNK_OK && i < count; i++)
			to[i] = double_of((int64_t)((uint64_t)bits_of(to[i]) +
						    (uint64_t)ints[i]));
	}
	return fault;
}

static enum chunk_fault
read_xor(
    struct chunk_reader *r, struct varint_reader *u, double *to, uint32_t count)
{
	uint64_t *bits = (uint64_t *)chunk_ints_room(&r->residual, count);
	uint64_t before = 0;
	uint32_t i;

	memset(bits, 0, count * sizeof(*bits));
	for (unsigned k = 0; k < 8; k++) {
		const unsigned char *plane;
		enum chunk_fault fault =
		    chunk_read_blob(r, u, count, &r->symbols, &plane);

		if (fault != CHUNK_OK)
			return fault;
		for (i = 0; i < count; i++)
			bits[i] |= (uint64_t)plane[i] << 8 * k;
	}
	for (i = 0; i < count; i++) {
		before ^= bits[i];
		to[i] = double_of((int64_t)before);
	}
	return CHUNK_OK;
}

enum chunk_fault
chunk_read_floats(
    struct chunk_reader *r, struct varint_reader *u, double *to, uint32_t count)
{
	unsigned tag;

	if (count == 0)
		return CHUNK_OK;
	tag = u->at < u->end ? *u->at++ : 255;
	if (tag == DECIMAL)
		return read_decimals(r, u, to, count);
	return tag == XOR ? read_xor(r, u, to, count) : CHUNK_METHOD;
}

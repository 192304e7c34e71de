/*
 * wire_buckets - buckets as the values of their record, in sequence.
 * SPDX-License-Identifier: MIT
 */
#include "proto/wire/buckets.h"

#include <assert.h>
#include <math.h>

#include "proto/msgpack/mp.h"
#include "proto/msgpack/mp_put.h"

/* ---- writing ---- */

static inline void
put_number(unsigned char **p, const struct value *value)
{
	switch (value->type) {
	case VALUE_INT: mp_put_int64(p, value->is.i); break;
	case VALUE_UINT: mp_put_uint64(p, value->is.u); break;
	case VALUE_FLOAT: mp_put_double(p, value->is.f); break;
	default: mp_put_nil(p);
	}
}

bool
wire_put_bucket(struct wire_writer *w, const struct wire_bucket *bucket)
{
	unsigned char *p = w->at + w->bytes;

	if (w->room - w->bytes < WIRE_BUCKET_BYTES_MAX)
		w->full = true;
	if (w->full)
		return false;
	mp_put_uint64(&p, bucket->count);
	mp_put_int64(&p, bucket->first.time_ns);
	mp_put_int64(&p, bucket->last.time_ns);
	mp_put_int64(&p, (int64_t)bucket->first.boot);
	mp_put_int64(&p, (int64_t)bucket->last.boot);
	mp_put_double(&p, bucket->low);
	mp_put_double(&p, bucket->high);
	mp_put_double(&p, bucket->mean);
	if (bucket->counter)
		mp_put_double(&p, bucket->seconds);
	put_number(&p, &bucket->first.value);
	put_number(&p, &bucket->last.value);
	w->bytes = (size_t)(p - w->at);
	return true;
}

/* Types of cells are not those of C, whose numbers may change. */
enum { CELL_GAUGE = 0, CELL_COUNTER = 1, CELL_TYPES = 3 };
static const enum value_type cell_types[CELL_TYPES] = { VALUE_INT, VALUE_UINT,
	VALUE_FLOAT };

void
wire_begin_singles(char *to, const struct wire_singles *singles)
{
	uint64_t type = 0;

	while (type < CELL_TYPES && cell_types[type] != singles->type)
		type++;
	assert(type < CELL_TYPES);
	wire_put_cell(to, singles->boot);
	wire_put_cell(to + WIRE_CELL_BYTES,
	    type << 1 | (singles->counter ? CELL_COUNTER : CELL_GAUGE));
}

/* ---- reading ---- */

/* Read what is before the times; false: the cells are none of `count`. */
static bool
begin_cells(struct wire_buckets *buckets, uint64_t count)
{
	struct wire_singles *singles = &buckets->singles;
	uint64_t type;

	if (buckets->rest.bytes != wire_singles_bytes((uint32_t)count))
		return false;
	type = wire_cell(buckets->rest.at + WIRE_CELL_BYTES);
	if (type >> 1 >= CELL_TYPES)
		return false;
	*singles = (struct wire_singles){ .counter = type & CELL_COUNTER,
		.type = cell_types[type >> 1],
		.boot = wire_cell(buckets->rest.at),
		.count = (uint32_t)count };
	buckets->rest.at += WIRE_SINGLES_CELLS * WIRE_CELL_BYTES;
	buckets->rest.bytes -= WIRE_SINGLES_CELLS * WIRE_CELL_BYTES;
	buckets->is_cells = true;
	buckets->counter = singles->counter;
	return true;
}

bool
wire_buckets_init(struct wire_buckets *buckets, const struct record *record)
{
	uint64_t count = record->count > 0 ? record->count : 1;
	/* Times are within 300 years, so this fits. */
	int64_t long_ns = record->end_ns - record->time_ns;

	if (record->kind != RECORD_SAMPLE || record->name.bytes == 0 ||
	    count > WIRE_PER_RECORD_MAX || long_ns <= 0 ||
	    long_ns % (int64_t)count != 0 ||
	    (record->values > 0 &&
		record->values != count * WIRE_BUCKET_GAUGE &&
		record->values != count * WIRE_BUCKET_COUNTER))
		return false;
	*buckets = (struct wire_buckets){ .rest = record->value_bytes,
		.begin_ns = record->time_ns,
		.step_ns = long_ns / (int64_t)count,
		.left = count,
		.counter = record->values == count * WIRE_BUCKET_COUNTER };
	return record->values > 0 || begin_cells(buckets, count);
}

static inline bool
is_int(unsigned char tag)
{
	return tag < MP_FIXMAP || tag >= MP_NEGATIVE ||
	       (tag >= MP_UINT8 && tag <= MP_INT64);
}

/* An integer; any other type sets `bad`. */
static inline int64_t
take_int(const unsigned char **at, bool *bad)
{
	if (is_int(**at))
		return (int64_t)mp_get_int(at);
	*bad = true;
	*at = mp_skip_scalar(*at);
	return 0;
}

static inline void
take_number(const unsigned char **at, struct value *value)
{
	unsigned char tag = **at;

	value->type = VALUE_NIL;
	if (tag == MP_FLOAT64 || tag == MP_FLOAT32) {
		value->type = VALUE_FLOAT;
		value->is.f = mp_get_float(at);
	} else if (is_int(tag)) {
		value->is.u = mp_get_int(at);
		value->type = tag == MP_UINT64 && value->is.u > INT64_MAX
				  ? VALUE_UINT
				  : VALUE_INT;
	} else {
		*at = mp_skip_scalar(*at);
	}
}

static inline double
take_float(const unsigned char **at)
{
	struct value value;

	if (**at == MP_FLOAT64)
		return mp_get_float(at);
	take_number(at, &value);
	return counter_rate_number(&value);
}

/* What is computed of one sample. */
static void
next_single(struct wire_buckets *buckets, struct wire_bucket *bucket)
{
	const struct wire_singles *singles = &buckets->singles;
	const char *at = buckets->rest.at;
	struct counter_rate_sample *first = &bucket->first;
	struct counter_rate_sample *last = &bucket->last;
	double number;

	/* One by one: a copy would wait for what was just written. */
	first->time_ns = last->time_ns = (int64_t)wire_cell(at);
	first->boot = last->boot = singles->boot;
	first->value.type = last->value.type = singles->type;
	at += WIRE_CELL_BYTES * (size_t)singles->count;
	first->value.is.u = last->value.is.u = wire_cell(at);
	number = singles->counter ? NAN : counter_rate_number(&first->value);
	bucket->count = 1;
	bucket->low = bucket->high = number;
	bucket->mean = singles->counter ? 0 : 0 + number;
	bucket->seconds = 0;
	buckets->left--;
	buckets->begin_ns = bucket->end_ns;
	buckets->rest.at += WIRE_CELL_BYTES;
	buckets->rest.bytes -= 2 * WIRE_CELL_BYTES;
}

int
wire_next_bucket(struct wire_buckets *buckets, struct wire_bucket *bucket)
{
	const unsigned char *at = (const unsigned char *)buckets->rest.at;
	const unsigned char *end = at + buckets->rest.bytes;
	bool bad = false;
	int64_t count;

	if (buckets->left == 0)
		return 0;
	bucket->begin_ns = buckets->begin_ns;
	bucket->end_ns = buckets->begin_ns + buckets->step_ns;
	bucket->counter = buckets->counter;
	if (buckets->is_cells) {
		next_single(buckets, bucket);
		return 1;
	}
	count = take_int(&at, &bad);
	bucket->count = (uint64_t)count;
	bucket->first.time_ns = take_int(&at, &bad);
	bucket->last.time_ns = take_int(&at, &bad);
	bucket->first.boot = (uint64_t)take_int(&at, &bad);
	bucket->last.boot = (uint64_t)take_int(&at, &bad);
	bucket->low = take_float(&at);
	bucket->high = take_float(&at);
	bucket->mean = take_float(&at);
	bucket->seconds = bucket->counter ? take_float(&at) : 0;
	take_number(&at, &bucket->first.value);
	take_number(&at, &bucket->last.value);
	if (bad || count < 0)
		return -1;
	buckets->left--;
	buckets->begin_ns = bucket->end_ns;
	buckets->rest = (struct text){ (const char *)at, (uint32_t)(end - at) };
	return 1;
}

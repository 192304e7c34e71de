/*
 * Buckets as the values of a record.
 * SPDX-License-Identifier: MIT
 */
#include "proto/wire/buckets.h"

#include <math.h>

#include "proto/os/clock.h"
#include "tests/unit/check.h"

enum { BUCKETS = WIRE_PER_RECORD_MAX, STEP_NS = 1000 };

static unsigned char bytes[BUCKETS * WIRE_BUCKET_BYTES_MAX];

static struct value
any_number(uint64_t r)
{
	switch (r % 5) {
	case 0: return (struct value){ VALUE_INT, { .i = -(int64_t)(r >> 9) } };
	case 1: return (struct value){ VALUE_INT, { .i = (int64_t)(r >> 40) } };
	case 2: return (struct value){ VALUE_UINT, { .u = ~(r >> 8) } };
	case 3: return (struct value){ VALUE_FLOAT, { .f = (double)r / 7 } };
	default: return (struct value){ .type = VALUE_NIL };
	}
}

static struct wire_bucket
any_bucket(uint64_t *random, bool counter, int64_t begin_ns)
{
	uint64_t r = check_random(random);

	return (struct wire_bucket){ .begin_ns = begin_ns,
		.end_ns = begin_ns + STEP_NS,
		.counter = counter,
		.count = 1 + (r >> (r & 63)) / 2,
		.first = { (int64_t)(r >> 3), r & 1 ? ~r : 0, any_number(r) },
		.last = { -(int64_t)(r >> 5), r >> 7, any_number(r >> 4) },
		.low = r & 2 ? -1.5 : (double)r,
		.high = r & 4 ? INFINITY : 0,
		.mean = (double)(r >> 11),
		.seconds = counter ? (double)(r >> 60) : 0 };
}

static bool
same_sample(
    const struct counter_rate_sample *a, const struct counter_rate_sample *b)
{
	return a->time_ns == b->time_ns && a->boot == b->boot &&
	       a->value.type == b->value.type &&
	       (a->value.type == VALUE_NIL || a->value.is.u == b->value.is.u);
}

static void
assert_bucket(const struct wire_bucket *a, const struct wire_bucket *b)
{
	assert_true(a->begin_ns == b->begin_ns && a->end_ns == b->end_ns);
	assert_true(a->counter == b->counter && a->count == b->count);
	assert_true(same_sample(&a->first, &b->first));
	assert_true(same_sample(&a->last, &b->last));
	assert_true(a->low == b->low && a->high == b->high);
	assert_true(a->mean == b->mean && a->seconds == b->seconds);
}

static struct record
record_of(uint32_t count, bool counter, size_t used)
{
	return (struct record){ .kind = RECORD_SAMPLE,
		.time_ns = 50,
		.end_ns = 50 + (int64_t)count * STEP_NS,
		.name = text_of("m"),
		.count = count,
		.values =
		    count * (counter ? WIRE_BUCKET_COUNTER : WIRE_BUCKET_GAUGE),
		.value_bytes = { (const char *)bytes, (uint32_t)used } };
}

static void
as_many_as_fit_a_record_come_back_whole(void **state)
{
	static const uint32_t counts[] = { 1, 2, 61, BUCKETS };
	static struct wire_bucket put[BUCKETS];
	uint64_t random = check_seed();
	struct wire_buckets buckets;
	struct wire_bucket got;
	struct wire_writer w;
	struct record record;

	for (unsigned i = 0; i < 8; i++) {
		uint32_t count = counts[i / 2];

		wire_writer_init(&w, bytes, sizeof(bytes));
		for (uint32_t k = 0; k < count; k++) {
			put[k] = any_bucket(&random, i & 1, 50 + k * STEP_NS);
			assert_true(wire_put_bucket(&w, &put[k]));
		}
		record = record_of(count, i & 1, w.bytes);
		if (count == 1)
			record.count = i / 2; /* 0 says one, too */
		assert_true(wire_buckets_init(&buckets, &record));
		for (uint32_t k = 0; k < count; k++) {
			assert_int_equal(wire_next_bucket(&buckets, &got), 1);
			assert_bucket(&got, &put[k]);
		}
		assert_int_equal(wire_next_bucket(&buckets, &got), 0);
	}
}

static void
samples_in_cells_come_back_as_buckets_of_one_each(void **state)
{
	static const struct value values[] = { { VALUE_INT, { .i = -7 } },
		{ VALUE_UINT, { .u = UINT64_MAX } },
		{ VALUE_FLOAT, { .f = 0.1 } }, { VALUE_FLOAT, { .f = -0.0 } } };
	struct wire_buckets buckets;
	struct wire_bucket got;

	for (unsigned i = 0; i < 8; i++) {
		const struct value *value = &values[i / 2];
		const bool counter = i & 1;
		const struct wire_singles singles = { counter, value->type,
			UINT64_MAX - 5, 3 };
		double number = counter ? NAN : counter_rate_number(value);
		struct record record = record_of(3, counter, 8 * 8);

		record.values = 0;
		wire_begin_singles((char *)bytes, &singles);
		for (uint32_t k = 0; k < 3; k++)
			wire_put_single((char *)bytes, &singles, k,
			    &(struct counter_rate_sample){
				60 + k * 1000, 0, *value });
		assert_int_equal(wire_singles_bytes(3), 8 * 8);
		assert_true(wire_buckets_init(&buckets, &record));
		for (uint32_t k = 0; k < 3; k++) {
			struct wire_bucket want = { .begin_ns =
							50 + k * STEP_NS,
				.end_ns = 50 + (k + 1) * STEP_NS,
				.counter = counter,
				.count = 1,
				.first = { 60 + k * 1000, UINT64_MAX - 5,
				    *value },
				.mean = counter ? 0 : number };

			want.last = want.first;
			assert_int_equal(wire_next_bucket(&buckets, &got), 1);
			assert_true(
			    counter ? isnan(got.low) && isnan(got.high)
				    : got.low == number && got.high == number);
			got.low = got.high = 0;
			assert_bucket(&got, &want);
		}
		assert_int_equal(wire_next_bucket(&buckets, &got), 0);
		assert_int_equal(buckets.rest.bytes, 0);
	}
}

static void
cells_of_another_length_or_type_are_no_buckets(void **state)
{
	const struct wire_singles singles = { true, VALUE_INT, 1, 3 };
	struct record record = record_of(3, true, 8 * 8);
	struct wire_buckets buckets;

	record.values = 0;
	memset(bytes, 0, 8 * 9);
	wire_begin_singles((char *)bytes, &singles);
	assert_true(wire_buckets_init(&buckets, &record));
	for (uint32_t length = 0; length < 8 * 9; length++) {
		record.value_bytes.bytes = length;
		assert_true(
		    wire_buckets_init(&buckets, &record) == (length == 8 * 8));
	}
	record.value_bytes.bytes = 8 * 8;
	bytes[8] = 6;
	assert_false(wire_buckets_init(&buckets, &record));
	bytes[8] = 1;
	bytes[15] = 1;
	assert_false(wire_buckets_init(&buckets, &record));
}

static void
a_bucket_that_may_not_fit_is_not_begun(void **state)
{
	uint64_t random = check_seed();
	struct wire_bucket bucket = any_bucket(&random, true, 0);
	struct wire_writer w;

	wire_writer_init(&w, bytes, WIRE_BUCKET_BYTES_MAX - 1);
	assert_false(wire_put_bucket(&w, &bucket));
	assert_true(w.full && w.bytes == 0);
	wire_writer_init(&w, bytes, WIRE_BUCKET_BYTES_MAX);
	assert_true(wire_put_bucket(&w, &bucket));
	assert_false(wire_put_bucket(&w, &bucket));
}

static void
a_record_whose_counts_and_times_do_not_agree_is_none(void **state)
{
	struct record good = record_of(4, true, 0), bad;
	struct wire_buckets buckets;

#define NONE(member, value)                                                    \
	do {                                                                   \
		bad = good;                                                    \
		bad.member = value;                                            \
		assert_false(wire_buckets_init(&buckets, &bad));               \
	} while (0)
	assert_true(wire_buckets_init(&buckets, &good));
	NONE(kind, RECORD_ENTITY);
	NONE(name.bytes, 0);
	NONE(values, 43);
	NONE(values, 45);
	NONE(values, 11);
	NONE(count, 5);
	NONE(count, 0);
	NONE(count, UINT64_MAX);
	NONE(end_ns, 50);
	NONE(end_ns, 49);
	NONE(end_ns, good.end_ns + 1);
	NONE(time_ns, TIME_MAX_NS);
	good.end_ns = good.time_ns + INT64_C(1000) * (WIRE_PER_RECORD_MAX + 1);
	good.values = WIRE_BUCKET_GAUGE * (WIRE_PER_RECORD_MAX + 1);
	NONE(count, WIRE_PER_RECORD_MAX + 1);
#undef NONE
}

static void
a_bucket_counts_in_whole_numbers(void **state)
{
	/* Ten of one byte each, but for one. */
	static const char *const wrong[] = { "\xff\0\0\0\0\0\0\0\0\0",
		"\xc0\0\0\0\0\0\0\0\0\0", "\1\xc0\0\0\0\0\0\0\0\0",
		"\1\0\xc0\0\0\0\0\0\0\0", "\1\0\0\xc0\0\0\0\0\0\0",
		"\1\0\0\0\xc0\0\0\0\0\0" };
	struct record record = record_of(1, false, 0);
	struct wire_buckets buckets;
	struct wire_bucket got;

	for (unsigned i = 0; i < 6; i++) {
		record.value_bytes = (struct text){ wrong[i], 10 };
		assert_true(wire_buckets_init(&buckets, &record));
		assert_int_equal(wire_next_bucket(&buckets, &got), -1);
	}
	record.value_bytes =
	    (struct text){ "\1\2\3\4\5\xc0\6\7\xc0\xcc\x80", 11 };
	assert_true(wire_buckets_init(&buckets, &record));
	assert_int_equal(wire_next_bucket(&buckets, &got), 1);
	assert_true(got.count == 1 && isnan(got.low) && got.high == 6);
	assert_true(got.first.value.type == VALUE_NIL);
	assert_true(got.last.value.is.i == 128);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_fit_a_record_come_back_whole),
		cmocka_unit_test(
		    samples_in_cells_come_back_as_buckets_of_one_each),
		cmocka_unit_test(
		    cells_of_another_length_or_type_are_no_buckets),
		cmocka_unit_test(a_bucket_that_may_not_fit_is_not_begun),
		cmocka_unit_test(
		    a_record_whose_counts_and_times_do_not_agree_is_none),
		cmocka_unit_test(a_bucket_counts_in_whole_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

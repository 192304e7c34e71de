/*
 * key - tests of aggregator/tables/key.h: order, encoding and decoding.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/key.h"

#include "tests/unit/check.h"

enum { ROUNDS = 200000 };

/* Mostly close keys, so that every field decides the order sometimes. */
static struct key_row_block
pick_head(uint64_t *random)
{
	uint64_t r = check_random(random), far = check_random(random);
	struct key_row_block row_key = { .partition = r & 1,
		.kind = (uint8_t)(RECORD_EVENT + (r >> 1 & 1)),
		.hour = (int32_t)(r >> 2 & 3) - 2,
		.node = r >> 4 & 1,
		.track = r >> 5 & 1,
		.first_ns = (int64_t)(r >> 6 & 3) - 2,
		.row = r >> 8 & 1,
		.slice = r >> 9 & 1 };

	switch (r >> 16 & 7) {
	case 0: row_key.partition = (uint32_t)far; break;
	case 1: row_key.hour = (int32_t)far; break;
	case 2: row_key.node = (uint32_t)far; break;
	case 3: row_key.track = (uint32_t)far; break;
	case 4: row_key.first_ns = (int64_t)far; break;
	case 5: row_key.row = (uint32_t)far; break;
	case 6: row_key.slice = (uint32_t)far; break;
	}
	return row_key;
}

#define COMPARE(field)                                                         \
	if (a->field != b->field)                                              \
	return a->field < b->field ? -1 : 1

static int
compare_row_blocks(const struct key_row_block *a, const struct key_row_block *b)
{
	COMPARE(partition);
	COMPARE(kind);
	COMPARE(hour);
	COMPARE(slice);
	if (a->kind == RECORD_SAMPLE)
		COMPARE(track);
	COMPARE(node);
	COMPARE(track);
	COMPARE(first_ns);
	COMPARE(row);
	return 0;
}

static int
sign(int x)
{
	return (x > 0) - (x < 0);
}

static void
the_order_of_bytes_is_the_order_of_the_fields(void **state)
{
	uint64_t random = check_seed();
	unsigned char a[KEY_ROW_BLOCK_BYTES], b[KEY_ROW_BLOCK_BYTES];

	for (int i = 0; i < ROUNDS; i++) {
		struct key_row_block x = pick_head(&random),
				     y = pick_head(&random);

		key_put_row_block(a, &x);
		key_put_row_block(b, &y);
		assert_int_equal(
		    sign(memcmp(a, b, sizeof(a))), compare_row_blocks(&x, &y));
	}
}

static void
a_row_block_key_decodes_to_itself(void **state)
{
	uint64_t random = check_seed();
	unsigned char key[KEY_ROW_BLOCK_BYTES];
	struct key_row_block x, y;

	for (int i = 0; i < ROUNDS; i++) {
		x = pick_head(&random);
		key_put_row_block(key, &x);
		assert_true(key_get_row_block(
		    (struct text){ (char *)key, sizeof(key) }, &y));
		assert_int_equal(compare_row_blocks(&x, &y), 0);
	}
}

static void
a_row_block_key_has_the_documented_bytes(void **state)
{
	static const unsigned char want[] = { 0, 0, 0, 1, 3, 0x80, 0, 0, 3, 0,
		0, 0, 6, 0, 0, 0, 4, 0, 0, 0, 5, 0x7f, 0xff, 0xff, 0xff, 0xff,
		0xff, 0xff, 0xfe, 0, 0, 0, 7 };
	unsigned char key[KEY_ROW_BLOCK_BYTES];
	struct key_row_block row_key = { .partition = 1,
		.kind = RECORD_SPAN,
		.hour = 3,
		.slice = 6,
		.node = 4,
		.track = 5,
		.first_ns = -2,
		.row = 7 };

	key_put_row_block(key, &row_key);
	assert_int_equal(sizeof(want), KEY_ROW_BLOCK_BYTES);
	assert_memory_equal(key, want, sizeof(want));
	/* Of samples the track comes first. */
	row_key.kind = RECORD_SAMPLE;
	row_key.node = 5;
	row_key.track = 4;
	key_put_row_block(key, &row_key);
	assert_int_equal(key[4], 2);
	assert_memory_equal(key + 5, want + 5, sizeof(want) - 5);
}

/* Every place is followed by the next one, and nothing lies between them. */
static void
the_next_series_is_the_next_key(void **state)
{
	struct key_row_block event = { .kind = RECORD_EVENT, .node = 3 };
	struct key_row_block sample = { .kind = RECORD_SAMPLE, .track = 3 };

	event.track = sample.node = UINT32_MAX - 1;
	assert_true(key_next_series(&event) && key_next_series(&sample));
	assert_int_equal(event.node, 3);
	assert_true(event.track == UINT32_MAX);
	assert_int_equal(sample.track, 3);
	assert_true(sample.node == UINT32_MAX);
	assert_true(key_next_series(&event) && key_next_series(&sample));
	assert_int_equal(event.node, 4);
	assert_int_equal(event.track, 0);
	assert_int_equal(sample.track, 4);
	assert_int_equal(sample.node, 0);
	event.node = event.track = sample.node = sample.track = UINT32_MAX;
	assert_false(key_next_series(&event) || key_next_series(&sample));
}

static void
a_phase_key_decodes_to_itself_in_order(void **state)
{
	static const unsigned char want[] = { 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3,
		4, 5, 6, 7, 8, 0, 0, 0, 3 };
	struct key_phase x = { 1, 2, UINT64_C(0x0102030405060708), 3 }, y;
	unsigned char key[KEY_PHASE_BYTES];

	key_put_phase(key, &x);
	assert_memory_equal(key, want, sizeof(want));
	assert_true(
	    key_get_phase((struct text){ (char *)key, sizeof(key) }, &y));
	assert_int_equal(y.partition, 1);
	assert_int_equal(y.phase, 2);
	assert_int_equal(y.scope, 3);
	assert_true(y.key_hash == x.key_hash);
}

static void
keys_of_another_length_are_refused(void **state)
{
	char bytes[64] = { 0 };
	struct key_row_block row_key;
	struct key_phase phase;

	for (uint32_t i = 0; i < sizeof(bytes); i++) {
		assert_int_equal(
		    key_get_row_block((struct text){ bytes, i }, &row_key),
		    i == KEY_ROW_BLOCK_BYTES);
		assert_int_equal(
		    key_get_phase((struct text){ bytes, i }, &phase),
		    i == KEY_PHASE_BYTES);
	}
}

static void
hours_are_rounded_down_before_1970_too(void **state)
{
	assert_int_equal(key_hour(0), 0);
	assert_int_equal(key_hour(KEY_HOUR_NS - 1), 0);
	assert_int_equal(key_hour(KEY_HOUR_NS), 1);
	assert_int_equal(key_hour(-1), -1);
	assert_int_equal(key_hour(-KEY_HOUR_NS), -1);
	assert_int_equal(key_hour(-KEY_HOUR_NS - 1), -2);
	/* 1900-01-01 and 2200-01-01. */
	assert_int_equal(key_hour(INT64_C(-2208988800) * 1000000000), -613608);
	assert_int_equal(key_hour(INT64_C(7258118400) * 1000000000), 2016144);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_of_bytes_is_the_order_of_the_fields),
		cmocka_unit_test(a_row_block_key_decodes_to_itself),
		cmocka_unit_test(a_row_block_key_has_the_documented_bytes),
		cmocka_unit_test(the_next_series_is_the_next_key),
		cmocka_unit_test(a_phase_key_decodes_to_itself_in_order),
		cmocka_unit_test(keys_of_another_length_are_refused),
		cmocka_unit_test(hours_are_rounded_down_before_1970_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

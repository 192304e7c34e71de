/*
 * Samples as columns of doubles.
 * SPDX-License-Identifier: MIT
 */
#include "proto/wire/columns.h"

#include "tests/unit/check.h"

static char cells[(WIRE_CELLS_MAX + 1) * WIRE_CELL_BYTES];

static struct record
record_of(uint64_t samples, uint32_t columns)
{
	return (struct record){ .kind = RECORD_SAMPLE,
		.name = text_of("*"),
		.count = samples,
		.value_bytes = { cells,
		    (uint32_t)(WIRE_CELL_BYTES * samples * (columns + 1)) } };
}

static void
cells_are_the_times_and_then_number_by_number(void **state)
{
	/* Of two samples with two numbers each, byte by byte. */
	static const char bytes[] = "\1\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff"
				    "\xff\xff\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0"
				    "\0\xc0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xe0?";
	struct record record = record_of(2, 2);
	struct wire_columns columns;

	record.value_bytes = (struct text){ bytes, 48 };
	assert_true(wire_columns_init(&columns, &record));
	assert_int_equal(columns.samples, 2);
	assert_int_equal(columns.columns, 2);
	assert_true(wire_column_time(&columns, 0) == 1);
	assert_true(wire_column_time(&columns, 1) == -1);
	assert_true(wire_column_number(&columns, 0, 0) == 1);
	assert_true(wire_column_number(&columns, 0, 1) == -2);
	assert_true(wire_column_number(&columns, 1, 0) == 0);
	assert_true(wire_column_number(&columns, 1, 1) == 0.5);
	for (unsigned i = 0; i < 6; i++) {
		char to[WIRE_CELL_BYTES];

		wire_put_cell(to, wire_cell(bytes + WIRE_CELL_BYTES * i));
		assert_memory_equal(to, bytes + WIRE_CELL_BYTES * i, 8);
	}
}

static void
as_many_cells_as_there_may_be_are_taken(void **state)
{
	static const uint32_t samples[] = { 1, 2, 2048, WIRE_CELLS_MAX };
	struct wire_columns columns;

	for (unsigned i = 0; i < 4; i++) {
		struct record record =
		    record_of(samples[i], WIRE_CELLS_MAX / samples[i] - 1);

		assert_true(wire_columns_init(&columns, &record));
		assert_int_equal(columns.samples, samples[i]);
		assert_int_equal(
		    columns.columns, WIRE_CELLS_MAX / samples[i] - 1);
	}
}

static void
a_record_without_the_bytes_it_should_have_is_none(void **state)
{
	struct record good = record_of(7, 3), bad;
	struct wire_columns columns;

#define NONE(member, value)                                                    \
	do {                                                                   \
		bad = good;                                                    \
		bad.member = value;                                            \
		assert_false(wire_columns_init(&columns, &bad));               \
	} while (0)
	assert_true(wire_columns_init(&columns, &good));
	NONE(kind, RECORD_REJECTED);
	NONE(name.bytes, 0);
	NONE(values, 1);
	NONE(count, 0);
	NONE(count, 5);
	NONE(count, 29);
	NONE(count, UINT64_MAX);
	NONE(value_bytes.bytes, 0);
	NONE(value_bytes.bytes, 7 * 4 * 8 - 1);
	NONE(value_bytes.bytes, 7 * 4 * 8 + 8);
	good.count = WIRE_CELLS_MAX + 1;
	NONE(value_bytes.bytes, 8 * (WIRE_CELLS_MAX + 1));
#undef NONE
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_are_the_times_and_then_number_by_number),
		cmocka_unit_test(as_many_cells_as_there_may_be_are_taken),
		cmocka_unit_test(
		    a_record_without_the_bytes_it_should_have_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * thrift - bytes worked out by hand from thrift-compact-protocol.md.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/thrift.h"

#include "tests/unit/check.h"
#include "tests/unit/proto/answer/bytes.h"

/* A field is the distance of its number and its type, 4 bits each. */
static void
numbers_are_zigzag_varints(void **state)
{
	struct buffer made = { 0 };
	struct thrift t = { .to = &made };

	thrift_begin(&t);
	thrift_i32(&t, 1, 1);
	thrift_i64(&t, 3, 300);
	thrift_i32(&t, 4, -1);
	thrift_i64(&t, 5, INT64_MIN);
	thrift_i8(&t, 6, 64);
	thrift_end(&t);
	IS(0x15, 0x02, 0x26, 0xD8, 0x04, 0x15, 0x01, 0x16, 0xFF, 0xFF, 0xFF,
	    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0x13, 0x40, 0x00);
}

static void
a_distance_over_15_has_a_number_of_its_own(void **state)
{
	struct buffer made = { 0 };
	struct thrift t = { .to = &made };

	thrift_begin(&t);
	thrift_i32(&t, 1, 0);
	thrift_i32(&t, 16, 0);
	thrift_i32(&t, 32, 0);
	thrift_end(&t);
	IS(0x15, 0x00, 0xF5, 0x00, 0x05, 0x40, 0x00, 0x00);
}

static void
a_flag_is_a_type(void **state)
{
	struct buffer made = { 0 };
	struct thrift t = { .to = &made };

	thrift_begin(&t);
	thrift_bool(&t, 1, true);
	thrift_bool(&t, 2, false);
	thrift_end(&t);
	IS(0x11, 0x12, 0x00);
}

/* Fields of a struct count from 0, and the outer ones go on behind it. */
static void
structs_are_nested(void **state)
{
	struct buffer made = { 0 };
	struct thrift t = { .to = &made };

	thrift_begin(&t);
	thrift_text(&t, 2, text_of("abc"));
	thrift_begin_field(&t, 5);
	thrift_i32(&t, 2, 2);
	thrift_begin_field(&t, 3);
	thrift_end(&t);
	thrift_end(&t);
	thrift_text(&t, 6, text_of(""));
	thrift_end(&t);
	IS(0x28, 0x03, 'a', 'b', 'c', 0x3C, 0x25, 0x04, 0x1C, 0x00, 0x00, 0x18,
	    0x00, 0x00);
}

static void
a_list_says_how_long_it_is(void **state)
{
	struct buffer made = { 0 };
	struct thrift t = { .to = &made };

	thrift_begin(&t);
	thrift_list(&t, 1, THRIFT_I32, 2);
	thrift_put_i32(&t, 3);
	thrift_put_i32(&t, -2);
	thrift_list(&t, 2, THRIFT_BINARY, 1);
	thrift_put_text(&t, text_of("x"));
	thrift_list(&t, 3, THRIFT_STRUCT, 14);
	thrift_list(&t, 4, THRIFT_STRUCT, 15);
	thrift_list(&t, 5, THRIFT_STRUCT, 200);
	IS(0x19, 0x25, 0x06, 0x03, 0x19, 0x18, 0x01, 'x', 0x19, 0xEC, 0x19,
	    0xFC, 0x0F, 0x19, 0xFC, 0xC8, 0x01);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_zigzag_varints),
		cmocka_unit_test(a_distance_over_15_has_a_number_of_its_own),
		cmocka_unit_test(a_flag_is_a_type),
		cmocka_unit_test(structs_are_nested),
		cmocka_unit_test(a_list_says_how_long_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

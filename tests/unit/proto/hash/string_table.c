/*
 * string_table - tests of proto/hash/string_table.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "proto/hash/string_table.h"

static void
names_are_numbered_in_the_order_of_their_coming(void **state)
{
	struct string_table t;
	char name[] = "first";
	uint32_t number = 99;

	string_table_init(&t);
	assert_false(string_table_find(&t, text_of("first"), &number));
	assert_int_equal(string_table_add(&t, text_of(name)), 0);
	name[0] = 'F'; /* it was copied */
	assert_int_equal(string_table_add(&t, text_of("second")), 1);
	assert_int_equal(string_table_add(&t, text_of("first")), 0);
	assert_int_equal(string_table_add(&t, text_of("")), 2);
	assert_int_equal(
	    string_table_add(&t, (struct text){ "first\0x", 7 }), 3);
	assert_int_equal(t.count, 4);
	assert_true(text_equal(t.names[0], text_of("first")));
	assert_true(string_table_find(&t, text_of("second"), &number));
	assert_int_equal(number, 1);
	assert_false(string_table_find(&t, text_of("Second"), &number));
	string_table_clear(&t);
}

static void
a_hundred_thousand_names_keep_their_numbers_and_places(void **state)
{
	enum { NAMES = 100000 };
	struct string_table t;
	struct text early;
	char name[32];
	uint32_t number;

	string_table_init(&t);
	early = string_table_text(&t, text_of("name 0"));
	for (unsigned i = 1; i < NAMES; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		assert_int_equal(string_table_add(&t, text_of(name)), i);
	}
	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		assert_true(string_table_find(&t, text_of(name), &number));
		assert_int_equal(number, i);
	}
	assert_int_equal(t.count, NAMES);
	assert_ptr_equal(early.at, t.names[0].at);
	assert_memory_equal(early.at, "name 0", 6);
	string_table_clear(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    names_are_numbered_in_the_order_of_their_coming),
		cmocka_unit_test(
		    a_hundred_thousand_names_keep_their_numbers_and_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

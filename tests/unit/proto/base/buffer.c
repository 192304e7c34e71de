/*
 * buffer - tests of proto/base/buffer.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "proto/base/buffer.h"

static void
nothing_was_put_yet(void **state)
{
	struct buffer b = { NULL, 0, 0 };

	buffer_put(&b, NULL, 0);
	assert_int_equal(b.bytes, 0);
	assert_int_equal(buffer_text(&b).bytes, 0);
	buffer_clear(&b);
}

static void
bytes_stand_in_the_order_in_which_they_were_put(void **state)
{
	struct buffer b = { NULL, 0, 0 };
	unsigned char *end;

	buffer_put(&b, "a\0b", 3);
	buffer_put_text(&b, text_of("cd"));
	end = buffer_need(&b, 1);
	*end = 'e';
	b.bytes++;
	assert_int_equal(b.bytes, 6);
	assert_memory_equal(b.at, "a\0bcde", 6);
	assert_true(text_equal(buffer_text(&b), (struct text){ "a\0bcde", 6 }));
	buffer_clear(&b);
	assert_null(b.at);
	assert_int_equal(b.room, 0);
}

static void
room_is_doubled_and_what_is_there_stays(void **state)
{
	struct buffer b = { NULL, 0, 0 };

	for (unsigned i = 0; i < 3000; i++) {
		unsigned char byte = (unsigned char)(i % 251);

		buffer_put(&b, &byte, 1);
		assert_int_equal(b.room, i < 1024   ? 1024
					 : i < 2048 ? 2048
						    : 4096);
	}
	for (unsigned i = 0; i < 3000; i++)
		assert_int_equal(b.at[i], i % 251);
	buffer_need(&b, 100000);
	assert_int_equal(b.room, 131072);
	assert_int_equal(b.bytes, 3000);
	assert_int_equal(b.at[2999], 2999 % 251);
	buffer_clear(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_was_put_yet),
		cmocka_unit_test(
		    bytes_stand_in_the_order_in_which_they_were_put),
		cmocka_unit_test(room_is_doubled_and_what_is_there_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

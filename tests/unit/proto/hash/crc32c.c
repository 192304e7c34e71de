/*
 * crc32c - published check values, and both ways of computing agree.
 * SPDX-License-Identifier: MIT
 */
#include "proto/hash/crc32c.h"

#include "tests/unit/check.h"

static void
the_published_values_come_out(void **state)
{
	unsigned char b[32];

	assert_int_equal(crc32c(0, "123456789", 9), 0xE3069283);
	memset(b, 0, sizeof(b)); /* RFC 3720, B.4 */
	assert_int_equal(crc32c(0, b, 32), 0x8A9136AA);
	memset(b, 0xFF, sizeof(b));
	assert_int_equal(crc32c(0, b, 32), 0x62A8AB43);
	for (unsigned char i = 0; i < 32; i++)
		b[i] = i;
	assert_int_equal(crc32c(0, b, 32), 0x46DD794E);
	assert_int_equal(crc32c(0, "", 0), 0);
}

static void
the_instruction_and_the_table_agree_at_every_length(void **state)
{
	uint64_t random = check_seed();
	static unsigned char b[40000];

	for (size_t i = 0; i < sizeof(b); i++)
		b[i] = (unsigned char)check_random(&random);
	for (size_t n = 0; n < 9000; n++) {
		size_t from = check_random(&random) % 16;

		assert_int_equal(
		    crc32c(7, b + from, n), crc32c_table(7, b + from, n));
	}
	for (int i = 0; i < 200; i++) {
		size_t n = check_random(&random) % sizeof(b);
		size_t cut = n ? check_random(&random) % n : 0;

		assert_int_equal(crc32c(0, b, n), crc32c_table(0, b, n));
		assert_int_equal(crc32c(crc32c(0, b, cut), b + cut, n - cut),
		    crc32c(0, b, n));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_values_come_out),
		cmocka_unit_test(
		    the_instruction_and_the_table_agree_at_every_length),
	};

	return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}

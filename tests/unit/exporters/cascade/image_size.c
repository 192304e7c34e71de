/*
 * image_size - how large an image is, as container tools print it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/image_size.h"

#include "tests/unit/check.h"

static void
assert_size(const char *t, uint64_t wanted)
{
	uint64_t bytes = 0;

	assert_int_equal(image_size_parse(text_of(t), &bytes), 0);
	assert_int_equal(bytes, wanted);
}

static void
a_blank_before_the_unit_is_the_old_binary_docker(void **state)
{
	assert_size("187.8 MB", (uint64_t)(187.8 * 1048576));
	assert_size("1.5 kB", 1536);
	assert_size("2.876 GB", (uint64_t)(2.876 * 1073741824));
	assert_size("1 TB", UINT64_C(1) << 40);
	assert_size("12 B", 12);
	assert_size(" 12  B ", 12);
}

static void
no_blank_is_decimal(void **state)
{
	assert_size("188MB", 188000000);
	assert_size("ago 188MB", 188000000);
	assert_size("2 weeks ago 1.29GB", 1290000000);
	assert_size("764.1kB", 764100);
	assert_size("0B", 0);
}

static void
an_i_makes_it_binary(void **state)
{
	assert_size("1KiB", 1024);
	assert_size("1.5 MiB", 1572864);
	assert_size("2GiB", UINT64_C(2) << 30);
}

static void
a_bare_number_is_bytes(void **state)
{
	assert_size("99812733", 99812733);
	assert_size("0", 0);
	assert_size("18446744073709551615", UINT64_MAX);
}

static void
nothing_else_is_a_size(void **state)
{
	static const char *const wrong[] = { "", " ", "MB", "ago MB", "x",
		"12 XB", "12 furlongs", "-5", "-5MB", "1e5", "nan", "inf",
		"0x10", "1.2.3MB", ".", ". MB", "1..2 GB", "99999999999999PB",
		"1.5", "12 MiBB", "18446744073709551616", "1 iB", "1ZB" };
	uint64_t bytes;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (image_size_parse(text_of(wrong[i]), &bytes) != -1)
			fail_msg("'%s' was taken", wrong[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_blank_before_the_unit_is_the_old_binary_docker),
		cmocka_unit_test(no_blank_is_decimal),
		cmocka_unit_test(an_i_makes_it_binary),
		cmocka_unit_test(a_bare_number_is_bytes),
		cmocka_unit_test(nothing_else_is_a_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * result_id - tests.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/read.h"

#include <string.h>

#include "tests/unit/check.h"

static const int64_t times[] = { INT64_MIN, -62135596800000000, -1, 0, 1,
	1489000000000000, 1489000000000001, 253402300799999999, INT64_MAX };
enum { TIMES = sizeof(times) / sizeof(*times) };

static void
later_times_come_first(void **state)
{
	char digits[TIMES][17];

	for (int i = 0; i < TIMES; i++) {
		result_id_time(digits[i], times[i]);
		assert_int_equal(strlen(digits[i]), 16);
		if (i > 0)
			assert_true(strcmp(digits[i], digits[i - 1]) < 0);
	}
}

static void
a_time_is_read_back(void **state)
{
	char digits[17];
	int64_t back;

	for (int i = 0; i < TIMES; i++) {
		result_id_time(digits, times[i]);
		assert_true(result_id_get_time(text_of(digits), &back));
		assert_true(back == times[i]);
	}
	assert_false(result_id_get_time(text_of(""), &back));
	assert_false(result_id_get_time(text_of("000000000000000"), &back));
	assert_false(result_id_get_time(text_of("000000000000000G"), &back));
	assert_false(result_id_get_time(text_of("000000000000000A"), &back));
	assert_false(result_id_get_time(text_of("00000000000000000"), &back));
}

/* Of Python's hashlib.blake2b(len(test).to_bytes(4, 'little') + test + entry,
 * digest_size=16).hexdigest()[:24]. */
static void
names_are_hashed_as_the_agreement_says(void **state)
{
	static const struct {
		const char *test, *entry, *hash;
	} cases[] = {
		{ "", "", "11d2df4e979aa105cf552e95" },
		{ "//core:kernels_test", "", "24e4ea7e64c5e982ebfee0fe" },
		{ "//core:kernels_test", "BM_Add_0",
		    "9b0d18feed555d5ceceea2af" },
		{ "größe", "é", "f2271c81998e501fe7d59d58" },
	};
	char hash[25];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		result_id_name(
		    hash, text_of(cases[i].test), text_of(cases[i].entry));
		assert_string_equal(hash, cases[i].hash);
	}
}

static void
a_test_and_its_entry_are_not_another_test(void **state)
{
	char a[25], b[25];

	result_id_name(a, text_of("ab"), text_of("c"));
	result_id_name(b, text_of("a"), text_of("bc"));
	assert_string_not_equal(a, b);
	result_id_name(b, text_of("abc"), text_of(""));
	assert_string_not_equal(a, b);
}

static void
an_entry_has_the_id_of_its_file_but_for_its_name_and_number(void **state)
{
	static const char run[] = "24e4ea7e64c5e982ebfee0fe/7ffab5c6a3aeb7ff/"
				  "00112233445566778899aabbccddeeff";
	static const struct {
		uint32_t number;
		const char *id;
	} cases[] = {
		{ 0, "9b0d18feed555d5ceceea2af/7ffab5c6a3aeb7ff/"
		     "00112233445566778899aabbccddeeff/00000" },
		{ 0xabc, "9b0d18feed555d5ceceea2af/7ffab5c6a3aeb7ff/"
			 "00112233445566778899aabbccddeeff/00abc" },
		{ 65535, "9b0d18feed555d5ceceea2af/7ffab5c6a3aeb7ff/"
			 "00112233445566778899aabbccddeeff/0ffff" },
	};
	char id[RESULT_ID_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		result_id_entry(id, run, text_of("//core:kernels_test"),
		    text_of("BM_Add_0"), cases[i].number);
		assert_string_equal(id, cases[i].id);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(later_times_come_first),
		cmocka_unit_test(a_time_is_read_back),
		cmocka_unit_test(names_are_hashed_as_the_agreement_says),
		cmocka_unit_test(a_test_and_its_entry_are_not_another_test),
		cmocka_unit_test(
		    an_entry_has_the_id_of_its_file_but_for_its_name_and_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * blake2b - RFC 7693's example, and libsodium at every length.
 * SPDX-License-Identifier: MIT
 */
#include "proto/hash/blake2b.h"

#include <sodium.h>

#include "tests/unit/check.h"

static void
the_example_of_the_specification_comes_out(void **state)
{
	static const unsigned char expected[] = { 0xba, 0x80, 0xa5, 0x3f, 0x98,
		0x1c, 0x4d, 0x0d };
	unsigned char hash[BLAKE2B_BYTES_MAX];

	blake2b(hash, sizeof(hash), "abc", 3); /* appendix A */
	assert_memory_equal(hash, expected, sizeof(expected));
	assert_int_equal(hash[63], 0x23);
}

static void
every_length_is_as_libsodium_says(void **state)
{
	unsigned char in[700], ours[BLAKE2B_BYTES_MAX], theirs[sizeof(ours)];

	randombytes_buf(in, sizeof(in));
	for (size_t bytes = 0; bytes <= sizeof(in); bytes++)
		for (size_t out = 16; out <= sizeof(ours); out += 16) {
			blake2b(ours, out, in, bytes);
			crypto_generichash(theirs, out, in, bytes, NULL, 0);
			assert_memory_equal(ours, theirs, out);
		}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_the_specification_comes_out),
		cmocka_unit_test(every_length_is_as_libsodium_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

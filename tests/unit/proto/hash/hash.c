/*
 * hash - SipHash's published vectors, and running hashes that never meet again.
 * SPDX-License-Identifier: MIT
 */
#include "proto/hash/hash.h"

#include "tests/unit/check.h"

/* Key 00 01 .. 0f, inputs 00 01 .. (n-1): from the appendix of the paper and
 * the first rows of the reference vectors. */
static void
the_published_vectors_come_out(void **state)
{
	struct hash_key key = { UINT64_C(0x0706050403020100),
		UINT64_C(0x0f0e0d0c0b0a0908) };
	unsigned char input[16];

	for (unsigned char i = 0; i < 16; i++)
		input[i] = i;
	assert_true(hash_bytes(key, input, 0) == UINT64_C(0x726fdb47dd0e0e31));
	assert_true(hash_bytes(key, input, 1) == UINT64_C(0x74f839c593dc67fd));
	assert_true(hash_bytes(key, input, 8) == UINT64_C(0x93f5f5799a932462));
	assert_true(hash_bytes(key, input, 15) == UINT64_C(0xa129ca6149be45e5));
}

static void
a_chain_depends_on_everything_before(void **state)
{
	uint64_t a = hash_chain(0, 1, 2, 3), b = hash_chain(0, 1, 2, 4);

	assert_true(a != b);
	assert_true(hash_chain(a, 5, 6, 7) != hash_chain(b, 5, 6, 7));
	assert_true(hash_chain(0, 0, 0, 0) != 0);
}

static void
random_bytes_differ(void **state)
{
	unsigned char a[300], b[300];

	hash_random_bytes(a, sizeof(a));
	hash_random_bytes(b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
	assert_memory_not_equal(a + 280, b + 280, 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_published_vectors_come_out),
		cmocka_unit_test(a_chain_depends_on_everything_before),
		cmocka_unit_test(random_bytes_differ),
	};

	return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}

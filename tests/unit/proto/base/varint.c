/*
 * varint - tests of proto/base/varint.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "proto/base/varint.h"

/* The number as LEB128 says, and how many bytes; 0: none that fits. */
static unsigned
by_the_book(const unsigned char *at, unsigned room, uint64_t *number)
{
	unsigned __int128 value = 0;
	unsigned i;

	for (i = 0; i < room && i < 10; i++) {
		value |= (unsigned __int128)(at[i] & 0x7f) << (7 * i);
		if (at[i] >= 0x80)
			continue;
		*number = (uint64_t)value;
		return value >> 64 ? 0 : i + 1;
	}
	return 0;
}

/* Any bytes, with any number of others behind them. */
static void
varints_are_read_as_leb128_says_wherever_they_end(void **state)
{
	uint64_t random = check_seed();

	for (int round = 0; round < 200000; round++) {
		unsigned char bytes[24];
		unsigned room = (unsigned)(check_random(&random) % 24), taken;
		unsigned more = (unsigned)(check_random(&random) % 12);
		struct varint_reader u = { bytes, bytes + room, false };
		uint64_t wanted = 0, got;

		for (unsigned i = 0; i < room; i++) {
			bytes[i] = (unsigned char)check_random(&random);
			bytes[i] = i < more ? bytes[i] | 0x80 : bytes[i] & 0x7f;
		}
		taken = by_the_book(bytes, room, &wanted);
		got = varint_get(&u);
		assert_int_equal(u.bad, taken == 0);
		assert_true(got == (taken > 0 ? wanted : 0));
		assert_true(u.at == (taken > 0 ? bytes + taken : u.end));
	}
}

static void
numbers_come_back(void **state)
{
	uint64_t random = check_seed();

	for (int round = 0; round < 100000; round++) {
		uint64_t number =
		    check_random(&random) >> check_random(&random) % 64;
		unsigned char bytes[VARINT_BYTES];
		unsigned char *end = varint_encode(bytes, number);
		struct varint_reader u = { bytes, end, false };

		assert_true(varint_get(&u) == number);
		assert_true(!u.bad && u.at == end);
		assert_true(varint_zigzag(varint_unzigzag(number)) == number);
		/* Cut off anywhere it is none. */
		u = (struct varint_reader){ bytes, end - 1, false };
		assert_true(varint_get(&u) == 0 && u.bad);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    varints_are_read_as_leb128_says_wherever_they_end),
		cmocka_unit_test(numbers_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

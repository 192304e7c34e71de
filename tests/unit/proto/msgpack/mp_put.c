/*
 * Tests of proto/msgpack/mp_put.h against the formats of MessagePack's
 * specification, at both sides of each bound.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "proto/msgpack/mp_put.h"

static unsigned char room[MP_HEAD_BYTES_MAX + 300];

#define WRITES(put, value, want)                                               \
	do {                                                                   \
		unsigned char *end = room;                                     \
                                                                               \
		memset(room, 0x55, sizeof(room));                              \
		put(&end, value);                                              \
		assert_int_equal(end - room, sizeof(want) - 1);                \
		assert_memory_equal(room, want, sizeof(want) - 1);             \
		assert_int_equal(*end, 0x55);                                  \
	} while (0)

static void
an_integer_has_the_shortest_form(void **state)
{
	WRITES(mp_put_uint64, 0, "\x00");
	WRITES(mp_put_uint64, 127, "\x7f");
	WRITES(mp_put_uint64, 128, "\xcc\x80");
	WRITES(mp_put_uint64, 255, "\xcc\xff");
	WRITES(mp_put_uint64, 256, "\xcd\x01\x00");
	WRITES(mp_put_uint64, 65535, "\xcd\xff\xff");
	WRITES(mp_put_uint64, 65536, "\xce\x00\x01\x00\x00");
	WRITES(mp_put_uint64, UINT32_MAX, "\xce\xff\xff\xff\xff");
	WRITES(mp_put_uint64, UINT32_MAX + UINT64_C(1),
	    "\xcf\x00\x00\x00\x01\x00\x00\x00\x00");
	WRITES(
	    mp_put_uint64, UINT64_MAX, "\xcf\xff\xff\xff\xff\xff\xff\xff\xff");
	WRITES(mp_put_int64, INT64_MAX, "\xcf\x7f\xff\xff\xff\xff\xff\xff\xff");
	WRITES(mp_put_int64, 65536, "\xce\x00\x01\x00\x00");
	WRITES(mp_put_int64, 256, "\xcd\x01\x00");
	WRITES(mp_put_int64, 128, "\xcc\x80");
	WRITES(mp_put_int64, 127, "\x7f");
	WRITES(mp_put_int64, 0, "\x00");
	WRITES(mp_put_int64, -1, "\xff");
	WRITES(mp_put_int64, -32, "\xe0");
	WRITES(mp_put_int64, -33, "\xd0\xdf");
	WRITES(mp_put_int64, INT8_MIN, "\xd0\x80");
	WRITES(mp_put_int64, INT8_MIN - 1, "\xd1\xff\x7f");
	WRITES(mp_put_int64, INT16_MIN, "\xd1\x80\x00");
	WRITES(mp_put_int64, INT16_MIN - 1, "\xd2\xff\xff\x7f\xff");
	WRITES(mp_put_int64, INT32_MIN, "\xd2\x80\x00\x00\x00");
	WRITES(mp_put_int64, INT32_MIN - INT64_C(1),
	    "\xd3\xff\xff\xff\xff\x7f\xff\xff\xff");
	WRITES(mp_put_int64, INT64_MIN, "\xd3\x80\x00\x00\x00\x00\x00\x00\x00");
}

static void
a_double_is_never_narrowed(void **state)
{
	WRITES(mp_put_double, 1.0, "\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00");
	WRITES(mp_put_double, -0.0, "\xcb\x80\x00\x00\x00\x00\x00\x00\x00");
	WRITES(mp_put_bool, true, "\xc3");
	WRITES(mp_put_bool, false, "\xc2");
}

static void
a_length_has_the_shortest_form(void **state)
{
	WRITES(mp_put_str, 0, "\xa0");
	WRITES(mp_put_str, 31, "\xbf");
	WRITES(mp_put_str, 32, "\xd9\x20");
	WRITES(mp_put_str, 255, "\xd9\xff");
	WRITES(mp_put_str, 256, "\xda\x01\x00");
	WRITES(mp_put_str, 65535, "\xda\xff\xff");
	WRITES(mp_put_str, 65536, "\xdb\x00\x01\x00\x00");
	WRITES(mp_put_bin, 0, "\xc4\x00");
	WRITES(mp_put_bin, 255, "\xc4\xff");
	WRITES(mp_put_bin, 256, "\xc5\x01\x00");
	WRITES(mp_put_bin, 65536, "\xc6\x00\x01\x00\x00");
	WRITES(mp_put_array, 0, "\x90");
	WRITES(mp_put_array, 15, "\x9f");
	WRITES(mp_put_array, 16, "\xdc\x00\x10");
	WRITES(mp_put_array, 65535, "\xdc\xff\xff");
	WRITES(mp_put_array, 65536, "\xdd\x00\x01\x00\x00");
	WRITES(mp_put_map, 15, "\x8f");
	WRITES(mp_put_map, 16, "\xde\x00\x10");
	WRITES(mp_put_map, 65536, "\xdf\x00\x01\x00\x00");
}

static void
a_body_is_copied_whole(void **state)
{
	unsigned char *end = room;

	memset(room, 0x55, sizeof(room));
	mp_put_str_body(&end, "", 0);
	assert_ptr_equal(end, room);
	assert_int_equal(room[0], 0x55);
	mp_put_str_body(&end, "ab", 2);
	mp_put_bin_body(&end, "c", 1);
	assert_int_equal(end - room, 3);
	assert_memory_equal(room, "abc\x55", 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_integer_has_the_shortest_form),
		cmocka_unit_test(a_double_is_never_narrowed),
		cmocka_unit_test(a_length_has_the_shortest_form),
		cmocka_unit_test(a_body_is_copied_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * upload_follow_cursor - what a follower remembers, and what is not that.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/records.h"

#include <unistd.h>

#include "tests/unit/check.h"

#define HEAD                                                                   \
	"poolscope-upload cursor 1\n"                                          \
	"selection 8a192fccefcf402e321717a59467c06f\n"                         \
	"generation 7\nentry 9\nrecords 0\nuntil 12\nsent 21\n"

static void
times_below_zero_are_times(void **state)
{
	struct upload_cursor cursor;
	struct err err = { 0 };

	assert_int_equal(upload_cursor_parse(&cursor,
			     text_of(HEAD "from -9223372036854775808\n"
					  "to 9223372036854775807\n"),
			     &err),
	    0);
	assert_true(cursor.from_ns == INT64_MIN);
	assert_true(cursor.to_ns == INT64_MAX);
	assert_int_equal(upload_cursor_parse(
			     &cursor, text_of(HEAD "from -1\nto -0\n"), &err),
	    0);
	assert_true(cursor.from_ns == -1 && cursor.to_ns == 0);
}

static void
times_out_of_range_are_damage(void **state)
{
	static const char *const bad[] = {
		HEAD "from -9223372036854775809\nto 0\n",
		HEAD "from 9223372036854775808\nto 0\n",
		HEAD "from --1\nto 0\n",
		HEAD "from -\nto 0\n",
		HEAD "from 1\n",
		HEAD,
	};
	struct upload_cursor cursor;
	struct err err = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (upload_cursor_parse(&cursor, text_of(bad[i]), &err) == 0)
			fail_msg("%s", bad[i]);
}

static void
what_is_saved_is_loaded(void **state)
{
	struct upload_cursor saved = { .selection =
					   "8a192fccefcf402e321717a59467c06f",
		.generation = UINT64_MAX,
		.entry = 3,
		.records = 4,
		.until = 5,
		.sent = 6,
		.from_ns = INT64_MIN,
		.to_ns = -17 },
			     loaded;
	char path[] = "/tmp/cursor.XXXXXX";
	struct err err = { 0 };
	int fd = mkstemp(path);
	bool found;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(upload_cursor_save(&saved, path, &err), 0);
	assert_int_equal(upload_cursor_load(&loaded, path, &found, &err), 0);
	remove(path);
	assert_true(found);
	assert_string_equal(loaded.selection, saved.selection);
	assert_true(loaded.generation == saved.generation &&
		    loaded.entry == 3 && loaded.records == 4 &&
		    loaded.until == 5 && loaded.sent == 6);
	assert_true(loaded.from_ns == INT64_MIN && loaded.to_ns == -17);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_below_zero_are_times),
		cmocka_unit_test(times_out_of_range_are_damage),
		cmocka_unit_test(what_is_saved_is_loaded),
	};

	return cmocka_run_group_tests_name("upload_cursor", tests, NULL, NULL);
}

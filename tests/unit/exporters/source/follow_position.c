/*
 * follow_position - tests of exporters/source/follow_position.h.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/follow_position.h"

#include <unistd.h>

#include "tests/unit/check.h"

static char path[] = "/tmp/position.XXXXXX";

static int
make_path(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 || close(fd) != 0 || unlink(path) != 0;
}

static void
put(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void
what_was_written_is_read(void **state)
{
	uint64_t random = check_seed();
	struct follow_position a, b;
	struct err err = { 0 };

	for (unsigned i = 0; i < 50; i++) {
		a.generation =
		    check_random(&random) >> (check_random(&random) & 63);
		a.entry = check_random(&random) >> (check_random(&random) & 63);
		assert_int_equal(follow_position_write(&a, path, &err), 0);
		assert_int_equal(follow_position_read(&b, path, &err), 0);
		assert_true(a.generation == b.generation);
		assert_true(a.entry == b.entry);
	}
	a = (struct follow_position){ UINT64_MAX, UINT64_MAX };
	assert_int_equal(follow_position_write(&a, path, &err), 0);
	assert_int_equal(follow_position_read(&b, path, &err), 0);
	assert_true(b.generation == UINT64_MAX && b.entry == UINT64_MAX);
	unlink(path);
}

static void
without_a_file_it_is_the_beginning(void **state)
{
	struct follow_position follow_position = { 1, 2 };
	struct err err = { 0 };

	assert_int_equal(follow_position_read(&follow_position, path, &err), 0);
	assert_true(
	    follow_position.generation == 0 && follow_position.entry == 0);
}

static void
what_is_no_position_is_refused_by_name(void **state)
{
	static const char *const texts[] = {
		"", "\n", "1", "1 2", " 1 2\n", "1  2\n", "1 2 3\n", "-1 2\n",
		"1 x\n", "1 2\n\n", " \n", "1 \n", "18446744073709551616 1\n",
		"1 2222222222222222222222222222222222222222222222222222222222"
		"2222222222222222222222222222222222222222222222222222222222\n"
	};
	struct follow_position follow_position;
	struct err err;
	unsigned i;

	for (i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		put(texts[i]);
		err.text[0] = '\0';
		assert_int_equal(
		    follow_position_read(&follow_position, path, &err), -1);
		assert_non_null(strstr(err.text, path));
		assert_non_null(strstr(err.text, "is not a journal position"));
	}
	unlink(path);
	assert_int_equal(
	    follow_position_read(&follow_position, "/tmp", &err), -1);
	assert_non_null(strstr(err.text, "/tmp"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(without_a_file_it_is_the_beginning),
		cmocka_unit_test(what_is_no_position_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, make_path, NULL);
}

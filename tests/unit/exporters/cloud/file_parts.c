/*
 * file_parts - any file comes out in parts as it is, and the sums are right.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/file_put.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/check.h"

static int
make_file(const char *bytes, size_t n)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	for (size_t at = 0; at < n;) {
		ssize_t wrote = write(fd, bytes + at, n - at);

		assert_true(wrote > 0);
		at += (size_t)wrote;
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* All parts of `fd` together are `bytes`. */
static uint32_t
assert_parts(int fd, const char *bytes, size_t n, int64_t printed)
{
	struct file_parts parts;
	struct file_part part;
	struct err err = { 0 };
	size_t at = 0;
	uint32_t count = 0;
	bool last = false;

	assert_int_equal(file_parts_open(&parts, fd, printed, NULL, &err), 0);
	while (file_parts_next(&parts, &part, &err) > 0) {
		assert_false(last);
		assert_int_equal(part.number, ++count);
		assert_true(at + part.body.bytes <= n);
		assert_true(part.last || part.body.bytes == FILE_PART_BYTES);
		if (part.body.bytes > 0)
			assert_memory_equal(
			    part.body.at, bytes + at, part.body.bytes);
		at += part.body.bytes;
		last = part.last;
	}
	assert_string_equal(err.text, "");
	assert_true(last);
	assert_int_equal(at, n);
	assert_int_equal(parts.done, n);
	file_parts_close(&parts);
	return count;
}

static void
a_part_has_eight_mebibytes_and_the_last_what_is_left(void **state)
{
	static const struct {
		size_t bytes;
		uint32_t parts;
	} cases[] = { { 0, 1 }, { 1, 1 }, { FILE_PART_BYTES - 1, 1 },
		{ FILE_PART_BYTES, 1 }, { FILE_PART_BYTES + 1, 2 },
		{ 2 * FILE_PART_BYTES, 2 }, { 2 * FILE_PART_BYTES + 77, 3 } };
	size_t most = 2 * FILE_PART_BYTES + 77;
	uint64_t random = check_seed();
	char *bytes = malloc(most);

	for (size_t i = 0; i < most; i++)
		bytes[i] = (char)check_random(&random);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int fd = make_file(bytes, cases[i].bytes);

		assert_int_equal(assert_parts(fd, bytes, cases[i].bytes,
				     (int64_t)cases[i].bytes),
		    cases[i].parts);
		close(fd);
	}
	free(bytes);
}

static void
a_pipe_that_gives_little_at_a_time_makes_the_same_parts(void **state)
{
	size_t most = FILE_PART_BYTES + 5000;
	uint64_t random = check_seed();
	char *bytes = malloc(most);
	int ends[2], status;
	pid_t child;

	for (size_t i = 0; i < most; i++)
		bytes[i] = (char)check_random(&random);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		for (size_t at = 0; at < most;) {
			size_t n = 1 + check_random(&random) % 70000;
			ssize_t wrote = write(
			    ends[1], bytes + at, n < most - at ? n : most - at);

			at += wrote > 0 ? (size_t)wrote : 0;
		}
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(assert_parts(ends[0], bytes, most, -1), 2);
	close(ends[0]);
	waitpid(child, &status, 0);
	free(bytes);
}

/* printf hello | md5sum */
static void
the_sums_are_those_of_md5sum(void **state)
{
	struct file_parts parts;
	struct file_part part;
	struct err err = { 0 };
	char hex[MD5_HEX_BYTES], base64[MD5_BASE64_BYTES];
	int fd = make_file("hello", 5);

	assert_int_equal(file_parts_open(&parts, fd, 5, NULL, &err), 0);
	assert_int_equal(file_parts_next(&parts, &part, &err), 1);
	md5_hex(hex, part.md5);
	assert_string_equal(hex, "5d41402abc4b2a76b9719d911017c592");
	md5_base64(base64, parts.md5);
	assert_string_equal(base64, "XUFAKrxLKna5cZ2REBfFkg==");
	assert_int_equal(file_parts_next(&parts, &part, &err), 0);
	file_parts_close(&parts);
	close(fd);
}

static void
a_file_that_changes_meanwhile_is_not_sent_to_its_end(void **state)
{
	struct file_parts parts;
	struct file_part part;
	struct err err = { 0 };
	char *bytes = calloc(1, FILE_PART_BYTES + 1);
	int fd = make_file(bytes, FILE_PART_BYTES + 1);

	assert_int_equal(
	    file_parts_open(&parts, fd, FILE_PART_BYTES + 1, NULL, &err), 0);
	assert_int_equal(file_parts_next(&parts, &part, &err), 1);
	assert_int_equal(pwrite(fd, "xx", 2, FILE_PART_BYTES + 1), 2);
	assert_int_equal(file_parts_next(&parts, &part, &err), -1);
	assert_non_null(strstr(err.text, "changed"));
	file_parts_close(&parts);
	close(fd);
	free(bytes);
}

static void
parts_grow_so_that_they_are_never_more_than_ten_thousand(void **state)
{
	uint64_t all = 0;

	assert_int_equal(file_part_bytes(1), 8 << 20);
	assert_int_equal(file_part_bytes(1000), 8 << 20);
	assert_int_equal(file_part_bytes(1001), 16 << 20);
	for (uint32_t i = 1; i <= FILE_PARTS_MAX; i++) {
		assert_true(file_part_bytes(i) <= UINT32_MAX);
		all += file_part_bytes(i);
	}
	assert_true(all > UINT64_C(4000000000000));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_part_has_eight_mebibytes_and_the_last_what_is_left),
		cmocka_unit_test(
		    a_pipe_that_gives_little_at_a_time_makes_the_same_parts),
		cmocka_unit_test(the_sums_are_those_of_md5sum),
		cmocka_unit_test(
		    a_file_that_changes_meanwhile_is_not_sent_to_its_end),
		cmocka_unit_test(
		    parts_grow_so_that_they_are_never_more_than_ten_thousand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * secret - keys from the environment and from files.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "proto/keys/secret.h"
#include "tests/unit/scratch.h"

static char dir[SCRATCH_BYTES], path[SCRATCH_BYTES + 16];
static struct err err;

static void
write_file(const char *bytes, size_t count, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, bytes, count), (ssize_t)count);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* What a file with these bytes and this mode is; NULL: a secret "word". */
static void
check_file(const char *bytes, size_t count, mode_t mode, const char *words)
{
	struct secret secret;
	int rc;

	write_file(bytes, count, mode);
	rc = secret_from_file(&secret, path, &err);
	if (words == NULL) {
		assert_int_equal(rc, 0);
		assert_true(text_equal(secret_text(&secret), text_of("word")));
		assert_int_equal(secret.at[secret.bytes], '\0');
		secret_clear(&secret);
	} else if (rc != -1 || strstr(err.text, words) == NULL) {
		fail_msg("%d, not '%s': %s", rc, words, err.text);
	}
	assert_null(secret.at);
}

static void
test_a_file_is_a_secret_when_only_its_owner_reads_it(void **state)
{
	check_file("word", 4, 0600, NULL);
	check_file("word\n", 5, 0400, NULL);
	check_file("word\r\n", 6, 0600, NULL);
	check_file("word", 4, 0640, "can be read by others (mode 0640)");
	check_file("word", 4, 0604, "can be read by others (mode 0604)");
	check_file("", 0, 0600, "is empty");
	check_file("\n", 1, 0600, "is empty");
	check_file("wo\0rd", 5, 0600, "NUL");
}

static void
test_a_file_has_a_bound(void **state)
{
	static char bytes[SECRET_BYTES_MAX + 1];
	struct secret secret;

	memset(bytes, 'x', sizeof(bytes));
	check_file(bytes, sizeof(bytes), 0600, "longer than the 16384 bytes");
	write_file(bytes, SECRET_BYTES_MAX, 0600);
	assert_int_equal(secret_from_file(&secret, path, &err), 0);
	assert_int_equal(secret.bytes, SECRET_BYTES_MAX);
	secret_clear(&secret);
}

static void
test_only_a_regular_file_will_do(void **state)
{
	struct secret secret;

	assert_int_equal(secret_from_file(&secret, dir, &err), -1);
	assert_non_null(strstr(err.text, "not a regular file"));
	unlink(path);
	assert_int_equal(secret_from_file(&secret, path, &err), -1);
	assert_non_null(strstr(err.text, "No such file"));
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(secret_from_file(&secret, path, &err), -1);
	assert_non_null(strstr(err.text, "not a regular file"));
	unlink(path);
}

static void
test_the_variable_comes_before_the_file_it_may_name(void **state)
{
	struct secret secret;
	bool found;

	assert_int_equal(
	    secret_from_environment(&secret, "SECRET_TEST", &found, &err), 0);
	assert_false(found);
	write_file("from file", 9, 0600);
	setenv("SECRET_TEST_FILE", path, 1);
	assert_int_equal(
	    secret_from_environment(&secret, "SECRET_TEST", &found, &err), 0);
	assert_true(found);
	assert_true(text_equal(secret_text(&secret), text_of("from file")));
	secret_clear(&secret);
	setenv("SECRET_TEST", "from here\n", 1);
	assert_int_equal(
	    secret_from_environment(&secret, "SECRET_TEST", &found, &err), 0);
	assert_true(found);
	assert_true(text_equal(secret_text(&secret), text_of("from here")));
	secret_clear(&secret);
	setenv("SECRET_TEST", "", 1);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(
	    secret_from_environment(&secret, "SECRET_TEST", &found, &err), -1);
	assert_non_null(strstr(err.text, "SECRET_TEST_FILE: "));
	unsetenv("SECRET_TEST_FILE");
	unsetenv("SECRET_TEST");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    test_a_file_is_a_secret_when_only_its_owner_reads_it),
		cmocka_unit_test(test_a_file_has_a_bound),
		cmocka_unit_test(test_only_a_regular_file_will_do),
		cmocka_unit_test(
		    test_the_variable_comes_before_the_file_it_may_name),
	};
	int rc;

	scratch_make(dir);
	snprintf(path, sizeof(path), "%s/key", dir);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	scratch_remove(dir);
	return rc;
}

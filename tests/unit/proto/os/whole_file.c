/*
 * whole_file - tests of proto/os/whole_file.h, and of the directory syncs of
 * proto/os/file_io.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/os/file_io.h"
#include "proto/os/whole_file.h"

static char dir[] = "/tmp/whole_file.XXXXXX";
static char path[64], temporary[64];

static int
make_dir(void **state)
{
	strcpy(strrchr(dir, '.'), ".XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(temporary, sizeof(temporary), "%s/temporary", dir);
	return 0;
}

static int
remove_dir(void **state)
{
	chmod(dir, 0700);
	unlink(path);
	unlink(temporary);
	rmdir(path);
	return rmdir(dir); /* nothing else is left in it */
}

static void
write_text(const char *text)
{
	const struct whole_file file = { .path = path };

	assert_int_equal(
	    whole_file_write(&file, text, (uint32_t)strlen(text)), 0);
}

static void
assert_holds(const char *text)
{
	char bytes[64] = "";
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), strlen(text));
	close(fd);
	assert_memory_equal(bytes, text, strlen(text));
}

static unsigned
files(void)
{
	DIR *listing = opendir(dir);
	unsigned count = 0;

	while (readdir(listing) != NULL)
		count++;
	closedir(listing);
	return count - 2;
}

static void
a_file_is_replaced_whole(void **state)
{
	struct stat st;

	write_text("the first text, which is longer");
	write_text("the second");
	assert_holds("the second");
	write_text("");
	assert_holds("");
	assert_int_equal(files(), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void
what_a_crash_has_left_is_written_over(void **state)
{
	char left[80];
	int fd;

	snprintf(left, sizeof(left), "%s.new", path);
	fd = open(left, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "half of a much longer text", 26), 26);
	close(fd);
	write_text("whole");
	assert_holds("whole");
	assert_int_equal(files(), 1);
}

static void
the_mode_is_less_the_umask(void **state)
{
	const struct whole_file file = { .path = path, .mode = 0666 };
	mode_t before = umask(027);
	struct stat st;

	assert_int_equal(whole_file_write(&file, "x", 1), 0);
	umask(before);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
}

static void
a_new_file_replaces_none(void **state)
{
	const struct whole_file file = {
		.path = path, .temporary = temporary, .is_new = true
	};

	assert_int_equal(whole_file_write(&file, "one", 3), 0);
	assert_int_equal(files(), 1);
	errno = 0;
	assert_int_equal(whole_file_write(&file, "two", 3), -1);
	assert_int_equal(errno, EEXIST);
	assert_holds("one");
	assert_int_equal(files(), 1);
}

/* A temporary name that somebody has is not ours to remove. */
static void
after_an_error_only_its_own_temporary_is_removed(void **state)
{
	const struct whole_file file = { .path = path, .temporary = temporary };

	assert_int_equal(mkdir(path, 0700), 0); /* rename cannot replace it */
	assert_int_equal(whole_file_write(&file, "x", 1), -1);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(files(), 1);
	close(open(temporary, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(whole_file_write(&file, "x", 1), -1);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(files(), 2);
}

static void
a_link_in_place_of_the_temporary_is_not_followed(void **state)
{
	const struct whole_file file = { .path = path };
	char beside[80];

	snprintf(beside, sizeof(beside), "%s.new", path);
	assert_int_equal(symlink(temporary, beside), 0);
	assert_int_equal(whole_file_write(&file, "x", 1), -1);
	assert_int_equal(errno, ELOOP);
	assert_int_equal(access(temporary, F_OK), -1);
	unlink(beside);
}

static void
files_and_directories_are_synced(void **state)
{
	char below[80];

	write_text("x");
	assert_int_equal(file_io_sync(dir), 0);
	assert_int_equal(file_io_sync(path), 0);
	assert_int_equal(file_io_sync_parent(path), 0);
	assert_int_equal(file_io_sync_parent("name"), 0);
	assert_int_equal(file_io_sync_parent("/"), 0);
	assert_int_equal(file_io_sync_parent("/tmp///"), 0);
	snprintf(below, sizeof(below), "%s/none/file", dir);
	assert_int_equal(file_io_sync_parent(below), -1);
	assert_int_equal(errno, ENOENT);
}

static void
a_nameless_file_is_in_no_directory(void **state)
{
	struct err err = { .text = "" };
	char text[4];
	int fd;

	setenv("TMPDIR", dir, 1);
	assert_string_equal(file_io_temporary_dir(), dir);
	fd = file_io_nameless(&err);
	assert_true(fd >= 0);
	assert_int_equal(files(), 0);
	assert_int_equal(file_io_write_all(fd, "abcd", 4, 0), 0);
	assert_int_equal(file_io_read_all(fd, text, 4, 0), 0);
	assert_memory_equal(text, "abcd", 4);
	close(fd);
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(file_io_nameless(&err), -1);
	assert_string_not_equal(err.text, "");
	setenv("TMPDIR", "", 1);
	assert_string_equal(file_io_temporary_dir(), "/tmp");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_replaced_whole),
		TEST(what_a_crash_has_left_is_written_over),
		TEST(the_mode_is_less_the_umask),
		TEST(a_new_file_replaces_none),
		TEST(after_an_error_only_its_own_temporary_is_removed),
		TEST(a_link_in_place_of_the_temporary_is_not_followed),
		TEST(files_and_directories_are_synced),
		TEST(a_nameless_file_is_in_no_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

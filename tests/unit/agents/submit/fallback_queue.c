/*
 * fallback_queue - what may be in the fallback queue, and what becomes of it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/fallback_queue.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/os/log.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

static char dir[] = "/tmp/queue.XXXXXX";

static const char *
in(const char *name)
{
	static char path[2][512];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", dir, name);
	return path[turn];
}

static int
files_in(const char *name)
{
	DIR *listing = opendir(in(name));
	const struct dirent *entry;
	int files = 0;

	assert_non_null(listing);
	while ((entry = readdir(listing)) != NULL)
		files += entry->d_name[0] != '.';
	closedir(listing);
	return files;
}

static void
write_file(const char *name, const char *content, size_t bytes)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, bytes), bytes);
	close(fd);
}

/* What a scan saw. */
struct seen {
	int files;
	char name[FALLBACK_QUEUE_NAME_BYTES];
	char content[64];
	bool good;
};

static bool
see(void *arg, const char *name, struct text frame)
{
	struct seen *seen = arg;

	seen->files++;
	strcpy(seen->name, name);
	snprintf(seen->content, sizeof(seen->content), "%.*s", (int)frame.bytes,
	    frame.at);
	return seen->good;
}

#define UUID_NAME "abcd0102030000000000000000000000"

static int
set_up(void **state)
{
	struct err err;

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(
	    fallback_queue_open((struct fallback_queue **)state, dir, &err), 0);
	return 0;
}

static int
tear_down(void **state)
{
	char command[64];

	fallback_queue_close((struct fallback_queue **)state);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void
what_was_left_is_found_and_removed(void **state)
{
	struct fallback_queue *fallback_queue = *state;
	struct seen seen = { .good = true };
	struct err err = { 0 };

	assert_int_equal(
	    fallback_queue_leave(dir, text_of("hello"), 64 << 20, &err), 0);
	assert_int_equal(files_in("tmp"), 0);
	assert_int_equal(
	    fallback_queue_scan(fallback_queue, 10, see, &seen, &err), 1);
	assert_int_equal(strlen(seen.name), 32);
	assert_string_equal(seen.content, "hello");
	assert_int_equal(files_in("new"), 1);
	assert_int_equal(
	    fallback_queue_remove(fallback_queue, seen.name, &err), 0);
	assert_int_equal(
	    fallback_queue_remove(fallback_queue, seen.name, &err), 0);
	assert_int_equal(fallback_queue_sync(fallback_queue, &err), 0);
	assert_int_equal(
	    fallback_queue_scan(fallback_queue, 10, see, &seen, &err), 0);
}

static void
the_kernel_tells_of_a_new_file(void **state)
{
	struct fallback_queue *fallback_queue = *state;
	struct err err = { 0 };
	char notice[256];

	fallback_queue_drain(fallback_queue);
	assert_true(read(fallback_queue_fd(fallback_queue), notice,
			sizeof(notice)) < 0);
	assert_int_equal(
	    fallback_queue_leave(dir, text_of("hello"), 64 << 20, &err), 0);
	assert_true(read(fallback_queue_fd(fallback_queue), notice,
			sizeof(notice)) > 0);
}

static void
what_is_no_put_is_set_aside(void **state)
{
	struct seen seen = { .good = false };
	struct err err = { 0 };

	assert_int_equal(
	    fallback_queue_leave(dir, text_of("bad"), 64 << 20, &err), 0);
	assert_int_equal(fallback_queue_scan(*state, 10, see, &seen, &err), 1);
	assert_int_equal(files_in("new"), 0);
	assert_int_equal(files_in("bad"), 1);
}

static void
only_plain_files_with_one_name_are_read(void **state)
{
	struct seen seen = { .good = true };
	struct err err = { 0 };
	char *large = calloc(1, WIRE_PUT_BYTES_MAX + 1);

	write_file("secret", "secret", 6);
	assert_int_equal(
	    symlink(in("secret"), in("new/00000000000000000000000000000001")),
	    0);
	assert_int_equal(
	    mkfifo(in("new/00000000000000000000000000000002"), 0600), 0);
	assert_int_equal(
	    mkdir(in("new/00000000000000000000000000000003"), 0700), 0);
	assert_int_equal(
	    link(in("secret"), in("new/00000000000000000000000000000004")), 0);
	write_file("new/00000000000000000000000000000005", large,
	    WIRE_PUT_BYTES_MAX + 1);
	write_file("new/strange name\n", "x", 1);
	free(large);
	/* The directory does not count. */
	assert_int_equal(fallback_queue_scan(*state, 10, see, &seen, &err), 5);
	assert_int_equal(seen.files, 0);
	assert_int_equal(files_in("new"), 0);
	assert_int_equal(files_in("bad"), 6);
}

static void
bad_files_are_bounded_and_the_oldest_go(void **state)
{
	struct seen seen = { .good = false };
	struct err err = { 0 };
	char name[64];

	log_init("drop", LOG_ERROR);
	for (int i = 0; i < FALLBACK_QUEUE_BAD_MAX + 10; i++) {
		snprintf(name, sizeof(name), "new/%032x", i);
		write_file(name, "x", 1);
		assert_int_equal(
		    fallback_queue_scan(*state, 10, see, &seen, &err), 1);
	}
	assert_int_equal(files_in("bad"), FALLBACK_QUEUE_BAD_MAX);
	snprintf(name, sizeof(name), "bad/%032x", FALLBACK_QUEUE_BAD_MAX + 9);
	assert_int_equal(access(in(name), F_OK), 0);
	/* Directories that cannot be deleted do not change that. */
	for (int i = 0; i < 2 * FALLBACK_QUEUE_BAD_MAX; i++) {
		snprintf(name, sizeof(name), "new/d%032x", i);
		assert_int_equal(mkdir(in(name), 0777), 0);
		snprintf(name, sizeof(name), "new/d%032x/x", i);
		write_file(name, "x", 1);
		fallback_queue_scan(*state, 10, see, &seen, &err);
	}
	assert_int_equal(files_in("bad"), FALLBACK_QUEUE_BAD_MAX);
	assert_int_equal(files_in("new"), FALLBACK_QUEUE_BAD_MAX);
	write_file("new/00000000000000000000000000000001", "x", 1);
	fallback_queue_scan(*state, 10, see, &seen, &err);
	assert_int_equal(files_in("bad"), FALLBACK_QUEUE_BAD_MAX);
}

static void
a_scan_takes_no_more_than_it_is_reported(void **state)
{
	struct seen seen = { .good = true };
	struct err err = { 0 };
	char name[64];

	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "new/%032x", i);
		write_file(name, "x", 1);
	}
	assert_int_equal(fallback_queue_scan(*state, 3, see, &seen, &err), 3);
	assert_int_equal(seen.files, 3);
}

static void
a_full_directory_refuses(void **state)
{
	struct err err = { 0 };
	char name[64];

	for (int i = 0; i < FALLBACK_QUEUE_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "new/%032x", i);
		write_file(name, "", 0);
	}
	assert_int_equal(
	    fallback_queue_leave(dir, text_of("hello"), 64 << 20, &err), 1);
	assert_non_null(strstr(err.text, "10000 files wait"));
}

static void
what_died_in_the_writing_is_swept_after_an_hour(void **state)
{
	struct timespec times[2] = { { 1000, 0 }, { 1000, 0 } };
	struct fallback_queue *second;
	struct err err = { 0 };

	write_file("tmp/" UUID_NAME, "half", 4);
	write_file("tmp/00000000000000000000000000000001", "half", 4);
	assert_int_equal(
	    utimensat(AT_FDCWD, in("tmp/" UUID_NAME), times, 0), 0);
	assert_int_equal(fallback_queue_open(&second, dir, &err), 0);
	assert_int_equal(files_in("tmp"), 1);
	fallback_queue_close(&second);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    what_was_left_is_found_and_removed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    the_kernel_tells_of_a_new_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    what_is_no_put_is_set_aside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    only_plain_files_with_one_name_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    bad_files_are_bounded_and_the_oldest_go, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    a_scan_takes_no_more_than_it_is_reported, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    a_full_directory_refuses, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    what_died_in_the_writing_is_swept_after_an_hour, set_up,
		    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

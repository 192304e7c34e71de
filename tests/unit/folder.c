/*
 * folder, told - files are taken by one at a time, and never lost or replaced.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/told.h"
#include "tests/unit/check.h"

struct here {
	char path[64], data[80], archive[80];
	struct folder from, to;
};

static int
begin(void **state)
{
	static struct here here;
	struct err err;

	strcpy(here.path, "/tmp/folder.XXXXXX");
	assert_non_null(mkdtemp(here.path));
	snprintf(here.data, sizeof(here.data), "%s/data", here.path);
	snprintf(here.archive, sizeof(here.archive), "%s/archive", here.path);
	assert_int_equal(mkdir(here.data, 0700), 0);
	assert_int_equal(mkdir(here.archive, 0700), 0);
	assert_int_equal(folder_open(&here.from, here.data, &err), 0);
	assert_int_equal(folder_open(&here.to, here.archive, &err), 0);
	*state = &here;
	return 0;
}

static int
end(void **state)
{
	struct here *here = *state;
	char command[128];

	folder_close(&here->from);
	folder_close(&here->to);
	snprintf(command, sizeof(command), "rm -r %s", here->path);
	return system(command);
}

static void
write_file(const struct folder *folder, const char *name, const char *text,
    time_t mtime)
{
	const struct timespec times[2] = { { mtime, 0 }, { mtime, 0 } };
	int fd = openat(
	    folder->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static void
assert_holds(const struct folder *folder, const char *name, const char *text)
{
	char got[64] = "";
	int fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got) - 1), strlen(text));
	assert_string_equal(got, text);
	close(fd);
}

static void
assert_absent(const struct folder *folder, const char *name)
{
	assert_int_equal(faccessat(folder->fd, name, F_OK, 0), -1);
}

static struct folder_list
list(struct folder *folder, uint32_t count)
{
	struct folder_list list = { .at = NULL };
	struct err err;

	assert_int_equal(folder_list(folder, &list, &err), 0);
	assert_int_equal(list.count, count);
	assert_false(list.more);
	return list;
}

static void
the_oldest_come_first_and_only_files(void **state)
{
	struct here *here = *state;
	struct folder_list files;

	write_file(&here->from, "b", "", 200);
	write_file(&here->from, "c", "", 100);
	write_file(&here->from, "a", "", 200);
	write_file(&here->from, ".hidden", "", 300);
	assert_int_equal(symlinkat("b", here->from.fd, "link"), 0);
	assert_int_equal(mkdirat(here->from.fd, "dir", 0700), 0);
	assert_int_equal(mkfifoat(here->from.fd, "pipe", 0600), 0);
	files = list(&here->from, 4);
	assert_string_equal(files.at[0].name, "c");
	assert_string_equal(files.at[1].name, "a");
	assert_string_equal(files.at[2].name, "b");
	assert_string_equal(files.at[3].name, ".hidden");
	folder_list_clear(&files);
}

static void
what_somebody_has_is_left_alone(void **state)
{
	struct here *here = *state;
	struct folder_list files;
	struct err err;
	int fd, other;

	write_file(&here->from, "a", "1", 100);
	files = list(&here->from, 1);
	assert_int_equal(
	    folder_take(&here->from, &files.at[0], &fd, &err), FOLDER_TAKEN);
	assert_int_equal(folder_take(&here->from, &files.at[0], &other, &err),
	    FOLDER_LOCKED);
	close(fd);
	assert_int_equal(
	    folder_take(&here->from, &files.at[0], &other, &err), FOLDER_TAKEN);
	close(other);
	assert_int_equal(unlinkat(here->from.fd, "a", 0), 0);
	assert_int_equal(
	    folder_take(&here->from, &files.at[0], &fd, &err), FOLDER_GONE);
	/* In its place something that must not be opened for ever. */
	assert_int_equal(mkfifoat(here->from.fd, "a", 0600), 0);
	assert_int_equal(
	    folder_take(&here->from, &files.at[0], &fd, &err), FOLDER_GONE);
	assert_int_equal(unlinkat(here->from.fd, "a", 0), 0);
	assert_int_equal(symlinkat("b", here->from.fd, "a"), 0);
	assert_int_equal(
	    folder_take(&here->from, &files.at[0], &fd, &err), FOLDER_GONE);
	folder_list_clear(&files);
}

static bool
move(struct here *here, const struct folder_file *file, int fd)
{
	struct err err = { "" };
	bool gone;

	assert_int_equal(
	    folder_move(&here->from, file, fd, &here->to, "tag", &gone, &err),
	    0);
	return !gone;
}

static void
what_was_changed_or_replaced_meanwhile_is_not_moved(void **state)
{
	struct here *here = *state;
	struct folder_list files;
	struct err err;
	int fd;

	write_file(&here->from, "a", "1", 100);
	files = list(&here->from, 1);
	assert_int_equal(
	    folder_take(&here->from, &files.at[0], &fd, &err), FOLDER_TAKEN);
	write_file(&here->from, "a", "12", 100);
	assert_false(move(here, &files.at[0], fd));
	write_file(&here->from, "new", "1", 100);
	assert_int_equal(renameat(here->from.fd, "new", here->from.fd, "a"), 0);
	assert_false(move(here, &files.at[0], fd));
	assert_holds(&here->from, "a", "1");
	assert_absent(&here->to, "a");
	close(fd);
	folder_list_clear(&files);
}

/* Write, take and move a file "a". */
static void
send(struct here *here, const char *text)
{
	struct folder_list files;
	struct err err;
	int fd;

	write_file(&here->from, "a", text, 100);
	files = list(&here->from, 1);
	assert_int_equal(
	    folder_take(&here->from, &files.at[0], &fd, &err), FOLDER_TAKEN);
	assert_true(move(here, &files.at[0], fd));
	assert_absent(&here->from, "a");
	close(fd);
	folder_list_clear(&files);
}

static void
what_is_in_the_archive_is_never_replaced(void **state)
{
	struct here *here = *state;
	struct folder_list files;

	send(here, "one");
	send(here, "one");
	files = list(&here->to, 1);
	folder_list_clear(&files);
	send(here, "two");
	send(here, "two");
	files = list(&here->to, 2);
	folder_list_clear(&files);
	assert_holds(&here->to, "a", "one");
	assert_holds(&here->to, "a.tag", "two");
}

static void
a_third_of_one_name_stays_and_is_told(void **state)
{
	struct here *here = *state;
	struct folder_list files;
	struct err err = { "" };
	bool gone;
	int fd;

	send(here, "one");
	send(here, "two");
	write_file(&here->from, "a", "three", 100);
	files = list(&here->from, 1);
	assert_int_equal(
	    folder_take(&here->from, &files.at[0], &fd, &err), FOLDER_TAKEN);
	assert_int_equal(folder_move(&here->from, &files.at[0], fd, &here->to,
			     "tag", &gone, &err),
	    -1);
	assert_non_null(strstr(err.text, "a: cannot be moved to "));
	assert_holds(&here->from, "a", "three");
	close(fd);
	folder_list_clear(&files);
}

static void
between_file_systems_it_is_copied_with_its_time(void **state)
{
	struct here *here = *state;
	char path[] = "/dev/shm/folder.XXXXXX";
	struct stat a, b;
	struct err err;

	if (mkdtemp(path) == NULL || stat(path, &a) != 0 ||
	    stat(here->path, &b) != 0 || a.st_dev == b.st_dev) {
		print_message("SKIPPED: /dev/shm is no other file system\n");
		return;
	}
	folder_close(&here->to);
	assert_int_equal(folder_open(&here->to, path, &err), 0);
	send(here, "one");
	send(here, "one");
	send(here, "two");
	assert_holds(&here->to, "a", "one");
	assert_holds(&here->to, "a.tag", "two");
	assert_int_equal(fstatat(here->to.fd, "a", &a, 0), 0);
	assert_int_equal(a.st_mtim.tv_sec, 100);
	assert_int_equal(unlinkat(here->to.fd, "a", 0), 0);
	assert_int_equal(unlinkat(here->to.fd, "a.tag", 0), 0);
	assert_int_equal(rmdir(path), 0);
}

static void
what_was_told_of_a_file_is_said_again_when_it_changes(void **state)
{
	struct told *told = told_new();
	struct folder_file file = { .ino = 7, .mtime_ns = 1, .bytes = 2 };
	bool bad;

	(void)state;
	assert_false(told_has(told, &file, &bad));
	told_add(told, &file, true);
	assert_true(told_has(told, &file, &bad));
	assert_true(bad);
	told_add(told, &file, false);
	assert_true(told_has(told, &file, &bad));
	assert_false(bad);
	file.mtime_ns = 3;
	assert_false(told_has(told, &file, &bad));
	/* Of very many it forgets some, and does not grow. */
	for (uint32_t i = 1; i <= 200000; i++) {
		file.ino = i;
		told_add(told, &file, true);
		assert_true(told_has(told, &file, &bad));
	}
	told_free(&told);
	assert_null(told);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(the_oldest_come_first_and_only_files),
		CASE(what_somebody_has_is_left_alone),
		CASE(what_was_changed_or_replaced_meanwhile_is_not_moved),
		CASE(what_is_in_the_archive_is_never_replaced),
		CASE(a_third_of_one_name_stays_and_is_told),
		CASE(between_file_systems_it_is_copied_with_its_time),
		CASE(what_was_told_of_a_file_is_said_again_when_it_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

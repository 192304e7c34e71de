/*
 * inbox_move - a file leaves a directory, and is never lost or replaced, by
 * whatever comes in between.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/inbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/exporters/upload/inbox_help.h"

#define ELSEWHERE "/dev/shm/folder.XXXXXX"

/* ---- what happens in between -------------------------------------------- */

/* Before the next call of a kind: a writer's new file comes under the name. */
static struct here *at_rename, *at_fsync;
static struct here *removed_at_rename; /* or somebody removes it */
static bool no_flags;       /* renameat2 cannot keep from replacing */
static bool no_unnamed;     /* files need names */
static bool killed_at_name; /* before a copy has its own */

static void
replace(struct here **at)
{
	struct here *here = *at;

	*at = NULL;
	if (here == NULL)
		return;
	write_file(&here->from, ".new", "newer", 100);
	assert_int_equal(syscall(SYS_renameat2, here->from.fd, ".new",
			     here->from.fd, "a", 0),
	    0);
}

/* In place of the C library's. */
int
renameat2(int from, const char *name, int to, const char *as, unsigned flags)
{
	replace(&at_rename);
	if (killed_at_name)
		_exit(9);
	if (removed_at_rename != NULL)
		unlinkat(removed_at_rename->from.fd, "a", 0);
	if (no_flags && flags != 0) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from, name, to, as, flags);
}

int
linkat(int from, const char *name, int to, const char *as, int flags)
{
	if (killed_at_name)
		_exit(9);
	return (int)syscall(SYS_linkat, from, name, to, as, flags);
}

int
openat(int dir, const char *name, int flags, ...)
{
	va_list rest;
	mode_t mode;

	va_start(rest, flags);
	mode =
	    (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	if (no_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, dir, name, flags, mode);
}

int
fsync(int fd)
{
	replace(&at_fsync);
	return (int)syscall(SYS_fsync, fd);
}

/* ---- moving -------------------------------------------------------------- */

static bool
move(struct here *here, const struct inbox_file *file, int fd)
{
	struct err err = { 0 };
	bool gone;

	assert_int_equal(
	    inbox_move(&here->from, file, fd, &here->to, "tag", &gone, &err),
	    0);
	return !gone;
}

/* Write, take and move a file "a". */
static void
send(struct here *here, const char *text)
{
	struct inbox_list files;
	struct err err;
	int fd;

	write_file(&here->from, "a", text, 100);
	files = list(&here->from, 1);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &fd, &err), INBOX_TAKEN);
	assert_true(move(here, &files.at[0], fd));
	assert_absent(&here->from, "a");
	close(fd);
	inbox_list_clear(&files);
}

static void
what_was_changed_or_replaced_meanwhile_is_not_moved(void **state)
{
	struct here *here = *state;
	struct inbox_list files;
	struct err err;
	int fd;

	write_file(&here->from, "a", "1", 100);
	files = list(&here->from, 1);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &fd, &err), INBOX_TAKEN);
	write_file(&here->from, "a", "12", 100);
	assert_false(move(here, &files.at[0], fd));
	write_file(&here->from, "new", "1", 100);
	assert_int_equal(renameat(here->from.fd, "new", here->from.fd, "a"), 0);
	assert_false(move(here, &files.at[0], fd));
	assert_holds(&here->from, "a", "1");
	assert_absent(&here->to, "a");
	close(fd);
	inbox_list_clear(&files);
}

static void
what_is_in_the_archive_is_never_replaced(void **state)
{
	struct here *here = *state;
	struct inbox_list files;

	send(here, "one");
	send(here, "one");
	files = list(&here->to, 1);
	inbox_list_clear(&files);
	send(here, "two");
	send(here, "two");
	files = list(&here->to, 2);
	inbox_list_clear(&files);
	assert_holds(&here->to, "a", "one");
	assert_holds(&here->to, "a.tag", "two");
}

static void
a_third_of_one_name_stays_and_is_reported(void **state)
{
	struct here *here = *state;
	struct inbox_list files;
	struct err err = { 0 };
	bool gone;
	int fd;

	send(here, "one");
	send(here, "two");
	write_file(&here->from, "a", "three", 100);
	files = list(&here->from, 1);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &fd, &err), INBOX_TAKEN);
	assert_int_equal(inbox_move(&here->from, &files.at[0], fd, &here->to,
			     "tag", &gone, &err),
	    -1);
	assert_non_null(strstr(err.text, "a: cannot move it to "));
	assert_holds(&here->from, "a", "three");
	close(fd);
	inbox_list_clear(&files);
}

static bool
archive_elsewhere(struct here *here, char *path)
{
	struct stat a, b;
	struct err err;

	if (mkdtemp(path) == NULL || stat(path, &a) != 0 ||
	    stat(here->path, &b) != 0 || a.st_dev == b.st_dev) {
		print_message("SKIPPED: /dev/shm is no other file system\n");
		return false;
	}
	inbox_close(&here->to);
	assert_int_equal(inbox_open(&here->to, path, &err), 0);
	return true;
}

static void
between_file_systems_it_is_copied_with_its_time(void **state)
{
	struct here *here = *state;
	char path[] = ELSEWHERE;
	struct stat a;

	if (!archive_elsewhere(here, path))
		return;
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

/* Write and take "a"; who moves it finds that a newer one came in between. */
static void
send_and_replace(struct here *here, struct here **at)
{
	struct inbox_list files;
	struct err err;
	int fd;

	write_file(&here->from, "a", "1", 100);
	files = list(&here->from, 1);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &fd, &err), INBOX_TAKEN);
	*at = here;
	assert_false(move(here, &files.at[0], fd));
	assert_null(*at);
	assert_holds(&here->from, "a", "newer");
	close(fd);
	inbox_list_clear(&files);
}

static void
what_comes_in_its_place_at_the_last_moment_stays(void **state)
{
	struct here *here = *state;

	send_and_replace(here, &at_rename);
	assert_absent(&here->to, "a");
	/* Also where something has its name. */
	write_file(&here->to, "a", "other", 100);
	send_and_replace(here, &at_rename);
	assert_holds(&here->to, "a", "other");
	assert_absent(&here->to, "a.tag");
}

static void
what_comes_in_its_place_stays_though_the_same_is_in_the_archive(void **state)
{
	struct here *here = *state;

	write_file(&here->to, "a", "1", 100);
	send_and_replace(here, &at_rename);
	assert_holds(&here->to, "a", "1");
}

static void
what_comes_in_its_place_while_it_is_copied_stays(void **state)
{
	struct here *here = *state;
	char path[] = ELSEWHERE;

	if (!archive_elsewhere(here, path))
		return;
	send_and_replace(here, &at_fsync);
	assert_holds(&here->to, "a", "1");
	assert_int_equal(unlinkat(here->to.fd, "a", 0), 0);
	assert_int_equal(rmdir(path), 0);
}

static void
what_is_removed_at_the_last_moment_is_gone(void **state)
{
	struct here *here = *state;
	struct inbox_list files;
	struct err err;
	int fd;

	write_file(&here->from, "a", "1", 100);
	files = list(&here->from, 1);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &fd, &err), INBOX_TAKEN);
	removed_at_rename = here;
	assert_false(move(here, &files.at[0], fd));
	removed_at_rename = NULL;
	assert_absent(&here->to, "a");
	close(fd);
	inbox_list_clear(&files);
}

static void
where_names_cannot_be_kept_at_one_go_they_are_linked(void **state)
{
	struct here *here = *state;

	no_flags = true;
	send(here, "one");
	send(here, "one");
	send(here, "two");
	assert_holds(&here->to, "a", "one");
	assert_holds(&here->to, "a.tag", "two");
	assert_int_equal(unlinkat(here->to.fd, "a", 0), 0);
	send_and_replace(here, &at_rename);
	assert_absent(&here->to, "a");
	no_flags = false;
}

static uint32_t
files_in(const char *path)
{
	DIR *dir = opendir(path);
	uint32_t files = 0;
	const struct dirent *entry;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		files += strcmp(entry->d_name, ".") != 0 &&
			 strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return files;
}

/* A copy by a process that dies when only the name is missing. */
static void
copy_and_die(struct here *here)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		killed_at_name = true;
		send(here, "one");
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

static void
nothing_is_left_of_a_killed_copy(void **state)
{
	struct here *here = *state;
	char path[] = ELSEWHERE;

	if (!archive_elsewhere(here, path))
		return;
	copy_and_die(here);
	assert_int_equal(files_in(path), 0);
	send(here, "one");
	assert_holds(&here->to, "a", "one");
	assert_int_equal(files_in(path), 1);
	assert_int_equal(unlinkat(here->to.fd, "a", 0), 0);
	assert_int_equal(rmdir(path), 0);
}

static void
where_files_need_names_the_next_copy_sweeps_up_what_nobody_holds(void **state)
{
	static const char held[] = ".poolscope.0123456789abcdef";
	struct here *here = *state;
	char path[] = ELSEWHERE;
	int fd;

	if (!archive_elsewhere(here, path))
		return;
	no_unnamed = true;
	copy_and_die(here);
	copy_and_die(here);
	write_file(&here->to, held, "another's", 100);
	write_file(&here->to, ".poolscope.mine", "a user's", 100);
	fd = openat(here->to.fd, held, O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	send(here, "one");
	assert_holds(&here->to, "a", "one");
	assert_int_equal(files_in(path), 3);
	assert_holds(&here->to, held, "another's");
	close(fd);
	send(here, "two");
	assert_holds(&here->to, "a.tag", "two");
	assert_absent(&here->to, held);
	assert_holds(&here->to, ".poolscope.mine", "a user's");
	no_unnamed = false;
	assert_int_equal(unlinkat(here->to.fd, "a", 0), 0);
	assert_int_equal(unlinkat(here->to.fd, "a.tag", 0), 0);
	assert_int_equal(unlinkat(here->to.fd, ".poolscope.mine", 0), 0);
	assert_int_equal(rmdir(path), 0);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(what_was_changed_or_replaced_meanwhile_is_not_moved),
		CASE(what_is_in_the_archive_is_never_replaced),
		CASE(a_third_of_one_name_stays_and_is_reported),
		CASE(between_file_systems_it_is_copied_with_its_time),
		CASE(what_comes_in_its_place_at_the_last_moment_stays),
		CASE(
		    what_comes_in_its_place_stays_though_the_same_is_in_the_archive),
		CASE(what_comes_in_its_place_while_it_is_copied_stays),
		CASE(what_is_removed_at_the_last_moment_is_gone),
		CASE(where_names_cannot_be_kept_at_one_go_they_are_linked),
		CASE(nothing_is_left_of_a_killed_copy),
		CASE(
		    where_files_need_names_the_next_copy_sweeps_up_what_nobody_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Tests of proto/os/lockfile.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/os/lockfile.h"
#include "tests/unit/scratch.h"

static char dir[SCRATCH_BYTES], path[SCRATCH_BYTES + 8];

static int
set_up(void **state)
{
	snprintf(path, sizeof(path), "%s/lock", scratch_make(dir));
	return 0;
}

static int
tear_down(void **state)
{
	scratch_remove(dir);
	return 0;
}

static void
a_lock_is_held_once(void **state)
{
	struct lockfile lockfile = { 0 }, second = { 0 };
	struct err err = { 0 };
	struct stat st;
	struct timespec before;
	long holder;

	assert_int_equal(lockfile_take(&lockfile, path, &holder, &err), 0);
	assert_int_equal(lockfile_take(&second, path, &holder, &err), -1);
	assert_int_equal(holder, getpid());
	assert_int_equal(lockfile_holder(path), getpid());
	assert_non_null(strstr(err.text, "is held by process"));
	/* Between its flock and its write of the pid, a holder is unknown. */
	assert_int_equal(ftruncate(lockfile.fd, 0), 0);
	assert_int_equal(lockfile_take(&second, path, &holder, &err), -1);
	assert_int_equal(holder, LOCKFILE_PID_UNKNOWN);
	lockfile_touch(&second);
	lockfile_release(&second); /* was never taken: changes nothing */
	assert_int_equal(stat(path, &st), 0);
	before = st.st_mtim;
	lockfile_touch(&lockfile);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(before.tv_sec != st.st_mtim.tv_sec ||
		    before.tv_nsec != st.st_mtim.tv_nsec);
	lockfile_release(&lockfile);
	lockfile_release(&lockfile);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(lockfile_holder(path), 0);
	/* What a holder left behind that was killed says nothing. */
	close(open(path, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(lockfile_holder(path), 0);
}

/* A program that looks whether a daemon runs, as readers do, is no holder. */
static void
one_that_looks_keeps_nobody_from_it(void **state)
{
	struct lockfile lockfile = { 0 };
	struct err err = { 0 };
	char byte;
	long holder;
	int ready[2], fd;

	close(open(path, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(pipe(ready), 0);
	if (fork() == 0) {
		fd = open(path, O_RDONLY);
		if (flock(fd, LOCK_SH) != 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		usleep(50000);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(lockfile_take(&lockfile, path, &holder, &err), 0);
	lockfile_release(&lockfile);
	wait(NULL);
	close(ready[0]);
	close(ready[1]);
}

static void
a_place_that_cannot_be_is_a_sentence(void **state)
{
	struct lockfile lockfile = { 0 };
	struct err err = { 0 };
	long holder;

	assert_int_equal(
	    lockfile_take(&lockfile, "/nowhere/lock", &holder, &err), -1);
	assert_int_equal(holder, LOCKFILE_NOT_HELD);
	assert_string_equal(err.text, "/nowhere/lock: No such file or "
				      "directory");
	/* A symbolic link could lead us to write into somebody's file. */
	assert_int_equal(symlink("target", path), 0);
	assert_int_equal(lockfile_take(&lockfile, path, &holder, &err), -1);
}

static void
refuses(const char *what)
{
	struct lockfile lockfile = { 0 };
	struct err err = { 0 };
	long holder;

	assert_int_equal(lockfile_take(&lockfile, path, &holder, &err), -1);
	assert_int_equal(holder, LOCKFILE_NOT_HELD);
	assert_non_null(strstr(err.text, what));
	assert_int_equal(unlink(path), 0);
}

/* What others may have put there. */
static void
a_lock_is_a_file_of_its_own(void **state)
{
	char other[SCRATCH_BYTES + 16];

	snprintf(other, sizeof(other), "%s/other", dir);
	close(open(other, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(symlink(other, path), 0);
	refuses("is a link: remove it");
	assert_int_equal(link(other, path), 0);
	refuses("is not a file of its own");
	assert_int_equal(mkfifo(path, 0600), 0);
	refuses("is not a file of its own");
	if (geteuid() != 0)
		return;
	close(open(path, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(chown(path, 54321, 54321), 0);
	refuses("belongs to another user (uid 54321): remove it");
}

/* Its reader may send a signal to the process that the file names. */
static void
the_holder_is_a_process_of_the_owner_of_the_file(void **state)
{
	struct lockfile lockfile = { 0 };
	struct err err = { 0 };
	long holder;

	if (geteuid() != 0)
		return;
	assert_int_equal(lockfile_take(&lockfile, path, &holder, &err), 0);
	assert_int_equal(lockfile_holder(path), getpid());
	assert_int_equal(chown(path, 54321, 54321), 0);
	assert_int_equal(lockfile_holder(path), 0);
	lockfile_release(&lockfile);
}

/* Children take and release the lock in a frenzy, each counting in a file
 * that only the holder may touch. */
static void
count_up(const char *counter, int rounds)
{
	struct lockfile lockfile = { 0 };
	long holder;

	while (rounds > 0) {
		FILE *file;
		int n = 0;

		if (lockfile_take(&lockfile, path, &holder, NULL) != 0)
			continue;
		file = fopen(counter, "r+");
		if (file == NULL || fscanf(file, "%d", &n) != 1)
			_exit(1);
		rewind(file);
		fprintf(file, "%d\n", n + 1);
		if (fclose(file) != 0)
			_exit(1);
		rounds--;
		lockfile_release(&lockfile);
	}
	_exit(0);
}

static void
of_many_processes_one_holds_it_at_a_time(void **state)
{
	enum { CHILDREN = 4, ROUNDS = 500 };
	char counter[SCRATCH_BYTES + 16];
	FILE *file;
	int i, n = 0, status;

	snprintf(counter, sizeof(counter), "%s/counter", dir);
	file = fopen(counter, "w");
	assert_non_null(file);
	fputs("0\n", file);
	fclose(file);
	fflush(NULL);
	for (i = 0; i < CHILDREN; i++)
		if (fork() == 0)
			count_up(counter, ROUNDS);
	for (i = 0; i < CHILDREN; i++) {
		wait(&status);
		assert_int_equal(status, 0);
	}
	file = fopen(counter, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &n), 1);
	fclose(file);
	assert_int_equal(n, CHILDREN * ROUNDS);
}

/* What a renewal says, and whether it made the file. */
struct renewal {
	int rc;
	bool makes;
};

static int
renew(void *arg, struct err *err)
{
	const struct renewal *renewal = arg;
	int fd = renewal->makes ? open(path, O_CREAT | O_WRONLY, 0600) : -1;

	if (fd >= 0)
		close(fd);
	return renewal->rc == 0 ? 0 : err_set(err, "the place is taken");
}

static void
a_renewal_that_failed_or_made_nothing_is_none(void **state)
{
	static const struct {
		struct renewal renewal;
		int wanted;
	} cases[] = {
		{ { 0, true }, 0 },
		{ { 0, false }, -1 }, /* it says so, but there is no file */
		{ { -1, true }, -1 }, /* somebody else has made it */
		{ { -1, false }, -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct renewal renewal = cases[i].renewal, none = { 0, true };
		struct err err = { 0 };
		struct held_file *held;

		assert_int_equal(renew(&none, NULL), 0);
		held = held_file_add(path, renew, &renewal);
		assert_non_null(held);
		assert_int_equal(held_file_check(&err), 0);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(held_file_check(&err), cases[i].wanted);
		held_file_drop(&held);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_lock_is_held_once),
		TEST(one_that_looks_keeps_nobody_from_it),
		TEST(a_place_that_cannot_be_is_a_sentence),
		TEST(a_lock_is_a_file_of_its_own),
		TEST(the_holder_is_a_process_of_the_owner_of_the_file),
		TEST(of_many_processes_one_holds_it_at_a_time),
		TEST(a_renewal_that_failed_or_made_nothing_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

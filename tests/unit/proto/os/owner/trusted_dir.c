/*
 * Tests of proto/os/owner/trusted_dir.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/os/owner/trusted_dir.h"
#include "tests/unit/scratch.h"

enum { OWNER = 54321, MEMBER = 54322 };

static char dir[SCRATCH_BYTES], path[SCRATCH_BYTES + 8];

static int
set_up(void **state)
{
	snprintf(path, sizeof(path), "%s/socket", scratch_make(dir));
	return 0;
}

static int
tear_down(void **state)
{
	scratch_remove(dir);
	return 0;
}

static void
a_directory_that_others_can_write_is_refused(void **state)
{
	/* Sticky or not: who may make files may take a place that is free. */
	static const mode_t bad[] = { 0720, 0702, 0777, 01777, 03770 };
	static const mode_t good[] = { 0700, 0710, 0711, 0755, 02750 };
	struct err err;

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(chmod(dir, good[i]), 0);
		err = (struct err){ 0 };
		assert_int_equal(trusted_dir_own(dir, &err), 0);
		assert_int_equal(trusted_dir_own_parent(path, &err), 0);
		assert_int_equal(trusted_dir_socket(path, &err), 0);
	}
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(chmod(dir, bad[i]), 0);
		err = (struct err){ 0 };
		assert_int_equal(trusted_dir_own(dir, &err), -1);
		assert_non_null(strstr(err.text, "can be written by others"));
		assert_non_null(strstr(err.text, "chmod go-w"));
		assert_int_equal(trusted_dir_own_parent(path, &err), -1);
		assert_int_equal(trusted_dir_socket(path, &err), -1);
	}
	assert_int_equal(chmod(dir, 0700), 0);
}

static void
a_directory_of_another_user_is_no_place_for_our_files(void **state)
{
	struct err err = { 0 };

	if (geteuid() != 0)
		return;
	assert_int_equal(chown(dir, OWNER, OWNER), 0);
	assert_int_equal(trusted_dir_own(dir, &err), -1);
	assert_non_null(strstr(err.text, "another user (uid 54321)"));
	/* Its owner may listen there. */
	assert_int_equal(trusted_dir_socket(path, &err), 0);
}

static void
what_is_not_there_can_be_connected_to_by_nobody(void **state)
{
	struct err err = { 0 };

	assert_int_equal(trusted_dir_own("/nowhere/run", &err), -1);
	assert_string_equal(
	    err.text, "/nowhere/run: No such file or directory");
	assert_int_equal(trusted_dir_socket("/nowhere/run/socket", &err), 0);
	assert_int_equal(trusted_dir_own("/dev/null", &err), -1);
	assert_string_equal(err.text, "/dev/null: is not a directory");
}

/* A process of `listener` listens at `path`; what does one of `client` think
 * of it that connects to `at`? */
static int
judge(const char *at, uid_t listener, uid_t client)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int ready[2], status, fd;
	struct err err = { 0 };
	pid_t server;
	char byte;

	assert_int_equal(pipe(ready), 0);
	server = fork();
	if (server == 0) {
		fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		strcpy(address.sun_path, path);
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)) !=
			0 ||
		    chmod(path, 0666) != 0 || setuid(listener) != 0 ||
		    listen(fd, 1) != 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	strcpy(address.sun_path, at);
	assert_int_equal(seteuid(client), 0);
	assert_int_equal(
	    connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	status = trusted_dir_peer(at, fd, &err);
	assert_int_equal(seteuid(0), 0);
	close(fd);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	unlink(path);
	return status;
}

static void
who_listens_is_root_oneself_or_the_owner(void **state)
{
	char link[SCRATCH_BYTES + 16], run[SCRATCH_BYTES + 8];

	if (geteuid() != 0)
		return;
	assert_int_equal(chmod(dir, 0711), 0);
	assert_int_equal(chown(dir, OWNER, OWNER), 0);
	assert_int_equal(judge(path, OWNER, MEMBER), 0);
	assert_int_equal(judge(path, 0, MEMBER), 0);
	assert_int_equal(judge(path, MEMBER, MEMBER), 0);
	assert_int_equal(judge(path, MEMBER, OWNER), -1);
	assert_int_equal(judge(path, MEMBER, 0), -1);
	/* In everybody's directory its owner says nothing. */
	assert_int_equal(chmod(dir, 01777), 0);
	assert_int_equal(judge(path, OWNER, MEMBER), -1);
	assert_int_equal(judge(path, 0, MEMBER), 0);
	assert_int_equal(judge(path, MEMBER, MEMBER), 0);
	/* A link of root leads to the directory of another user. */
	assert_int_equal(chmod(dir, 0711), 0);
	snprintf(run, sizeof(run), "%s/run", dir);
	assert_int_equal(mkdir(run, 0711), 0);
	snprintf(link, sizeof(link), "%s/run/socket", dir);
	assert_int_equal(symlink("../socket", link), 0);
	assert_int_equal(judge(link, OWNER, MEMBER), 0);
	assert_int_equal(judge(link, MEMBER, OWNER), -1);
	assert_int_equal(chmod(run, 01777), 0);
	assert_int_equal(judge(link, OWNER, MEMBER), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_directory_that_others_can_write_is_refused),
		TEST(a_directory_of_another_user_is_no_place_for_our_files),
		TEST(what_is_not_there_can_be_connected_to_by_nobody),
		TEST(who_listens_is_root_oneself_or_the_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

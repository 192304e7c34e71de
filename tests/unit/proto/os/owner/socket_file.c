/*
 * Tests of proto/os/owner/socket_file.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "proto/os/owner/socket_file.h"
#include "tests/unit/scratch.h"

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

/* Bind as programs do; the mode and the group of the file. */
static void
bound(bool for_group, mode_t mode, gid_t group)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t before = umask(022), mask = socket_file_begin(for_group);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct err err = { 0 };
	struct stat st;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(
	    bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(socket_file_end(mask, for_group, path, &err), 0);
	assert_int_equal(umask(before), 022);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, mode);
	assert_int_equal(st.st_gid, group);
	close(fd);
	unlink(path);
}

static void
a_socket_is_for_its_user_unless_a_group_is_named(void **state)
{
	struct err err = { 0 };

	bound(true, 0600, getegid());
	bound(false, 0600, getegid());
	assert_int_equal(socket_file_set_group("no-such-group", &err), -1);
	assert_string_equal(err.text, "there is no group 'no-such-group'");
	assert_int_equal(socket_file_set_group("4294967295", &err), -1);
	assert_int_equal(socket_file_set_group("12x", &err), -1);
	assert_int_equal(socket_file_set_group("", &err), -1);
	bound(true, 0600, getegid());
	if (geteuid() != 0)
		return;
	assert_int_equal(socket_file_set_group("54321", &err), 0);
	bound(true, 0660, 54321);
	bound(false, 0600, getegid());
	assert_int_equal(socket_file_set_group("root", &err), 0);
	bound(true, 0660, 0);
	bound(false, 0600, 0);
}

/* As in a systemd unit, where nothing may be given away and nothing has to. */
static void
a_group_that_is_not_ours_is_a_sentence(void **state)
{
	struct err err = { 0 };
	mode_t mask;

	if (geteuid() != 0)
		return;
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(socket_file_set_group("54321", &err), 0);
	assert_int_equal(seteuid(54322), 0);
	mask = socket_file_begin(true);
	assert_int_equal(mknod(path, S_IFSOCK | 0777, 0), 0);
	assert_int_equal(socket_file_end(mask, true, path, &err), -1);
	assert_int_equal(seteuid(0), 0);
	assert_non_null(strstr(err.text, "cannot give it to group 54321"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_socket_is_for_its_user_unless_a_group_is_named),
		TEST(a_group_that_is_not_ours_is_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

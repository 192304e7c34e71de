/*
 * instance - directories, endpoints, and where names come from.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/instance.h"

#include <unistd.h>

#include "proto/base/text.h"
#include "proto/config/opt.h"
#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

static void
clear_environment(void)
{
	static const char *const names[] = { "POOLSCOPE_DIR", "XDG_STATE_HOME",
		"AZ_BATCH_ACCOUNT_NAME", "AZ_BATCH_POOL_ID", "AZ_BATCH_NODE_ID",
		"SLURM_CLUSTER_NAME", "SLURM_JOB_PARTITION", "SLURMD_NODENAME",
		"AWS_BATCH_CE_NAME", "AWS_BATCH_JQ_NAME" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
	opt_common_values.dir = NULL;
}

static void
the_option_wins_over_the_environment(void **state)
{
	char to[INSTANCE_PATH_BYTES];
	struct err err;

	clear_environment();
	setenv("POOLSCOPE_DIR", "/tmp/env", 1);
	assert_int_equal(instance_dir(to, &err), 0);
	assert_string_equal(to, "/tmp/env");
	opt_common_values.dir = "/tmp/option";
	assert_int_equal(instance_path(to, "store", &err), 0);
	assert_string_equal(to, "/tmp/option/store");
	assert_int_equal(instance_endpoint(to, "broker", &err), 0);
	assert_string_equal(to, "ipc:///tmp/option/run/broker.ipc");
}

static void
a_path_too_long_for_a_socket_is_refused_with_the_limit(void **state)
{
	char to[INSTANCE_PATH_BYTES], dir[120];
	struct err err;

	clear_environment();
	memset(dir, 'd', sizeof(dir) - 1);
	dir[0] = '/';
	dir[sizeof(dir) - 1] = '\0';
	opt_common_values.dir = dir;
	assert_int_equal(instance_endpoint(to, "broker", &err), -1);
	assert_non_null(strstr(err.text, "107 bytes"));
}

/* Stands before the C library's: notes what is synced. */
static ino_t synced[16];
static unsigned syncs;

int
fsync(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	synced[syncs++ % 16] = st.st_ino;
	return 0;
}

static void
assert_synced(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	for (unsigned i = 0; i < syncs; i++)
		if (synced[i] == st.st_ino)
			return;
	fail_msg("%s was not synced", path);
}

static void
the_names_of_directories_that_are_made_are_on_disk(void **state)
{
	char base[SCRATCH_BYTES], path[SCRATCH_BYTES + 16];
	struct err err;

	scratch_make(base);
	snprintf(path, sizeof(path), "%s/a/b", base);
	assert_int_equal(instance_make_dir(path, &err), 0);
	assert_synced(base);
	path[strlen(path) - 2] = '\0';
	assert_synced(path);
	syncs = 0;
	assert_int_equal(instance_make_dir(path, &err), 0);
	assert_int_equal(syncs, 0);
	scratch_remove(base);
}

static void
what_cannot_be_a_directory_is_reported(void **state)
{
	struct err err = { 0 };

	assert_int_equal(instance_make_dir("", &err), -1);
	assert_non_null(strstr(err.text, "empty"));
	assert_int_equal(instance_make_dir("/dev/null", &err), -1);
	assert_non_null(strstr(err.text, "is not a directory"));
}

static void
the_instance_is_absolute_whatever_names_it(void **state)
{
	char to[INSTANCE_PATH_BYTES];
	struct err err;

	clear_environment();
	if (geteuid() != 0) {
		setenv("XDG_STATE_HOME", "state", 1);
		assert_int_equal(instance_dir(to, &err), 0);
		assert_int_equal(to[0], '/');
	}
	opt_common_values.dir = "here";
	assert_int_equal(instance_dir(to, &err), 0);
	assert_int_equal(to[0], '/');
	assert_string_equal(strrchr(to, '/'), "/here");
}

static void
partition_and_node_come_from_the_scheduler(void **state)
{
	char to[INSTANCE_PATH_BYTES];
	const char *why;
	struct err err;

	clear_environment();
	assert_int_equal(instance_partition(to, NULL, &why, &err), 0);
	assert_string_equal(to, "local$default");
	setenv("AWS_BATCH_CE_NAME", "ce", 1);
	setenv("AWS_BATCH_JQ_NAME", "jq", 1);
	assert_int_equal(instance_partition(to, NULL, &why, &err), 0);
	assert_string_equal(to, "ce$jq");
	setenv("AZ_BATCH_ACCOUNT_NAME", "acct", 1);
	setenv("AZ_BATCH_POOL_ID", "pool", 1);
	setenv("AZ_BATCH_NODE_ID", "tvm-1", 1);
	assert_int_equal(instance_partition(to, NULL, &why, &err), 0);
	assert_string_equal(to, "acct$pool");
	assert_string_equal(why, "Azure Batch");
	assert_int_equal(instance_node(to, NULL, &why, &err), 0);
	assert_string_equal(to, "tvm-1");
	assert_int_equal(instance_node(to, "mine", &why, &err), 0);
	assert_string_equal(to, "mine");
	assert_int_equal(instance_partition(to, "a\nb", &why, &err), -1);
	assert_non_null(strstr(err.text, "control character"));
	assert_int_equal(instance_partition(to, "", &why, &err), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_option_wins_over_the_environment),
		cmocka_unit_test(
		    a_path_too_long_for_a_socket_is_refused_with_the_limit),
		cmocka_unit_test(
		    the_names_of_directories_that_are_made_are_on_disk),
		cmocka_unit_test(what_cannot_be_a_directory_is_reported),
		cmocka_unit_test(the_instance_is_absolute_whatever_names_it),
		cmocka_unit_test(partition_and_node_come_from_the_scheduler),
	};

	return cmocka_run_group_tests_name("instance", tests, NULL, NULL);
}

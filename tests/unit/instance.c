/*
 * instance - directories, endpoints, and where names come from.
 * SPDX-License-Identifier: MIT
 */
#include "proto/instance.h"

#include "proto/opt.h"
#include "proto/text.h"
#include "tests/unit/check.h"

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

	(void)state;
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

	(void)state;
	clear_environment();
	memset(dir, 'd', sizeof(dir) - 1);
	dir[0] = '/';
	dir[sizeof(dir) - 1] = '\0';
	opt_common_values.dir = dir;
	assert_int_equal(instance_endpoint(to, "broker", &err), -1);
	assert_non_null(strstr(err.text, "107 bytes"));
}

static void
partition_and_node_come_from_the_scheduler(void **state)
{
	char to[INSTANCE_PATH_BYTES];
	const char *why;
	struct err err;

	(void)state;
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
		cmocka_unit_test(partition_and_node_come_from_the_scheduler),
	};

	return cmocka_run_group_tests_name("instance", tests, NULL, NULL);
}

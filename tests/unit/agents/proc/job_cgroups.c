/*
 * job_cgroups - control groups of jobs that come and go, and their processes.
 *
 * The groups are a tree of plain files; the only process in them is this one.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/job_cgroups.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "tests/unit/check.h"
#include "tests/unit/scratch.h"

static char root[SCRATCH_BYTES];

static int
set_up(void **state)
{
	(void)state;
	scratch_make(root);
	return 0;
}

static int
tear_down(void **state)
{
	(void)state;
	scratch_remove(root);
	return 0;
}

static void
put_file(const char *group, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, group);
	for (char *p = path + strlen(root) + 1; *p != '\0'; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0700);
			*p = '/';
		}
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", root, group, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void
remove_group(const char *group)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, group);
	scratch_remove(path);
}

static void
groups_that_match_are_found_and_lost(void **state)
{
	struct job_cgroups *job_cgroups;

	(void)state;
	put_file("slurm/job_1", "cpu.stat", "usage_usec 11\n");
	put_file("slurm/job_1", "memory.current", "4096\n");
	put_file("slurm/other", "cpu.stat", "usage_usec 99\n");
	put_file("docker", "job_file", "");
	job_cgroups_open(&job_cgroups, root, "slurm/job_*,,docker/*,nothing/*");
	assert_int_equal(job_cgroups_find(job_cgroups), 1);
	assert_string_equal(job_cgroups_path(job_cgroups, 0), "slurm/job_1");
	assert_true(
	    text_equal(job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_CPU),
		text_of("usage_usec 11\n")));
	assert_true(
	    text_equal(job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_MEMORY),
		text_of("4096\n")));
	assert_int_equal(
	    job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_IO).bytes, 0);

	put_file("slurm/job_2", "cpu.stat", "usage_usec 22\n");
	assert_int_equal(job_cgroups_find(job_cgroups), 2);
	put_file("slurm/job_1", "cpu.stat", "usage_usec 12\n");
	assert_true(
	    text_equal(job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_CPU),
		text_of("usage_usec 12\n")));
	remove_group("slurm/job_1");
	assert_int_equal(job_cgroups_find(job_cgroups), 1);
	assert_string_equal(job_cgroups_path(job_cgroups, 0), "slurm/job_2");
	job_cgroups_close(&job_cgroups);
	assert_null(job_cgroups);
}

static void
there_is_a_bound_to_groups(void **state)
{
	struct job_cgroups *job_cgroups;
	char group[64];

	(void)state;
	for (int i = 0; i < JOB_CGROUPS_MAX + 10; i++) {
		snprintf(group, sizeof(group), "many/job_%d", i);
		put_file(group, "cpu.stat", "usage_usec 1\n");
	}
	job_cgroups_open(&job_cgroups, root, "many/*");
	assert_int_equal(job_cgroups_find(job_cgroups), JOB_CGROUPS_MAX);
	assert_int_equal(job_cgroups_find(job_cgroups), JOB_CGROUPS_MAX);
	job_cgroups_close(&job_cgroups);
}

static void
processes_are_found_in_the_leaves_and_added_up_by_name(void **state)
{
	struct job_cgroups_command top[3];
	struct job_cgroups *job_cgroups;
	char pids[96];
	pid_t child;

	(void)state;
	prctl(PR_SET_NAME, "my job");
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	snprintf(pids, sizeof(pids), "x\n%d\n%d\n999999999\n", (int)getpid(),
	    (int)child);
	put_file("tree/job_1", "cpu.stat", "usage_usec 1\n");
	put_file("tree/job_1/step_0/task_0", "cgroup.procs", pids);
	job_cgroups_open(&job_cgroups, root, "tree/*");
	assert_int_equal(job_cgroups_top(job_cgroups, top, 3), 0);
	assert_int_equal(job_cgroups_find(job_cgroups), 1);
	/* Known from now on, whatever they did before. */
	job_cgroups_top(job_cgroups, top, 3);
	for (clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 10;)
		;
	assert_int_equal(job_cgroups_top(job_cgroups, top, 3), 1);
	assert_string_equal(top[0].name, "my\\040job");
	assert_int_equal(top[0].processes, 2);
	assert_true(top[0].threads >= 2);
	assert_true(top[0].resident_pages > 0);
	assert_true(top[0].processors > 0 && top[0].processors < 64);
	assert_int_equal(job_cgroups_top(job_cgroups, top, 0), 0);
	job_cgroups_close(&job_cgroups);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void
the_root_is_where_a_cgroup2_is_mounted(void **state)
{
	char to[PATH_MAX];

	(void)state;
	assert_true(job_cgroups_root(
	    to, text_of("31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
			"32 31 0:29 / /sys/fs/cgroup/a\\040b rw - cgroup2 none "
			"rw\n")));
	assert_string_equal(to, "/sys/fs/cgroup/a b");
	assert_false(job_cgroups_root(to, text_of("")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    groups_that_match_are_found_and_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    there_is_a_bound_to_groups, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    processes_are_found_in_the_leaves_and_added_up_by_name,
		    set_up, tear_down),
		cmocka_unit_test(the_root_is_where_a_cgroup2_is_mounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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
static const char *proc = "/proc";
static struct deadline *deadline;

static int
set_up(void **state)
{
	scratch_make(root);
	deadline_open(&deadline);
	return 0;
}

static int
tear_down(void **state)
{
	scratch_remove(root);
	deadline_close(&deadline);
	proc = "/proc";
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
put_bytes(const char *name, const char *bytes, size_t count)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fwrite(bytes, 1, count, file);
	fclose(file);
}

static void
open_groups(struct job_cgroups **job_cgroups, const char *patterns)
{
	const struct job_cgroups_options options = { root, patterns, proc,
		deadline };

	job_cgroups_open(job_cgroups, &options);
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

	put_file("slurm/job_1", "cpu.stat", "usage_usec 11\n");
	put_file("slurm/job_1", "memory.current", "4096\n");
	put_file("slurm/other", "cpu.stat", "usage_usec 99\n");
	put_file("docker", "job_file", "");
	open_groups(&job_cgroups, "slurm/job_*,,docker/*,nothing/*");
	assert_int_equal(job_cgroups_find(job_cgroups), 1);
	assert_string_equal(job_cgroups_name(job_cgroups, 0), "slurm/job_1");
	assert_true(
	    text_equal(job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_CPU),
		text_of("usage_usec 11\n")));
	assert_true(
	    text_equal(job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_MEMORY),
		text_of("4096\n")));
	/* Not an empty file, which would be a group that did none. */
	assert_null(job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_IO).at);

	put_file("slurm/job_2", "cpu.stat", "usage_usec 22\n");
	assert_int_equal(job_cgroups_find(job_cgroups), 2);
	put_file("slurm/job_1", "cpu.stat", "usage_usec 12\n");
	assert_true(
	    text_equal(job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_CPU),
		text_of("usage_usec 12\n")));
	remove_group("slurm/job_1");
	assert_int_equal(job_cgroups_find(job_cgroups), 1);
	assert_string_equal(job_cgroups_name(job_cgroups, 0), "slurm/job_2");
	job_cgroups_close(&job_cgroups);
	assert_null(job_cgroups);
}

/* The container restarted: its files are others from the next read on, also
 * those that its system did not have before. */
static void
a_group_that_was_made_again_is_the_new_one(void **state)
{
	struct job_cgroups *job_cgroups;

	put_file("docker/a", "cpu.stat", "usage_usec 5000\n");
	open_groups(&job_cgroups, "docker/*,*/a");
	assert_int_equal(job_cgroups_find(job_cgroups), 1);
	job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_CPU);
	remove_group("docker/a");
	assert_null(job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_CPU).at);
	put_file("docker/a", "cpu.stat", "usage_usec 1\n");
	put_file("docker/a", "memory.peak", "9\n");
	assert_true(
	    text_equal(job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_CPU),
		text_of("usage_usec 1\n")));
	assert_true(text_equal(
	    job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_MEMORY_PEAK),
	    text_of("9\n")));
	job_cgroups_close(&job_cgroups);
}

/* 2,000 devices, 100 bytes each: 16 KiB and even 64 KiB are less. */
static void
a_long_file_is_read_to_its_end(void **state)
{
	struct job_cgroups *job_cgroups;
	char *text = malloc(2000 * 100 + 1);
	struct cgroup_io io;
	size_t used = 0;

	for (int i = 0; i < 2000; i++)
		used += (size_t)sprintf(text + used,
		    "8:%d rbytes=1000 wbytes=2000 rios=3 wios=4 dbytes=0 "
		    "dios=0\n",
		    i);
	put_file("docker/a", "cpu.stat", "usage_usec 1\n");
	put_file("docker/a", "io.stat", text);
	free(text);
	open_groups(&job_cgroups, "docker/*");
	assert_int_equal(job_cgroups_find(job_cgroups), 1);
	cgroup_parse_io(job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_IO), &io);
	assert_int_equal(io.read_bytes, 2000000);
	assert_int_equal(io.writes, 8000);
	job_cgroups_close(&job_cgroups);
}

/* Two kinds of names that Slurm uses, one that no pattern takes, and Slurm's
 * own; the id of a job is in the environment of its second process, or in the
 * title of its step's daemon. */
static void
groups_named_by_sluid_get_the_id_of_their_job(void **state)
{
	struct job_cgroups *job_cgroups;

	proc = root;
	put_file("slurmstepd.scope/job_17", "cpu.stat", "usage_usec 1\n");
	put_file(
	    "slurmstepd.scope/sAJ3Z8QV4XY0C0", "cpu.stat", "usage_usec 1\n");
	put_file("slurmstepd.scope/sAJ3Z8QV4XY0C0/step_0/user/task_0",
	    "cgroup.procs", "71\n72\n");
	put_file("71", "environ", "");
	put_file("72", "environ", "");
	put_bytes("72/environ", "A=1\0SLURM_JOB_ID=4711\0B=2", 26);
	put_file(
	    "slurmstepd.scope/sBJ3Z8QV4XY0C0", "cpu.stat", "usage_usec 1\n");
	put_file("slurmstepd.scope/sBJ3Z8QV4XY0C0/step_0/slurm", "cgroup.procs",
	    "73\n");
	put_file("73", "cmdline", "slurmstepd: [4712.0]");
	put_file(
	    "slurmstepd.scope/sCJ3Z8QV4XY0C0", "cpu.stat", "usage_usec 1\n");
	put_file("slurmstepd.scope/system", "cpu.stat", "usage_usec 1\n");
	open_groups(
	    &job_cgroups, "slurmstepd.scope/job_*,slurmstepd.scope/s[0-9A-Z]*");
	assert_int_equal(job_cgroups_find(job_cgroups), 4);
	assert_string_equal(
	    job_cgroups_name(job_cgroups, 0), "slurmstepd.scope/job_17");
	assert_string_equal(
	    job_cgroups_name(job_cgroups, 1), "slurmstepd.scope/job_4711");
	assert_string_equal(
	    job_cgroups_name(job_cgroups, 2), "slurmstepd.scope/job_4712");
	assert_string_equal(job_cgroups_name(job_cgroups, 3),
	    "slurmstepd.scope/sCJ3Z8QV4XY0C0");
	assert_int_equal(job_cgroups_left_out(job_cgroups)->unmatched, 0);
	/* It has a process now. */
	put_file("slurmstepd.scope/sCJ3Z8QV4XY0C0", "cgroup.procs", "73\n");
	put_file("73", "cmdline", "slurmstepd: [4713.batch]");
	assert_int_equal(job_cgroups_find(job_cgroups), 4);
	assert_string_equal(
	    job_cgroups_name(job_cgroups, 3), "slurmstepd.scope/job_4713");
	job_cgroups_close(&job_cgroups);
}

static void
groups_of_a_scheduler_that_no_pattern_takes_are_counted(void **state)
{
	struct job_cgroups *job_cgroups;

	put_file(
	    "slurmstepd.scope/sAJ3Z8QV4XY0C0", "cpu.stat", "usage_usec 1\n");
	put_file("slurmstepd.scope/system", "cpu.stat", "usage_usec 1\n");
	put_file("system.slice/cron.service", "cpu.stat", "usage_usec 1\n");
	open_groups(
	    &job_cgroups, "slurmstepd.scope/job_*,system.slice/docker-*");
	assert_int_equal(job_cgroups_find(job_cgroups), 0);
	assert_int_equal(job_cgroups_left_out(job_cgroups)->unmatched, 1);
	assert_string_equal(job_cgroups_left_out(job_cgroups)->unmatched_in,
	    "slurmstepd.scope/sAJ3Z8QV4XY0C0");
	job_cgroups_close(&job_cgroups);
}

/* Of processes that this one may not see, cgroup.procs lists no pid but 0, or
 * one that /proc does not have. */
static void
processes_that_cannot_be_seen_are_counted(void **state)
{
	struct job_cgroups_command top[3];
	struct job_cgroups *job_cgroups;

	put_file("docker/a", "cpu.stat", "usage_usec 1\n");
	put_file("docker/a", "cgroup.procs", "0\n999999998\n999999999\n");
	open_groups(&job_cgroups, "docker/*");
	assert_int_equal(job_cgroups_find(job_cgroups), 1);
	job_cgroups_top(job_cgroups, top, 3);
	assert_int_equal(job_cgroups_left_out(job_cgroups)->hidden, 3);
	job_cgroups_close(&job_cgroups);
}

static void
names_that_are_no_utf8_are_escaped(void **state)
{
	struct job_cgroups *job_cgroups;

	put_file("docker/a\xff b", "cpu.stat", "usage_usec 1\n");
	open_groups(&job_cgroups, "docker/*");
	assert_int_equal(job_cgroups_find(job_cgroups), 1);
	assert_string_equal(
	    job_cgroups_name(job_cgroups, 0), "docker/a\\377\\040b");
	assert_int_equal(
	    job_cgroups_read(job_cgroups, 0, JOB_CGROUPS_CPU).bytes, 13);
	job_cgroups_close(&job_cgroups);
}

static void
there_is_a_bound_to_groups(void **state)
{
	struct job_cgroups *job_cgroups;
	char group[64];

	for (int i = 0; i < JOB_CGROUPS_MAX + 10; i++) {
		snprintf(group, sizeof(group), "many/job_%d", i);
		put_file(group, "cpu.stat", "usage_usec 1\n");
	}
	open_groups(&job_cgroups, "many/*");
	assert_int_equal(job_cgroups_find(job_cgroups), JOB_CGROUPS_MAX);
	assert_int_equal(job_cgroups_find(job_cgroups), JOB_CGROUPS_MAX);
	assert_int_equal(job_cgroups_left_out(job_cgroups)->groups, 10);
	job_cgroups_close(&job_cgroups);
}

static void
processes_are_found_in_the_leaves_and_added_up_by_name(void **state)
{
	struct job_cgroups_command top[3];
	struct job_cgroups *job_cgroups;
	char pids[96];
	pid_t child;

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
	open_groups(&job_cgroups, "tree/*");
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
		    a_group_that_was_made_again_is_the_new_one, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    a_long_file_is_read_to_its_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    groups_named_by_sluid_get_the_id_of_their_job, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    groups_of_a_scheduler_that_no_pattern_takes_are_counted,
		    set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    processes_that_cannot_be_seen_are_counted, set_up,
		    tear_down),
		cmocka_unit_test_setup_teardown(
		    names_that_are_no_utf8_are_escaped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    there_is_a_bound_to_groups, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
		    processes_are_found_in_the_leaves_and_added_up_by_name,
		    set_up, tear_down),
		cmocka_unit_test(the_root_is_where_a_cgroup2_is_mounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

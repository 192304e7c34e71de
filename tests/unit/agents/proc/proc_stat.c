/*
 * proc_stat - parsers of /proc, with captured files, garbage, and this machine
 * as python3-psutil sees it.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/proc_stat.h"

#include "agents/proc/scan.h"

#include <inttypes.h>

#include "agents/proc/proc_files.h"
#include "tests/unit/check.h"

static const char stat_file[] =
    "cpu  22420 13 26450 3468610 9280 7 550 190 11 5\n"
    "cpu0 6160 0 8450 1748740 310 0 80 50 0 0\n"
    "cpu1 16250 0 17990 1719920 8960 0 470 130 0 0\n"
    "intr 229228 0 0 0\n"
    "ctxt 434056\n"
    "btime 1790000000\n"
    "processes 7949\n"
    "procs_running 3\n"
    "procs_blocked 1\n"
    "softirq 17 0 0\n";

static void
cpu_times_are_those_of_the_first_line(void **state)
{
	struct proc_cpu cpu;

	assert_int_equal(proc_parse_cpu(text_of(stat_file), &cpu), 0);
	assert_int_equal(cpu.user, 22420);
	assert_int_equal(cpu.nice, 13);
	assert_int_equal(cpu.system, 26450);
	assert_int_equal(cpu.idle, 3468610);
	assert_int_equal(cpu.iowait, 9280);
	assert_int_equal(cpu.interrupt, 7);
	assert_int_equal(cpu.softirq, 550);
	assert_int_equal(cpu.steal, 190);
	assert_int_equal(cpu.processors, 2);
	assert_int_equal(cpu.context_switches, 434056);
	assert_int_equal(cpu.forks, 7949);
	assert_int_equal(cpu.running, 3);
	assert_int_equal(cpu.blocked, 1);
}

static void
a_file_without_what_it_is_read_for_is_refused(void **state)
{
	struct proc_cpu cpu;
	struct proc_memory memory;
	struct proc_load load;

	assert_int_equal(proc_parse_cpu(text_of(""), &cpu), -1);
	assert_int_equal(proc_parse_cpu(text_of("cpu 1 2 3\n"), &cpu), -1);
	assert_int_equal(
	    proc_parse_cpu(text_of("cpu0 1 2 3 4 5 6 7 8\n"), &cpu), -1);
	assert_int_equal(
	    proc_parse_memory(text_of("MemFree: 3 kB\n"), &memory), -1);
	assert_int_equal(proc_parse_load(text_of("0.1 0.2\n"), &load), -1);
	assert_int_equal(
	    proc_parse_load(text_of("0.1 0.2 0.3 4\n"), &load), -1);
	assert_int_equal(
	    proc_parse_load(text_of("0.1 0.2 0.3 /4\n"), &load), -1);
	assert_int_equal(proc_parse_load(text_of("a b c 1/2\n"), &load), -1);
}

static void
memory_is_in_bytes_and_absent_lines_are_unknown(void **state)
{
	struct proc_memory memory;

	assert_int_equal(
	    proc_parse_memory(text_of("MemTotal:       24684096 kB\n"
				      "MemFree:        24202700 kB\n"
				      "MemAvailable:   24321672 kB\n"
				      "Buffers:            1584 kB\n"
				      "Cached:           282780 kB\n"
				      "SwapCached:            1 kB\n"
				      "SReclaimable:      97960 kB\n"
				      "Dirty:               308 kB\n"
				      "HugePages_Total:       0\n"
				      "HardwareCorrupted: 99999999999999999 "
				      "kB\n"),
		&memory),
	    0);
	assert_int_equal(memory.total, UINT64_C(24684096) << 10);
	assert_int_equal(memory.free, UINT64_C(24202700) << 10);
	assert_int_equal(memory.available, UINT64_C(24321672) << 10);
	assert_int_equal(memory.buffers, 1584 << 10);
	assert_int_equal(memory.cached, 282780 << 10);
	assert_int_equal(memory.slab_reclaimable, 97960 << 10);
	assert_int_equal(memory.dirty, 308 << 10);
	assert_true(memory.swap_total == SCAN_UNKNOWN);
	assert_true(memory.shared == SCAN_UNKNOWN);
}

static void
old_kernels_have_fewer_times(void **state)
{
	struct text rest = text_of("cpu 1 2 3 4\ncpu0 1 2 3 4\n");
	struct proc_processor processor;
	struct proc_cpu cpu;

	assert_int_equal(proc_parse_cpu(rest, &cpu), 0);
	assert_int_equal(cpu.idle, 4);
	assert_true(cpu.iowait == SCAN_UNKNOWN && cpu.steal == SCAN_UNKNOWN);
	assert_true(cpu.context_switches == SCAN_UNKNOWN);
	assert_true(proc_next_processor(&rest, &processor));
	assert_int_equal(processor.times[PROC_CPU_IDLE], 4);
	assert_true(processor.times[PROC_CPU_STEAL] == SCAN_UNKNOWN);
	assert_int_equal(proc_parse_cpu(text_of("cpu 1 2 3\n"), &cpu), -1);
}

static void
load_averages_and_tasks_are_read(void **state)
{
	struct proc_load load;

	assert_int_equal(
	    proc_parse_load(text_of("0.07 12.02 0.00 1/95 7949\n"), &load), 0);
	assert_true(load.one == 0.07 && load.five == 12.02);
	assert_true(load.fifteen == 0);
	assert_int_equal(load.running, 1);
	assert_int_equal(load.threads, 95);
}

static void
disks_are_read_with_old_and_new_numbers_of_columns(void **state)
{
	struct text rest = text_of(
	    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
	    " 254       0 vda 53458 9518 2974002 21302 30810 10571 1343296 "
	    "6433 2 12140 28127 5565 8 325256 312 2121 78\n"
	    " 254 0 short 1 2 3\n"
	    "garbage\n"
	    " 8 0 cciss/c0d0 1 2 3 4 5 6 7 8 9 10 11");
	struct proc_disk disk;

	assert_true(proc_next_disk(&rest, &disk));
	assert_true(text_equal(disk.name, text_of("loop0")));
	assert_true(proc_next_disk(&rest, &disk));
	assert_true(text_equal(disk.name, text_of("vda")));
	assert_int_equal(disk.reads, 53458);
	assert_int_equal(disk.reads_merged, 9518);
	assert_int_equal(disk.read_sectors, 2974002);
	assert_int_equal(disk.read_ms, 21302);
	assert_int_equal(disk.writes, 30810);
	assert_int_equal(disk.writes_merged, 10571);
	assert_int_equal(disk.write_sectors, 1343296);
	assert_int_equal(disk.write_ms, 6433);
	assert_int_equal(disk.in_progress, 2);
	assert_int_equal(disk.io_ms, 12140);
	assert_int_equal(disk.weighted_ms, 28127);
	assert_true(proc_next_disk(&rest, &disk));
	assert_true(text_equal(disk.name, text_of("cciss/c0d0")));
	assert_int_equal(disk.weighted_ms, 11);
	assert_false(proc_next_disk(&rest, &disk));
}

static void
interfaces_are_read_also_without_a_blank_behind_the_colon(void **state)
{
	struct text rest = text_of(
	    "Inter-|   Receive                           |  Transmit\n"
	    " face |bytes    packets errs drop fifo frame compressed "
	    "multicast|bytes    packets errs drop fifo colls carrier "
	    "compressed\n"
	    "    lo:    3193      29    0    0    0     0          0         "
	    "0     3193      29    0    0    0     0       0          0\n"
	    "  eth0:82018427    1837    1    2    3     4          5         "
	    "6    88350     974    7    8    9     1       2          3\n"
	    "eth0:1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
	    ": 1 2 3 4 5 6 7 8 9 10 11 12\n");
	struct proc_interface i;

	assert_true(proc_next_interface(&rest, &i));
	assert_true(text_equal(i.name, text_of("lo")));
	assert_true(proc_next_interface(&rest, &i));
	assert_true(text_equal(i.name, text_of("eth0")));
	assert_int_equal(i.receive_bytes, 82018427);
	assert_int_equal(i.receive_packets, 1837);
	assert_int_equal(i.receive_errors, 1);
	assert_int_equal(i.receive_drops, 2);
	assert_int_equal(i.send_bytes, 88350);
	assert_int_equal(i.send_packets, 974);
	assert_int_equal(i.send_errors, 7);
	assert_int_equal(i.send_drops, 8);
	assert_true(proc_next_interface(&rest, &i));
	assert_true(text_equal(i.name, text_of("eth0:1")));
	assert_false(proc_next_interface(&rest, &i));
}

static void
mounts_are_read_with_any_number_of_tags(void **state)
{
	struct text rest =
	    text_of("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
		    "28 27 0:25 /sub /mnt/a\\040b ro shared:5 master:2 - "
		    "tmpfs none ro,size=4k\n"
		    "29 27 0:x / /bad rw - ext4 /dev/vda rw\n"
		    "30 27 0:1 / /bad rw ext4 /dev/vda rw\n"
		    "31 27 8:1 / /data rw shared:1 - xfs /dev/sda1 rw\n");
	struct proc_mount mount;
	char path[64];

	assert_true(proc_next_mount(&rest, &mount));
	assert_true(text_equal(mount.point, text_of("/")));
	assert_true(text_equal(mount.type, text_of("ext4")));
	assert_true(proc_is_local(mount.type));
	assert_int_equal(mount.major, 254);
	assert_true(proc_next_mount(&rest, &mount));
	assert_true(text_equal(mount.root, text_of("/sub")));
	assert_true(text_equal(mount.type, text_of("tmpfs")));
	assert_false(proc_is_local(mount.type));
	assert_int_equal(proc_unescape(path, sizeof(path), mount.point), 8);
	assert_string_equal(path, "/mnt/a b");
	assert_true(proc_next_mount(&rest, &mount));
	assert_true(text_equal(mount.point, text_of("/data")));
	assert_false(proc_next_mount(&rest, &mount));
	assert_false(proc_is_local(text_of("nfs4")));
	assert_false(proc_is_local(text_of("fuse.sshfs")));
}

static void
what_does_not_fit_is_not_cut(void **state)
{
	char to[8];

	assert_int_equal(proc_unescape(to, 5, text_of("/abcd")), 0);
	assert_int_equal(proc_unescape(to, 6, text_of("/abcd")), 5);
	assert_int_equal(proc_escape(to, 4, text_of("/abcd")), 0);
	assert_int_equal(proc_escape(to, 8, text_of("a\xff")), 5);
	assert_memory_equal(to, "a\\377", 5);
	assert_int_equal(proc_escape(to, 8, text_of("\xc3\xa9")), 2);
}

/* Whatever stands in a file, a parser ends, stays within it (the sanitizer
 * watches: the text is on the heap and has no end mark) and gives back views
 * of it. */
static void
garbage_does_no_harm(void **state)
{
	static const char *const seeds[] = { stat_file,
		"MemTotal: 24684096 kB\nCached: 1 kB\n",
		"0.07 12.02 0.00 1/95 7949\n",
		" 254 0 vda 53458 9518 2974002 21302 30810 10571 1343296 6433 "
		"2 12140 28127\n",
		"  eth0:82018427 1837 1 2 3 4 5 6 88350 974 7 8 9 1 2 3\n",
		"28 27 0:25 /sub /mnt/a\\040b ro shared:5 - ext4 none ro\n" };
	uint64_t random = check_seed();

	for (int round = 0; round < 20000; round++) {
		const char *seed = seeds[check_random(&random) % 6];
		uint32_t bytes =
		    (uint32_t)(check_random(&random) % (strlen(seed) + 1));
		char *copy = malloc(bytes + 1);
		struct text file = { copy, bytes }, rest;
		struct proc_cpu cpu;
		struct proc_memory memory;
		struct proc_load load;
		struct proc_disk disk;
		struct proc_interface interface;
		struct proc_mount mount;
		char path[64];

		copy = realloc(copy, bytes ? bytes : 1);
		file.at = copy;
		memcpy(copy, seed, bytes);
		for (uint64_t i = check_random(&random) % 8; i > 0 && bytes;
		     i--)
			copy[check_random(&random) % bytes] =
			    " \n\t:/-\\9\xff\0a"[check_random(&random) % 11];
		proc_parse_cpu(file, &cpu);
		proc_parse_memory(file, &memory);
		proc_parse_load(file, &load);
		for (rest = file; proc_next_disk(&rest, &disk);)
			assert_true(disk.name.at >= copy);
		for (rest = file; proc_next_interface(&rest, &interface);)
			assert_true(interface.name.at >= copy);
		for (rest = file; proc_next_mount(&rest, &mount);) {
			proc_unescape(path, sizeof(path), mount.point);
			proc_escape(path, sizeof(path), mount.point);
		}
		free(copy);
	}
}

/* One line of "name value" each from psutil, taken between two readings of
 * ours: what only grows lies between them. */
static const char psutil_program[] =
    "/usr/bin/python3 -c '\n"
    "import psutil\n"
    "m = psutil.virtual_memory(); c = psutil.cpu_times()\n"
    "print(\"total\", m.total)\n"
    "print(\"swap\", psutil.swap_memory().total)\n"
    "print(\"cpus\", psutil.cpu_count())\n"
    "print(\"user\", round(c.user * 100))\n"
    "print(\"system\", round(c.system * 100))\n"
    "print(\"ctxt\", psutil.cpu_stats().ctx_switches)\n"
    "for n, d in sorted(psutil.disk_io_counters(perdisk=True).items()):\n"
    "    print(\"disk/\" + n, d.write_bytes)\n"
    "for n, i in sorted(psutil.net_io_counters(pernic=True,"
    " nowrap=False).items()):\n"
    "    print(\"net/\" + n, i.bytes_recv)\n"
    "' 2>/dev/null";

static uint64_t
reading_of(struct proc_files *files, const char *name)
{
	struct text rest, wanted = { strchr(name, '/'), 0 };
	struct proc_cpu cpu;
	struct proc_memory memory;
	struct proc_disk disk;
	struct proc_interface interface;

	proc_parse_memory(proc_files_read(files, PROC_MEMINFO), &memory);
	proc_parse_cpu(proc_files_read(files, PROC_STAT), &cpu);
	if (wanted.at != NULL)
		wanted = text_of(wanted.at + 1);
	rest = proc_files_read(files, PROC_DISKSTATS);
	while (name[0] == 'd' && proc_next_disk(&rest, &disk))
		if (text_equal(disk.name, wanted))
			return disk.write_sectors * 512;
	rest = proc_files_read(files, PROC_NETWORK);
	while (name[0] == 'n' && proc_next_interface(&rest, &interface))
		if (text_equal(interface.name, wanted))
			return interface.receive_bytes;
	return strcmp(name, "total") == 0    ? memory.total
	       : strcmp(name, "swap") == 0   ? memory.swap_total
	       : strcmp(name, "cpus") == 0   ? cpu.processors
	       : strcmp(name, "user") == 0   ? cpu.user
	       : strcmp(name, "system") == 0 ? cpu.system
	       : strcmp(name, "ctxt") == 0   ? cpu.context_switches
					     : 0;
}

static void
this_machine_is_what_psutil_says(void **state)
{
	struct {
		char name[64];
		uint64_t before, theirs;
	} row[128];
	int rows = 0, there = 0;
	struct proc_files files;
	FILE *python;

	proc_files_open(&files, "/proc");
	/* The names first, then our readings, theirs, ours. */
	for (int pass = 0; pass < 2; pass++) {
		python = popen(psutil_program, "r");
		assert_non_null(python);
		there = 0;
		while (there < 128 &&
		       fscanf(python, "%63s %" SCNu64, row[there].name,
			   &row[there].theirs) == 2)
			there++;
		pclose(python);
		if (there == 0) {
			proc_files_close(&files);
			skip();
		}
		for (int i = 0; pass == 0 && i < there; i++)
			row[i].before = reading_of(&files, row[i].name);
		rows = pass == 0 ? there : rows;
	}
	assert_int_equal(rows, there);
	for (int i = 0; i < rows; i++) {
		uint64_t after = reading_of(&files, row[i].name);

		if (row[i].theirs < row[i].before || row[i].theirs > after)
			fail_msg("%s: %" PRIu64 ", theirs %" PRIu64
				 ", then %" PRIu64,
			    row[i].name, row[i].before, row[i].theirs, after);
	}
	proc_files_close(&files);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_times_are_those_of_the_first_line),
		cmocka_unit_test(a_file_without_what_it_is_read_for_is_refused),
		cmocka_unit_test(
		    memory_is_in_bytes_and_absent_lines_are_unknown),
		cmocka_unit_test(old_kernels_have_fewer_times),
		cmocka_unit_test(load_averages_and_tasks_are_read),
		cmocka_unit_test(
		    disks_are_read_with_old_and_new_numbers_of_columns),
		cmocka_unit_test(
		    interfaces_are_read_also_without_a_blank_behind_the_colon),
		cmocka_unit_test(mounts_are_read_with_any_number_of_tags),
		cmocka_unit_test(what_does_not_fit_is_not_cut),
		cmocka_unit_test(garbage_does_no_harm),
		cmocka_unit_test(this_machine_is_what_psutil_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

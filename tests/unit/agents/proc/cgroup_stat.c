/*
 * cgroup_stat - files of a control group and of a process.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/cgroup_stat.h"

#include <inttypes.h>

#include "tests/unit/check.h"

static void
processor_time_of_a_group_is_read(void **state)
{
	struct cgroup_cpu cpu;

	assert_int_equal(
	    cgroup_parse_cpu(text_of("usage_usec 30\nuser_usec 20\n"
				     "system_usec 10\nnr_periods 9\n"
				     "nr_throttled 2\nthrottled_usec 5\n"),
		&cpu),
	    0);
	assert_int_equal(cpu.usage_us, 30);
	assert_int_equal(cpu.user_us, 20);
	assert_int_equal(cpu.system_us, 10);
	assert_int_equal(cpu.throttled, 2);
	assert_int_equal(cpu.throttled_us, 5);
	assert_int_equal(cgroup_parse_cpu(text_of(""), &cpu), -1);
}

static void
io_of_a_group_is_summed_over_devices(void **state)
{
	struct cgroup_io io;

	assert_int_equal(
	    cgroup_parse_io(
		text_of("8:0 rbytes=100 wbytes=200 rios=3 wios=4 dbytes=9\n"
			"254:0 rbytes=1 wbytes=2 rios=x wios=\n"
			"7:0 \n"),
		&io),
	    0);
	assert_int_equal(io.read_bytes, 101);
	assert_int_equal(io.write_bytes, 202);
	assert_int_equal(io.reads, 3);
	assert_int_equal(io.writes, 4);
	/* A group that did nothing has an empty file. */
	assert_int_equal(cgroup_parse_io(text_of(""), &io), 0);
	assert_int_equal(io.read_bytes, 0);
}

static void
a_limit_that_is_none_is_no_number(void **state)
{
	struct cgroup_events events;
	uint64_t number = 7;

	assert_true(proc_parse_number(text_of("4096\n"), &number));
	assert_int_equal(number, 4096);
	assert_false(proc_parse_number(text_of("max\n"), &number));
	assert_false(proc_parse_number(text_of(""), &number));
	assert_int_equal(
	    cgroup_parse_events(
		text_of("low 0\nhigh 1\nmax 2\noom 3\noom_kill 4\n"), &events),
	    0);
	assert_int_equal(events.oom_kills, 4);
	assert_int_equal(events.high, 1);
}

static void
a_process_may_call_itself_anything(void **state)
{
	struct proc_process p;

	assert_int_equal(
	    proc_parse_process(
		text_of("4711 (a) R 1 (b)) S 1 4711 4711 0 -1 4194304 100 0 "
			"5 0 77 33 0 0 20 -5 8 0 123456 1000000 250 "
			"18446744073709551615 1 1 0\n"),
		&p),
	    0);
	assert_int_equal(p.pid, 4711);
	assert_true(text_equal(p.name, text_of("a) R 1 (b)")));
	assert_int_equal(p.major_faults, 5);
	assert_int_equal(p.user_ticks, 77);
	assert_int_equal(p.system_ticks, 33);
	assert_int_equal(p.threads, 8);
	assert_int_equal(p.start_ticks, 123456);
	assert_int_equal(p.resident_pages, 250);
	assert_int_equal(proc_parse_process(text_of(""), &p), -1);
	assert_int_equal(proc_parse_process(text_of("1 (a"), &p), -1);
	assert_int_equal(proc_parse_process(text_of(") 1 ("), &p), -1);
	assert_int_equal(proc_parse_process(text_of("1 (a) S 1 2 3"), &p), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processor_time_of_a_group_is_read),
		cmocka_unit_test(io_of_a_group_is_summed_over_devices),
		cmocka_unit_test(a_limit_that_is_none_is_no_number),
		cmocka_unit_test(a_process_may_call_itself_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

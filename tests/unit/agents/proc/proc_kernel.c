/*
 * proc_kernel - what the kernel says about itself.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/proc_kernel.h"

#include <math.h>

#include "agents/proc/scan.h"

#include "tests/unit/check.h"

static void
paging_is_summed_over_who_reclaims(void **state)
{
	struct proc_vmstat v;

	assert_int_equal(
	    proc_parse_vmstat(text_of("nr_free_pages 6056239\n"
				      "pswpin 11\npswpout 12\n"
				      "pgfault 20742\npgmajfault 55\n"
				      "pgsteal_kswapd 7\npgsteal_direct 3\n"
				      "pgscan_kswapd 70\npgscan_direct 30\n"
				      "pgscan_direct_throttle 1000\n"
				      "oom_kill 2\ncompact_stall 9\n"
				      "numa_pages_migrated 4\n"),
		&v),
	    0);
	assert_int_equal(v.faults, 20742);
	assert_int_equal(v.major_faults, 55);
	assert_int_equal(v.swapped_in, 11);
	assert_int_equal(v.swapped_out, 12);
	assert_int_equal(v.scanned, 100);
	assert_int_equal(v.reclaimed, 10);
	assert_int_equal(v.reclaimed_direct, 3);
	assert_int_equal(v.oom_kills, 2);
	assert_int_equal(v.compact_stalls, 9);
	assert_int_equal(v.migrated, 4);
	/* A sum lacks one of its parts; an older kernel lacks the rest. */
	assert_int_equal(
	    proc_parse_vmstat(text_of("pgfault 7\npgscan_kswapd 5\n"), &v), 0);
	assert_int_equal(v.faults, 7);
	assert_true(v.scanned == SCAN_UNKNOWN && v.reclaimed == SCAN_UNKNOWN);
	assert_true(v.oom_kills == SCAN_UNKNOWN);
	/* Kernels before 4.8 count by zone: 1 + 2 + 4 + 8 + 16.  Tasks that
	 * had to wait are no pages. */
	assert_int_equal(
	    proc_parse_vmstat(text_of("pgsteal_kswapd_dma 1\n"
				      "pgsteal_kswapd_dma32 2\n"
				      "pgsteal_kswapd_normal 4\n"
				      "pgsteal_kswapd_movable 0\n"
				      "pgsteal_direct_normal 8\n"
				      "pgsteal_direct_high 16\n"
				      "pgscan_kswapd_dma 100\n"
				      "pgscan_direct_dma 1000\n"
				      "pgscan_direct_throttle 10000\n"),
		&v),
	    0);
	assert_int_equal(v.scanned, 1100);
	assert_int_equal(v.reclaimed, 31);
	assert_int_equal(v.reclaimed_direct, 24);
	/* Since 6.2, 6.15. */
	assert_int_equal(
	    proc_parse_vmstat(text_of("pgsteal_kswapd 1\n"
				      "pgsteal_direct 2\n"
				      "pgsteal_khugepaged 4\n"
				      "pgsteal_proactive 8\n"
				      "pgscan_kswapd 100\n"
				      "pgscan_direct 200\n"
				      "pgscan_khugepaged 400\n"
				      "pgscan_proactive 800\n"
				      "pgscan_direct_throttle 10000\n"
				      "pgscan_anon 500\n"
				      "pgscan_file 1000\n"),
		&v),
	    0);
	assert_int_equal(v.scanned, 1500);
	assert_int_equal(v.reclaimed, 15);
	assert_int_equal(v.reclaimed_direct, 2);
	assert_int_equal(
	    proc_parse_vmstat(text_of("nr_free_pages 1\n"), &v), -1);
	assert_int_equal(proc_parse_vmstat(text_of(""), &v), -1);
}

static void
pressure_is_read_with_and_without_full(void **state)
{
	struct proc_pressure p;

	assert_int_equal(
	    proc_parse_pressure(
		text_of("some avg10=12.34 avg60=1.00 avg300=0.50 total=987654\n"
			"full avg10=2.25 avg60=0.00 avg300=0.00 total=54321\n"),
		&p),
	    0);
	assert_true(p.some_avg10 == 12.34 && p.full_avg10 == 2.25);
	assert_int_equal(p.some_us, 987654);
	assert_int_equal(p.full_us, 54321);
	assert_int_equal(
	    proc_parse_pressure(text_of("some avg10=x total=\n"), &p), 0);
	assert_true(isnan(p.some_avg10) && p.some_us == SCAN_UNKNOWN);
	assert_true(p.full_us == SCAN_UNKNOWN);
	assert_int_equal(
	    proc_parse_pressure(text_of("full total=1\n"), &p), -1);
}

static const char schedstat_15[] =
    "version 15\n"
    "timestamp 4294938000\n"
    "cpu0 1 0 20 10 50 30 1000 200 7\n"
    "domain0 00000000,00000003 1 2 3 4 500 6 7 8 1 2 3 4 600 6 7 8 "
    "1 2 3 4 700 6 7 8 9 9 9 9 9 9 9 9 9 9 9 9\n"
    "cpu1 1 0 20 10 5 5 2000 300 8\n"
    "domain0 00000000,00000003 1 2 3 4 1 6 7 8 1 2 3 4 2 6 7 8 "
    "1 2 3 4 3 6 7 8 9 9 9 9 9 9 9 9 9 9 9 9\n";

static void
run_delay_and_migrations_are_summed_over_processors(void **state)
{
	struct proc_schedstat s;

	assert_int_equal(proc_parse_schedstat(text_of(schedstat_15), &s), 0);
	assert_int_equal(s.run_ns, 3000);
	assert_int_equal(s.run_delay_ns, 500);
	assert_int_equal(s.timeslices, 15);
	assert_int_equal(s.remote_wakeups, 20);
	assert_int_equal(s.migrations, 1806);
	assert_int_equal(
	    proc_parse_schedstat(
		text_of("version 17\n"
			"cpu0 1 0 20 10 50 30 1000 200 7\n"
			"domain0 PKG 3 1 2 3 4 5 6 7 100 9 10 11 "
			"1 2 3 4 5 6 7 20 9 10 11 1 2 3 4 5 6 7 3 9 10 11 "
			"9 9 9 9 9 9 9 9 9 9 9 9\n"),
		&s),
	    0);
	assert_int_equal(s.migrations, 123);
}

static void
a_schedstat_of_another_version_is_refused(void **state)
{
	struct proc_schedstat s;

	assert_int_equal(
	    proc_parse_schedstat(
		text_of("version 99\ncpu0 1 2 3 4 5 6 7 8 9\n"), &s),
	    -1);
	assert_int_equal(proc_parse_schedstat(text_of("version 15\n"), &s), -1);
	assert_int_equal(
	    proc_parse_schedstat(text_of("version 15\ncpu0 1 2 3\n"), &s), -1);
}

static void
a_boot_is_the_first_48_bits_of_its_id(void **state)
{
	assert_int_equal(
	    proc_parse_boot(text_of("2ba0b6b6-37f4-4c30-a49b-26c6ae2a5ad1\n")),
	    0x2ba0b6b637f4);
	assert_int_equal(proc_parse_boot(text_of("2ba0b6b6-37f\n")), 0);
	assert_int_equal(proc_parse_boot(text_of("2BA0B6B6-37F4\n")), 0);
	assert_int_equal(proc_parse_boot(text_of("")), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paging_is_summed_over_who_reclaims),
		cmocka_unit_test(pressure_is_read_with_and_without_full),
		cmocka_unit_test(
		    run_delay_and_migrations_are_summed_over_processors),
		cmocka_unit_test(a_schedstat_of_another_version_is_refused),
		cmocka_unit_test(a_boot_is_the_first_48_bits_of_its_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * perf - what a report of set perf costs: read /proc, compute, with a pause
 * in between as in life.  Goal: 0.15 ms of processor time.
 * SPDX-License-Identifier: MIT
 */
#include "agents/sampler/perf_report.h"

#include <stdio.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "agents/proc/proc_files.h"

enum { REPORTS = 1000, PAUSE_US = 2000 };

static bool
is_disk(void *arg, struct text name)
{
	(void)arg;
	(void)name;
	return true;
}

static void
take_report(struct proc_files *files, struct perf_reporter *perf_reporter)
{
	struct perf_report report;
	struct statvfs fs;

	perf_report_cpu(
	    perf_reporter, proc_files_read(files, PROC_STAT), &report);
	perf_report_memory(proc_files_read(files, PROC_MEMINFO), &report);
	perf_report_disks(perf_reporter, proc_files_read(files, PROC_DISKSTATS),
	    is_disk, NULL, &report);
	perf_report_network(
	    perf_reporter, proc_files_read(files, PROC_NETWORK), &report);
	if (statvfs("/", &fs) == 0)
		perf_report_space(&(struct perf_report_space){ fs.f_blocks,
				      fs.f_bfree, fs.f_bavail, fs.f_frsize },
		    &report);
}

static double
used_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int
main(void)
{
	struct proc_files files;
	struct perf_reporter *perf_reporter;
	double total_ms = 0;

	proc_files_open(&files, "/proc");
	perf_report_new(&perf_reporter);
	take_report(&files, perf_reporter);
	for (int i = 0; i < REPORTS; i++) {
		double before_ms = used_ms();

		take_report(&files, perf_reporter);
		total_ms += used_ms() - before_ms;
		usleep(PAUSE_US);
	}
	printf(
	    "perf: %.3f ms of CPU a report (goal 0.15)\n", total_ms / REPORTS);
	perf_report_free(&perf_reporter);
	proc_files_close(&files);
	return 0;
}

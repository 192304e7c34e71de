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
take_report(struct host_files *files, struct perf *perf)
{
	struct perf_report report;
	struct statvfs fs;

	perf_cpu(perf, host_files_read(files, HOST_STAT), &report);
	perf_memory(host_files_read(files, HOST_MEMINFO), &report);
	perf_disks(perf, host_files_read(files, HOST_DISKSTATS), is_disk, NULL,
	    &report);
	perf_network(perf, host_files_read(files, HOST_NETWORK), &report);
	if (statvfs("/", &fs) == 0)
		perf_space(&(struct perf_space){ fs.f_blocks, fs.f_bfree,
			       fs.f_bavail, fs.f_frsize },
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
	struct host_files files;
	struct perf *perf;
	double total_ms = 0;

	host_files_open(&files, "/proc");
	perf_new(&perf);
	take_report(&files, perf);
	for (int i = 0; i < REPORTS; i++) {
		double before_ms = used_ms();

		take_report(&files, perf);
		total_ms += used_ms() - before_ms;
		usleep(PAUSE_US);
	}
	printf(
	    "perf: %.3f ms of CPU a report (goal 0.15)\n", total_ms / REPORTS);
	perf_free(&perf);
	host_files_close(&files);
	return 0;
}

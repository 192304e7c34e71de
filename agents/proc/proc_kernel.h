/*
 * proc_kernel - parses the kernel's statistics about itself: paging, pressure,
 * the scheduler, the id of the boot.
 *
 * Pure functions, as in proc_stat.h.  Formats:
 * Documentation/accounting/psi.rst, scheduler/sched-stats.rst, mm/vmstat.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_PROC_KERNEL_H
#define AGENTS_PROC_PROC_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

/* /proc/vmstat, in pages unless stated otherwise.  Lines that are missing are
 * SCAN_UNKNOWN. */
struct proc_vmstat {
	uint64_t faults, major_faults; /* faults */
	uint64_t swapped_in, swapped_out;
	uint64_t scanned, reclaimed; /* by whoever reclaims, and ... */
	uint64_t reclaimed_direct;   /* ... by allocating tasks */
	uint64_t compact_stalls, oom_kills;
	uint64_t migrated; /* between NUMA nodes */
};
int proc_parse_vmstat(struct text file, struct proc_vmstat *vmstat);

/* A file of /proc/pressure, or NAME.pressure of a cgroup.  What is missing is
 * NaN or SCAN_UNKNOWN. */
struct proc_pressure {
	double some_avg10, full_avg10; /* percent of the last ten seconds */
	uint64_t some_us, full_us;     /* total */
};
int proc_parse_pressure(struct text file, struct proc_pressure *pressure);

/* /proc/schedstat, summed over processors; versions 14 to 17. */
struct proc_schedstat {
	uint64_t run_ns, run_delay_ns, timeslices;
	uint64_t remote_wakeups;  /* on another processor than the waker's */
	uint64_t migrations;      /* by load balancing */
	uint64_t processors, set; /* of those that are online */
};
int proc_parse_schedstat(struct text file, struct proc_schedstat *schedstat);

/* The first 48 bits of /proc/sys/kernel/random/boot_id; 0: none. */
uint64_t proc_parse_boot(struct text file);

#endif

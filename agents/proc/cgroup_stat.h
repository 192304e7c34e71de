/*
 * cgroup_stat - parses the files of a cgroup (version 2) and of a process.
 *
 * Pure functions, as in proc_stat.h.  Formats: admin-guide/cgroup-v2.rst,
 * proc(5).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_CGROUP_STAT_H
#define AGENTS_PROC_CGROUP_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

/* cpu.stat.  Lines that are missing are SCAN_UNKNOWN, here and below. */
struct cgroup_cpu {
	uint64_t usage_us, user_us, system_us, throttled_us, throttled;
};
int cgroup_parse_cpu(struct text file, struct cgroup_cpu *cpu);

/* io.stat, summed over devices; an empty file is a group that did none. */
struct cgroup_io {
	uint64_t read_bytes, write_bytes, reads, writes;
};
int cgroup_parse_io(struct text file, struct cgroup_io *io);

/* memory.events */
struct cgroup_events {
	uint64_t high, max, oom_kills;
};
int cgroup_parse_events(struct text file, struct cgroup_events *events);

/* memory.current, pids.current: one number; "max" counts as none. */
bool proc_parse_number(struct text file, uint64_t *number);

/* /proc/PID/stat; the name is a view. */
struct proc_process {
	uint64_t pid;
	struct text name;
	uint64_t user_ticks, system_ticks;
	uint64_t major_faults, threads, start_ticks, resident_pages;
};
int proc_parse_process(struct text file, struct proc_process *process);

#endif

/*
 * proc_stat - numbers out of the text files of Linux' /proc.
 *
 * Pure functions from text to numbers: no file is opened here.  A line that
 * is not understood is passed over; a file without what it is read for gives
 * -1.  Formats: proc(5) and the kernel's Documentation/filesystems/proc.rst,
 * admin-guide/iostats.rst.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_PROC_STAT_H
#define AGENTS_PROC_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

/* /proc/stat.  Times are in ticks (USER_HZ), summed over processors. */
struct proc_cpu {
	uint64_t user, nice, system, idle, iowait, interrupt, softirq, steal;
	uint64_t processors;
	uint64_t context_switches, forks;
	uint64_t running, blocked; /* processes, now */
};
int proc_parse_cpu(struct text file, struct proc_cpu *cpu);

/* The times of a processor in the order of its line; absent ones are zero. */
enum {
	PROC_CPU_USER,
	PROC_CPU_NICE,
	PROC_CPU_SYSTEM,
	PROC_CPU_IDLE,
	PROC_CPU_IOWAIT,
	PROC_CPU_INTERRUPT,
	PROC_CPU_SOFTIRQ,
	PROC_CPU_STEAL,
	PROC_CPU_GUEST, /* in user, too */
	PROC_CPU_GUEST_NICE,
	PROC_CPU_TIMES
};
struct proc_processor {
	uint64_t number;
	uint64_t times[PROC_CPU_TIMES];
};
/* A line "cpuN" of /proc/stat; false at the end. */
bool proc_next_processor(struct text *rest, struct proc_processor *processor);

/* /proc/meminfo, in bytes. */
struct proc_memory {
	uint64_t total, free, available, buffers, cached;
	uint64_t slab_reclaimable, slab_unreclaimable, shared, dirty;
	uint64_t swap_total, swap_free;
	bool has_available; /* since Linux 3.14 */
};
int proc_parse_memory(struct text file, struct proc_memory *memory);

/* /proc/loadavg. */
struct proc_load {
	double one, five, fifteen; /* minutes */
	uint64_t running, threads;
};
int proc_parse_load(struct text file, struct proc_load *load);

/* A line of /proc/diskstats; sectors are of 512 bytes whatever the disk's.
 * A short line (a partition of old kernels) has four numbers. */
struct proc_disk {
	struct text name; /* view */
	uint64_t reads, reads_merged, read_sectors, read_ms;
	uint64_t writes, writes_merged, write_sectors, write_ms;
	uint64_t in_progress, io_ms, weighted_ms;
};
bool proc_next_disk(struct text *rest, struct proc_disk *disk);

/* A line of /proc/net/dev. */
struct proc_interface {
	struct text name; /* view */
	uint64_t receive_bytes, receive_packets, receive_errors, receive_drops;
	uint64_t send_bytes, send_packets, send_errors, send_drops;
};
bool proc_next_interface(struct text *rest, struct proc_interface *interface);

/* A line of /proc/self/mountinfo. */
struct proc_mount {
	uint64_t major, minor;
	struct text root, point; /* views, with the kernel's octal escapes */
	struct text type;
};
bool proc_next_mount(struct text *rest, struct proc_mount *mount);

/* A type of file system that is on this host's own disks, so that asking it
 * cannot wait for a network. */
bool proc_is_local(struct text type);

/* Take \ooo away.  Returns the length, without the NUL that is put behind
 * it, or 0 when it does not fit. */
uint32_t proc_unescape(char *to, uint32_t room, struct text escaped);

/* Bytes that are not UTF-8 become \ooo, so that any mount point is a name. */
uint32_t proc_escape(char *to, uint32_t room, struct text raw);

#endif

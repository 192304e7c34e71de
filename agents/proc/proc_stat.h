/*
 * proc_stat - parses the text files of Linux' /proc.
 *
 * Pure functions from text to numbers that open no file.  Unknown lines are
 * ignored; a file without the required values gives -1.  Formats: proc(5) and
 * the kernel's Documentation/filesystems/proc.rst, admin-guide/iostats.rst.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_PROC_STAT_H
#define AGENTS_PROC_PROC_STAT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

/* /proc/stat.  Times are in ticks (USER_HZ), summed over processors.  Lines and
 * columns that are missing are SCAN_UNKNOWN, here and below. */
struct proc_cpu {
	uint64_t user, nice, system, idle, iowait, interrupt, softirq, steal;
	uint64_t processors, set; /* that are online; which they are */
	uint64_t context_switches, forks;
	uint64_t running, blocked; /* number of processes at the moment */
};
int proc_parse_cpu(struct text file, struct proc_cpu *cpu);

/* The times of a processor in the order of its line. */
enum {
	PROC_CPU_USER,
	PROC_CPU_NICE,
	PROC_CPU_SYSTEM,
	PROC_CPU_IDLE,
	PROC_CPU_IOWAIT,
	PROC_CPU_INTERRUPT,
	PROC_CPU_SOFTIRQ,
	PROC_CPU_STEAL,
	PROC_CPU_GUEST, /* included in user */
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

/* A line of /proc/diskstats; a sector has 512 bytes, whatever the disk's size.
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
	uint64_t id, parent; /* of the mounts */
	uint64_t major, minor;
	struct text root, point; /* views, with the kernel's octal escapes */
	struct text type;
};
bool proc_next_mount(struct text *rest, struct proc_mount *mount);

/* Is this type of file system on the host's own disks, so that a query cannot
 * wait for a network? */
bool proc_is_local(struct text type);

/* Replace \ooo by the byte.  Returns the length without the NUL at the end, or
 * 0 if it does not fit. */
uint32_t proc_unescape(char *to, uint32_t room, struct text escaped);

/* Replace bytes that are not UTF-8 by \ooo, which makes any mount point a
 * valid name. */
uint32_t proc_escape(char *to, uint32_t room, struct text raw);

#endif

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
struct host_cpu {
	uint64_t user, nice, system, idle, iowait, interrupt, softirq, steal;
	uint64_t processors;
	uint64_t context_switches, forks;
	uint64_t running, blocked; /* processes, now */
};
int host_parse_cpu(struct text file, struct host_cpu *cpu);

/* The times of a processor in the order of its line; absent ones are zero. */
enum {
	HOST_CPU_USER,
	HOST_CPU_NICE,
	HOST_CPU_SYSTEM,
	HOST_CPU_IDLE,
	HOST_CPU_IOWAIT,
	HOST_CPU_INTERRUPT,
	HOST_CPU_SOFTIRQ,
	HOST_CPU_STEAL,
	HOST_CPU_GUEST, /* in user, too */
	HOST_CPU_GUEST_NICE,
	HOST_CPU_TIMES
};
struct host_processor {
	uint64_t number;
	uint64_t times[HOST_CPU_TIMES];
};
/* A line "cpuN" of /proc/stat; false at the end. */
bool host_next_processor(struct text *rest, struct host_processor *processor);

/* /proc/meminfo, in bytes. */
struct host_memory {
	uint64_t total, free, available, buffers, cached;
	uint64_t slab_reclaimable, slab_unreclaimable, shared, dirty;
	uint64_t swap_total, swap_free;
	bool has_available; /* since Linux 3.14 */
};
int host_parse_memory(struct text file, struct host_memory *memory);

/* /proc/loadavg. */
struct host_load {
	double one, five, fifteen; /* minutes */
	uint64_t running, threads;
};
int host_parse_load(struct text file, struct host_load *load);

/* A line of /proc/diskstats; sectors are of 512 bytes whatever the disk's.
 * A short line (a partition of old kernels) has four numbers. */
struct host_disk {
	struct text name; /* view */
	uint64_t reads, reads_merged, read_sectors, read_ms;
	uint64_t writes, writes_merged, write_sectors, write_ms;
	uint64_t in_progress, io_ms, weighted_ms;
};
bool host_next_disk(struct text *rest, struct host_disk *disk);

/* A line of /proc/net/dev. */
struct host_interface {
	struct text name; /* view */
	uint64_t receive_bytes, receive_packets, receive_errors, receive_drops;
	uint64_t send_bytes, send_packets, send_errors, send_drops;
};
bool host_next_interface(struct text *rest, struct host_interface *interface);

/* A line of /proc/self/mountinfo. */
struct host_mount {
	uint64_t major, minor;
	struct text root, point; /* views, with the kernel's octal escapes */
	struct text type;
};
bool host_next_mount(struct text *rest, struct host_mount *mount);

/* A type of file system that is on this host's own disks, so that asking it
 * cannot wait for a network. */
bool host_is_local(struct text type);

/* Take \ooo away.  Returns the length, without the NUL that is put behind
 * it, or 0 when it does not fit. */
uint32_t host_unescape(char *to, uint32_t room, struct text escaped);

/* Bytes that are not UTF-8 become \ooo, so that any mount point is a name. */
uint32_t host_escape(char *to, uint32_t room, struct text raw);

#endif

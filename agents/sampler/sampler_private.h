/*
 * sampler_private - shared by sampler.c (when), sample_queue.c (to where) and
 * the files that each read several metric groups.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SAMPLER_SAMPLER_PRIVATE_H
#define AGENTS_SAMPLER_SAMPLER_PRIVATE_H

#include <limits.h>
#include <sys/statvfs.h>

#include "agents/proc/deadline.h"
#include "agents/gpu/gpu.h"
#include "agents/proc/job_cgroups.h"
#include "agents/proc/proc_files.h"
#include "agents/proc/processor_times.h"
#include "agents/proc/scan.h"
#include "proto/metric/metric_groups.h"
#include "agents/sampler/perf_report.h"
#include "agents/sampler/sampler.h"
#include "agents/sampler/schedule.h"
#include "proto/os/clock.h"

enum {
	SAMPLER_GROUPS_MAX = 4 << 10, /* names of metric groups */
	SAMPLER_SLOTS = 2 * SAMPLER_GROUPS_MAX,
	SAMPLER_BODY_BYTES = 24 << 10,
	SAMPLER_DISKS_MAX = 256, /* of each kind in a round */
	SAMPLER_INTERFACES_MAX = 128,
	SAMPLER_FILESYSTEMS_MAX = 256,
	SAMPLER_THROTTLE_FACTOR = 8,
	SAMPLER_STEPS_MAX = 4, /* between two samples of the clock */
};
/* How often the control groups of jobs are searched. */
#define SAMPLER_JOBS_NS (10 * NS_PER_SECOND)
#define SAMPLER_ROOT_NS (60 * NS_PER_SECOND)
#define SAMPLER_GPU_NS  (60 * NS_PER_SECOND)

/* What /sys says about the devices that a file lists, by their lines in it.  It
 * is read once for each device, and again from time to time: a device that is
 * plugged in later may reuse a name. */
struct sampler_devices {
	struct sampler_device {
		uint64_t name; /* a hash; 0: not read yet */
		bool block;    /* a disk, not a partition */
		bool physical; /* backed by hardware or a hypervisor */
		bool known;    /* to /sys */
	} * at;
	uint32_t room;
	uint32_t line;   /* of the file that is being read */
	int64_t read_ns; /* monotonic: when they were last forgotten */
};

/* What is there but not sampled, and why.  Each is logged once. */
enum sampler_left_out {
	LEFT_DISKS,
	LEFT_INTERFACES,
	LEFT_FILESYSTEMS,
	LEFT_GROUPS,
	LEFT_UNMATCHED,
	LEFT_PROCESSES,
	LEFT_COMMANDS,
	LEFT_HIDDEN,
	LEFT_NAMES,
	LEFT_KINDS
};

/* The estimate of this host's clock, and the reported part of it. */
struct sampler_clock {
	struct clock_offset clock_offset;
	struct clock_offset_estimate reported, news; /* generation 0: none */
	uint64_t reported_probes;                    /* when that was */
	int64_t asked_slot;                          /* for another probe */
	struct clock_offset_estimate last[SAMPLER_STEPS_MAX]; /* before steps */
	uint32_t steps;
	uint64_t far_reported; /* bits: classes of offsets of hours and more */
	struct loop_timer timer;
};

struct sampler {
	struct sampler_options options;
	struct schedule schedule; /* the one of the plan that is in force */
	int64_t dense_until_ns;   /* monotonic; 0: it is the usual one */
	struct loop_timer timer;
	struct proc_files files;
	struct job_cgroups *job_cgroups; /* NULL: no control groups here */
	char root[PATH_MAX];             /* of the control groups */
	int64_t jobs_ns;                 /* when to search groups again */
	struct gpu *gpu;                 /* NULL: none here */
	char drm[PATH_MAX];
	int64_t gpu_ns; /* when to look for one again */
	struct perf_reporter *perf_reporter;
	struct perf_report report;
	bool perf_begun;      /* its first interval */
	uint64_t boot, epoch; /* the epoch of the next sample */
	uint64_t processors;  /* that are online; 0: unknown */
	struct processor_times cpu_times, run_times;
	struct processor_times *cpus_times; /* by the processor's number */
	uint32_t cpus_room;
	struct sampler_clock clock;

	struct sampler_devices disks, interfaces;
	struct deadline *deadline;
	struct sampler_filesystems *filesystems;
	bool root_is_local;
	int64_t root_ns; /* monotonic: when to look again whether it is */
	uint64_t left_out[LEFT_KINDS];
	bool left_out_said[LEFT_KINDS];

	int64_t now_ns; /* time of this round's samples */
	int64_t now_monotonic_ns;
	int64_t flushed_ns; /* monotonic */
	bool urgent;
	struct wire_writer samples, descriptions;
	unsigned char samples_body[SAMPLER_BODY_BYTES];
	unsigned char descriptions_body[SAMPLER_BODY_BYTES];

	/* Hashes of the names of metric groups that were described; the
	 * descriptions of those from `defined_stored` on are not in the spool
	 * yet. */
	uint64_t defined[SAMPLER_GROUPS_MAX];
	uint32_t defined_count, defined_stored;
	uint16_t slots[SAMPLER_SLOTS]; /* by hash: 1 + index; 0: free */

	/* Samples that did not fit, not yet reported. */
	uint64_t lost, lost_ever;
	int64_t lost_from_ns, lost_to_ns;
	const char *lost_reason;
	bool room; /* the last samples fitted */
};

/* SCAN_UNKNOWN is nil. */
static inline struct value
sampler_whole(uint64_t number)
{
	if (number == SCAN_UNKNOWN)
		return (struct value){ .type = VALUE_NIL };
	if (number > INT64_MAX)
		return (struct value){ .type = VALUE_UINT, .is.u = number };
	return (struct value){ .type = VALUE_INT, .is.i = (int64_t)number };
}

static inline struct value
sampler_real(double number)
{
	return (struct value){ .type = VALUE_FLOAT, .is.f = number };
}

/* Append a sample of metric group `name` (and, once, its description); the
 * values are those after poolscope.boot.  sampler->epoch is that of this
 * sample. */
void sampler_add(struct sampler *sampler,
    const struct metric_group *metric_group, struct text name,
    const struct value *values);
/* Integers instead of doubles; there must be one for each column. */
void sampler_add_whole(struct sampler *sampler,
    const struct metric_group *metric_group, struct text name,
    const uint64_t *numbers, size_t count);
#define SAMPLER_COUNT(array) (sizeof(array) / sizeof(*(array)))
/* "disk/vda": a group's name from a kind and the kernel's name of a device. */
struct text sampler_name(
    char to[static NAME_BYTES_MAX + 1], const char *kind, struct text device);

/* The number of this kind that is left out now; `example` is one of them, or
 * NULL. */
void sampler_leave_out(struct sampler *sampler, enum sampler_left_out kind,
    uint64_t count, const char *example);
/* The processors of the host that is sampled. */
uint64_t sampler_processors(const struct sampler *sampler);

/* Submit the appended samples; the round commits them. */
void sampler_flush(struct sampler *sampler);
void sampler_forget_defined(struct sampler *sampler);
/* Report the lost samples, once there is room. */
void sampler_put_gap(struct sampler *sampler);
/* Publish an event agent:NAME with these attributes. */
void sampler_event(struct sampler *sampler, const char *name,
    const struct record_attribute *attributes, uint32_t count);

/* Read the groups that are due; each of these reads several. */
void sampler_read_host(struct sampler *sampler, uint32_t due);
void sampler_read_devices(struct sampler *sampler, uint32_t due);
void sampler_read_filesystems(struct sampler *sampler);
void sampler_open_filesystems(struct sampler *sampler);
void sampler_close_filesystems(struct sampler *sampler);
/* The sizes of the file system of "/"; false: they are not known. */
bool sampler_ask_root(struct sampler *sampler, struct statvfs *fs);
void sampler_read_jobs(struct sampler *sampler, uint32_t due);
void sampler_open_gpu(struct sampler *sampler);

/* The clock has no period: reports are sent with the other samples. */
void sampler_open_clock(struct sampler *sampler);
void sampler_close_clock(struct sampler *sampler);
void sampler_read_clock(struct sampler *sampler);

static inline bool
sampler_is_due(uint32_t due, enum schedule_group group)
{
	return due >> group & 1;
}

#endif

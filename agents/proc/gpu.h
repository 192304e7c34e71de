/*
 * gpu - what the graphics processors of this host are doing.
 *
 * NVIDIA's by their management library, which is looked for while running;
 * AMD's by sysfs.  Without any there is nothing to read, and no error.
 * Drivers may take long to answer, or for ever: a thread of its own asks
 * them, and only where there are such devices is there a thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PROC_GPU_H
#define AGENTS_PROC_GPU_H

#include <stdint.h>

#include "proto/record/record.h"

enum { GPU_DEVICES_MAX = 64, GPU_NAME_BYTES = 48 };

/* In the order of the set's columns. */
enum gpu_value {
	GPU_UTILIZATION,        /* 0..1 */
	GPU_MEMORY_UTILIZATION, /* of its bandwidth, 0..1 */
	GPU_MEMORY_USED,
	GPU_MEMORY_LIMIT,
	GPU_TEMPERATURE,
	GPU_POWER,
	GPU_ENERGY,
	GPU_VALUES
};

/* What a device does not tell is nil. */
struct gpu_reading {
	char name[GPU_NAME_BYTES]; /* "nvidia0", "card1" */
	struct value values[GPU_VALUES];
};

struct gpu; /* opaque */

/* `library` and `drm` are libnvidia-ml.so.1 and /sys/class/drm, but for
 * tests. */
void gpu_open(struct gpu **gpu, const char *library, const char *drm);
void gpu_close(struct gpu **gpu);

/* What was read since the last call, at `time_ns` (wall clock), and ask for
 * more.  Returns how many; 0 also while a driver is still thinking. */
uint32_t gpu_take(struct gpu *gpu,
    struct gpu_reading readings[static GPU_DEVICES_MAX], int64_t *time_ns);

#endif

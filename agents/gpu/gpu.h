/*
 * gpu - reads the graphics processors of this host.
 *
 * NVIDIA's through their management library, which is loaded at run time;
 * AMD's through sysfs.  A host without any has no readings, which is no error.
 * A driver may take long to answer, or forever: a thread asks (deadline.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GPU_GPU_H
#define AGENTS_GPU_GPU_H

#include <stdint.h>

#include "proto/metric/metric_groups.h"

enum { GPU_DEVICES_MAX = 64, GPU_NAME_BYTES = 48 };

/* Values that a device does not report are nil; utilizations are 0..1, that of
 * the memory is the share of its bandwidth. */
struct gpu_reading {
	char name[GPU_NAME_BYTES]; /* "nvidia0", "card1" */
	struct value values[METRIC_GPU_VALUES];
};

struct gpu; /* opaque */

/* `library` and `drm` are libnvidia-ml.so.1 and /sys/class/drm, except in
 * tests. */
void gpu_open(struct gpu **gpu, const char *library, const char *drm);
void gpu_close(struct gpu **gpu);

/* Values so far that no device can have: they are nil. */
uint64_t gpu_impossible(const struct gpu *gpu);

/* The readings since the last call, at `time_ns` (wall clock); requests new
 * ones.  Returns their number; 0 also while a driver has not answered. */
uint32_t gpu_take(struct gpu *gpu,
    struct gpu_reading readings[static GPU_DEVICES_MAX], int64_t *time_ns);

#endif

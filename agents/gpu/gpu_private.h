/*
 * gpu_private - shared by gpu.c (when to read) and the two kinds of devices.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GPU_GPU_PRIVATE_H
#define AGENTS_GPU_GPU_PRIVATE_H

#include <stdbool.h>

#include "agents/gpu/gpu.h"

/* NVIDIA's library; NULL: not installed.  gpu_nvml_read may block. */
struct gpu_nvml; /* opaque */
struct gpu_nvml *gpu_nvml_open(const char *library);
void gpu_nvml_close(struct gpu_nvml **nvml);
uint32_t gpu_nvml_read(
    struct gpu_nvml *nvml, struct gpu_reading *readings, uint32_t max);

/* Does sysfs report any?  gpu_amd_read may block. */
bool gpu_amd_has_any(const char *drm);
uint32_t gpu_amd_read(
    const char *drm, struct gpu_reading *readings, uint32_t max);

#endif

/*
 * gpu - reads the graphics processors of this host.
 * SPDX-License-Identifier: MIT
 */
#include "agents/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "agents/gpu/gpu_private.h"
#include "agents/proc/deadline.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

struct gpu {
	struct deadline_question question; /* first: it is cast */
	struct deadline *deadline;
	struct gpu_nvml *nvml;
	const char *drm;
	uint64_t impossible;

	/* The answer; it belongs to the thread that asks. */
	uint32_t count;
	int64_t time_ns;
	struct gpu_reading readings[GPU_DEVICES_MAX];
};

/* Drivers say now and then what cannot be.  Returns how many values are taken
 * away. */
static uint32_t
judge(struct gpu_reading *reading)
{
	static const double most[METRIC_GPU_VALUES] = {
		[METRIC_GPU_UTILIZATION] = 1,
		[METRIC_GPU_MEMORY_UTILIZATION] = 1,
		[METRIC_GPU_MEMORY_USED] = 1e15,
		[METRIC_GPU_MEMORY_LIMIT] = 1e15,
		[METRIC_GPU_TEMPERATURE] = 200,
		[METRIC_GPU_POWER] = 20000,
		[METRIC_GPU_ENERGY] = 1e18,
	};
	struct value *values = reading->values;
	uint32_t bad = 0;

	for (int i = 0; i < METRIC_GPU_VALUES; i++) {
		double number = values[i].type == VALUE_FLOAT
				    ? values[i].is.f
				    : (double)values[i].is.i;

		if (values[i].type == VALUE_NIL ||
		    (number >= 0 && number <= most[i]))
			continue;
		values[i].type = VALUE_NIL;
		bad++;
	}
	if (values[METRIC_GPU_MEMORY_USED].type != VALUE_NIL &&
	    values[METRIC_GPU_MEMORY_LIMIT].type != VALUE_NIL &&
	    values[METRIC_GPU_MEMORY_USED].is.i >
		values[METRIC_GPU_MEMORY_LIMIT].is.i) {
		values[METRIC_GPU_MEMORY_USED].type = VALUE_NIL;
		bad++;
	}
	return bad;
}

static void
ask_drivers(struct deadline_question *question)
{
	struct gpu *gpu = (struct gpu *)question;
	uint32_t count = 0;

	gpu->time_ns = clock_wall_ns();
	if (gpu->nvml != NULL)
		count =
		    gpu_nvml_read(gpu->nvml, gpu->readings, GPU_DEVICES_MAX);
	gpu->count = count + gpu_amd_read(gpu->drm, gpu->readings + count,
				 GPU_DEVICES_MAX - count);
}

void
gpu_open(struct gpu **made, const char *library, const char *drm)
{
	struct gpu_nvml *nvml = gpu_nvml_open(library);
	struct gpu *gpu;

	*made = NULL;
	if (nvml == NULL && !gpu_amd_has_any(drm))
		return;
	gpu = memory_zero(1, sizeof(*gpu));
	gpu->nvml = nvml;
	gpu->drm = drm;
	gpu->question.ask = ask_drivers;
	deadline_open(&gpu->deadline);
	*made = gpu;
}

void
gpu_close(struct gpu **gone)
{
	struct gpu *gpu = *gone;
	bool answered;

	*gone = NULL;
	if (gpu == NULL)
		return;
	answered = deadline_wait(gpu->deadline, &gpu->question);
	deadline_close(&gpu->deadline);
	/* Otherwise a thread still waits for a driver, and writes to it. */
	if (answered) {
		gpu_nvml_close(&gpu->nvml);
		free(gpu);
	}
}

uint32_t
gpu_take(struct gpu *gpu, struct gpu_reading readings[static GPU_DEVICES_MAX],
    int64_t *time_ns)
{
	uint32_t count;

	if (gpu == NULL || deadline_is_asked(gpu->deadline, &gpu->question))
		return 0;
	count = gpu->count;
	gpu->count = 0;
	*time_ns = gpu->time_ns;
	memcpy(readings, gpu->readings, count * sizeof(*readings));
	deadline_start(gpu->deadline, &gpu->question);
	for (uint32_t i = 0; i < count; i++)
		gpu->impossible += judge(&readings[i]);
	return count;
}

uint64_t
gpu_impossible(const struct gpu *gpu)
{
	return gpu == NULL ? 0 : gpu->impossible;
}

/*
 * gpu - reads the graphics processors of this host.
 * SPDX-License-Identifier: MIT
 */
#include "agents/gpu/gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agents/gpu/gpu_private.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/thread.h"

enum { ANSWER_NS_MAX = 200000000 };

struct gpu {
	struct gpu_nvml *nvml;
	const char *drm;
	struct thread thread;

	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool wanted, reading, stop;
	uint32_t count; /* number of finished readings */
	uint64_t impossible;
	int64_t time_ns;
	struct gpu_reading readings[GPU_DEVICES_MAX];
	struct gpu_reading under_way[GPU_DEVICES_MAX];
};

/* Drivers say now and then what cannot be.  Returns how many values are taken
 * away. */
static uint32_t
judge(struct gpu_reading *reading)
{
	static const double most[GPU_VALUES] = {
		[GPU_UTILIZATION] = 1,
		[GPU_MEMORY_UTILIZATION] = 1,
		[GPU_MEMORY_USED] = 1e15,
		[GPU_MEMORY_LIMIT] = 1e15,
		[GPU_TEMPERATURE] = 200,
		[GPU_POWER] = 20000,
		[GPU_ENERGY] = 1e18,
	};
	struct value *values = reading->values;
	uint32_t bad = 0;

	for (int i = 0; i < GPU_VALUES; i++) {
		double number = values[i].type == VALUE_FLOAT
				    ? values[i].is.f
				    : (double)values[i].is.i;

		if (values[i].type == VALUE_NIL ||
		    (number >= 0 && number <= most[i]))
			continue;
		values[i].type = VALUE_NIL;
		bad++;
	}
	if (values[GPU_MEMORY_USED].type != VALUE_NIL &&
	    values[GPU_MEMORY_LIMIT].type != VALUE_NIL &&
	    values[GPU_MEMORY_USED].is.i > values[GPU_MEMORY_LIMIT].is.i) {
		values[GPU_MEMORY_USED].type = VALUE_NIL;
		bad++;
	}
	return bad;
}

static int
ask_drivers(void *arg, struct err *err)
{
	struct gpu *gpu = arg;
	uint32_t count, bad;
	int64_t time_ns;

	(void)err;
	pthread_mutex_lock(&gpu->mutex);
	while (!gpu->stop) {
		if (!gpu->wanted) {
			pthread_cond_wait(&gpu->changed, &gpu->mutex);
			continue;
		}
		gpu->wanted = false;
		gpu->reading = true;
		pthread_mutex_unlock(&gpu->mutex);
		time_ns = clock_wall_ns();
		count = gpu->nvml == NULL
			    ? 0
			    : gpu_nvml_read(
				  gpu->nvml, gpu->under_way, GPU_DEVICES_MAX);
		count += gpu_amd_read(
		    gpu->drm, gpu->under_way + count, GPU_DEVICES_MAX - count);
		bad = 0;
		for (uint32_t i = 0; i < count; i++)
			bad += judge(&gpu->under_way[i]);
		pthread_mutex_lock(&gpu->mutex);
		gpu->impossible += bad;
		gpu->reading = false;
		pthread_cond_broadcast(&gpu->changed);
		gpu->count = count;
		gpu->time_ns = time_ns;
		memcpy(gpu->readings, gpu->under_way,
		    count * sizeof(*gpu->readings));
	}
	pthread_mutex_unlock(&gpu->mutex);
	return 0;
}

static void
stop(void *arg)
{
	struct gpu *gpu = arg;

	pthread_mutex_lock(&gpu->mutex);
	gpu->stop = true;
	pthread_cond_broadcast(&gpu->changed);
	pthread_mutex_unlock(&gpu->mutex);
}

/* Without the thread there are no readings; all else works. */
static void
start(struct gpu *gpu)
{
	const struct thread_options how = { .name = "the reader of GPUs",
		.run = ask_drivers,
		.stop = stop,
		.arg = gpu };
	struct err err = { 0 };

	if (thread_start(&gpu->thread, &how, NULL, &err) != 0)
		log_warn("%s: GPUs are not sampled", err.text);
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
	pthread_mutex_init(&gpu->mutex, NULL);
	pthread_cond_init(&gpu->changed, NULL);
	start(gpu);
	*made = gpu;
}

/* Wait a moment; true if it still waits for a driver.  Call with the lock. */
static bool
is_stuck(struct gpu *gpu)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ANSWER_NS_MAX;
	if (until.tv_nsec >= NS_PER_SECOND) {
		until.tv_nsec -= NS_PER_SECOND;
		until.tv_sec++;
	}
	while (gpu->reading)
		if (pthread_cond_timedwait(
			&gpu->changed, &gpu->mutex, &until) != 0)
			break;
	return gpu->reading;
}

void
gpu_close(struct gpu **gone)
{
	struct gpu *gpu = *gone;
	bool stuck;

	*gone = NULL;
	if (gpu == NULL)
		return;
	stop(gpu);
	pthread_mutex_lock(&gpu->mutex);
	stuck = is_stuck(gpu);
	pthread_mutex_unlock(&gpu->mutex);
	/* Do not wait for a thread that waits for a driver: it ends with the
	 * process, and so does the memory that it writes to. */
	if (stuck) {
		thread_abandon(&gpu->thread);
		return;
	}
	thread_stop(&gpu->thread);
	pthread_cond_destroy(&gpu->changed);
	pthread_mutex_destroy(&gpu->mutex);
	gpu_nvml_close(&gpu->nvml);
	free(gpu);
}

uint32_t
gpu_take(struct gpu *gpu, struct gpu_reading readings[static GPU_DEVICES_MAX],
    int64_t *time_ns)
{
	uint32_t count;

	if (gpu == NULL)
		return 0;
	pthread_mutex_lock(&gpu->mutex);
	count = gpu->count;
	gpu->count = 0;
	*time_ns = gpu->time_ns;
	memcpy(readings, gpu->readings, count * sizeof(*readings));
	gpu->wanted = true;
	pthread_cond_broadcast(&gpu->changed);
	pthread_mutex_unlock(&gpu->mutex);
	return count;
}

uint64_t
gpu_impossible(struct gpu *gpu)
{
	uint64_t impossible;

	if (gpu == NULL)
		return 0;
	pthread_mutex_lock(&gpu->mutex);
	impossible = gpu->impossible;
	pthread_mutex_unlock(&gpu->mutex);
	return impossible;
}

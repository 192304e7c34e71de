/*
 * gpu - reads the graphics processors of this host.
 * SPDX-License-Identifier: MIT
 */
#include "agents/gpu/gpu.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/proc/cgroup_stat.h"
#include "agents/proc/deadline.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

/* ---- NVIDIA's devices, through libnvidia-ml ----
 *
 * NVML API reference, version 2 of each call where there is one. */

/* Between two tries to reach the driver. */
#define RETRY_NS     (1 * NS_PER_SECOND)
#define RETRY_MAX_NS (60 * NS_PER_SECOND)

struct utilization {
	unsigned int gpu, memory; /* percent */
};
struct memory {
	unsigned long long total, free, used;
};

/* The functions return 0 on success. */
struct gpu_nvml {
	void *library;
	bool ready, lost; /* lost: it had answered */
	int64_t retry_ns, wait_ns;
	uint32_t answered; /* devices, last time */
	int (*init)(void);
	int (*shutdown)(void);
	int (*count)(unsigned int *count);
	int (*handle)(unsigned int index, void **device);
	int (*utilization)(void *device, struct utilization *utilization);
	int (*memory)(void *device, struct memory *memory);
	int (*temperature)(void *device, int sensor, unsigned int *celsius);
	int (*power)(void *device, unsigned int *milliwatts);
	int (*energy)(void *device, unsigned long long *millijoules);
};

static void
gpu_nvml_close(struct gpu_nvml **gone)
{
	struct gpu_nvml *nvml = *gone;

	*gone = NULL;
	if (nvml == NULL)
		return;
	if (nvml->ready)
		nvml->shutdown();
	dlclose(nvml->library);
	free(nvml);
}

/* NULL: the library is not installed. */
static struct gpu_nvml *
gpu_nvml_open(const char *library)
{
	struct gpu_nvml *nvml = memory_zero(1, sizeof(*nvml));
	const struct {
		const char *name;
		void *to;
		bool needed;
	} symbols[] = {
		{ "nvmlInit_v2", &nvml->init, true },
		{ "nvmlShutdown", &nvml->shutdown, true },
		{ "nvmlDeviceGetCount_v2", &nvml->count, true },
		{ "nvmlDeviceGetHandleByIndex_v2", &nvml->handle, true },
		{ "nvmlDeviceGetUtilizationRates", &nvml->utilization, false },
		{ "nvmlDeviceGetMemoryInfo", &nvml->memory, false },
		{ "nvmlDeviceGetTemperature", &nvml->temperature, false },
		{ "nvmlDeviceGetPowerUsage", &nvml->power, false },
		{ "nvmlDeviceGetTotalEnergyConsumption", &nvml->energy, false },
	};

	nvml->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (nvml->library == NULL) {
		free(nvml);
		return NULL;
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		/* POSIX guarantees that a function pointer fits in a void
		 * pointer. */
		*(void **)symbols[i].to = dlsym(nvml->library, symbols[i].name);
		if (*(void **)symbols[i].to == NULL && symbols[i].needed) {
			gpu_nvml_close(&nvml);
			return NULL;
		}
	}
	return nvml;
}

static struct value
whole(uint64_t number)
{
	return (struct value){ .type = VALUE_INT,
		.is.i = (int64_t)(number & INT64_MAX) };
}

static struct value
real(double number)
{
	return (struct value){ .type = VALUE_FLOAT, .is.f = number };
}

static void
read_nvml(struct gpu_nvml *nvml, void *device, struct value *values)
{
	struct utilization utilization;
	struct memory memory;
	unsigned int number;
	unsigned long long energy;

	if (nvml->utilization != NULL &&
	    nvml->utilization(device, &utilization) == 0) {
		values[METRIC_GPU_UTILIZATION] = real(utilization.gpu / 100.0);
		values[METRIC_GPU_MEMORY_UTILIZATION] =
		    real(utilization.memory / 100.0);
	}
	if (nvml->memory != NULL && nvml->memory(device, &memory) == 0) {
		values[METRIC_GPU_MEMORY_USED] = whole(memory.used);
		values[METRIC_GPU_MEMORY_LIMIT] = whole(memory.total);
	}
	/* Sensor 0 is that of the chip. */
	if (nvml->temperature != NULL &&
	    nvml->temperature(device, 0, &number) == 0)
		values[METRIC_GPU_TEMPERATURE] = whole(number);
	if (nvml->power != NULL && nvml->power(device, &number) == 0)
		values[METRIC_GPU_POWER] = real(number / 1000.0);
	if (nvml->energy != NULL && nvml->energy(device, &energy) == 0)
		values[METRIC_GPU_ENERGY] = whole(energy);
}

/* The driver does not answer: after it is loaded again the library only works
 * when it is initialized again. */
static void
lose(struct gpu_nvml *nvml, int error)
{
	if (!nvml->lost)
		log_warn("NVIDIA's driver does not answer (error %d): its GPUs "
			 "are not sampled until it does",
		    error);
	nvml->shutdown();
	nvml->ready = false;
	nvml->lost = true;
	nvml->wait_ns = RETRY_NS;
	nvml->retry_ns = clock_monotonic_ns() + nvml->wait_ns;
}

/* The driver may start after us. */
static bool
get_ready(struct gpu_nvml *nvml)
{
	int64_t now_ns = clock_monotonic_ns();

	if (nvml->ready || now_ns < nvml->retry_ns)
		return nvml->ready;
	nvml->ready = nvml->init() == 0;
	nvml->wait_ns = nvml->wait_ns == 0                 ? RETRY_NS
			: nvml->wait_ns < RETRY_MAX_NS / 2 ? 2 * nvml->wait_ns
							   : RETRY_MAX_NS;
	nvml->retry_ns = now_ns + nvml->wait_ns;
	return nvml->ready;
}

static bool
knows_any(const struct gpu_reading *reading)
{
	for (int i = 0; i < METRIC_GPU_VALUES; i++)
		if (reading->values[i].type != VALUE_NIL)
			return true;
	return false;
}

/* Says which of them come and go. */
static void
note(struct gpu_nvml *nvml, uint32_t count, uint32_t devices)
{
	if (nvml->lost)
		log_info("NVIDIA's driver answers again: %u GPUs", count);
	else if (nvml->answered > count)
		log_warn("%u of %u NVIDIA GPUs do not answer: they are not "
			 "sampled until they do",
		    devices - count, devices);
	else if (nvml->answered > 0 && nvml->answered < count)
		log_info("%u of %u NVIDIA GPUs answer again", count, devices);
	nvml->lost = false;
	nvml->answered = count;
	nvml->wait_ns = 0;
}

static uint32_t
gpu_nvml_read(struct gpu_nvml *nvml, struct gpu_reading *readings, uint32_t max)
{
	unsigned int devices = 0;
	uint32_t count = 0;
	void *device;
	int error, why = 0;

	if (!get_ready(nvml))
		return 0;
	error = nvml->count(&devices);
	for (unsigned int i = 0; error == 0 && i < devices && count < max;
	     i++) {
		struct gpu_reading *reading = &readings[count];
		int failed = nvml->handle(i, &device);

		*reading = (struct gpu_reading){ .name = "" };
		snprintf(reading->name, sizeof(reading->name), "nvidia%u", i);
		if (failed == 0)
			read_nvml(nvml, device, reading->values);
		if (failed == 0 && knows_any(reading))
			count++;
		else
			why = failed;
	}
	if (error != 0 || (devices > 0 && count == 0)) {
		lose(nvml, error != 0 ? error : why);
		return 0;
	}
	note(nvml, count, devices < max ? devices : max);
	return count;
}

/* ---- AMD's devices, as the amdgpu driver shows them in sysfs ----
 *
 * Documentation/gpu/amdgpu/thermal.rst */

static bool
find(const char *directory, const char *pattern, glob_t *found)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", directory, pattern) >=
	    (int)sizeof(path))
		return false;
	return glob(path, 0, NULL, found) == 0;
}

/* Does sysfs report any? */
static bool
gpu_amd_has_any(const char *drm)
{
	glob_t found = { 0 };
	bool any = find(drm, "card*/device/gpu_busy_percent", &found);

	globfree(&found);
	return any;
}

static bool
read_number(const char *directory, const char *pattern, uint64_t *number)
{
	char buffer[64];
	glob_t found = { 0 };
	ssize_t n = -1;
	int fd = -1;

	if (find(directory, pattern, &found))
		fd = open(found.gl_pathv[0], O_RDONLY | O_CLOEXEC);
	globfree(&found);
	if (fd >= 0) {
		n = read(fd, buffer, sizeof(buffer));
		close(fd);
	}
	return n > 0 &&
	       proc_parse_number((struct text){ buffer, (uint32_t)n }, number);
}

static void
read_device(const char *directory, struct value *values)
{
	static const struct {
		const char *file;
		unsigned value;
		double divisor; /* 0: keep the number as it is */
	} files[] = {
		{ "gpu_busy_percent", METRIC_GPU_UTILIZATION, 100 },
		{ "mem_busy_percent", METRIC_GPU_MEMORY_UTILIZATION, 100 },
		{ "mem_info_vram_used", METRIC_GPU_MEMORY_USED, 0 },
		{ "mem_info_vram_total", METRIC_GPU_MEMORY_LIMIT, 0 },
		{ "hwmon/hwmon*/temp1_input", METRIC_GPU_TEMPERATURE, 1000 },
		{ "hwmon/hwmon*/power1_average", METRIC_GPU_POWER, 1000000 },
	};
	uint64_t number;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct value *value = &values[files[i].value];

		if (!read_number(directory, files[i].file, &number) ||
		    number > INT64_MAX)
			continue;
		if (files[i].divisor != 0)
			*value = (struct value){ .type = VALUE_FLOAT,
				.is.f = (double)number / files[i].divisor };
		else
			*value = (struct value){ .type = VALUE_INT,
				.is.i = (int64_t)number };
	}
}

static uint32_t
gpu_amd_read(const char *drm, struct gpu_reading *readings, uint32_t max)
{
	glob_t found = { 0 };
	uint32_t count = 0;

	if (!find(drm, "card*/device/gpu_busy_percent", &found))
		found.gl_pathc = 0;
	for (size_t i = 0; i < found.gl_pathc && count < max; i++) {
		struct gpu_reading *reading = &readings[count++];
		char *directory = found.gl_pathv[i], *card;

		*strrchr(directory, '/') = '\0';
		card = directory + strlen(drm) + 1;
		*reading = (struct gpu_reading){ .name = "" };
		snprintf(reading->name, sizeof(reading->name), "%.*s",
		    (int)strcspn(card, "/"), card);
		read_device(directory, reading->values);
	}
	globfree(&found);
	return count;
}

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

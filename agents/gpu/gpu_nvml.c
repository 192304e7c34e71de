/*
 * gpu_nvml - NVIDIA's devices through libnvidia-ml (NVML API reference,
 * version 2 of each call where there is one).
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents/gpu/gpu_private.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

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

struct gpu_nvml *
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

void
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
read_device(struct gpu_nvml *nvml, void *device, struct value *values)
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

uint32_t
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
			read_device(nvml, device, reading->values);
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

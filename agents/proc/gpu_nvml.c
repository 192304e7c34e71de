/*
 * gpu_nvml - NVIDIA's devices through libnvidia-ml (NVML API reference,
 * version 2 of each call where there is one).
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents/proc/gpu_private.h"
#include "proto/base/memory.h"

struct utilization {
	unsigned int gpu, memory; /* percent */
};
struct memory {
	unsigned long long total, free, used;
};

/* The functions return 0 on success. */
struct gpu_nvml {
	void *library;
	bool ready;
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
		values[GPU_UTILIZATION] = real(utilization.gpu / 100.0);
		values[GPU_MEMORY_UTILIZATION] =
		    real(utilization.memory / 100.0);
	}
	if (nvml->memory != NULL && nvml->memory(device, &memory) == 0) {
		values[GPU_MEMORY_USED] = whole(memory.used);
		values[GPU_MEMORY_LIMIT] = whole(memory.total);
	}
	/* Sensor 0 is that of the chip. */
	if (nvml->temperature != NULL &&
	    nvml->temperature(device, 0, &number) == 0)
		values[GPU_TEMPERATURE] = whole(number);
	if (nvml->power != NULL && nvml->power(device, &number) == 0)
		values[GPU_POWER] = real(number / 1000.0);
	if (nvml->energy != NULL && nvml->energy(device, &energy) == 0)
		values[GPU_ENERGY] = whole(energy);
}

uint32_t
gpu_nvml_read(struct gpu_nvml *nvml, struct gpu_reading *readings, uint32_t max)
{
	unsigned int devices = 0;
	uint32_t count = 0;
	void *device;

	/* The driver may start after us. */
	nvml->ready = nvml->ready || nvml->init() == 0;
	if (!nvml->ready || nvml->count(&devices) != 0)
		return 0;
	for (unsigned int i = 0; i < devices && count < max; i++) {
		struct gpu_reading *reading = &readings[count];

		if (nvml->handle(i, &device) != 0)
			continue;
		*reading = (struct gpu_reading){ .name = "" };
		snprintf(reading->name, sizeof(reading->name), "nvidia%u", i);
		read_device(nvml, device, reading->values);
		count++;
	}
	return count;
}

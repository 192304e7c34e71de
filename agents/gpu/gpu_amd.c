/*
 * gpu_amd - AMD's devices, as the amdgpu driver shows them in sysfs
 * (Documentation/gpu/amdgpu/thermal.rst).
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/proc/cgroup_stat.h"
#include "agents/gpu/gpu_private.h"

static bool
find(const char *directory, const char *pattern, glob_t *found)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", directory, pattern) >=
	    (int)sizeof(path))
		return false;
	return glob(path, 0, NULL, found) == 0;
}

bool
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

uint32_t
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

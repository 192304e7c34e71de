/*
 * proc_stat - any text as any file of /proc, /sys or a control group: the
 * parser ends, its views lie inside the text, its percentages are percentages.
 *
 * The first byte says which file it is; with perf the text is two images, cut
 * at the first NUL.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/proc_stat.h"

#include <assert.h>
#include <stdlib.h>

#include "agents/proc/cgroup_stat.h"
#include "agents/proc/job_cgroups.h"
#include "agents/proc/proc_kernel.h"
#include "agents/sampler/perf_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
is_inside(struct text part, struct text whole)
{
	assert(part.bytes == 0 ||
	       (part.at >= whole.at &&
		   part.at + part.bytes <= whole.at + whole.bytes));
}

static void
devices(struct text file)
{
	struct text rest = file;
	struct host_disk disk;
	struct host_interface interface;
	struct host_mount mount;
	char path[64], root[PATH_MAX];

	while (host_next_disk(&rest, &disk))
		is_inside(disk.name, file);
	assert(rest.bytes == 0);
	for (rest = file; host_next_interface(&rest, &interface);)
		is_inside(interface.name, file);
	for (rest = file; host_next_mount(&rest, &mount);) {
		is_inside(mount.point, file);
		assert(host_unescape(path, sizeof(path), mount.point) <
		       sizeof(path));
		assert(host_escape(path, sizeof(path), mount.point) <=
		       sizeof(path));
		host_is_local(mount.type);
	}
	jobs_root(root, file);
}

static void
kernel(struct text file)
{
	struct host_cpu cpu;
	struct host_processor processor;
	struct host_memory memory;
	struct host_load load;
	struct host_vmstat vmstat;
	struct host_pressure pressure;
	struct host_schedstat schedstat;
	struct text rest = file;

	host_parse_cpu(file, &cpu);
	while (host_next_processor(&rest, &processor))
		;
	host_parse_memory(file, &memory);
	host_parse_load(file, &load);
	host_parse_vmstat(file, &vmstat);
	host_parse_pressure(file, &pressure);
	host_parse_schedstat(file, &schedstat);
	assert(host_parse_boot(file) >> 48 == 0);
}

static void
job(struct text file)
{
	struct host_group_cpu cpu;
	struct host_group_io io;
	struct host_group_events events;
	struct host_process process;
	uint64_t number;

	host_parse_group_cpu(file, &cpu);
	host_parse_group_io(file, &io);
	host_parse_group_events(file, &events);
	host_parse_number(file, &number);
	if (host_parse_process(file, &process) == 0)
		is_inside(process.name, file);
}

static bool
is_disk(void *arg, struct text name)
{
	(void)arg;
	return name.bytes % 4 != 0;
}

static void
report_of(struct perf *perf, struct text image)
{
	struct perf_report report = { .processors = 0 };

	perf_cpu(perf, image, &report);
	perf_memory(image, &report);
	perf_disks(perf, image, is_disk, NULL, &report);
	perf_network(perf, image, &report);
	assert(report.values[PERF_CPU_MIN] <= report.values[PERF_CPU_MAX]);
	assert(report.values[PERF_MEMORY] >= 0 &&
	       report.values[PERF_MEMORY] <= 100);
	assert(report.values[PERF_DISK_READ] >= 0);
}

static void
perf(struct text file)
{
	const char *cut =
	    file.bytes > 0 ? memchr(file.at, 0, file.bytes) : NULL;
	uint32_t bytes = cut ? (uint32_t)(cut - file.at) : file.bytes;
	struct text first = { file.at, bytes };
	struct text second = { file.at + bytes, file.bytes - bytes };
	struct perf *seen;

	perf_new(&seen);
	report_of(seen, first);
	report_of(seen, second);
	report_of(seen, first);
	perf_free(&seen);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of its own, without an end mark, for the sanitizer. */
	size_t bytes = size > 0 ? size - 1 : 0;
	char *copy = malloc(bytes > 0 ? bytes : 1);
	struct text file = { copy, (uint32_t)bytes };

	if (bytes > 0)
		memcpy(copy, data + 1, bytes);
	switch (size > 0 ? data[0] % 4 : 0) {
	case 0: devices(file); break;
	case 1: kernel(file); break;
	case 2: job(file); break;
	default: perf(file); break;
	}
	free(copy);
	return 0;
}

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
	struct proc_disk disk;
	struct proc_interface interface;
	struct proc_mount mount;
	char path[64], root[PATH_MAX];

	while (proc_next_disk(&rest, &disk))
		is_inside(disk.name, file);
	assert(rest.bytes == 0);
	for (rest = file; proc_next_interface(&rest, &interface);)
		is_inside(interface.name, file);
	for (rest = file; proc_next_mount(&rest, &mount);) {
		is_inside(mount.point, file);
		assert(proc_unescape(path, sizeof(path), mount.point) <
		       sizeof(path));
		assert(proc_escape(path, sizeof(path), mount.point) <=
		       sizeof(path));
		proc_is_local(mount.type);
	}
	job_cgroups_root(root, file);
}

static void
kernel(struct text file)
{
	struct proc_cpu cpu;
	struct proc_processor processor;
	struct proc_memory memory;
	struct proc_load load;
	struct proc_vmstat vmstat;
	struct proc_pressure pressure;
	struct proc_schedstat schedstat;
	struct text rest = file;

	proc_parse_cpu(file, &cpu);
	while (proc_next_processor(&rest, &processor))
		;
	proc_parse_memory(file, &memory);
	proc_parse_load(file, &load);
	proc_parse_vmstat(file, &vmstat);
	proc_parse_pressure(file, &pressure);
	proc_parse_schedstat(file, &schedstat);
	assert(proc_parse_boot(file) >> 48 == 0);
}

static void
job(struct text file)
{
	struct cgroup_cpu cpu;
	struct cgroup_io io;
	struct cgroup_events events;
	struct proc_process process;
	uint64_t number;

	cgroup_parse_cpu(file, &cpu);
	cgroup_parse_io(file, &io);
	cgroup_parse_events(file, &events);
	proc_parse_number(file, &number);
	if (proc_parse_process(file, &process) == 0)
		is_inside(process.name, file);
}

static bool
is_disk(void *arg, struct text name)
{
	(void)arg;
	return name.bytes % 4 != 0;
}

static void
report_of(struct perf_reporter *perf_reporter, struct text image)
{
	struct perf_report report = { .processors = 0 };

	perf_report_cpu(perf_reporter, image, &report);
	perf_report_memory(image, &report);
	perf_report_disks(perf_reporter, image, is_disk, NULL, &report);
	perf_report_network(perf_reporter, image, &report);
	assert(report.values[METRIC_PERF_CPU_MIN] <=
	       report.values[METRIC_PERF_CPU_MAX]);
	assert(report.values[METRIC_PERF_MEM] >= 0 &&
	       report.values[METRIC_PERF_MEM] <= 100);
	assert(report.values[METRIC_PERF_READ] >= 0);
}

static void
perf(struct text file)
{
	const char *cut =
	    file.bytes > 0 ? memchr(file.at, 0, file.bytes) : NULL;
	uint32_t bytes = cut ? (uint32_t)(cut - file.at) : file.bytes;
	struct text first = { file.at, bytes };
	struct text second = { file.at + bytes, file.bytes - bytes };
	struct perf_reporter *seen;

	perf_report_new(&seen);
	report_of(seen, first);
	report_of(seen, second);
	report_of(seen, first);
	perf_report_free(&seen);
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

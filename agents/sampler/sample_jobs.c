/*
 * sampler_sample_jobs - samples of jobs: their control groups, their busiest
 * commands, the graphics processors.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>

#include "agents/proc/proc_kernel.h"
#include "agents/sampler/sampler_private.h"

static uint64_t
number_of(struct text file)
{
	uint64_t number = 0;

	proc_parse_number(file, &number);
	return number;
}

static uint64_t
pressure_of(struct text file)
{
	struct proc_pressure pressure;

	proc_parse_pressure(file, &pressure);
	return pressure.some_us;
}

static void
add_group(struct sampler *sampler, uint32_t group)
{
	struct job_cgroups *job_cgroups = sampler->job_cgroups;
	char name[NAME_BYTES_MAX + 1];
	struct cgroup_cpu cpu;
	struct cgroup_io io;
	struct cgroup_events events;

	/* The group was removed since the last sample. */
	if (cgroup_parse_cpu(
		job_cgroups_read(job_cgroups, group, JOB_CGROUPS_CPU), &cpu) !=
	    0)
		return;
	cgroup_parse_io(
	    job_cgroups_read(job_cgroups, group, JOB_CGROUPS_IO), &io);
	cgroup_parse_events(
	    job_cgroups_read(job_cgroups, group, JOB_CGROUPS_MEMORY_EVENTS),
	    &events);
	{
		uint64_t numbers[] = { cpu.usage_us, cpu.user_us, cpu.system_us,
			cpu.throttled_us,
			number_of(job_cgroups_read(
			    job_cgroups, group, JOB_CGROUPS_MEMORY)),
			number_of(job_cgroups_read(
			    job_cgroups, group, JOB_CGROUPS_MEMORY_PEAK)),
			events.oom_kills, io.read_bytes, io.write_bytes,
			io.reads, io.writes,
			number_of(job_cgroups_read(
			    job_cgroups, group, JOB_CGROUPS_PROCESSES)),
			pressure_of(job_cgroups_read(
			    job_cgroups, group, JOB_CGROUPS_PRESSURE_CPU)),
			pressure_of(job_cgroups_read(
			    job_cgroups, group, JOB_CGROUPS_PRESSURE_MEMORY)),
			pressure_of(job_cgroups_read(
			    job_cgroups, group, JOB_CGROUPS_PRESSURE_IO)) };

		sampler_add_whole(sampler, &metric_group_cgroup,
		    sampler_name(name, "cgroup/",
			text_of(job_cgroups_path(job_cgroups, group))),
		    numbers, SAMPLER_COUNT(numbers));
	}
}

static void
read_processes(struct sampler *sampler)
{
	struct job_cgroups_command top[JOB_CGROUPS_TOP_MAX];
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint32_t count = job_cgroups_top(
	    sampler->job_cgroups, top, sampler->options.processes);
	char name[NAME_BYTES_MAX + 1];

	for (uint32_t i = 0; i < count; i++) {
		struct value values[] = { sampler_real(top[i].processors),
			sampler_whole(top[i].resident_pages * page_bytes),
			sampler_whole(top[i].threads),
			sampler_whole(top[i].processes) };

		sampler_add(sampler, &metric_group_process,
		    sampler_name(name, "process/", text_of(top[i].name)),
		    values);
	}
}

static void
read_gpus(struct sampler *sampler)
{
	struct gpu_reading readings[GPU_DEVICES_MAX];
	int64_t now_ns = sampler->now_ns, read_ns;
	uint32_t count = gpu_take(sampler->gpu, readings, &read_ns);
	char name[NAME_BYTES_MAX + 1];

	if (count == 0)
		return;
	sampler->now_ns = read_ns;
	for (uint32_t i = 0; i < count; i++)
		sampler_add(sampler, &metric_group_gpu,
		    sampler_name(name, "gpu/", text_of(readings[i].name)),
		    readings[i].values);
	sampler->now_ns = now_ns;
}

void
sampler_read_jobs(struct sampler *sampler, uint32_t due)
{
	const uint32_t of_jobs = 1 << SCHEDULE_CGROUP | 1 << SCHEDULE_PROCESS;

	if (sampler->job_cgroups != NULL && due & of_jobs) {
		if (sampler->now_monotonic_ns >= sampler->jobs_ns) {
			job_cgroups_find(sampler->job_cgroups);
			sampler->jobs_ns =
			    sampler->now_monotonic_ns + SAMPLER_JOBS_NS;
		}
		for (uint32_t i = 0;
		     sampler_is_due(due, SCHEDULE_CGROUP) &&
		     i < job_cgroups_count(sampler->job_cgroups);
		     i++)
			add_group(sampler, i);
		if (sampler_is_due(due, SCHEDULE_PROCESS))
			read_processes(sampler);
	}
	if (sampler_is_due(due, SCHEDULE_GPU) && sampler->gpu != NULL)
		read_gpus(sampler);
}

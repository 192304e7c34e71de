/*
 * sampler_sample_jobs - samples of what belongs to jobs: their control groups,
 * their busiest commands, the graphics processors. SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>

#include "agents/proc/proc_kernel.h"
#include "agents/sampler/sampler_private.h"

static uint64_t
number_of(struct text file)
{
	uint64_t number = 0;

	host_parse_number(file, &number);
	return number;
}

static uint64_t
pressure_of(struct text file)
{
	struct host_pressure pressure;

	host_parse_pressure(file, &pressure);
	return pressure.some_us;
}

static void
add_group(struct sampler *sampler, uint32_t group)
{
	struct jobs *jobs = sampler->jobs;
	char name[NAME_BYTES_MAX + 1];
	struct host_group_cpu cpu;
	struct host_group_io io;
	struct host_group_events events;

	/* It went while nobody looked. */
	if (host_parse_group_cpu(jobs_read(jobs, group, JOBS_CPU), &cpu) != 0)
		return;
	host_parse_group_io(jobs_read(jobs, group, JOBS_IO), &io);
	host_parse_group_events(
	    jobs_read(jobs, group, JOBS_MEMORY_EVENTS), &events);
	{
		uint64_t numbers[] = { cpu.usage_us, cpu.user_us, cpu.system_us,
			cpu.throttled_us,
			number_of(jobs_read(jobs, group, JOBS_MEMORY)),
			number_of(jobs_read(jobs, group, JOBS_MEMORY_PEAK)),
			events.oom_kills, io.read_bytes, io.write_bytes,
			io.reads, io.writes,
			number_of(jobs_read(jobs, group, JOBS_PROCESSES)),
			pressure_of(jobs_read(jobs, group, JOBS_PRESSURE_CPU)),
			pressure_of(
			    jobs_read(jobs, group, JOBS_PRESSURE_MEMORY)),
			pressure_of(jobs_read(jobs, group, JOBS_PRESSURE_IO)) };

		sampler_add_whole(sampler, &set_cgroup,
		    sampler_name(
			name, "cgroup/", text_of(jobs_path(jobs, group))),
		    numbers, SAMPLER_COUNT(numbers));
	}
}

static void
read_processes(struct sampler *sampler)
{
	struct jobs_command top[JOBS_TOP_MAX];
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint32_t count =
	    jobs_top(sampler->jobs, top, sampler->options.processes);
	char name[NAME_BYTES_MAX + 1];

	for (uint32_t i = 0; i < count; i++) {
		struct value values[] = { sampler_real(top[i].processors),
			sampler_whole(top[i].resident_pages * page_bytes),
			sampler_whole(top[i].threads),
			sampler_whole(top[i].processes) };

		sampler_add(sampler, &set_process,
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
		sampler_add(sampler, &set_gpu,
		    sampler_name(name, "gpu/", text_of(readings[i].name)),
		    readings[i].values);
	sampler->now_ns = now_ns;
}

void
sampler_read_jobs(struct sampler *sampler, uint32_t due)
{
	const uint32_t of_jobs = 1 << PLAN_CGROUP | 1 << PLAN_PROCESS;

	if (sampler->jobs != NULL && due & of_jobs) {
		if (sampler->now_monotonic_ns >= sampler->jobs_ns) {
			jobs_find(sampler->jobs);
			sampler->jobs_ns =
			    sampler->now_monotonic_ns + SAMPLER_JOBS_NS;
		}
		for (uint32_t i = 0; sampler_is_due(due, PLAN_CGROUP) &&
				     i < jobs_count(sampler->jobs);
		     i++)
			add_group(sampler, i);
		if (sampler_is_due(due, PLAN_PROCESS))
			read_processes(sampler);
	}
	if (sampler_is_due(due, PLAN_GPU) && sampler->gpu != NULL)
		read_gpus(sampler);
}

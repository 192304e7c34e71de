/*
 * sampler_sample_jobs - samples of jobs: their control groups, their busiest
 * commands, the graphics processors.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <unistd.h>

#include "agents/proc/proc_kernel.h"
#include "proto/base/text.h"
#include "proto/os/clock.h"
#include "agents/sampler/sampler_private.h"

enum { MICROSECONDS = 1000000 };

/* ---- control groups ---- */

/* Each of these is SCAN_UNKNOWN where the kernel does not count it for the
 * group: the controller is off, or the kernel is older. */
static uint64_t
number_of(struct sampler *sampler, uint32_t group, enum job_cgroups_file which)
{
	uint64_t number = SCAN_UNKNOWN;

	proc_parse_number(
	    job_cgroups_read(sampler->job_cgroups, group, which), &number);
	return number;
}

static uint64_t
pressure_of(
    struct sampler *sampler, uint32_t group, enum job_cgroups_file which)
{
	struct proc_pressure pressure;

	proc_parse_pressure(
	    job_cgroups_read(sampler->job_cgroups, group, which), &pressure);
	return pressure.some_us;
}

static struct cgroup_io
io_of(struct sampler *sampler, uint32_t group)
{
	struct text file =
	    job_cgroups_read(sampler->job_cgroups, group, JOB_CGROUPS_IO);
	struct cgroup_io io;

	scan_begin(&io);
	/* An empty file is a group that did none. */
	if (file.at != NULL)
		cgroup_parse_io(file, &io);
	return io;
}

static void
add_group(struct sampler *sampler, uint32_t group)
{
	struct job_cgroups *job_cgroups = sampler->job_cgroups;
	int64_t begin_ns = clock_boot_ns();
	char name[NAME_BYTES_MAX + 1];
	struct cgroup_cpu cpu;
	struct cgroup_io io;
	struct cgroup_events events;

	/* Its name is too long, or it was removed since the last search. */
	if (*job_cgroups_name(job_cgroups, group) == '\0')
		return;
	if (cgroup_parse_cpu(
		job_cgroups_read(job_cgroups, group, JOB_CGROUPS_CPU), &cpu) !=
	    0)
		return;
	io = io_of(sampler, group);
	cgroup_parse_events(
	    job_cgroups_read(job_cgroups, group, JOB_CGROUPS_MEMORY_EVENTS),
	    &events);
	{
		uint64_t numbers[] = { [METRIC_CGROUP_CPU] = cpu.usage_us,
			[METRIC_CGROUP_USER] = cpu.user_us,
			[METRIC_CGROUP_SYSTEM] = cpu.system_us,
			[METRIC_CGROUP_THROTTLED] = cpu.throttled_us,
			[METRIC_CGROUP_MEMORY] =
			    number_of(sampler, group, JOB_CGROUPS_MEMORY),
			[METRIC_CGROUP_MEMORY_PEAK] =
			    number_of(sampler, group, JOB_CGROUPS_MEMORY_PEAK),
			[METRIC_CGROUP_OOM_KILLS] = events.oom_kills,
			[METRIC_CGROUP_READ] = io.read_bytes,
			[METRIC_CGROUP_WRITTEN] = io.write_bytes,
			[METRIC_CGROUP_READS] = io.reads,
			[METRIC_CGROUP_WRITES] = io.writes,
			[METRIC_CGROUP_PROCESSES] =
			    number_of(sampler, group, JOB_CGROUPS_PROCESSES),
			[METRIC_CGROUP_PRESSURE_CPU] = pressure_of(
			    sampler, group, JOB_CGROUPS_PRESSURE_CPU),
			[METRIC_CGROUP_PRESSURE_MEMORY] = pressure_of(
			    sampler, group, JOB_CGROUPS_PRESSURE_MEMORY),
			[METRIC_CGROUP_PRESSURE_IO] = pressure_of(
			    sampler, group, JOB_CGROUPS_PRESSURE_IO) };
		const struct processor_times_reading reading = {
			&numbers[METRIC_CGROUP_CPU], 1,
			sampler_processors(sampler), 0, MICROSECONDS, begin_ns,
			clock_boot_ns()
		};

		sampler->epoch = processor_times_take(
		    job_cgroups_times(job_cgroups, group), &reading);
		sampler_add_whole(sampler, &metric_group_cgroup,
		    sampler_name(name, "cgroup/",
			text_of(job_cgroups_name(job_cgroups, group))),
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
	const struct job_cgroups_left_out *out =
	    job_cgroups_left_out(sampler->job_cgroups);
	char name[NAME_BYTES_MAX + 1];

	sampler_leave_out(sampler, LEFT_PROCESSES, out->processes, NULL);
	sampler_leave_out(sampler, LEFT_COMMANDS, out->commands, NULL);
	sampler_leave_out(sampler, LEFT_HIDDEN, out->hidden, NULL);
	for (uint32_t i = 0; i < count; i++) {
		struct value values[] = {
			[METRIC_PROCESS_CPU] = sampler_real(top[i].processors),
			[METRIC_PROCESS_MEMORY] =
			    sampler_whole(top[i].resident_pages * page_bytes),
			[METRIC_PROCESS_THREADS] =
			    sampler_whole(top[i].threads),
			[METRIC_PROCESS_COUNT] = sampler_whole(top[i].processes)
		};

		sampler_add(sampler, &metric_group_process,
		    sampler_name(name, "process/", text_of(top[i].name)),
		    values);
	}
}

static void
add_gpus(struct sampler *sampler)
{
	struct gpu_reading readings[GPU_DEVICES_MAX];
	int64_t now_ns = sampler->now_ns, read_ns;
	char name[NAME_BYTES_MAX + 1];
	uint32_t count = gpu_take(sampler->gpu, readings, &read_ns);

	if (count > 0)
		sampler->now_ns = read_ns;
	for (uint32_t i = 0; i < count; i++)
		sampler_add(sampler, &metric_group_gpu,
		    sampler_name(name, "gpu/", text_of(readings[i].name)),
		    readings[i].values);
	sampler->now_ns = now_ns;
}

static void
read_gpus(struct sampler *sampler)
{
	/* Drivers come later, too. */
	if (sampler->gpu == NULL &&
	    sampler->now_monotonic_ns >= sampler->gpu_ns)
		sampler_open_gpu(sampler);
	/* Room for readings costs, too: it is cleared. */
	if (sampler->gpu != NULL)
		add_gpus(sampler);
}

static void
find_groups(struct sampler *sampler)
{
	const struct job_cgroups_left_out *out =
	    job_cgroups_left_out(sampler->job_cgroups);
	char shown[NAME_BYTES_MAX + 1];

	job_cgroups_find(sampler->job_cgroups);
	if (job_cgroups_appeared(sampler->job_cgroups) > 0)
		sampler_begin_job(sampler);
	sampler->jobs_ns = sampler->now_monotonic_ns + SAMPLER_JOBS_NS;
	sampler_leave_out(sampler, LEFT_GROUPS, out->groups, NULL);
	sampler_leave_out(sampler, LEFT_UNMATCHED, out->unmatched,
	    text_quote(shown, sizeof(shown), text_of(out->unmatched_in)));
}

void
sampler_read_jobs(struct sampler *sampler, uint32_t due)
{
	const uint32_t of_jobs = 1 << SCHEDULE_CGROUP | 1 << SCHEDULE_PROCESS;

	if (sampler->job_cgroups != NULL && due & of_jobs) {
		if (sampler->now_monotonic_ns >= sampler->jobs_ns)
			find_groups(sampler);
		for (uint32_t i = 0;
		     sampler_is_due(due, SCHEDULE_CGROUP) &&
		     i < job_cgroups_count(sampler->job_cgroups);
		     i++)
			add_group(sampler, i);
		if (sampler_is_due(due, SCHEDULE_PROCESS))
			read_processes(sampler);
	}
	if (sampler_is_due(due, SCHEDULE_GPU))
		read_gpus(sampler);
}

/*
 * sampler_sample_host - samples of the processors, the memory and the kernel.
 *
 * Values are in the order of the columns in metric_groups.c.  agents/proc/ has
 * the parsers; a new group is also in schedule.h.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "agents/proc/proc_kernel.h"
#include "agents/proc/proc_stat.h"
#include "agents/sampler/sampler_private.h"

enum { CPUS_MAX = 1024 };

static uint64_t
less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void
add_cpu(struct sampler *sampler, const struct proc_cpu *cpu)
{
	/* The kernel reports a tick of 10 ms to every program. */
	uint64_t numbers[] = { cpu->user, cpu->nice, cpu->system, cpu->idle,
		cpu->iowait, cpu->interrupt, cpu->softirq, cpu->steal,
		cpu->processors, cpu->context_switches };

	sampler_add_whole(sampler, &metric_group_cpu, text_of("cpu"), numbers,
	    SAMPLER_COUNT(numbers));
}

static void
add_cpus(struct sampler *sampler, struct text stat)
{
	struct proc_processor cpu;
	char name[32];

	for (int n = 0; n < CPUS_MAX && proc_next_processor(&stat, &cpu); n++) {
		snprintf(name, sizeof(name), "cpu/%llu",
		    (unsigned long long)cpu.number);
		sampler_add_whole(sampler, &metric_group_cpus, text_of(name),
		    cpu.times, SAMPLER_COUNT(cpu.times));
	}
}

static void
add_load(struct sampler *sampler, const struct proc_cpu *cpu)
{
	struct proc_load load;
	struct value values[7];

	if (proc_parse_load(
		proc_files_read(&sampler->files, PROC_LOADAVG), &load) != 0)
		return;
	values[0] = sampler_real(load.one);
	values[1] = sampler_real(load.five);
	values[2] = sampler_real(load.fifteen);
	values[3] = sampler_whole(cpu->running);
	values[4] = sampler_whole(cpu->blocked);
	values[5] = sampler_whole(load.threads);
	values[6] = sampler_whole(cpu->forks);
	sampler_add(sampler, &metric_group_load, text_of("load"), values);
}

/* Reading /proc/stat is expensive on large machines: read it once for all. */
static void
read_stat(struct sampler *sampler, uint32_t due)
{
	struct text stat = proc_files_read(&sampler->files, PROC_STAT);
	struct proc_cpu cpu;

	if (sampler_is_due(due, SCHEDULE_PERF))
		perf_report_cpu(sampler->perf_reporter, stat, &sampler->report);
	if (sampler_is_due(due, SCHEDULE_CPUS))
		add_cpus(sampler, stat);
	if (proc_parse_cpu(stat, &cpu) == 0 &&
	    sampler_is_due(due, SCHEDULE_CPU))
		add_cpu(sampler, &cpu);
	if (sampler_is_due(due, SCHEDULE_LOAD))
		add_load(sampler, &cpu);
}

static void
read_memory(struct sampler *sampler, uint32_t due)
{
	struct text meminfo = proc_files_read(&sampler->files, PROC_MEMINFO);
	struct proc_memory m;

	if (sampler_is_due(due, SCHEDULE_PERF))
		perf_report_memory(meminfo, &sampler->report);
	if (!sampler_is_due(due, SCHEDULE_MEMORY) ||
	    proc_parse_memory(meminfo, &m) != 0)
		return;
	{
		uint64_t cached = m.cached + m.slab_reclaimable;
		uint64_t numbers[] = { m.total,
			less(m.total, m.free + m.buffers + cached), m.free,
			m.buffers, cached, m.available, m.slab_reclaimable,
			m.slab_unreclaimable, m.shared, m.dirty,
			less(m.swap_total, m.swap_free), m.swap_free };

		sampler_add_whole(sampler, &metric_group_memory,
		    text_of("memory"), numbers, SAMPLER_COUNT(numbers));
	}
}

static void
read_vmstat(struct sampler *sampler)
{
	struct proc_vmstat v;

	if (proc_parse_vmstat(
		proc_files_read(&sampler->files, PROC_VMSTAT), &v) != 0)
		return;
	{
		uint64_t numbers[] = { less(v.faults, v.major_faults),
			v.major_faults, v.swapped_in, v.swapped_out, v.scanned,
			v.reclaimed, v.reclaimed_direct, v.compact_stalls,
			v.oom_kills, v.migrated };

		sampler_add_whole(sampler, &metric_group_vmstat,
		    text_of("vmstat"), numbers, SAMPLER_COUNT(numbers));
	}
}

static void
read_pressure(struct sampler *sampler)
{
	struct proc_pressure cpu, memory, io;
	struct proc_files *files = &sampler->files;

	if (proc_parse_pressure(
		proc_files_read(files, PROC_PRESSURE_CPU), &cpu) != 0 ||
	    proc_parse_pressure(
		proc_files_read(files, PROC_PRESSURE_MEMORY), &memory) != 0 ||
	    proc_parse_pressure(
		proc_files_read(files, PROC_PRESSURE_IO), &io) != 0)
		return;
	{
		uint64_t numbers[] = { cpu.some_us, memory.some_us,
			memory.full_us, io.some_us, io.full_us };

		sampler_add_whole(sampler, &metric_group_pressure,
		    text_of("pressure"), numbers, SAMPLER_COUNT(numbers));
	}
}

static void
read_schedstat(struct sampler *sampler)
{
	struct proc_schedstat s;

	if (proc_parse_schedstat(
		proc_files_read(&sampler->files, PROC_SCHEDSTAT), &s) != 0)
		return;
	{
		uint64_t numbers[] = { s.run_ns, s.run_delay_ns, s.timeslices,
			s.remote_wakeups, s.migrations };

		sampler_add_whole(sampler, &metric_group_schedstat,
		    text_of("schedstat"), numbers, SAMPLER_COUNT(numbers));
	}
}

void
sampler_read_host(struct sampler *sampler, uint32_t due)
{
	const uint32_t of_stat = 1 << SCHEDULE_CPU | 1 << SCHEDULE_CPUS |
				 1 << SCHEDULE_LOAD | 1 << SCHEDULE_PERF;

	if (due & of_stat)
		read_stat(sampler, due);
	if (due & (1 << SCHEDULE_MEMORY | 1 << SCHEDULE_PERF))
		read_memory(sampler, due);
	if (sampler_is_due(due, SCHEDULE_VMSTAT))
		read_vmstat(sampler);
	if (sampler_is_due(due, SCHEDULE_PRESSURE))
		read_pressure(sampler);
	if (sampler_is_due(due, SCHEDULE_SCHEDSTAT))
		read_schedstat(sampler);
}

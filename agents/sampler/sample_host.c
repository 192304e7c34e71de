/*
 * sampler_sample_host - samples of the processors, the memory and the kernel.
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
add_cpu(struct sampler *sampler, const struct host_cpu *cpu)
{
	/* A tick is a hundredth of a second for every program. */
	uint64_t numbers[] = { cpu->user, cpu->nice, cpu->system, cpu->idle,
		cpu->iowait, cpu->interrupt, cpu->softirq, cpu->steal,
		cpu->processors, cpu->context_switches };

	sampler_add_whole(
	    sampler, &set_cpu, text_of("cpu"), numbers, SAMPLER_COUNT(numbers));
}

static void
add_cpus(struct sampler *sampler, struct text stat)
{
	struct host_processor cpu;
	char name[32];

	for (int n = 0; n < CPUS_MAX && host_next_processor(&stat, &cpu); n++) {
		snprintf(name, sizeof(name), "cpu/%llu",
		    (unsigned long long)cpu.number);
		sampler_add_whole(sampler, &set_cpus, text_of(name), cpu.times,
		    SAMPLER_COUNT(cpu.times));
	}
}

static void
add_load(struct sampler *sampler, const struct host_cpu *cpu)
{
	struct host_load load;
	struct value values[7];

	if (host_parse_load(
		host_files_read(&sampler->files, HOST_LOADAVG), &load) != 0)
		return;
	values[0] = sampler_real(load.one);
	values[1] = sampler_real(load.five);
	values[2] = sampler_real(load.fifteen);
	values[3] = sampler_whole(cpu->running);
	values[4] = sampler_whole(cpu->blocked);
	values[5] = sampler_whole(load.threads);
	values[6] = sampler_whole(cpu->forks);
	sampler_add(sampler, &set_load, text_of("load"), values);
}

/* /proc/stat is dear on large machines: once for all who want it. */
static void
read_stat(struct sampler *sampler, uint32_t due)
{
	struct text stat = host_files_read(&sampler->files, HOST_STAT);
	struct host_cpu cpu;

	if (sampler_is_due(due, PLAN_PERF))
		perf_cpu(sampler->perf, stat, &sampler->report);
	if (sampler_is_due(due, PLAN_CPUS))
		add_cpus(sampler, stat);
	if (host_parse_cpu(stat, &cpu) == 0 && sampler_is_due(due, PLAN_CPU))
		add_cpu(sampler, &cpu);
	if (sampler_is_due(due, PLAN_LOAD))
		add_load(sampler, &cpu);
}

static void
read_memory(struct sampler *sampler, uint32_t due)
{
	struct text meminfo = host_files_read(&sampler->files, HOST_MEMINFO);
	struct host_memory m;

	if (sampler_is_due(due, PLAN_PERF))
		perf_memory(meminfo, &sampler->report);
	if (!sampler_is_due(due, PLAN_MEMORY) ||
	    host_parse_memory(meminfo, &m) != 0)
		return;
	{
		uint64_t cached = m.cached + m.slab_reclaimable;
		uint64_t numbers[] = { m.total,
			less(m.total, m.free + m.buffers + cached), m.free,
			m.buffers, cached, m.available, m.slab_reclaimable,
			m.slab_unreclaimable, m.shared, m.dirty,
			less(m.swap_total, m.swap_free), m.swap_free };

		sampler_add_whole(sampler, &set_memory, text_of("memory"),
		    numbers, SAMPLER_COUNT(numbers));
	}
}

static void
read_vmstat(struct sampler *sampler)
{
	struct host_vmstat v;

	if (host_parse_vmstat(
		host_files_read(&sampler->files, HOST_VMSTAT), &v) != 0)
		return;
	{
		uint64_t numbers[] = { less(v.faults, v.major_faults),
			v.major_faults, v.swapped_in, v.swapped_out, v.scanned,
			v.reclaimed, v.reclaimed_direct, v.compact_stalls,
			v.oom_kills, v.migrated };

		sampler_add_whole(sampler, &set_vmstat, text_of("vmstat"),
		    numbers, SAMPLER_COUNT(numbers));
	}
}

static void
read_pressure(struct sampler *sampler)
{
	struct host_pressure cpu, memory, io;
	struct host_files *files = &sampler->files;

	if (host_parse_pressure(
		host_files_read(files, HOST_PRESSURE_CPU), &cpu) != 0 ||
	    host_parse_pressure(
		host_files_read(files, HOST_PRESSURE_MEMORY), &memory) != 0 ||
	    host_parse_pressure(
		host_files_read(files, HOST_PRESSURE_IO), &io) != 0)
		return;
	{
		uint64_t numbers[] = { cpu.some_us, memory.some_us,
			memory.full_us, io.some_us, io.full_us };

		sampler_add_whole(sampler, &set_pressure, text_of("pressure"),
		    numbers, SAMPLER_COUNT(numbers));
	}
}

static void
read_schedstat(struct sampler *sampler)
{
	struct host_schedstat s;

	if (host_parse_schedstat(
		host_files_read(&sampler->files, HOST_SCHEDSTAT), &s) != 0)
		return;
	{
		uint64_t numbers[] = { s.run_ns, s.run_delay_ns, s.timeslices,
			s.remote_wakeups, s.migrations };

		sampler_add_whole(sampler, &set_schedstat, text_of("schedstat"),
		    numbers, SAMPLER_COUNT(numbers));
	}
}

void
sampler_read_host(struct sampler *sampler, uint32_t due)
{
	const uint32_t of_stat =
	    1 << PLAN_CPU | 1 << PLAN_CPUS | 1 << PLAN_LOAD | 1 << PLAN_PERF;

	if (due & of_stat)
		read_stat(sampler, due);
	if (due & (1 << PLAN_MEMORY | 1 << PLAN_PERF))
		read_memory(sampler, due);
	if (sampler_is_due(due, PLAN_VMSTAT))
		read_vmstat(sampler);
	if (sampler_is_due(due, PLAN_PRESSURE))
		read_pressure(sampler);
	if (sampler_is_due(due, PLAN_SCHEDSTAT))
		read_schedstat(sampler);
}

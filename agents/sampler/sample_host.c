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
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/record/counter_rate.h"

/* ---- processors ---- */

enum { TICKS_A_SECOND = 100 }; /* the kernel's, for every program */

static void
add_cpu(struct sampler *sampler, const struct proc_cpu *cpu, int64_t begin_ns)
{
	uint64_t numbers[] = { cpu->user, cpu->nice, cpu->system, cpu->idle,
		cpu->iowait, cpu->interrupt, cpu->softirq, cpu->steal,
		cpu->processors > 0 ? cpu->processors : SCAN_UNKNOWN,
		cpu->context_switches };
	const struct processor_times_reading reading = { numbers,
		PROC_CPU_STEAL + 1, cpu->processors, cpu->set, TICKS_A_SECOND,
		begin_ns, clock_boot_ns() };

	sampler->epoch = processor_times_take(&sampler->cpu_times, &reading);
	sampler_add_whole(sampler, &metric_group_cpu, text_of("cpu"), numbers,
	    SAMPLER_COUNT(numbers));
}

static void
add_cpus(struct sampler *sampler, struct text stat, int64_t begin_ns)
{
	int64_t end_ns = clock_boot_ns();
	struct proc_processor cpu;
	char name[32];

	while (proc_next_processor(&stat, &cpu)) {
		const struct processor_times_reading reading = { cpu.times,
			PROC_CPU_STEAL + 1, 1, 0, TICKS_A_SECOND, begin_ns,
			end_ns };

		if (cpu.number >= COUNTER_RATE_PROCESSORS_MAX)
			continue;
		sampler->cpus_times =
		    memory_grow_zero(sampler->cpus_times, &sampler->cpus_room,
			(uint32_t)cpu.number, sizeof(*sampler->cpus_times));
		sampler->epoch = processor_times_take(
		    &sampler->cpus_times[cpu.number], &reading);
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
	int64_t begin_ns = clock_boot_ns();
	struct text stat = proc_files_read(&sampler->files, PROC_STAT);
	struct proc_cpu cpu;
	bool good = proc_parse_cpu(stat, &cpu) == 0;

	if (good)
		sampler->processors = cpu.processors;
	if (sampler_is_due(due, SCHEDULE_PERF))
		perf_report_cpu(sampler->perf_reporter, stat, &sampler->report);
	if (sampler_is_due(due, SCHEDULE_CPUS))
		add_cpus(sampler, stat, begin_ns);
	if (good && sampler_is_due(due, SCHEDULE_CPU))
		add_cpu(sampler, &cpu, begin_ns);
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
		/* The kernel counts shared memory as cached, but whoever
		 * made it uses it. */
		uint64_t cached =
		    scan_less(scan_sum(m.cached, m.slab_reclaimable), m.shared);
		uint64_t rest = scan_sum(scan_sum(m.free, m.buffers), cached);
		uint64_t numbers[] = { m.total, scan_less(m.total, rest),
			m.free, m.buffers, cached, m.available,
			m.slab_reclaimable, m.slab_unreclaimable, m.shared,
			m.dirty, scan_less(m.swap_total, m.swap_free),
			m.swap_free };

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
		uint64_t numbers[] = { scan_less(v.faults, v.major_faults),
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
	int bad = proc_parse_pressure(
	    proc_files_read(files, PROC_PRESSURE_CPU), &cpu);

	bad += proc_parse_pressure(
	    proc_files_read(files, PROC_PRESSURE_MEMORY), &memory);
	bad +=
	    proc_parse_pressure(proc_files_read(files, PROC_PRESSURE_IO), &io);
	if (bad == -3)
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
	int64_t begin_ns = clock_boot_ns();
	struct proc_schedstat s;

	if (proc_parse_schedstat(
		proc_files_read(&sampler->files, PROC_SCHEDSTAT), &s) != 0)
		return;
	{
		uint64_t numbers[] = { s.run_ns, s.run_delay_ns, s.timeslices,
			s.remote_wakeups, s.migrations };
		const struct processor_times_reading reading = { &s.run_ns, 1,
			s.processors, s.set, NS_PER_SECOND, begin_ns,
			clock_boot_ns() };

		sampler->epoch =
		    processor_times_take(&sampler->run_times, &reading);
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

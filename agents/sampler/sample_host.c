/*
 * sampler_sample_host - samples of the processors, the memory and the kernel.
 *
 * agents/proc/ has the parsers; a new group is also in schedule.h.
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
	uint64_t numbers[] = { [METRIC_CPU_USER] = cpu->user,
		[METRIC_CPU_NICE] = cpu->nice,
		[METRIC_CPU_SYSTEM] = cpu->system,
		[METRIC_CPU_IDLE] = cpu->idle,
		[METRIC_CPU_IOWAIT] = cpu->iowait,
		[METRIC_CPU_INTERRUPT] = cpu->interrupt,
		[METRIC_CPU_SOFTIRQ] = cpu->softirq,
		[METRIC_CPU_STEAL] = cpu->steal,
		[METRIC_CPU_PROCESSORS] =
		    cpu->processors > 0 ? cpu->processors : SCAN_UNKNOWN,
		[METRIC_CPU_SWITCHES] = cpu->context_switches };
	const struct processor_times_reading reading = { numbers,
		METRIC_CPU_PROCESSORS, cpu->processors, cpu->set,
		TICKS_A_SECOND, begin_ns, clock_boot_ns() };

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
		const uint64_t numbers[] = { [METRIC_CPUS_USER] =
						 cpu.times[PROC_CPU_USER],
			[METRIC_CPUS_NICE] = cpu.times[PROC_CPU_NICE],
			[METRIC_CPUS_SYSTEM] = cpu.times[PROC_CPU_SYSTEM],
			[METRIC_CPUS_IDLE] = cpu.times[PROC_CPU_IDLE],
			[METRIC_CPUS_IOWAIT] = cpu.times[PROC_CPU_IOWAIT],
			[METRIC_CPUS_INTERRUPT] = cpu.times[PROC_CPU_INTERRUPT],
			[METRIC_CPUS_SOFTIRQ] = cpu.times[PROC_CPU_SOFTIRQ],
			[METRIC_CPUS_STEAL] = cpu.times[PROC_CPU_STEAL] };
		const struct processor_times_reading reading = { numbers,
			METRIC_CPUS_VALUES, 1, 0, TICKS_A_SECOND, begin_ns,
			end_ns };

		if (cpu.number >= COUNTER_RATE_PROCESSORS_MAX)
			continue;
		MEMORY_GROW_ZERO(sampler->cpus_times, sampler->cpus_room,
		    (uint32_t)cpu.number);
		sampler->epoch = processor_times_take(
		    &sampler->cpus_times[cpu.number], &reading);
		snprintf(name, sizeof(name), "cpu/%llu",
		    (unsigned long long)cpu.number);
		sampler_add_whole(sampler, &metric_group_cpus, text_of(name),
		    numbers, SAMPLER_COUNT(numbers));
	}
}

static void
add_load(struct sampler *sampler, const struct proc_cpu *cpu)
{
	struct proc_load load;
	struct value values[METRIC_LOAD_VALUES];

	if (proc_parse_load(
		proc_files_read(&sampler->files, PROC_LOADAVG), &load) != 0)
		return;
	values[METRIC_LOAD_1M] = sampler_real(load.one);
	values[METRIC_LOAD_5M] = sampler_real(load.five);
	values[METRIC_LOAD_15M] = sampler_real(load.fifteen);
	values[METRIC_LOAD_RUNNING] = sampler_whole(cpu->running);
	values[METRIC_LOAD_BLOCKED] = sampler_whole(cpu->blocked);
	values[METRIC_LOAD_THREADS] = sampler_whole(load.threads);
	values[METRIC_LOAD_CREATED] = sampler_whole(cpu->forks);
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
		uint64_t numbers[] = { [METRIC_MEMORY_LIMIT] = m.total,
			[METRIC_MEMORY_USED] = scan_less(m.total, rest),
			[METRIC_MEMORY_FREE] = m.free,
			[METRIC_MEMORY_BUFFERS] = m.buffers,
			[METRIC_MEMORY_CACHED] = cached,
			[METRIC_MEMORY_AVAILABLE] = m.available,
			[METRIC_MEMORY_SLAB_RECLAIMABLE] = m.slab_reclaimable,
			[METRIC_MEMORY_SLAB_UNRECLAIMABLE] =
			    m.slab_unreclaimable,
			[METRIC_MEMORY_SHARED] = m.shared,
			[METRIC_MEMORY_DIRTY] = m.dirty,
			[METRIC_MEMORY_SWAP_USED] =
			    scan_less(m.swap_total, m.swap_free),
			[METRIC_MEMORY_SWAP_FREE] = m.swap_free };

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
		uint64_t numbers[] = { [METRIC_VMSTAT_MINOR] =
					   scan_less(v.faults, v.major_faults),
			[METRIC_VMSTAT_MAJOR] = v.major_faults,
			[METRIC_VMSTAT_IN] = v.swapped_in,
			[METRIC_VMSTAT_OUT] = v.swapped_out,
			[METRIC_VMSTAT_SCANNED] = v.scanned,
			[METRIC_VMSTAT_RECLAIMED] = v.reclaimed,
			[METRIC_VMSTAT_DIRECT] = v.reclaimed_direct,
			[METRIC_VMSTAT_STALLS] = v.compact_stalls,
			[METRIC_VMSTAT_OOM_KILLS] = v.oom_kills,
			[METRIC_VMSTAT_MIGRATED] = v.migrated };

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
		uint64_t numbers[] = { [METRIC_PRESSURE_CPU_SOME] = cpu.some_us,
			[METRIC_PRESSURE_MEMORY_SOME] = memory.some_us,
			[METRIC_PRESSURE_MEMORY_FULL] = memory.full_us,
			[METRIC_PRESSURE_IO_SOME] = io.some_us,
			[METRIC_PRESSURE_IO_FULL] = io.full_us };

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
		uint64_t numbers[] = { [METRIC_SCHEDSTAT_RUN_TIME] = s.run_ns,
			[METRIC_SCHEDSTAT_RUN_DELAY] = s.run_delay_ns,
			[METRIC_SCHEDSTAT_TIMESLICES] = s.timeslices,
			[METRIC_SCHEDSTAT_WAKEUPS] = s.remote_wakeups,
			[METRIC_SCHEDSTAT_MIGRATIONS] = s.migrations };
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

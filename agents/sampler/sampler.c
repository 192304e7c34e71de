/*
 * sampler - samples this host on an absolute timer.
 * SPDX-License-Identifier: MIT
 */
#include "agents/sampler/sampler.h"

#include "agents/proc/proc_kernel.h"
#include "agents/proc/scan.h"
#include "agents/sampler/sampler_private.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static void
set_factor(struct sampler *sampler, uint32_t factor, double percent)
{
	const struct record_attribute attributes[] = {
		{ text_of("pressure"), sampler_real(percent) },
		{ text_of("limit"),
		    sampler_real(sampler->options.throttle_percent) },
		{ text_of("factor"), sampler_whole(factor) },
	};
	bool throttle = factor > 1;

	log_info("memory pressure %.1f %%: sampling period %s", percent,
	    throttle ? "x8" : "back to normal");
	sampler->schedule.factor = factor;
	schedule_start(&sampler->schedule, sampler->options.node,
	    sampler->now_ns, sampler->now_monotonic_ns);
	sampler_event(
	    sampler, throttle ? "throttled" : "throttled-end", attributes, 3);
}

/* Sampling a host that is out of memory makes it worse. */
static void
watch_pressure(struct sampler *sampler)
{
	double limit = sampler->options.throttle_percent;
	struct proc_pressure pressure;

	if ((limit <= 0 && sampler->schedule.factor == 1) ||
	    proc_parse_pressure(
		proc_files_read(&sampler->files, PROC_PRESSURE_MEMORY),
		&pressure) != 0)
		return;
	if (sampler->schedule.factor == 1 && pressure.some_avg10 > limit)
		set_factor(
		    sampler, SAMPLER_THROTTLE_FACTOR, pressure.some_avg10);
	else if (sampler->schedule.factor > 1 &&
		 (limit <= 0 || pressure.some_avg10 < limit / 2))
		set_factor(sampler, 1, pressure.some_avg10);
}

static uint64_t
left_out(const struct sampler *sampler)
{
	uint64_t sum = 0;

	for (int i = 0; i < LEFT_KINDS; i++)
		sum += sampler->left_out[i];
	return sum;
}

static uint64_t
microseconds(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static uint64_t
resident_bytes(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	uint64_t size, pages;
	char buffer[128];
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, sizeof(buffer));
	struct text line = { buffer, n > 0 ? (uint32_t)n : 0 };

	if (fd >= 0)
		close(fd);
	if (!scan_number(&line, &size) || !scan_number(&line, &pages))
		return SCAN_UNKNOWN;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
read_self(struct sampler *sampler)
{
	struct sampler_counters c;
	struct rusage used;

	/* Whatever names were too long since the last time. */
	sampler_leave_out(
	    sampler, LEFT_NAMES, sampler->left_out[LEFT_NAMES], NULL);
	getrusage(RUSAGE_SELF, &used);
	sampler->options.counters(sampler->options.arg, &c);
	{
		uint64_t numbers[] = { [METRIC_SELF_USER] =
					   microseconds(&used.ru_utime),
			[METRIC_SELF_SYSTEM] = microseconds(&used.ru_stime),
			[METRIC_SELF_MEMORY] = resident_bytes(),
			[METRIC_SELF_SWITCHES] =
			    (uint64_t)(used.ru_nvcsw + used.ru_nivcsw),
			[METRIC_SELF_RECORDS] = c.batcher->records,
			[METRIC_SELF_REPEATED] = c.batcher->repeated,
			[METRIC_SELF_PUTS] = c.batcher->puts,
			[METRIC_SELF_FULL] = c.batcher->full,
			[METRIC_SELF_FAILED] = c.batcher->failed,
			[METRIC_SELF_REFUSED] = c.listener->refused,
			[METRIC_SELF_CLIENTS] = c.clients,
			[METRIC_SELF_COMMITS] = c.batcher->commits,
			[METRIC_SELF_LOST] = sampler->lost_ever,
			[METRIC_SELF_SPOOL_BYTES] = c.spool->bytes,
			[METRIC_SELF_UNACKED_BYTES] = c.spool->unacked_bytes,
			[METRIC_SELF_UNACKED_BATCHES] =
			    c.spool->unacked_batches,
			[METRIC_SELF_SPOOL_ERRORS] = c.spool->io_errors,
			[METRIC_SELF_SENT] = c.sender->batches,
			[METRIC_SELF_SENT_BYTES] = c.sender->bytes,
			[METRIC_SELF_SENT_AGAIN] = c.sender->resent,
			[METRIC_SELF_TIMEOUTS] = c.sender->timeouts,
			[METRIC_SELF_ROUND_TRIP] = c.sender->rtt_ns > 0
						       ? c.sender->rtt_ns
						       : SCAN_UNKNOWN,
			[METRIC_SELF_FAILOVERS] = c.moves,
			[METRIC_SELF_MOVED] = c.spool->moved,
			[METRIC_SELF_FORBIDDEN] =
			    c.sender->nacks[WIRE_NACK_FORBIDDEN],
			[METRIC_SELF_LEFT_OUT] = left_out(sampler),
			[METRIC_SELF_IMPOSSIBLE] = gpu_impossible(sampler->gpu),
			[METRIC_SELF_GIVEN_UP] = c.spool->given_up };

		sampler_add_whole(sampler, &metric_group_self, text_of("self"),
		    numbers, SAMPLER_COUNT(numbers));
	}
}

static void
read_groups(struct sampler *sampler, uint32_t due)
{
	sampler->now_ns = clock_wall_ns();
	sampler->now_monotonic_ns = clock_monotonic_ns();
	sampler_read_host(sampler, due);
	sampler_read_devices(sampler, due);
	sampler_read_jobs(sampler, due);
	if (sampler_is_due(due, SCHEDULE_SELF))
		read_self(sampler);
}

static void
set_timer(struct sampler *sampler)
{
	int64_t next_ns = schedule_next_ns(&sampler->schedule);

	if (next_ns != INT64_MAX)
		loop_set_timer(
		    sampler->options.loop, &sampler->timer, next_ns, 0);
	else
		loop_stop_timer(sampler->options.loop, &sampler->timer);
}

/* Change to a schedule of the plan. */
static void
follow(struct sampler *sampler, const struct schedule *schedule)
{
	uint32_t factor = sampler->schedule.factor;

	sampler->schedule = *schedule;
	sampler->schedule.factor = factor;
	schedule_start(&sampler->schedule, sampler->options.node,
	    clock_wall_ns(), clock_monotonic_ns());
}

void
sampler_begin_job(struct sampler *sampler)
{
	const struct sampler_plan *plan = &sampler->options.plan;
	bool was_dense = sampler->dense_until_ns != 0;

	if (plan->dense_ns <= 0)
		return;
	sampler->dense_until_ns = clock_monotonic_ns() + plan->dense_ns;
	if (was_dense)
		return;
	follow(sampler, &plan->dense);
	set_timer(sampler);
}

static void
end_dense(struct sampler *sampler)
{
	if (sampler->dense_until_ns == 0 ||
	    sampler->now_monotonic_ns < sampler->dense_until_ns)
		return;
	sampler->dense_until_ns = 0;
	follow(sampler, &sampler->options.plan.usual);
}

/* May samples wait for the next ones? */
static bool
may_wait(const struct sampler *sampler)
{
	return !sampler->urgent && sampler->schedule.factor == 1 &&
	       schedule_next_ns(&sampler->schedule) - sampler->flushed_ns <=
		   sampler->options.send_interval_ns;
}

static void
on_timer(void *arg, struct loop_timer *timer)
{
	struct sampler *sampler = arg;

	(void)timer;
	if (sampler->lost > 0 && sampler->room)
		sampler_put_gap(sampler);
	read_groups(
	    sampler, schedule_take(&sampler->schedule, clock_monotonic_ns()));
	end_dense(sampler);
	watch_pressure(sampler);
	sampler_read_clock(sampler);
	if (!may_wait(sampler)) {
		sampler_flush(sampler);
		sampler->flushed_ns = sampler->now_monotonic_ns;
	}
	set_timer(sampler);
}

void
sampler_urge(struct sampler *sampler, const char *why)
{
	const struct record_attribute attribute = { text_of("notice"),
		{ .type = VALUE_TEXT, .is.text = text_of(why) } };

	read_groups(sampler,
	    schedule_take_early(&sampler->schedule, clock_monotonic_ns()));
	sampler_read_clock(sampler);
	sampler_flush(sampler);
	sampler_event(sampler, "preempted", &attribute, 1);
	sampler->urgent = true;
}

void
sampler_open_gpu(struct sampler *sampler)
{
	snprintf(sampler->drm, sizeof(sampler->drm), "%s/class/drm",
	    sampler->options.sys);
	gpu_open(&sampler->gpu, "libnvidia-ml.so.1", sampler->drm);
	sampler->gpu_ns = clock_monotonic_ns() + SAMPLER_GPU_NS;
}

/* Open what the plan needs and is not open yet. */
static void
open_sources(struct sampler *sampler)
{
	const struct schedule *schedule = &sampler->options.plan.usual;
	const char *root = sampler->options.root;
	struct text rest;

	if (schedule->period_ns[SCHEDULE_GPU] != 0 && sampler->gpu == NULL)
		sampler_open_gpu(sampler);
	if (sampler->job_cgroups != NULL ||
	    (schedule->period_ns[SCHEDULE_CGROUP] == 0 &&
		schedule->period_ns[SCHEDULE_PROCESS] == 0))
		return;
	/* A path of the host's table would not be ours. */
	rest = proc_files_read(&sampler->files,
	    sampler->files.is_foreign ? PROC_OWN_MOUNTS : PROC_MOUNTS);
	if (root == NULL && job_cgroups_root(sampler->root, rest))
		root = sampler->root;
	if (root != NULL) {
		/* The kernel lists the processes of a group by their ids in
		 * our namespace. */
		const struct job_cgroups_options options = { root,
			sampler->options.groups,
			sampler->files.is_foreign ? "/proc"
						  : sampler->options.proc,
			sampler->deadline };

		job_cgroups_open(&sampler->job_cgroups, &options);
	}
}

void
sampler_open(struct sampler **made, const struct sampler_options *options)
{
	struct sampler *sampler = memory_zero(1, sizeof(*sampler));

	sampler->options = *options;
	sampler->schedule.factor = 1;
	sampler->timer.on_timer = on_timer;
	sampler->timer.arg = sampler;
	proc_files_open(&sampler->files, options->proc);
	deadline_open(&sampler->deadline);
	sampler_open_filesystems(sampler);
	if (sampler->options.sys == NULL) {
		/* That of the host may have other interfaces. */
		sampler->options.sys_is_own = sampler->files.is_foreign;
		sampler->options.sys = "/sys";
	}
	sampler->boot =
	    proc_parse_boot(proc_files_read(&sampler->files, PROC_BOOT));
	open_sources(sampler);
	perf_report_new(&sampler->perf_reporter);
	wire_writer_init(&sampler->descriptions, sampler->descriptions_body,
	    sizeof(sampler->descriptions_body));
	wire_writer_init(&sampler->samples, sampler->samples_body,
	    sizeof(sampler->samples_body));
	follow(sampler, &options->plan.usual);
	set_timer(sampler);
	/* The node starts, too. */
	sampler_begin_job(sampler);
	sampler_open_clock(sampler);
	*made = sampler;
}

void
sampler_change(struct sampler *sampler, const struct sampler_options *options)
{
	sampler_flush(sampler);
	sampler->flushed_ns = clock_monotonic_ns();
	sampler->options.plan = options->plan;
	sampler->options.send_interval_ns = options->send_interval_ns;
	sampler->options.throttle_percent = options->throttle_percent;
	sampler->options.processes = options->processes;
	if (options->plan.dense_ns <= 0)
		sampler->dense_until_ns = 0;
	open_sources(sampler);
	follow(sampler, sampler->dense_until_ns != 0 ? &options->plan.dense
						     : &options->plan.usual);
	set_timer(sampler);
}

void
sampler_close(struct sampler **gone)
{
	struct sampler *sampler = *gone;

	*gone = NULL;
	if (sampler == NULL)
		return;
	loop_stop_timer(sampler->options.loop, &sampler->timer);
	sampler_close_clock(sampler);
	gpu_close(&sampler->gpu);
	job_cgroups_close(&sampler->job_cgroups);
	sampler_close_filesystems(sampler);
	deadline_close(&sampler->deadline);
	free(sampler->disks.at);
	free(sampler->interfaces.at);
	perf_report_free(&sampler->perf_reporter);
	proc_files_close(&sampler->files);
	free(sampler->cpus_times);
	free(sampler);
}

void
sampler_stop(struct sampler *sampler)
{
	if (sampler == NULL)
		return;
	read_groups(sampler,
	    schedule_take_early(&sampler->schedule, clock_monotonic_ns()));
	sampler_read_clock(sampler);
	sampler_flush(sampler);
}

void
sampler_renew(struct sampler *sampler)
{
	sampler_forget_defined(sampler);
	sampler->clock.far_reported = 0;
}

uint64_t
sampler_processors(const struct sampler *sampler)
{
	return sampler->processors > 0
		   ? sampler->processors
		   : (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
}

/*
 * top_collector - the thread that reads what the screen shows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/collector.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "exporters/nodes/now.h"
#include "exporters/nodes/status.h"
#include "exporters/top/compose.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/thread.h"

/* Facts about the pipeline, if their view is not shown. */
#define LINES_NS  (10 * NS_PER_SECOND)
#define PERIOD_NS NS_PER_SECOND

/* When a part may be read again (monotonic). */
struct due {
	int64_t next_ns;
	unsigned part;
};

struct collector {
	struct collector_options options;
	struct thread thread;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t cond;
	bool stops, is_changed;
	unsigned wanted;
	char partition[NAME_BYTES_MAX + 1];
	struct top_snapshot *newest;

	/* Of the thread. */
	char model[NAME_BYTES_MAX + 1];
	struct now *now;
	struct pools_kept *kept;
	struct compose compose;
	struct due runs, pools, lines;
	int64_t answered_ns;
};

/* ---- parts ---- */

static bool
is_due(const struct due *due, unsigned wanted, int64_t now_ns)
{
	return (wanted & due->part) != 0 && now_ns >= due->next_ns;
}

static void
finish(struct due *due, int64_t begin_ns, int64_t least_ns)
{
	int64_t end_ns = clock_monotonic_ns();
	int64_t rest_ns = COLLECTOR_REST * (end_ns - begin_ns);

	if (rest_ns > NOW_REST_MAX_NS)
		rest_ns = NOW_REST_MAX_NS;
	due->next_ns = end_ns + (rest_ns > least_ns ? rest_ns : least_ns);
}

static int
read_runs(struct collector *collector, struct err *err)
{
	struct top_runs *runs = top_runs_new();
	int64_t begin_ns = clock_monotonic_ns();
	int rc = newest_runs_read(&runs->runs, collector->options.source,
	    now_name(collector->now), collector->model, COLLECTOR_RUNS, err);

	finish(&collector->runs, begin_ns, PERIOD_NS / 2);
	if (rc != 0) {
		top_unshare(runs);
		return -1;
	}
	runs->shared.bytes += runs->runs.count * (sizeof(*runs->runs.at) + 64);
	top_unshare(collector->compose.runs);
	collector->compose.runs = runs;
	return 0;
}

static int
read_pools(struct collector *collector, int64_t now_ns, struct err *err)
{
	struct top_pools *pools = top_pools_new();
	int64_t begin_ns = clock_monotonic_ns();
	int rc = pools_read(&pools->pools, collector->options.source,
	    collector->kept, (struct text){ NULL, 0 }, now_ns, err);

	finish(&collector->pools, begin_ns, PERIOD_NS / 2);
	if (rc != 0) {
		top_unshare(pools);
		return -1;
	}
	pools->read_ns = now_ns;
	pools->shared.bytes +=
	    pools->pools.count * (sizeof(*pools->pools.at) + 256);
	top_unshare(collector->compose.pools);
	collector->compose.pools = pools;
	return 0;
}

static int
read_lines(struct collector *collector, unsigned wanted, struct err *err)
{
	struct status_facts facts;
	int64_t begin_ns = clock_monotonic_ns();
	int rc = status_facts_read(&facts, collector->options.source,
	    collector->options.source_options, NULL, err);

	finish(&collector->lines, begin_ns,
	    (wanted & COLLECT_LINES) != 0 ? PERIOD_NS / 2 : LINES_NS);
	top_unshare(collector->compose.lines);
	collector->compose.lines = top_lines_new(&facts);
	return rc;
}

static int
read_all(struct collector *collector, unsigned wanted, int64_t now_ns,
    unsigned *changed, struct err *err)
{
	int64_t at_ns = clock_monotonic_ns();
	int rc = now_poll(collector->now, now_ns, changed, err);

	if (rc == 0 && is_due(&collector->lines, COLLECT_LINES, at_ns))
		rc = read_lines(collector, wanted, err);
	if (rc == 0 && is_due(&collector->runs, wanted, at_ns))
		rc = read_runs(collector, err);
	if (rc == 0 && is_due(&collector->pools, wanted, at_ns))
		rc = read_pools(collector, now_ns, err);
	/* Say in the view of the pipeline what of it is silent. */
	if (rc != 0) {
		struct status_facts facts = { .aggregator = SERVICE_SILENT };

		top_unshare(collector->compose.lines);
		collector->compose.lines = top_lines_new(&facts);
		collector->lines.next_ns = 0;
	}
	return rc;
}

/* ---- the thread ---- */

/* Returns what is wanted. */
static unsigned
begin_round(struct collector *collector)
{
	bool is_changed;
	unsigned wanted;

	pthread_mutex_lock(&collector->mutex);
	is_changed = collector->is_changed || collector->now == NULL;
	collector->is_changed = false;
	wanted = collector->wanted;
	if (is_changed) {
		now_free(&collector->now);
		collector->now = now_new(collector->options.source,
		    text_of(collector->partition),
		    NOW_NODES | NOW_PHASES | NOW_PHASES_NEWEST | NOW_START |
			NOW_USAGE | NOW_USAGE_LAST | NOW_OPEN);
	}
	pthread_mutex_unlock(&collector->mutex);
	if (is_changed) {
		now_set_rest(collector->now, COLLECTOR_REST);
		compose_clear(&collector->compose);
		collector->runs.next_ns = collector->pools.next_ns =
		    collector->lines.next_ns = 0;
	}
	return wanted;
}

static void
publish(struct collector *collector, struct top_snapshot *snapshot)
{
	struct top_snapshot *late;

	pthread_mutex_lock(&collector->mutex);
	/* Of a partition that is no longer shown. */
	if (collector->is_changed) {
		late = snapshot;
	} else {
		late = collector->newest;
		collector->newest = snapshot;
	}
	pthread_mutex_unlock(&collector->mutex);
	top_snapshot_drop(&late);
	collector->options.on_snapshot(collector->options.arg);
}

static void
collect(struct collector *collector)
{
	unsigned wanted = begin_round(collector), changed;
	int64_t now_ns = clock_wall_ns();
	struct top_snapshot *snapshot;
	struct err err = { 0 };
	int rc = read_all(collector, wanted, now_ns, &changed, &err);

	if (rc == 0)
		collector->answered_ns = clock_wall_ns();
	snapshot = compose_snapshot(&collector->compose, collector->now,
	    changed, rc == 0 ? now_ns : clock_wall_ns());
	snapshot->is_lost = rc != 0;
	snapshot->answered_ns = collector->answered_ns;
	if (rc != 0)
		snapshot->error = memory_string(err.text);
	publish(collector, snapshot);
}

/* Wait for the next period, or for a wish. */
static bool
wait_until(struct collector *collector, int64_t at_ns)
{
	unsigned wanted;
	bool stops;

	pthread_mutex_lock(&collector->mutex);
	wanted = collector->wanted;
	while (!collector->stops && !collector->is_changed &&
	       collector->wanted == wanted && clock_monotonic_ns() < at_ns) {
		struct timespec until = { .tv_sec = at_ns / NS_PER_SECOND,
			.tv_nsec = at_ns % NS_PER_SECOND };

		pthread_cond_timedwait(
		    &collector->cond, &collector->mutex, &until);
	}
	stops = collector->stops;
	pthread_mutex_unlock(&collector->mutex);
	return !stops;
}

static int
run(void *arg, struct err *err)
{
	struct collector *collector = arg;
	int64_t begin_ns;

	(void)err;
	do {
		begin_ns = clock_monotonic_ns();
		collect(collector);
	} while (wait_until(collector, begin_ns + PERIOD_NS));
	return 0;
}

static void
stop(void *arg)
{
	struct collector *collector = arg;

	pthread_mutex_lock(&collector->mutex);
	collector->stops = true;
	pthread_cond_signal(&collector->cond);
	pthread_mutex_unlock(&collector->mutex);
}

/* ---- for who draws ---- */

static void
init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t how;

	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &how);
	pthread_condattr_destroy(&how);
}

int
collector_start(struct collector **started,
    const struct collector_options *options, struct err *err)
{
	struct collector *collector = memory_zero(1, sizeof(*collector));
	const struct thread_options thread = {
		.name = "the reader", .run = run, .stop = stop, .arg = collector
	};

	collector->options = *options;
	snprintf(collector->partition, sizeof(collector->partition), "%s",
	    options->partition);
	snprintf(
	    collector->model, sizeof(collector->model), "%s", options->model);
	collector->kept = pools_kept_new();
	collector->runs.part = COLLECT_RUNS;
	collector->pools.part = COLLECT_POOLS;
	collector->lines.part = COLLECT_LINES;
	pthread_mutex_init(&collector->mutex, NULL);
	init_cond(&collector->cond);
	*started = collector;
	return thread_start(&collector->thread, &thread, NULL, err);
}

bool
collector_stop(struct collector **stopped)
{
	struct collector *collector = *stopped;
	int64_t until_ns = clock_monotonic_ns() + NS_PER_SECOND / 5;
	struct timespec pause = { .tv_nsec = 5000000 };

	*stopped = NULL;
	if (collector == NULL)
		return true;
	stop(collector);
	while (thread_is_running(&collector->thread))
		if (clock_monotonic_ns() > until_ns)
			return false;
		else
			nanosleep(&pause, NULL);
	thread_stop(&collector->thread);
	now_free(&collector->now);
	pools_kept_free(&collector->kept);
	compose_clear(&collector->compose);
	top_snapshot_drop(&collector->newest);
	source_close(&collector->options.source);
	pthread_cond_destroy(&collector->cond);
	pthread_mutex_destroy(&collector->mutex);
	free(collector);
	return true;
}

struct top_snapshot *
collector_take(struct collector *collector)
{
	struct top_snapshot *taken;

	pthread_mutex_lock(&collector->mutex);
	taken = collector->newest;
	collector->newest = NULL;
	pthread_mutex_unlock(&collector->mutex);
	return taken;
}

void
collector_want(struct collector *collector, unsigned parts)
{
	pthread_mutex_lock(&collector->mutex);
	collector->wanted = parts;
	pthread_cond_signal(&collector->cond);
	pthread_mutex_unlock(&collector->mutex);
}

void
collector_change(struct collector *collector, struct text partition)
{
	struct top_snapshot *old;

	pthread_mutex_lock(&collector->mutex);
	snprintf(collector->partition, sizeof(collector->partition), "%.*s",
	    (int)partition.bytes, partition.at);
	collector->is_changed = true;
	old = collector->newest;
	collector->newest = NULL;
	pthread_cond_signal(&collector->cond);
	pthread_mutex_unlock(&collector->mutex);
	top_snapshot_drop(&old);
}

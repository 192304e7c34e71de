/*
 * writer - the thread that writes the journal's records to the tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/log.h"

#define PAUSE_NS      INT64_C(100000000)
#define FULL_PAUSE_NS NS_PER_SECOND
#define RETAIN_NS     (60 * NS_PER_SECOND)

struct db *
writer_db(struct writer *writer)
{
	return writer->db;
}

uint64_t
writer_position(const struct writer *writer)
{
	return atomic_load(&writer->position);
}

/* ---- the thread ---- */

static void
set_full(struct writer *writer, bool full, const struct err *why)
{
	bool was;

	pthread_mutex_lock(&writer->lock);
	was = writer->status.full;
	writer->status.full = full;
	snprintf(writer->status.full_why, sizeof(writer->status.full_why),
	    "%.*s", WRITER_WHY_BYTES - 1, full ? why->text : "");
	pthread_mutex_unlock(&writer->lock);
	if (full && !was)
		log_warn("indexer: the tables are full, indexing is paused: %s",
		    why->text);
	else if (was && !full)
		log_info(
		    "indexer: the tables have space again, indexing continues");
}

/* Say it once: a page does not heal while the process runs. */
static void
set_damaged(
    struct writer *writer, bool *known, const char *what, const struct err *why)
{
	bool was;

	pthread_mutex_lock(&writer->lock);
	was = *known;
	*known = true;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	if (!was)
		log_error("%s: %s", what, why->text);
}

static struct timespec
timespec_after(int64_t ns)
{
	int64_t until = clock_monotonic_ns() + ns;

	return (
	    struct timespec){ until / NS_PER_SECOND, until % NS_PER_SECOND };
}

/* What ends a rest, apart from its time and the end of the thread. */
enum rest { REST_FIRMLY, REST_WHILE_NOBODY_WAITS, REST_WHILE_NOTHING_IS_NEW };

static bool
is_over(const struct writer *writer, enum rest rest)
{
	if (atomic_load(&writer->stopping))
		return true;
	if (rest == REST_WHILE_NOTHING_IS_NEW)
		return writer->woken;
	return rest == REST_WHILE_NOBODY_WAITS &&
	       writer->awaited > atomic_load(&writer->position);
}

/* Sleep until `until` happens or `ns` have passed (< 0: no limit). */
static void
rest(struct writer *writer, int64_t ns, enum rest rest)
{
	struct timespec at = timespec_after(ns);

	heartbeat_rest();
	pthread_mutex_lock(&writer->lock);
	while (!is_over(writer, rest)) {
		if (ns < 0)
			pthread_cond_wait(&writer->changed, &writer->lock);
		else if (pthread_cond_timedwait(
			     &writer->changed, &writer->lock, &at) != 0)
			break;
	}
	pthread_mutex_unlock(&writer->lock);
	heartbeat_beat();
}

/* The next round takes all requests made so far into account. */
static void
clear_woken(struct writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	writer->woken = false;
	if (writer->changing) {
		writer->options.retain_ns = writer->change.retain_ns;
		writer->options.retain_raw_ns = writer->change.retain_raw_ns;
		writer->options.retain_1min_ns = writer->change.retain_1min_ns;
		writer->options.retain_bytes = writer->change.retain_bytes;
		writer->options.rejected_bytes = writer->change.rejected_bytes;
		writer->retention.next_ns = 0;
		writer->changing = false;
	}
	pthread_mutex_unlock(&writer->lock);
}

static bool
retains(const struct writer *writer)
{
	const struct writer_options *options = &writer->options;

	return options->retain_ns > 0 || options->retain_raw_ns > 0 ||
	       options->retain_1min_ns > 0 || options->retain_bytes > 0;
}

static enum db_result
retain(struct writer *writer, bool *more, struct err *err)
{
	const struct writer_options *options = &writer->options;
	struct retention_limits limits = { .retain_ns = options->retain_ns,
		.retain_raw_ns = options->retain_raw_ns,
		.retain_1min_ns = options->retain_1min_ns,
		.retain_bytes = options->retain_bytes };
	enum db_result result;

	result = retention_step(&writer->retention, &limits, more, err);
	pthread_mutex_lock(&writer->lock);
	writer->status.retained_ns = (uint64_t)writer->retention.deleted_ns;
	writer->status.retention_held = writer->retention.held;
	writer->status.clock_in_doubt =
	    writer->retention.doubt != STORE_CLOCK_TRUSTED;
	writer->status.retention_stopped =
	    writer->retention.stopped != STORE_CLOCK_TRUSTED;
	writer->status.clock_lead_ns = writer->retention.clock_lead_ns;
	pthread_mutex_unlock(&writer->lock);
	return result;
}

/* The maximum length of a rest without new entries. */
static int64_t
idle_ns(const struct writer *writer)
{
	if (writer->options.compact_after_ns > 0)
		return compact_search_ns(writer);
	return retains(writer) ? RETAIN_NS : -1;
}

static int64_t
pause_ns(const struct writer *writer)
{
	if (writer->options.pause_ns != 0)
		return writer->options.pause_ns < 0 ? 0
						    : writer->options.pause_ns;
	return PAUSE_NS;
}

/* Nobody waits for it any more. */
static void
set_failed(struct writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	writer->failed = true;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
}

static enum db_result
tidy(struct writer *writer, bool more, bool *again, struct err *err)
{
	enum db_result result = background_step(writer, more, again, err);
	bool packs = false;

	if (result == DB_OK && writer->options.compact_after_ns > 0) {
		result = pack_step(writer, &packs, err);
		*again = *again || packs;
		/* As below: what rests may stay as it is. */
		if (result == DB_BROKEN)
			return result;
		result = DB_OK;
	}
	if (writer->background.last != BACKGROUND_COMPACT)
		return result;
	if (result == DB_DAMAGED)
		set_damaged(writer, &writer->compact_is_damaged,
		    "an hour is not compacted", err);
	/* Without space, or with a damaged page, other work goes on. */
	return result == DB_BROKEN ? DB_BROKEN : DB_OK;
}

/* One round: a step, some retention, merging and compaction, and a rest.  False
 * when the indexer cannot go on. */
static bool
round_of(struct writer *writer, struct err *err)
{
	uint64_t position = atomic_load(&writer->position);
	bool more = false, old = false, again = false, marks = false;
	enum db_result result;

	clear_woken(writer);
	result = writer_step(writer, &more, err);
	if (atomic_load(&writer->position) != position) {
		pthread_mutex_lock(&writer->lock);
		pthread_cond_broadcast(&writer->changed);
		pthread_mutex_unlock(&writer->lock);
	}
	if (result != DB_BROKEN && retains(writer) &&
	    !writer_marks_hold_all(writer)) {
		/* If the store is full, retention may free space. */
		enum db_result removed = retain(writer, &old, err);

		/* A full store goes on after a pause, a broken one never. */
		if (removed == DB_BROKEN || result == DB_OK)
			result = removed;
	}
	if (result == DB_OK)
		result = tidy(writer, more, &again, err);
	if (result != DB_BROKEN) {
		/* Also in a full store: retention waits for it. */
		enum db_result done = writer_marks_step(writer, &marks, err);

		if (done == DB_BROKEN || result == DB_OK)
			result = done;
	}
	if (result == DB_BROKEN)
		return false;
	set_full(writer, result == DB_FULL, err);
	if (result == DB_DAMAGED)
		set_damaged(writer, &writer->status.is_damaged,
		    "indexing is paused, batches wait in the journal", err);
	if (result != DB_OK)
		rest(writer, FULL_PAUSE_NS, REST_FIRMLY);
	else if (more || old || again || marks)
		return true;
	else if (atomic_load(&writer->position) != position)
		rest(writer, pause_ns(writer), REST_WHILE_NOBODY_WAITS);
	else
		rest(writer, idle_ns(writer), REST_WHILE_NOTHING_IS_NEW);
	return true;
}

static enum db_result
rebuild(struct writer *writer, struct err *err)
{
	return writer->rebuild == REBUILD_SUMS ? sum_again(writer, err)
					       : rebuild_all(writer, err);
}

/* Derive again what follows from records if the store says so. */
static bool
derive(struct writer *writer, struct err *err)
{
	enum db_result result;

	if (writer->rebuild == 0)
		return true;
	log_warn("indexer: phases and test runs are derived again: a rebuild "
		 "was interrupted, or the store was made of an archive");
	/* Index nothing while phases are incomplete. */
	while ((result = rebuild(writer, err)) == DB_FULL &&
	       !atomic_load(&writer->stopping)) {
		set_full(writer, true, err);
		rest(writer, FULL_PAUSE_NS, REST_FIRMLY);
	}
	if (result == DB_OK) {
		writer->rebuild = 0;
		set_full(writer, false, err);
	}
	return result < DB_DAMAGED;
}

static int
follow(void *arg, struct err *err)
{
	struct writer *writer = arg;
	bool good;

	heartbeat_beat();
	good = derive(writer, err);
	background_open(writer);
	while (good && !atomic_load(&writer->stopping))
		good = round_of(writer, err) && derive(writer, err);
	background_close(writer);
	if (good)
		return 0;
	set_failed(writer);
	return err_prefix(err, "the tables are broken");
}

static void
stop(void *arg)
{
	struct writer *writer = arg;

	pthread_mutex_lock(&writer->lock);
	atomic_store(&writer->stopping, true);
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
}

int
writer_start(struct writer *writer, const struct thread_watcher *watcher,
    struct err *err)
{
	const struct thread_options how = { .name = "the indexer",
		.run = follow,
		.stop = stop,
		.arg = writer,
		.has_heartbeat = true };

	atomic_store(&writer->stopping, false);
	quarantine_watch();
	if (thread_start(&writer->thread, &how, watcher, err) != 0)
		return -1;
	writer->running = true;
	return 0;
}

void
writer_stop(struct writer *writer)
{
	if (!writer->running)
		return;
	thread_stop(&writer->thread);
	writer->running = false;
	quarantine_unwatch();
}

void
writer_wake(struct writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	writer->woken = true;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
}

void
writer_change(struct writer *writer, const struct writer_options *options)
{
	pthread_mutex_lock(&writer->lock);
	writer->change = *options;
	writer->changing = true;
	writer->woken = true;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
}

bool
writer_await(struct writer *writer, uint64_t number, int64_t ns)
{
	struct timespec until = timespec_after(ns);
	bool reached;

	pthread_mutex_lock(&writer->lock);
	if (number > writer->awaited) {
		writer->awaited = number;
		pthread_cond_broadcast(&writer->changed);
	}
	while (!(reached = atomic_load(&writer->position) >= number) &&
	       writer->running && !writer->failed && !writer->status.full &&
	       !writer->status.is_damaged && !atomic_load(&writer->stopping))
		if (pthread_cond_timedwait(
			&writer->changed, &writer->lock, &until) != 0)
			break;
	pthread_mutex_unlock(&writer->lock);
	return reached;
}

/* ---- status, and work without a thread ---- */

void
writer_status(const struct writer *writer, struct writer_status *status)
{
	/* Locking does not change what the caller sees as const. */
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&writer->lock;

	pthread_mutex_lock(lock);
	*status = writer->status;
	pthread_mutex_unlock(lock);
}

int
writer_run(struct writer *writer, struct err *err)
{
	uint64_t position;
	bool more;

	do {
		position = atomic_load(&writer->position);
		if (writer_step(writer, &more, err) != DB_OK)
			return -1;
	} while (atomic_load(&writer->position) != position);
	do {
		if (writer_marks_step(writer, &more, err) != DB_OK)
			return -1;
	} while (more);
	do {
		if (!retains(writer))
			return 0;
		if (retain(writer, &more, err) != DB_OK)
			return -1;
	} while (more);
	return 0;
}

int
writer_compact(struct writer *writer, struct err *err)
{
	enum db_result result;

	quarantine_watch();
	result = part_merge_all(writer, err);
	if (result == DB_OK)
		result = compact_all(writer, err);
	if (result == DB_OK)
		result = pack_all(writer, err);
	quarantine_unwatch();
	return result == DB_OK ? 0 : -1;
}

int
writer_rebuild(struct writer *writer, struct err *err)
{
	return rebuild_all(writer, err) == DB_OK ? 0 : -1;
}

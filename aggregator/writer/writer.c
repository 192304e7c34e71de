/*
 * writer - the thread that carries the journal into the tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "aggregator/writer/rebuild.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/log.h"

enum {
	FOLD_NICE = 10,
	SEAL_ROUNDS =
	    16, /* while there is more to fold, one in so many seals */
};
#define PAUSE_NS      INT64_C(100000000)
#define FULL_PAUSE_NS NS_PER_SECOND
#define RETAIN_NS     (60 * NS_PER_SECOND)

struct db *
fold_db(struct fold *fold)
{
	return fold->db;
}

uint64_t
fold_position(const struct fold *fold)
{
	return atomic_load(&fold->position);
}

/* ---- the thread ---- */

static void
set_full(struct fold *fold, bool full, const struct err *why)
{
	bool was;

	pthread_mutex_lock(&fold->lock);
	was = fold->status.full;
	fold->status.full = full;
	pthread_mutex_unlock(&fold->lock);
	if (full && !was)
		log_warn("fold: no room, waiting: %s", why->text);
	else if (was && !full)
		log_info("fold: there is room again, going on");
}

static struct timespec
timespec_after(int64_t ns)
{
	int64_t until = clock_monotonic_ns() + ns;

	return (
	    struct timespec){ until / NS_PER_SECOND, until % NS_PER_SECOND };
}

/* What ends a rest, besides time and the end of the fold. */
enum rest { REST_FIRMLY, REST_WHILE_NOBODY_WAITS, REST_WHILE_NOTHING_IS_NEW };

static bool
is_over(const struct fold *fold, enum rest rest)
{
	if (atomic_load(&fold->stopping))
		return true;
	if (rest == REST_WHILE_NOTHING_IS_NEW)
		return fold->woken;
	return rest == REST_WHILE_NOBODY_WAITS &&
	       fold->awaited > atomic_load(&fold->position);
}

/* Sleep until it is over, or `ns` are (< 0: never). */
static void
rest(struct fold *fold, int64_t ns, enum rest rest)
{
	struct timespec at = timespec_after(ns);

	pulse_rest();
	pthread_mutex_lock(&fold->lock);
	while (!is_over(fold, rest)) {
		if (ns < 0)
			pthread_cond_wait(&fold->changed, &fold->lock);
		else if (pthread_cond_timedwait(
			     &fold->changed, &fold->lock, &at) != 0)
			break;
	}
	pthread_mutex_unlock(&fold->lock);
	pulse_beat();
}

/* All that was said up to now is heeded in the round that begins. */
static void
clear_woken(struct fold *fold)
{
	pthread_mutex_lock(&fold->lock);
	fold->woken = false;
	if (fold->changing) {
		fold->options.retain_ns = fold->change.retain_ns;
		memcpy(fold->options.retain_tier_ns,
		    fold->change.retain_tier_ns,
		    sizeof(fold->options.retain_tier_ns));
		fold->options.retain_bytes = fold->change.retain_bytes;
		fold->options.dead_bytes = fold->change.dead_bytes;
		fold->retain.next_ns = 0;
		fold->changing = false;
	}
	pthread_mutex_unlock(&fold->lock);
}

static bool
retains(const struct fold *fold)
{
	const struct fold_options *options = &fold->options;

	for (unsigned i = 0; i < TIERS; i++)
		if (options->retain_tier_ns[i] > 0)
			return true;
	return options->retain_ns > 0 || options->retain_bytes > 0;
}

/* How long a rest without anything new may be. */
static int64_t
idle_ns(const struct fold *fold)
{
	if (fold->options.seal_after_ns > 0)
		return seal_look_ns(fold);
	return retains(fold) ? RETAIN_NS : -1;
}

static int64_t
pause_ns(const struct fold *fold)
{
	if (fold->options.pause_ns != 0)
		return fold->options.pause_ns < 0 ? 0 : fold->options.pause_ns;
	return PAUSE_NS;
}

static void
fail(struct fold *fold, const struct err *err)
{
	pthread_mutex_lock(&fold->lock);
	fold->failed = true;
	fold->failure = *err;
	pthread_cond_broadcast(&fold->changed);
	pthread_mutex_unlock(&fold->lock);
	if (fold->on_failed != NULL)
		fold->on_failed(fold->on_failed_arg);
}

/* Sealing waits while there is more to fold, though not for ever. */
static enum db_result
seal_some(struct fold *fold, bool more, bool *more_to_seal, struct err *err)
{
	enum db_result result;

	*more_to_seal = false;
	if (fold->options.seal_after_ns <= 0 ||
	    (more && ++fold->rounds % SEAL_ROUNDS != 0))
		return DB_OK;
	result = seal_step(fold, more_to_seal, err);
	/* No room for it is no reason to wait with anything else. */
	return result == DB_BROKEN ? DB_BROKEN : DB_OK;
}

/* One round: a step, a bit of retention, and the rest that they allow.  False
 * when the fold is at its end. */
static bool
round_of(struct fold *fold, struct err *err)
{
	uint64_t position = atomic_load(&fold->position);
	bool more = false, old = false, heads = false;
	enum db_result result;

	clear_woken(fold);
	result = fold_step(fold, &more, err);
	if (atomic_load(&fold->position) != position) {
		pthread_mutex_lock(&fold->lock);
		pthread_cond_broadcast(&fold->changed);
		pthread_mutex_unlock(&fold->lock);
	}
	if (result != DB_BROKEN && retains(fold)) {
		/* When there is no room this is what may make some. */
		enum db_result removed = retain_step(fold, &old, err);

		if (removed != DB_OK && result == DB_OK)
			result = removed;
	}
	if (result == DB_OK)
		result = seal_some(fold, more, &heads, err);
	if (result == DB_BROKEN)
		return false;
	set_full(fold, result == DB_FULL, err);
	if (result == DB_FULL)
		rest(fold, FULL_PAUSE_NS, REST_FIRMLY);
	else if (more || old || heads)
		return true;
	else if (atomic_load(&fold->position) != position)
		rest(fold, pause_ns(fold), REST_WHILE_NOBODY_WAITS);
	else
		rest(fold, idle_ns(fold), REST_WHILE_NOTHING_IS_NEW);
	return true;
}

/* Phases that were being derived again when the process ended, or those of a
 * partition that was moved here. */
static bool
derive(struct fold *fold, struct err *err)
{
	enum db_result result;
	uint32_t partition;

	if (fold->rebuild == 0)
		return true;
	partition = (uint32_t)(fold->rebuild - 1);
	if (partition == 0)
		log_warn("fold: a rebuild was interrupted: doing it again");
	/* Nothing is folded into phases that are half there. */
	while ((result = rebuild_all(fold, partition, err)) == DB_FULL &&
	       !atomic_load(&fold->stopping)) {
		set_full(fold, true, err);
		rest(fold, FULL_PAUSE_NS, REST_FIRMLY);
	}
	if (result == DB_OK) {
		fold->rebuild = 0;
		set_full(fold, false, err);
	}
	return result != DB_BROKEN;
}

static void *
follow(void *arg)
{
	struct fold *fold = arg;
	struct err err = { "" };
	struct pulse pulse;
	bool good;

	/* Where processors are short an acknowledgement comes first: the
	 * journal holds what waits here.  (On Linux this is the thread's.) */
	setpriority(PRIO_PROCESS, (id_t)gettid(), FOLD_NICE);
	pulse_begin(&pulse, "the fold");
	pulse_beat();
	good = derive(fold, &err);
	while (good && !atomic_load(&fold->stopping))
		good = round_of(fold, &err) && derive(fold, &err);
	if (!good)
		fail(fold, &err);
	pulse_end(&pulse);
	return NULL;
}

int
fold_start(
    struct fold *fold, void (*on_failed)(void *arg), void *arg, struct err *err)
{
	int rc;

	fold->on_failed = on_failed;
	fold->on_failed_arg = arg;
	atomic_store(&fold->stopping, false);
	poison_watch();
	rc = pthread_create(&fold->thread, NULL, follow, fold);
	if (rc != 0)
		return err_set(err, "fold: thread: %s", strerror(rc));
	fold->running = true;
	return 0;
}

void
fold_stop(struct fold *fold)
{
	if (!fold->running)
		return;
	pthread_mutex_lock(&fold->lock);
	atomic_store(&fold->stopping, true);
	pthread_cond_broadcast(&fold->changed);
	pthread_mutex_unlock(&fold->lock);
	pthread_join(fold->thread, NULL);
	fold->running = false;
	poison_unwatch();
}

void
fold_wake(struct fold *fold)
{
	pthread_mutex_lock(&fold->lock);
	fold->woken = true;
	pthread_cond_broadcast(&fold->changed);
	pthread_mutex_unlock(&fold->lock);
}

void
fold_change(struct fold *fold, const struct fold_options *options)
{
	pthread_mutex_lock(&fold->lock);
	fold->change = *options;
	fold->changing = true;
	fold->woken = true;
	pthread_cond_broadcast(&fold->changed);
	pthread_mutex_unlock(&fold->lock);
}

bool
fold_await(struct fold *fold, uint64_t number, int64_t ns)
{
	struct timespec until = timespec_after(ns);
	bool reached;

	pthread_mutex_lock(&fold->lock);
	if (number > fold->awaited) {
		fold->awaited = number;
		pthread_cond_broadcast(&fold->changed);
	}
	while (!(reached = atomic_load(&fold->position) >= number) &&
	       fold->running && !fold->failed && !fold->status.full &&
	       !atomic_load(&fold->stopping))
		if (pthread_cond_timedwait(
			&fold->changed, &fold->lock, &until) != 0)
			break;
	pthread_mutex_unlock(&fold->lock);
	return reached;
}

/* ---- asking, and working without a thread ---- */

bool
fold_failed(struct fold *fold, struct err *err)
{
	bool failed;

	pthread_mutex_lock(&fold->lock);
	failed = fold->failed;
	if (failed)
		err_set(err, "%s", fold->failure.text);
	pthread_mutex_unlock(&fold->lock);
	return failed;
}

void
fold_status(const struct fold *fold, struct fold_status *status)
{
	/* The lock is not what the caller means by const. */
	pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&fold->lock;

	pthread_mutex_lock(lock);
	*status = fold->status;
	pthread_mutex_unlock(lock);
}

int
fold_run(struct fold *fold, struct err *err)
{
	uint64_t position;
	bool more;

	do {
		position = atomic_load(&fold->position);
		if (fold_step(fold, &more, err) != DB_OK)
			return -1;
	} while (atomic_load(&fold->position) != position);
	do {
		if (!retains(fold))
			return 0;
		if (retain_step(fold, &more, err) != DB_OK)
			return -1;
	} while (more);
	return 0;
}

int
fold_seal(struct fold *fold, struct err *err)
{
	enum db_result result;

	poison_watch();
	result = seal_all(fold, err);
	poison_unwatch();
	return result == DB_OK ? 0 : -1;
}

int
fold_rebuild(struct fold *fold, struct err *err)
{
	return rebuild_all(fold, 0, err) == DB_OK ? 0 : -1;
}

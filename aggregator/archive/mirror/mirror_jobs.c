/*
 * mirror_jobs - what questions wait for, and the thread that does it.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/mirror/mirror_private.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "aggregator/archive/question.h"

/* How long a failure waits for who asked for it. */
#define FAILURE_NS (10 * NS_PER_SECOND)

/* ---- the list ---- */

static void
remove_job(struct mirror *mirror, struct mirror_job *job)
{
	uint32_t at = (uint32_t)(job - mirror->job);

	memmove(job, job + 1, (mirror->jobs - at - 1) * sizeof(*job));
	mirror->jobs--;
}

static struct mirror_job *
find_job(struct mirror *mirror, const struct absent_need *what)
{
	for (uint32_t i = 0; i < mirror->jobs; i++) {
		const struct absent_need *other = &mirror->job[i].what;

		if (mirror_is_same(&other->first, &what->first) &&
		    other->end == what->end && other->node == what->node &&
		    other->rollups_do == what->rollups_do)
			return &mirror->job[i];
	}
	return NULL;
}

static void
remove_old(struct mirror *mirror, int64_t now_ns)
{
	for (uint32_t i = mirror->jobs; i-- > 0;) {
		struct mirror_job *job = &mirror->job[i];

		if (job->is_done && job->waiters == 0 &&
		    (job->rc == 0 || now_ns - job->done_ns > FAILURE_NS))
			remove_job(mirror, job);
	}
}

/* NULL: there is no room. */
static struct mirror_job *
add_job(struct mirror *mirror, const struct absent_need *what)
{
	struct mirror_job *job = &mirror->job[mirror->jobs];

	if (mirror->jobs == MIRROR_JOBS)
		return NULL;
	*job = (struct mirror_job){ .what = *what };
	mirror->jobs++;
	pthread_cond_broadcast(&mirror->changed);
	return job;
}

static void
sleep_until(struct mirror *mirror, int64_t until_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(until_ns / NS_PER_SECOND),
		.tv_nsec = (long)(until_ns % NS_PER_SECOND),
	};

	if (until_ns == INT64_MAX)
		pthread_cond_wait(&mirror->changed, &mirror->lock);
	else
		pthread_cond_timedwait(&mirror->changed, &mirror->lock, &until);
}

int
mirror_wait(struct mirror *mirror, const struct absent_need *what,
    int64_t until_ns, struct err *err)
{
	struct mirror_job *job;
	int rc = MIRROR_FETCHING;

	pthread_mutex_lock(&mirror->lock);
	remove_old(mirror, clock_monotonic_ns());
	job = find_job(mirror, what);
	if (job == NULL)
		job = add_job(mirror, what);
	if (job != NULL)
		job->waiters++;
	/* Jobs move in the list. */
	while (job != NULL && !job->is_done && !mirror->stop &&
	       clock_monotonic_ns() < until_ns) {
		sleep_until(mirror, until_ns);
		job = find_job(mirror, what);
	}
	if (job != NULL) {
		job->waiters--;
		if (job->is_done) {
			rc = job->rc;
			*err = job->err;
			if (job->waiters == 0)
				remove_job(mirror, job);
		}
	}
	pthread_mutex_unlock(&mirror->lock);
	return rc;
}

/* ---- the thread ---- */

static int
work(struct mirror *mirror, const struct absent_need *what, struct err *err)
{
	struct mirror_partition *partition;

	if (what->first.kind > ABSENT_ROLLUP)
		return mirror_fetch_rollups(mirror, what, err);
	if (what->first.kind != 0)
		return mirror_fetch(mirror, what, err);
	partition = &mirror->partition[what->first.partition - 1];
	return partition->is_read ? 0 : mirror_read(mirror, partition, err);
}

/* With the lock. */
static void
note(struct mirror *mirror, int rc, const struct err *err)
{
	struct mirror_status *status = &mirror->status;

	status->partitions = mirror->partitions;
	status->partitions_read = 0;
	for (uint32_t i = 0; i < mirror->partitions; i++)
		status->partitions_read += mirror->partition[i].is_read;
	status->hours = mirror->hours;
	status->bytes = mirror->bytes;
	status->fetched = mirror->fetched;
	status->dropped = mirror->dropped;
	status->failed += rc != 0;
	/* A question that is answered does not make answers newer. */
	if (rc == 0 && mirror->is_behind)
		return;
	snprintf(status->error, sizeof(status->error), "%.199s",
	    rc != 0 ? err->text : "");
}

static void
say(const struct mirror *mirror, const struct absent_need *what)
{
	const char *name =
	    mirror->partition[what->first.partition - 1].claim.name;

	if (!mirror->options.progress)
		return;
	fprintf(stderr, "\r\033[Kreading the archive: %s, %u hours of records",
	    name, mirror->hours);
	fflush(stderr);
}

static void
do_job(struct mirror *mirror, struct absent_need what)
{
	struct err err = { .text = "" };
	struct mirror_job *job;
	int rc;

	say(mirror, &what);
	memset(mirror->into.silences, 0, sizeof(mirror->into.silences));
	rc = work(mirror, &what, &err);
	if (mirror->options.progress)
		fputs("\r\033[K", stderr);
	pthread_mutex_lock(&mirror->lock);
	job = find_job(mirror, &what);
	if (job != NULL) {
		job->is_done = true;
		job->done_ns = clock_monotonic_ns();
		job->rc = rc;
		job->err = err;
	}
	note(mirror, rc, &err);
	pthread_cond_broadcast(&mirror->changed);
	pthread_mutex_unlock(&mirror->lock);
}

/* Wait for a job until then; false: there is none. */
static bool
next_job(struct mirror *mirror, int64_t until_ns, struct absent_need *what)
{
	bool found = false;

	pthread_mutex_lock(&mirror->lock);
	while (!found && !mirror->stop) {
		for (uint32_t i = 0; i < mirror->jobs && !found; i++) {
			found = !mirror->job[i].is_done;
			*what = mirror->job[i].what;
		}
		if (!found && clock_monotonic_ns() >= until_ns)
			break;
		if (!found)
			sleep_until(mirror, until_ns);
	}
	pthread_mutex_unlock(&mirror->lock);
	return found && !mirror->stop;
}

/* -1: a shard has too few replicas for a commit, so what is newer than the last
 * one is not known. */
static int
see_copies(struct mirror *mirror, struct err *err)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(mirror->client);

	for (unsigned s = 0; s < cluster->shards; s++) {
		const struct clickhouse_shard *shard = &cluster->shard[s];
		unsigned up = 0;

		for (unsigned r = 0; r < shard->replicas; r++)
			up += shard->replica[r].up;
		if (up < question_copies(mirror->client, s))
			return err_set(err,
			    "archive: %u of %u replicas of shard %u answer: "
			    "aggregators commit nothing until another one does",
			    up, shard->replicas, s + 1);
	}
	return 0;
}

/* Replicas come and go, and passwords are replaced. */
static int
find_again(struct mirror *mirror, struct err *err)
{
	unsigned shards = clickhouse_cluster(mirror->client)->shards;

	if (clickhouse_find(mirror->client, err) != 0)
		return -1;
	return clickhouse_cluster(mirror->client)->shards == shards
		   ? 0
		   : err_set(err,
			 "archive: the cluster has another number of shards; "
			 "start again");
}

static void
follow(struct mirror *mirror)
{
	struct err err = { .text = "" };
	int64_t now_ns = clock_wall_ns();
	int rc = find_again(mirror, &err);

	if (rc == 0)
		rc = mirror_follow(mirror, &err);
	if (rc == 0)
		rc = see_copies(mirror, &err);
	pthread_mutex_lock(&mirror->lock);
	mirror->is_behind = rc != 0;
	note(mirror, rc, &err);
	if (rc == 0)
		mirror->status.until_ns = now_ns;
	pthread_mutex_unlock(&mirror->lock);
}

int
mirror_run(void *arg, struct err *err)
{
	struct mirror *mirror = arg;
	struct absent_need what;
	int64_t next_ns = mirror->options.follows
			      ? clock_monotonic_ns() + MIRROR_FOLLOW_NS
			      : INT64_MAX;

	(void)err;
	while (!mirror->stop) {
		if (next_job(mirror, next_ns, &what))
			do_job(mirror, what);
		if (mirror->stop || clock_monotonic_ns() < next_ns)
			continue;
		follow(mirror);
		next_ns = clock_monotonic_ns() + MIRROR_FOLLOW_NS;
	}
	return 0;
}

void
mirror_stop(void *arg)
{
	struct mirror *mirror = arg;

	pthread_mutex_lock(&mirror->lock);
	mirror->stop = true;
	pthread_cond_broadcast(&mirror->changed);
	pthread_mutex_unlock(&mirror->lock);
}

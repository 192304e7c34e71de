/*
 * state - looking at the archive, one reader at a time.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/read_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "aggregator/archive/question.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"

#define ANSWERS_BYTES (UINT64_C(256) << 20)
/* Who looks ends by itself: each of its requests has an end. */
#define WAIT_NS (60 * NS_PER_SECOND)

struct archive_read_state *
read_state_new(uint64_t answers_bytes)
{
	struct archive_read_state *state = memory_zero(1, sizeof(*state));
	pthread_condattr_t monotonic;

	pthread_mutex_init(&state->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&state->looked, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (answers_bytes > 0)
		state->answers = answers_new(answers_bytes);
	return state;
}

struct archive_read_state *
archive_read_state_new(void)
{
	return read_state_new(ANSWERS_BYTES);
}

void
archive_read_state_free(struct archive_read_state **state)
{
	struct archive_read_state *old = *state;

	if (old == NULL)
		return;
	answers_free(&old->answers);
	clickhouse_close(&old->client);
	look_clear(&old->look);
	arena_clear(&old->texts);
	pthread_cond_destroy(&old->looked);
	pthread_mutex_destroy(&old->lock);
	free(old);
	*state = NULL;
}

void
archive_read_look(
    struct archive_read_state *state, struct archive_read_status *status)
{
	struct answers_status answers;

	pthread_mutex_lock(&state->lock);
	*status = state->status;
	pthread_mutex_unlock(&state->lock);
	answers_look(state->answers, &answers);
	status->asked = answers.asked;
	status->kept = answers.kept;
	status->kept_bytes = answers.bytes;
}

/* ---- looking ---- */

/* -1: a shard has too few replicas for a commit, so nothing newer comes. */
static int
see_copies(struct clickhouse *client, struct err *err)
{
	const struct clickhouse_cluster *cluster = clickhouse_cluster(client);

	for (unsigned s = 0; s < cluster->shards; s++) {
		const struct clickhouse_shard *shard = &cluster->shard[s];
		unsigned up = 0;

		for (unsigned r = 0; r < shard->replicas; r++)
			up += shard->replica[r].up;
		if (up < question_copies(client, s))
			return err_set(err,
			    "archive: %u of %u replicas of shard %u answer: "
			    "aggregators commit nothing until another one does",
			    up, shard->replicas, s + 1);
	}
	return 0;
}

/* -1: a partition is not answered. */
static int
see_lost(const struct look *look, struct err *err)
{
	for (uint32_t i = 0; i < look->count; i++)
		if (look->at[i].is_lost)
			return look_refuse(look->at[i].name, err);
	return 0;
}

static int
look(struct archive_read *read, struct look *next, struct err *err)
{
	struct archive_read_state *state = read->state;

	read->fetch.version = 0;
	return clickhouse_find(read->fetch.client, err) == 0 &&
		       schema_check(read->fetch.client, err) == 0 &&
		       look_again(&state->look, next, &read->fetch,
			   &state->texts, err) == 0
		   ? 0
		   : -1;
}

/* With the lock: who comes later has what this one found. */
static void
publish(struct archive_read *read, const struct look *next)
{
	struct archive_read_state *state = read->state;

	look_clear(&state->look);
	state->look = *next;
	state->looks++;
	state->status.partitions = next->count;
	if (state->answers == NULL)
		return;
	if (state->client == NULL && clickhouse_open_again(&state->client,
					 read->fetch.client, NULL) != 0)
		return;
	clickhouse_take_cluster(state->client, read->fetch.client);
}

/* With the lock, which is given back meanwhile. */
static int
look_and_publish(struct archive_read *read, struct err *err)
{
	struct archive_read_state *state = read->state;
	struct look next;
	int rc, seen;

	state->is_looking = true;
	pthread_mutex_unlock(&state->lock);
	rc = look(read, &next, err);
	pthread_mutex_lock(&state->lock);
	if (rc == 0)
		publish(read, &next);
	state->is_looking = false;
	/* One reader alone tries again: its answer was an error. */
	state->looked_ns =
	    rc == 0 || state->answers != NULL ? clock_monotonic_ns() : 0;
	pthread_cond_broadcast(&state->looked);
	seen = rc == 0 && state->answers != NULL
		   ? see_copies(read->fetch.client, err)
		   : rc;
	if (seen == 0)
		seen = see_lost(&next, err);
	state->status.failed += seen != 0;
	if (seen == 0)
		state->status.until_ns = clock_wall_ns();
	snprintf(state->status.error, sizeof(state->status.error), "%.199s",
	    seen != 0 ? err->text : "");
	return rc;
}

/* With the lock. */
static void
await(struct archive_read_state *state)
{
	int64_t until_ns = clock_monotonic_ns() + WAIT_NS;
	const struct timespec until = { until_ns / NS_PER_SECOND,
		until_ns % NS_PER_SECOND };

	heartbeat_rest();
	while (state->is_looking && pthread_cond_timedwait(&state->looked,
					&state->lock, &until) != ETIMEDOUT)
		;
	heartbeat_beat();
}

static void
take(struct archive_read *read)
{
	struct archive_read_state *state = read->state;

	if (read->looks == state->looks)
		return;
	read->looks = state->looks;
	archive_read_take(read, &state->look);
	if (state->client != NULL)
		clickhouse_take_cluster(read->fetch.client, state->client);
}

int
read_state_look(struct archive_read *read, bool is_first, struct err *err)
{
	struct archive_read_state *state = read->state;
	int64_t now_ns = clock_monotonic_ns();
	int rc = 0;

	pthread_mutex_lock(&state->lock);
	if (is_first && state->is_looking)
		await(state);
	if (is_first && !state->is_looking &&
	    (state->looked_ns == 0 ||
		now_ns - state->looked_ns > ARCHIVE_READ_OLD_NS))
		rc = look_and_publish(read, err);
	if (state->looks == 0 && rc == 0)
		rc = err_set(err, "%s", state->status.error);
	take(read);
	pthread_mutex_unlock(&state->lock);
	return rc;
}

/*
 * archive_progress - what others see of the archiver.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/archive_progress.h"

#include <stdio.h>
#include <string.h>

#include "aggregator/marks/marks.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

void
archive_progress_init(struct archive_progress *progress, struct writer *writer)
{
	*progress = (struct archive_progress){ .writer = writer };
	pthread_mutex_init(&progress->lock, NULL);
}

void
archive_progress_clear(struct archive_progress *progress)
{
	pthread_mutex_destroy(&progress->lock);
}

/* ---- noting ---- */

void
archive_progress_fail(struct archive_progress *progress, bool is_connected,
    bool is_refused, const struct err *err)
{
	struct archive_progress_status *status = &progress->status;
	bool is_new;

	pthread_mutex_lock(&progress->lock);
	is_new = strcmp(status->problem, err->text) != 0;
	if (status->failing_since_ns == 0)
		status->failing_since_ns = clock_wall_ns();
	snprintf(status->problem, sizeof(status->problem), "%s", err->text);
	status->is_connected = is_connected;
	status->is_refused = is_refused;
	pthread_mutex_unlock(&progress->lock);
	if (is_new)
		log_error("%s", err->text);
}

void
archive_progress_succeed(struct archive_progress *progress)
{
	struct archive_progress_status *status = &progress->status;
	bool was_failing;

	pthread_mutex_lock(&progress->lock);
	was_failing = status->failing_since_ns != 0;
	status->failing_since_ns = 0;
	status->problem[0] = '\0';
	status->is_connected = true;
	status->is_refused = false;
	pthread_mutex_unlock(&progress->lock);
	if (was_failing)
		log_info("archive: writing again");
}

/* Where a replica that has not answered yet is, is not known. */
static void
name_place(struct archive_progress_replica *replica,
    const struct clickhouse_replica *at, unsigned number)
{
	if (at->port != 0)
		snprintf(replica->place, sizeof(replica->place), "%s:%u",
		    at->host, at->port);
	else
		snprintf(replica->place, sizeof(replica->place), "%s:replica%u",
		    at->host, number + 1);
}

/* Replicas come back at other places: what one was found to have is that of its
 * place. */
static void
take_shard(
    struct archive_progress_shard *to, const struct clickhouse_shard *from)
{
	const struct archive_progress_shard before = *to;

	*to = (struct archive_progress_shard){ .replicas = from->replicas };
	for (unsigned r = 0; r < from->replicas; r++) {
		struct archive_progress_replica *replica = &to->replica[r];

		name_place(replica, &from->replica[r], r);
		for (unsigned i = 0; i < before.replicas; i++)
			if (strcmp(before.replica[i].place, replica->place) ==
			    0)
				replica->change = before.replica[i].change;
	}
}

void
archive_progress_connect(struct archive_progress *progress,
    const struct clickhouse_cluster *cluster, uint32_t epoch,
    const struct pass_place *place)
{
	struct archive_progress_status *status = &progress->status;

	pthread_mutex_lock(&progress->lock);
	status->epoch = epoch;
	status->shards = cluster->shards;
	status->entry = place->entry;
	status->change = place->change;
	status->pending = status->records_pending = 0;
	progress->records_committed = status->records;
	for (unsigned s = 0; s < cluster->shards; s++)
		take_shard(&status->shard[s], &cluster->shard[s]);
	pthread_mutex_unlock(&progress->lock);
}

void
archive_progress_send(struct archive_progress *progress,
    const struct pass *pass, unsigned pending)
{
	struct archive_progress_status *status = &progress->status;

	if (pass->typed.damaged > 0)
		log_warn("archive: %llu rows of the store cannot be read and "
			 "are not archived; see poolscope admin verify",
		    (unsigned long long)pass->typed.damaged);
	pthread_mutex_lock(&progress->lock);
	status->passes++;
	status->records += pass->records;
	status->rows += pass->rows;
	status->damaged += pass->typed.damaged;
	status->bytes = pass->typed.sender->bytes;
	status->resends = pass->typed.sender->resends;
	status->pending = pending;
	status->records_pending = status->records - progress->records_committed;
	pthread_mutex_unlock(&progress->lock);
}

void
archive_progress_wait(
    struct archive_progress *progress, unsigned pending, unsigned copies)
{
	pthread_mutex_lock(&progress->lock);
	progress->status.is_one_copy = copies == 1;
	progress->status.pending = pending;
	pthread_mutex_unlock(&progress->lock);
}

void
archive_progress_find(struct archive_progress *progress, unsigned shard,
    unsigned replica, const struct clickhouse_replica *at, uint64_t change)
{
	struct archive_progress_replica *found =
	    &progress->status.shard[shard].replica[replica];

	pthread_mutex_lock(&progress->lock);
	name_place(found, at, replica);
	found->change = change;
	pthread_mutex_unlock(&progress->lock);
}

void
archive_progress_commit(struct archive_progress *progress,
    const struct pass_place *place, int64_t sent_ns)
{
	struct archive_progress_status *status = &progress->status;

	pthread_mutex_lock(&progress->lock);
	status->entry = place->entry;
	status->change = place->change;
	status->pending = status->records_pending = 0;
	status->is_one_copy = false;
	progress->records_committed = status->records;
	if (progress->whole_ns < sent_ns)
		progress->whole_ns = sent_ns;
	pthread_mutex_unlock(&progress->lock);
}

/* ---- looking ---- */

/* Does the archive lack something now?  Also known while it cannot be
 * reached. */
static int
last_change(
    struct archive_progress *progress, uint64_t *change, struct err *err)
{
	struct db_txn *txn;

	/* What was in the store before is missing until it has its marks. */
	*change = UINT64_MAX;
	if (!writer_marks_are_complete(progress->writer))
		return 0;
	if (db_begin(writer_db(progress->writer), false, &txn, err) != 0)
		return -1;
	*change = marks_last_change(txn);
	db_abort(&txn);
	return 0;
}

/* Sets lag_ns; the lock is held. */
static void
compare(struct archive_progress *progress, uint64_t change, int64_t now_ns)
{
	bool is_behind = change > progress->status.change;

	if (!is_behind || progress->whole_ns == 0)
		progress->whole_ns = now_ns;
	progress->status.lag_ns = 0;
	if (is_behind)
		progress->status.lag_ns = now_ns > progress->whole_ns
					      ? now_ns - progress->whole_ns
					      : 1;
}

int
archive_progress_look(struct archive_progress *progress, struct err *err)
{
	int64_t now_ns = clock_wall_ns();
	uint64_t change;

	if (last_change(progress, &change, err) != 0)
		return -1;
	pthread_mutex_lock(&progress->lock);
	compare(progress, change, now_ns);
	pthread_mutex_unlock(&progress->lock);
	return 0;
}

void
archive_progress_status(
    struct archive_progress *progress, struct archive_progress_status *status)
{
	struct err ignored = { .text = "" };

	/* If the store cannot be read, what was seen last stays. */
	(void)archive_progress_look(progress, &ignored);
	pthread_mutex_lock(&progress->lock);
	*status = progress->status;
	pthread_mutex_unlock(&progress->lock);
}

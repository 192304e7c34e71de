/*
 * mirror_private - shared by the files of this folder.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_MIRROR_MIRROR_PRIVATE_H
#define AGGREGATOR_ARCHIVE_MIRROR_MIRROR_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "aggregator/archive/mirror/mirror.h"
#include "aggregator/archive/pull/pull_claims.h"
#include "aggregator/archive/pull/pull_into.h"
#include "aggregator/archive/pull/pull_records.h"
#include "aggregator/journal/journal.h"
#include "aggregator/rollup/rollup.h"
#include "aggregator/tables/absent.h"
#include "aggregator/tables/dictionary.h"
#include "proto/os/thread.h"

enum { MIRROR_JOBS = 64, MIRROR_HOURS_KEPT = 4 };

/* What a question waits for: hours of records or rollups, or (kind 0) what the
 * archive has of a partition as keys and values. */
struct mirror_job {
	struct absent_need what;
	unsigned waiters;
	bool is_done;
	int64_t done_ns; /* monotonic */
	int rc;
	struct err err;
};

struct mirror_partition {
	struct pull_partition claim; /* as far as it was read */
	struct pull_epoch *epoch;    /* that of the claim */
	uint32_t number;             /* in the store */
	bool is_read;                /* its keys and values are here */
	int64_t complete_ns; /* monotonic: of the last mirror_complete; 0 */
};

/* An hour of records or rollups that is here, or of one node's records. */
struct mirror_hour {
	struct absent_hour what;
	uint32_t node;    /* 0: of all */
	bool has_rollups; /* of records: those of the hour were made of them */
	int64_t last_ns;  /* of records: the newest was received */
	uint64_t bytes;
};

struct mirror {
	struct mirror_options options;
	struct clickhouse *client;
	struct db *tables;
	struct journal *journal;
	struct dictionary *dictionary;
	struct thread thread;
	atomic_bool stop;

	/* Of the thread, and of mirror_open before it starts. */
	struct pull_claims claims;
	struct pull_into into;
	char *where;                        /* that of `into` */
	struct mirror_partition *partition; /* the number is index + 1 */
	uint32_t partitions, partition_room;
	struct mirror_hour *hour; /* in the order in which they were fetched */
	uint32_t hours, hour_room;
	uint64_t bytes, fetched, dropped;
	struct absent_hour *touched; /* by the last mirror_follow */
	uint32_t touches, touch_room;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct mirror_job job[MIRROR_JOBS]; /* in the order of arrival */
	uint32_t jobs;
	struct mirror_status status;
	bool is_behind; /* the last mirror_follow failed, or lacked copies */
};

static inline bool
mirror_is_same(const struct absent_hour *a, const struct absent_hour *b)
{
	return a->partition == b->partition && a->kind == b->kind &&
	       a->hour == b->hour;
}

/* ---- mirror_jobs.c ---- */

/* Wait for a job at most until then (monotonic). */
int mirror_wait(struct mirror *mirror, const struct absent_need *what,
    int64_t until_ns, struct err *err);
/* The thread. */
int mirror_run(void *arg, struct err *err);
void mirror_stop(void *arg);

/* ---- mirror_partitions.c ---- */

/* Read the list of partitions, and their counts. */
int mirror_list(struct mirror *mirror, struct err *err);
/* Read what there is of a partition as keys and values, and note which hours of
 * records there are. */
int mirror_read(
    struct mirror *mirror, struct mirror_partition *partition, struct err *err);
/* The place to read into; `where` is freed by mirror_end. */
void mirror_begin(struct mirror *mirror,
    const struct mirror_partition *partition,
    const struct pull_partition *claim);
void mirror_end(struct mirror *mirror);

/* ---- mirror_ask.c ---- */

/* `call` each hour of which the archive has something of this kind (an enum
 * record_kind, or ABSENT_ROLLUP + step); in no order, perhaps several times.
 * After mirror_begin.  -1: no replica of a shard answers; the error names it.
 */
typedef void mirror_ask_hour(void *arg, uint8_t kind, int32_t hour);
int mirror_ask_hours(struct mirror *mirror, uint8_t kind, mirror_ask_hour *call,
    void *arg, struct err *err);
/* How many samples the archive has of each of `hours` hours: not fewer; more
 * where it has some twice, or some that do not count. */
int mirror_ask_samples(struct mirror *mirror, int32_t first, int32_t hours,
    uint64_t *samples, struct err *err);

/* ---- mirror_complete.c ---- */

/* -1: a replica does not answer, and the others lack records of the partition.
 * Call it after something was read of it; the archive is asked at most every
 * MIRROR_FOLLOW_NS. */
int mirror_complete(
    struct mirror *mirror, struct mirror_partition *partition, struct err *err);

/* ---- mirror_hours.c ---- */

/* Note that it is absent, and remove what is here of it. */
int mirror_drop(
    struct mirror *mirror, const struct absent_hour *what, struct err *err);
/* The same of both rollups of an hour of samples. */
int mirror_drop_rollups(
    struct mirror *mirror, const struct absent_hour *samples, struct err *err);
/* Note that `hours` hours from `first` on are here, of one node or (0) of all;
 * then drop others if they are too many. */
int mirror_add_hours(struct mirror *mirror, const struct mirror_hour *first,
    int32_t hours, struct err *err);
/* NULL: it is not here as a whole. */
struct mirror_hour *mirror_find_hour(
    struct mirror *mirror, const struct absent_hour *what);
/* How many more hours like one of `bytes` to read at once, up to `end`. */
int32_t mirror_more_hours(const struct mirror *mirror,
    const struct absent_hour *last, int32_t end, uint64_t bytes);
int mirror_put_state(struct mirror *mirror, const struct absent_hour *what,
    enum absent_state state, struct err *err);
int mirror_get_state(struct mirror *mirror, const struct absent_hour *what,
    enum absent_state *state, struct err *err);

/* ---- mirror_fetch.c ---- */

/* Records. */
int mirror_fetch(
    struct mirror *mirror, const struct absent_need *need, struct err *err);

/* ---- mirror_rollups.c ---- */

int mirror_fetch_rollups(
    struct mirror *mirror, const struct absent_need *need, struct err *err);
/* Which hours of samples do rollups have as a whole?  They become
 * ABSENT_ROLLED_UP. */
int mirror_roll_up(
    struct mirror *mirror, const struct absent_need *need, struct err *err);
/* Are there rollups of minutes of the hour of samples, here or in the archive?
 */
int mirror_has_rollups(
    struct mirror *mirror, const struct absent_hour *what, struct err *err);

/* ---- mirror_follow.c ---- */

/* Read what was added to the archive. */
int mirror_follow(struct mirror *mirror, struct err *err);

#endif

/*
 * read_private - shared by the files of this folder.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_READ_PRIVATE_H
#define AGGREGATOR_ARCHIVE_READ_READ_PRIVATE_H

#include <pthread.h>

#include "aggregator/archive/commits.h"
#include "aggregator/archive/read/answers.h"
#include "aggregator/archive/read/expected.h"
#include "aggregator/archive/read/fetch.h"
#include "aggregator/archive/read/look.h"
#include "aggregator/archive/read/made.h"
#include "aggregator/archive/read/names.h"
#include "aggregator/archive/read/read.h"
#include "aggregator/db/source.h"
#include "aggregator/rollup/rollup.h"
#include "aggregator/rows/compacted_row.h"
#include "aggregator/tables/tables.h"

/* The phases of a partition, in the order of their numbers. */
struct read_phase;
struct read_phase_list {
	bool is_read;
	struct read_phase *at;
	uint32_t count, room;
	struct arena texts;
};
void read_phases_clear(struct read_phase_list *list);

/* The series of an hour of records, in the order of keys. */
struct read_series {
	uint32_t node, track;
	uint64_t bytes;   /* of its rows in an answer, about */
	uint64_t samples; /* rollups: that the buckets are made of */
	uint64_t have;    /* and that there are */
};
struct read_plan {
	uint32_t partition; /* 0: none */
	uint8_t kind;
	enum rollup_step step;
	int32_t hour;
	struct names *names;
	struct read_series *at;
	uint32_t count, room;
	uint64_t bytes;
};
void read_plan_clear(struct read_plan *plan);

/* A partition of the archive; its number in the rows that are made is its place
 * plus 1. */
struct archive_read;
struct read_partition {
	/* As it was at the last look. */
	struct text name;
	uint64_t part, version;
	struct partition_counts counts;
	int64_t kept_hour;
	bool is_lost; /* look.h */
	/* What was read of it since. */
	struct names *names; /* NULL: not read yet */
	struct expected expected;
	struct read_phase_list phases;
};

/* The partition of a key, which has the number behind `before` bytes; the range
 * is all of it, and these bytes.  NULL: it has no rows, or (`*rc` is -1) they
 * cannot be read. */
struct read_partition *archive_read_whole(struct archive_read *read,
    struct text key, uint32_t before, struct made *range, int *rc,
    struct err *err);

/* What a restore leaves out: what was sent after the last commit, and the
 * streams do not have.  It comes again from its sender. */
struct read_covered {
	uint64_t part;
	const struct commits_ends *all; /* of the archive */
	struct commits_ends ends;       /* of the partition */
	uint64_t *last_seq; /* by number of the session; 0: not known */
	uint32_t room;
	uint64_t left;
};

struct archive_read {
	struct archive_read_options options;
	struct read_covered *covered; /* NULL: everything counts */
	struct archive_read_state *state;
	uint64_t looks; /* of the state, that were taken */
	struct fetch fetch;
	struct db_source source;
	struct db *db;
	struct arena values; /* of a transaction */
	struct read_partition *partition;
	uint32_t partitions, partition_room;
	uint32_t used; /* number of the partition in use; 0: none */
	/* By table, the one that was used last first. */
	struct made *made[TABLES_COUNT];
	size_t made_bytes, made_bytes_max;
	struct read_plan plan;
	struct compacted_row_writer *columns; /* of phases */
};

/* state.c: what several readers share, and one has alone. */
struct archive_read_state {
	pthread_mutex_t lock;
	pthread_cond_t looked;
	struct answers *answers;   /* NULL: of one reader */
	struct clickhouse *client; /* has what the last look found; NULL */
	struct arena texts;        /* of who looks */
	struct look look;
	uint64_t looks;
	bool is_looking;
	int64_t looked_ns; /* monotonic: when the last look ended; 0: never */
	struct archive_read_status status;
};
struct archive_read_state *read_state_new(uint64_t answers_bytes);
/* Look at the archive, unless that was done a moment ago, and take what was
 * found last; `is_first`: of a question, else only take.  -1: it cannot be
 * looked at. */
int read_state_look(struct archive_read *read, bool is_first, struct err *err);
/* Take a look, and forget what was read of partitions that have changed. */
void archive_read_take(struct archive_read *read, const struct look *look);

/* Without a reader: for one that reads all rows of a partition (restore.c). */
int archive_read_new(struct archive_read **read,
    const struct archive_read_options *options, struct err *err);
void archive_read_free(struct archive_read *read);
/* The partition of the rows of TABLES_META; others are forgotten. */
void archive_read_use(struct archive_read *read, uint32_t number);
/* The first row that begins with `front` at the key or (`is_after`) behind it.
 * 1: there is one, valid until archive_read_rest; 0: none; -1. */
int archive_read_next(struct archive_read *read, unsigned table,
    struct text front, struct text key, bool is_after, struct text *found,
    struct text *value, struct err *err);
/* Forget what needs too much memory. */
void archive_read_rest(struct archive_read *read);

/* -1: what it must have cannot be read. */
int archive_read_expected(
    struct archive_read *read, struct read_partition *of, struct err *err);
/* NULL: there is no such partition, or (the error says so) its names cannot be
 * read. */
struct read_partition *archive_read_partition(
    struct archive_read *read, uint32_t number, struct err *err);

/* How far the epochs of the partition count; free `ends.at`. */
int read_covered_find(
    struct read_covered *covered, struct clickhouse *client, struct err *err);
/* Is it left out?  Counts it. */
bool read_is_left(
    struct read_covered *covered, uint32_t session, uint64_t seq, uint64_t pos);
/* Of which tables that count records are rows of after the last commit there?
 * A bit for each, by enum schema_number. */
int read_ahead(struct archive_read *read, uint32_t *ahead, struct err *err);
/* The lists of all phases, whose events were read. */
void read_phase_lists(
    struct read_partition *of, uint32_t number, struct made *range);

/* Make the range of rows of a table that has the place of a key.  -1: it
 * cannot be read. */
int read_facts(struct archive_read *read, struct made *range, struct err *err);
int read_records(struct archive_read *read, struct text key, struct made *range,
    struct err *err);
/* Rollups (rollups.c): the series of an hour, of all tracks and nodes that have
 * samples; none if all buckets are to be made of these. */
int read_rollup_plan(struct archive_read *read, uint64_t part, struct err *err);
/* The rows of some series of the plan. */
int read_rollup_rows(struct archive_read *read, const char *where,
    uint32_t answers, uint32_t from, uint32_t count, struct made *range,
    struct err *err);
/* The order of samples. */
int read_compare_tracks(const void *a, const void *b);
int read_phases(struct archive_read *read, struct text key, struct made *range,
    struct err *err);
int read_latest(struct archive_read *read, struct text key, struct made *range,
    struct err *err);
int read_entities(struct archive_read *read, struct text key,
    struct made *range, struct err *err);
int read_runs(struct archive_read *read, struct text key, struct made *range,
    struct err *err);
int read_run_times(struct archive_read *read, struct text key,
    struct made *range, struct err *err);
int read_groups(struct archive_read *read, struct text key, struct made *range,
    struct err *err);
int read_streams(struct archive_read *read, struct text key, struct made *range,
    struct err *err);
int read_known(struct archive_read *read, struct text key, struct made *range,
    struct err *err);
int read_stats(struct archive_read *read, struct text key, struct made *range,
    struct err *err);

#endif

/*
 * read_private - shared by the files of this folder.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_READ_PRIVATE_H
#define AGGREGATOR_ARCHIVE_READ_READ_PRIVATE_H

#include "aggregator/archive/kept.h"
#include "aggregator/archive/read/expected.h"
#include "aggregator/archive/read/fetch.h"
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
	struct text name;
	uint64_t part, pos; /* pos: of its last change */
	bool is_changed;    /* what was read of it is old */
	struct partition_counts counts;
	struct names *names; /* NULL: not read yet */
	struct expected expected;
	uint64_t committed; /* the position of the last commit */
	int64_t kept_hour;  /* what is before it may be deleted */
	int64_t kept_ns;    /* monotonic: when it changed last */
	struct read_phase_list phases;
};

/* The partition of a key, which has the number behind `before` bytes; the range
 * is all of it, and these bytes.  NULL: it has no rows, or (`*rc` is -1) they
 * cannot be read. */
struct read_partition *archive_read_whole(struct archive_read *read,
    struct text key, uint32_t before, struct made *range, int *rc,
    struct err *err);

struct archive_read {
	struct archive_read_options options;
	struct fetch fetch;
	struct db_source source;
	struct db *db;
	struct arena texts;
	struct arena values; /* of a transaction */
	struct read_partition *partition;
	uint32_t partitions, partition_room;
	int64_t read_ns; /* monotonic: when the partitions were read */
	uint32_t used;   /* number of the partition in use; 0: none */
	/* By table, the one that was used last first. */
	struct made *made[TABLES_COUNT];
	size_t made_bytes;
	struct read_plan plan;
	struct compacted_row_writer *columns; /* of phases */
};

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
    uint32_t from, uint32_t count, struct made *range, struct err *err);
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

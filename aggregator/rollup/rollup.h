/*
 * rollup - the samples of an hour, node and set as buckets of 10 s, 1 min and
 * 10 min, kept beside the samples and longer than they are.
 *
 * A row has the buckets of some metrics, column by column.  What most metrics
 * of a set have in common, which samples there were, stands once.  Everything
 * is as aggregator/rollup/bucket.h makes it from the samples, but for the least
 * and greatest rates of counters, which are rounded away from each other by
 * less than a part in 1,024, and for what adding up made of the last digits of
 * sums.
 *
 * A bucket takes what some ten samples do, so a rollup is made only where it
 * has many to a bucket: elsewhere the samples stand for it, and are kept as
 * long as it would be. The bytes are proto/store.md, "Rollups".
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_ROLLUP_H
#define AGGREGATOR_ROLLUP_ROLLUP_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/chunk/chunk.h"
#include "aggregator/rollup/bucket.h"
#include "proto/base/varint.h"

/* The numbers are at rest: the run of a key. */
enum rollup_step { ROLLUP_RAW, ROLLUP_10S, ROLLUP_1MIN, ROLLUP_10MIN, ROLLUPS };

int64_t rollup_step_ns(enum rollup_step rollup);  /* 0: of samples */
const char *rollup_name(enum rollup_step rollup); /* "raw", "10s" ... */
/* The coarsest whose buckets make up those of `step_ns`. */
enum rollup_step rollup_of_step(int64_t step_ns);

enum {
	ROLLUP_METRICS = 256,     /* of a row */
	ROLLUP_BUCKETS = 360,     /* of a metric and hour */
	ROLLUP_PREFIX_BYTES = 21, /* of a key: up to the track */
	ROLLUP_DENSE = 20, /* samples a bucket that a rollup is made of */
};

struct rollup_metric {
	uint32_t index; /* in the sample */
	bool counter;
	struct bucket *bucket; /* ROLLUP_BUCKETS of them; reading: NULL */
};

/* ---- writing ---- */

/* The buckets of `metrics` of a set whose samples have `columns` values, the
 * first `buckets` of each.  A view into `value`; empty when there are none. */
struct text rollup_write(struct chunk_writer *chunk, struct buffer *value,
    const struct rollup_metric *metric, uint32_t metrics, uint32_t columns,
    uint32_t buckets);

/* ---- reading ---- */

/* A row in place of a rollup.  It could not be made, since nobody had said what
 * the samples are; or they stand for it. */
#define ROLLUP_UNKNOWN "\0"
#define ROLLUP_SAMPLES "\0\1"
enum { ROLLUP_MARK_BYTES = 2 };
bool rollup_is_mark(struct text value);    /* either of these */
bool rollup_is_samples(struct text value); /* the second */

struct rollup_row {
	uint32_t columns; /* of the samples */
	uint32_t metrics;
	struct rollup_metric metric[ROLLUP_METRICS];
	uint32_t count;                /* buckets */
	uint32_t step[ROLLUP_BUCKETS]; /* which of the hour */
	struct bucket shared[ROLLUP_BUCKETS];

	/* inside */
	struct chunk_reader *chunk;
	uint32_t column[ROLLUP_METRICS];
	uint8_t own[ROLLUP_METRICS];
};
void rollup_row_clear(struct rollup_row *row);

/* `value` must stay while the row is read.  False: it cannot be
 * understood. */
bool rollup_open(struct rollup_row *row, struct text value);
/* The buckets of a metric, `count` of them; those without samples have a
 * count of 0. */
bool rollup_read(struct rollup_row *row, uint32_t metric,
    struct bucket to[static ROLLUP_BUCKETS]);

#endif

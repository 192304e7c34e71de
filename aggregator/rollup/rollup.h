/*
 * rollup - the samples of one hour, node and metric group as buckets of 10 s,
 * 1 min and 10 min.
 *
 * Rollups are stored in addition to the samples, and usually longer.  A row has
 * the buckets of some metrics, column by column.  What most metrics of a group
 * share (the steps that have samples) is stored once.  All figures are those
 * that bucket.h computes from the samples, with two exceptions: extreme rates
 * of counters are rounded away from each other, by less than one part in 1,024,
 * and sums lose the rounding error in their last digits.
 *
 * A bucket takes about as much space as ten samples.  Therefore a rollup is
 * stored only where it has many samples per bucket.  Elsewhere the samples take
 * its place until they are deleted; what is built then, rollup_build.h says.
 * proto/store.md, "Rollups", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_ROLLUP_H
#define AGGREGATOR_ROLLUP_ROLLUP_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/chunk/chunk.h"
#include "aggregator/rollup/bucket.h"
#include "proto/base/varint.h"

/* Stored on disk as the slice of a key: never change a number. */
enum rollup_step { ROLLUP_RAW, ROLLUP_10S, ROLLUP_1MIN, ROLLUP_10MIN, ROLLUPS };

int64_t rollup_step_ns(enum rollup_step rollup); /* 0: samples */
/* "raw", "10s", "1min", "10min". */
const char *rollup_name(enum rollup_step rollup);
/* The coarsest rollup whose buckets can be joined to buckets of `step_ns`. */
enum rollup_step rollup_of_step(int64_t step_ns);

enum {
	ROLLUP_METRICS = 256,     /* in a row */
	ROLLUP_BUCKETS = 360,     /* of one metric in an hour */
	ROLLUP_PREFIX_BYTES = 21, /* of a key: up to the track */
	ROLLUP_DENSE = 20, /* mean samples per bucket; with fewer, no rollup */
};

struct rollup_metric {
	uint32_t index; /* of its value in a sample */
	bool counter;
	struct bucket *bucket; /* ROLLUP_BUCKETS of them; NULL while reading */
};

/* ---- writing ---- */

/* Encode the first `buckets` buckets of each of `metrics`.  The samples of the
 * group have `columns` values.  Returns a view into `value`; empty when no
 * bucket has samples. */
struct text rollup_write(struct chunk_writer *chunk, struct buffer *value,
    const struct rollup_metric *metric, uint32_t metrics, uint32_t columns,
    uint32_t buckets);

/* ---- reading ---- */

/* A mark is a row in place of a rollup.  UNKNOWN: the metric group was not
 * defined, so no rollup could be made.  SAMPLES: read the samples instead.
 * COARSER: the samples were deleted; read the next coarser rollup. */
#define ROLLUP_UNKNOWN "\0"
#define ROLLUP_SAMPLES "\0\1"
#define ROLLUP_COARSER "\0\2"
enum { ROLLUP_MARK_BYTES = 2 };
bool rollup_is_mark(struct text value); /* is it any of these marks? */
bool rollup_is_samples(struct text value);
bool rollup_is_coarser(struct text value);

struct rollup_row {
	uint32_t columns; /* values in a sample */
	uint32_t metrics;
	struct rollup_metric metric[ROLLUP_METRICS];
	uint32_t count;                /* number of buckets */
	uint32_t step[ROLLUP_BUCKETS]; /* their steps in the hour */
	struct bucket shared[ROLLUP_BUCKETS];

	/* private */
	struct chunk_reader *chunk;
	uint32_t column[ROLLUP_METRICS];
	uint8_t own[ROLLUP_METRICS];
};
void rollup_row_clear(struct rollup_row *row);

/* `value` must outlive the row.  False: the row is damaged. */
bool rollup_open(struct rollup_row *row, struct text value);
/* The `count` buckets of a metric; a bucket without samples has a count of
 * 0. */
bool rollup_read(struct rollup_row *row, uint32_t metric,
    struct bucket to[static ROLLUP_BUCKETS]);

#endif

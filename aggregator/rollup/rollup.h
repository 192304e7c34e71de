/*
 * rollup - the samples of one hour, node and metric group as buckets of 1 min
 * and as one bucket of 1 h.
 *
 * Rollups are stored in addition to the samples, and usually longer.  A row has
 * the buckets of some metrics, column by column.  What most metrics of a group
 * share (the steps that have samples) is stored once.  All figures are those
 * that bucket.h computes from the samples, with two exceptions: extreme rates
 * of counters are rounded away from each other, by less than one part in 1,024,
 * and sums lose the rounding error in their last digits.
 *
 * Both are built whenever an hour is compacted, however few samples it has.
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
enum rollup_step { ROLLUP_RAW, ROLLUP_1MIN, ROLLUP_1H, ROLLUPS };

int64_t rollup_step_ns(enum rollup_step rollup); /* 0: samples */
/* "raw", "1min", "1h". */
const char *rollup_name(enum rollup_step rollup);
/* The coarsest rollup whose buckets can be joined to buckets of `step_ns`. */
enum rollup_step rollup_of_step(int64_t step_ns);

enum {
	ROLLUP_METRICS = 256,     /* in a row */
	ROLLUP_BUCKETS = 60,      /* of one metric in an hour */
	ROLLUP_PREFIX_BYTES = 21, /* of a key: up to the track */
};

struct rollup_metric {
	uint32_t index; /* of its value in a sample */
	bool counter;
	struct bucket *bucket; /* ROLLUP_BUCKETS of them; NULL while reading */
};

/* ---- writing ---- */

/* Which columns a row is made from. */
struct rollup_columns {
	uint32_t defined; /* of a sample; 0: the group is not defined */
	bool lacking; /* samples have more values: they are not in the row */
};
/* Encode the first `buckets` buckets of each of `metrics`.  Returns a view into
 * `value`; empty when no bucket has samples and nothing is lacking. */
struct text rollup_write(struct chunk_writer *chunk, struct buffer *value,
    const struct rollup_metric *metric, uint32_t metrics,
    const struct rollup_columns *columns, uint32_t buckets);

/* ---- reading ---- */

struct rollup_row {
	struct rollup_columns columns;
	uint32_t metrics; /* 0: no sample is in the row */
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

/* Only the columns of a row.  False: the row is damaged. */
bool rollup_get_columns(struct text value, struct rollup_columns *columns);
/* `value` must outlive the row.  False: the row is damaged. */
bool rollup_open(struct rollup_row *row, struct text value);
/* The `count` buckets of a metric; a bucket without samples has a count of
 * 0. */
bool rollup_read(struct rollup_row *row, uint32_t metric,
    struct bucket to[static ROLLUP_BUCKETS]);

#endif

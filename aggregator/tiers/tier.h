/*
 * tier - the samples of an hour, node and set as buckets of 10 s, 1 min and
 * 10 min, kept beside the samples and longer than they are.
 *
 * A row has the buckets of some metrics, column by column.  What most metrics
 * of a set have in common, which samples there were, stands once.  Everything
 * is as aggregator/tiers/bucket.h makes it from the samples, but for the least
 * and greatest rates of counters, which are rounded away from each other by
 * less than a part in 1,024, and for what adding up made of the last digits of
 * sums.
 *
 * A bucket takes what some ten samples do, so a tier is made only where it has
 * many to a bucket: elsewhere the samples stand for it, and are kept as long as
 * it would be.
 * The bytes are proto/store.md, "Rollups". SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TIERS_TIER_H
#define AGGREGATOR_TIERS_TIER_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/chunk/chunk.h"
#include "aggregator/tiers/bucket.h"
#include "proto/base/varint.h"

/* The numbers are at rest: the run of a key. */
enum tier_step { TIER_RAW, TIER_10S, TIER_1MIN, TIER_10MIN, TIERS };

int64_t tier_step_ns(enum tier_step tier);  /* 0: of samples */
const char *tier_name(enum tier_step tier); /* "raw", "10s" ... */
/* The coarsest whose buckets make up those of `step_ns`. */
enum tier_step tier_of_step(int64_t step_ns);

enum {
	TIER_METRICS = 256,     /* of a row */
	TIER_BUCKETS = 360,     /* of a metric and hour */
	TIER_PREFIX_BYTES = 21, /* of a key: up to the track */
	TIER_DENSE = 20,        /* samples a bucket that a tier is made of */
};

struct tier_metric {
	uint32_t index; /* in the sample */
	bool counter;
	struct bucket *bucket; /* TIER_BUCKETS of them; reading: NULL */
};

/* ---- writing ---- */

/* The buckets of `metrics` of a set whose samples have `columns` values, the
 * first `buckets` of each.  A view into `value`; empty when there are none. */
struct text tier_write(struct chunk_writer *chunk, struct buffer *value,
    const struct tier_metric *metric, uint32_t metrics, uint32_t columns,
    uint32_t buckets);

/* ---- reading ---- */

/* A row in place of a tier.  It could not be made, since nobody had said what
 * the samples are; or they stand for it. */
#define TIER_UNKNOWN "\0"
#define TIER_SAMPLES "\0\1"
enum { TIER_MARK_BYTES = 2 };
bool tier_is_mark(struct text value);    /* either of these */
bool tier_is_samples(struct text value); /* the second */

struct tier_row {
	uint32_t columns; /* of the samples */
	uint32_t metrics;
	struct tier_metric metric[TIER_METRICS];
	uint32_t count;              /* buckets */
	uint32_t step[TIER_BUCKETS]; /* which of the hour */
	struct bucket shared[TIER_BUCKETS];

	/* inside */
	struct chunk_reader *chunk;
	uint32_t column[TIER_METRICS];
	uint8_t own[TIER_METRICS];
};
void tier_row_clear(struct tier_row *row);

/* `value` must stay while the row is read.  False: it cannot be
 * understood. */
bool tier_open(struct tier_row *row, struct text value);
/* The buckets of a metric, `count` of them; those without samples have a
 * count of 0. */
bool tier_read(struct tier_row *row, uint32_t metric,
    struct bucket to[static TIER_BUCKETS]);

#endif

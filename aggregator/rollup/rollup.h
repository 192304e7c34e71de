/*
 * rollup - the samples of an hour and metric group as buckets of 1 min and as
 * one bucket of 1 h.
 *
 * Rollups are stored in addition to the samples, and usually longer.  A row has
 * the buckets of some metrics, column by column, of all nodes whose numbers lie
 * in a block: short columns compress badly.  What most metrics of a group share
 * (the steps that have samples) is stored once.  All figures are those that
 * bucket.h computes from the samples, with two exceptions: extreme rates of
 * counters are rounded away from each other, by less than one part in 1,024,
 * and sums lose the rounding error in their last digits.
 *
 * Both are built when an hour is compacted.  Buckets of a minute take as much
 * room as a sample every 10 s, so of few samples a row says that they will be
 * built later: before the samples are deleted.
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
	ROLLUP_METRICS = 64, /* in a row */
	ROLLUP_BUCKETS = 60, /* of one metric and node in an hour */
	/* Numbers of a block; some of them are no nodes. */
	ROLLUP_NODES = 32,
	ROLLUP_ROWS = ROLLUP_NODES * ROLLUP_BUCKETS,
	/* So few samples an hour are read as fast as buckets of a minute, and
	 * take no more room. */
	ROLLUP_SAMPLES_FEW = 8 * 60,
};

/* The first number of the block of a node: the node in the key of a row. */
static inline uint32_t
rollup_block(uint32_t node)
{
	return node / ROLLUP_NODES * ROLLUP_NODES;
}

struct rollup_metric {
	uint32_t index; /* of its value in a sample */
	bool counter;
};

/* Which columns of a sample the buckets of a node are made from. */
struct rollup_columns {
	uint32_t defined; /* 0: the group is not defined */
	bool lacking; /* samples have more values: they are not in the row */
	/* The node has no buckets here: they are made of the samples, and
	 * stored before these are deleted. */
	bool later;
};

/* ---- writing ---- */

struct rollup_node {
	uint32_t node;
	struct rollup_columns columns;
	struct bucket *bucket; /* those of the first metric, then the second */
};

/* Round what is stored of a bucket; a rounded bucket stays as it is. */
void rollup_round(struct bucket *bucket, bool counter);

/* Encode `buckets` rounded buckets of each metric of each node; nodes ascend.
 * Returns a view into `value`; empty when no node has anything to say. */
struct text rollup_write(struct chunk_writer *chunk, struct buffer *value,
    const struct rollup_metric *metric, uint32_t metrics,
    const struct rollup_node *node, uint32_t nodes, uint32_t buckets);

/* ---- reading ---- */

struct rollup_row {
	uint32_t nodes;
	struct rollup_row_node {
		uint32_t node;
		struct rollup_columns columns;
		uint32_t from, to; /* its buckets */
	} node[ROLLUP_NODES];
	uint32_t metrics; /* 0: no sample is in the row */
	struct rollup_metric metric[ROLLUP_METRICS];
	uint32_t count;             /* of buckets, of all nodes */
	uint32_t step[ROLLUP_ROWS]; /* their steps in the hour */

	/* private */
	struct chunk_reader *chunk;
	struct bucket shared[ROLLUP_ROWS];
	uint32_t column[ROLLUP_METRICS];
	uint8_t flags[ROLLUP_METRICS], digits[ROLLUP_METRICS];
	struct bucket *bucket[ROLLUP_METRICS]; /* unpacked, or room for it */
	uint32_t room[ROLLUP_METRICS];
	bool is_read[ROLLUP_METRICS];
};
void rollup_row_clear(struct rollup_row *row);

/* `value` must outlive the row.  False: the row is damaged. */
bool rollup_open(struct rollup_row *row, struct text value);
/* Its place in `node`, or UINT32_MAX. */
uint32_t rollup_find_node(const struct rollup_row *row, uint32_t node);
/* The `count` buckets of a metric: a view, valid until the next rollup_open. A
 * bucket without samples has a count of 0.  NULL: the row is damaged. */
const struct bucket *rollup_read(struct rollup_row *row, uint32_t metric);

#endif

/*
 * key - encoding and decoding of row keys.
 *
 * Keys are big-endian, so the byte order of LMDB is the order of the fields.
 * proto/store.md, "Tables", describes the layout; no other file encodes or
 * decodes keys.
 *
 * Row blocks are ordered by partition, kind and hour, then by slice.  Records
 * that arrive together are therefore stored together, however long the history
 * is and however many nodes there are, and expired records are one range of
 * keys.
 *
 * States of phases are ordered by key before node: the nodes of a pool do the
 * same things at the same time, so states that are written together are stored
 * together.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_KEY_H
#define AGGREGATOR_TABLES_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/record/record.h"

enum {
	KEY_ROW_BLOCK_BYTES = 33,
	KEY_HOUR_BYTES = 9, /* the part up to the hour */
	KEY_PHASE_BYTES = 20,
	KEY_ONCE_HASH_BYTES = 12,
	KEY_ONCE_BYTES = 8 + KEY_ONCE_HASH_BYTES,
};

#define KEY_HOUR_NS (INT64_C(3600) * 1000000000) /* an hour */

struct key_row_block {
	uint32_t partition;
	uint8_t kind; /* enum record_kind */
	int32_t hour; /* since the epoch, rounded down */
	/* Row blocks: the slice, about 65,536 records in the order of indexing.
	 * Chunks: level and counter.  Rollups: the step. */
	uint32_t slice;
	uint32_t node;    /* number of its name; 0 sorts before all nodes */
	uint32_t track;   /* sample: metric group; span: track; else 0 */
	int64_t first_ns; /* time of the earliest record in the row */
	uint32_t row; /* from a counter of the store; makes the key unique */
};
/* Samples are in the order (track, node), so that the nodes of a metric group
 * are neighbours; everything else is in the order (node, track). */
static inline bool
key_is_by_track(uint8_t kind)
{
	return kind == RECORD_SAMPLE;
}
static inline int
key_compare_series(uint8_t kind, uint32_t node, uint32_t track,
    uint32_t other_node, uint32_t other_track)
{
	int by_node = (node > other_node) - (node < other_node);
	int by_track = (track > other_track) - (track < other_track);

	if (key_is_by_track(kind))
		return by_track != 0 ? by_track : by_node;
	return by_node != 0 ? by_node : by_track;
}
/* Set node and track to the next ones in this order; false: there are none. */
bool key_next_series(struct key_row_block *row_key);
void key_put_row_block(unsigned char key[static KEY_ROW_BLOCK_BYTES],
    const struct key_row_block *row_key);
bool key_get_row_block(struct text key, struct key_row_block *row_key);
int32_t key_hour(int64_t time_ns);
/* Has the hour a begin and an end in nanoseconds? */
static inline bool
key_is_hour(int64_t hour)
{
	return hour > INT64_MIN / KEY_HOUR_NS && hour < INT64_MAX / KEY_HOUR_NS;
}

/* A record that is kept once. */
struct key_once {
	uint32_t partition;
	int32_t hour;                            /* of its time */
	unsigned char hash[KEY_ONCE_HASH_BYTES]; /* of what it is known by */
};
void key_put_once(
    unsigned char key[static KEY_ONCE_BYTES], const struct key_once *once);
bool key_get_once(struct text key, struct key_once *once);

/* The state of a phase: one for each (partition, phase, pair key, scope). */
struct key_phase {
	uint32_t partition;
	uint32_t phase;    /* number of the name "model:phase" */
	uint64_t key_hash; /* hash of the value that pairs are matched by */
	uint32_t scope;    /* number of the node or of the run */
};
void key_put_phase(
    unsigned char key[static KEY_PHASE_BYTES], const struct key_phase *phase);
bool key_get_phase(struct text key, struct key_phase *phase);

#endif

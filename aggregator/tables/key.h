/*
 * key - how a row of the store is found again.
 *
 * Keys are big-endian so that LMDB's byte order is the order of the fields.
 * The layout is proto/store.md, "Tables"; nobody else builds or
 * takes apart a key.
 *
 * Heads lie by partition, kind and hour first, then by run: what arrives now
 * lands close together however long the history is and however many nodes
 * there are, and what is too old is one range to delete.
 *
 * States of phases lie by key before node: the nodes of a pool do the same
 * things at the same time, so what is written together lies together.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_KEY_H
#define AGGREGATOR_TABLES_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

enum {
	KEY_ROW_BLOCK_BYTES = 33,
	KEY_HOUR_BYTES = 9, /* of them: up to the hour */
	KEY_PHASE_BYTES = 20
};

#define KEY_BUCKET_NS (INT64_C(3600) * 1000000000) /* an hour */

struct key_row_block {
	uint32_t partition;
	uint8_t kind;     /* enum record_kind */
	int32_t bucket;   /* hours since the epoch, floor */
	uint32_t run;     /* some 65,536 records, in the order of folding */
	uint32_t node;    /* name number; 0 before all */
	uint32_t track;   /* sample: set; span: track; else 0 */
	int64_t first_ns; /* of the earliest record in the row */
	uint32_t row;     /* from a counter of the store: makes it unique */
};
void key_put_row_block(unsigned char key[static KEY_ROW_BLOCK_BYTES],
    const struct key_row_block *head);
bool key_get_row_block(struct text key, struct key_row_block *head);
int32_t key_bucket(int64_t time_ns);

/* A phase's state: one (partition, phase, key of the phase, scope). */
struct key_phase {
	uint32_t partition;
	uint32_t phase;    /* name number of "model:phase" */
	uint64_t key_hash; /* of the value that pairs are matched by */
	uint32_t scope;    /* name number of the node or run */
};
void key_put_phase(
    unsigned char key[static KEY_PHASE_BYTES], const struct key_phase *phase);
bool key_get_phase(struct text key, struct key_phase *phase);

#endif

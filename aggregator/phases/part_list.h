/*
 * part_list - the parts of a phase.
 *
 * A list names the parts that readers see.  Rows of a part that is not in the
 * list are those of a merge that is under way, or was interrupted.
 * proto/store.md, "Phases", describes the bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_PHASES_PART_LIST_H
#define AGGREGATOR_PHASES_PART_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/db/db.h"
#include "aggregator/phases/own_phase.h"
#include "proto/base/buffer.h"
#include "proto/base/varint.h"

enum { PART_LIST_KEY_BYTES = 12 };

struct part_info {
	uint32_t number;
	uint32_t rows;
	uint64_t events, bytes;
	int64_t least_ns, most_ns; /* times of its events */
	bool columns;              /* its rows are columns */
};

/* Zero it before the first use. */
struct part_list {
	uint32_t partition, phase;
	bool fifo;       /* as model.h has it */
	uint32_t marks;  /* of a phase without a model; else 0 */
	uint32_t last;   /* the highest number given */
	uint32_t making; /* number of the part that a merge writes; 0: none */
	/* Changes when its events are taken again, for another key or by other
	 * models: the archive tells them from those of before by it. */
	uint64_t form;
	int64_t cut_ns;       /* earlier events were deleted (retention) */
	struct part_info *at; /* in the order of their numbers */
	uint32_t count, room;
};
void part_list_clear(struct part_list *list);

/* Read the list of a phase; false: it has none, `list` is empty and has form 0.
 */
bool part_list_get(struct part_list *list, struct db_txn *txn,
    uint32_t partition, uint32_t phase);
/* Add what the row of a list has; false: it is damaged. */
bool part_list_decode(struct part_list *list, struct text value);
/* Append its row. */
void part_list_encode(const struct part_list *list, struct buffer *to);
/* Write it. */
void part_list_put(const struct part_list *list, struct db_txn *txn);
/* Give it a form that it never had. */
void part_list_renew(struct part_list *list);
struct part_info *part_list_add(struct part_list *list);
/* May the newest part grow?  A part that fits a page of the store is written
 * again with the next events, so that few events at a time do not make many
 * parts.  Every other part stays as it is until it is deleted. */
bool part_list_grows(const struct part_list *list);
/* The number of parts that stay as they are. */
uint32_t part_list_settled(const struct part_list *list);
/* Remove the part with this number, and its rows, listed or not. */
void part_list_delete(
    struct part_list *list, struct db_txn *txn, uint32_t number);

/* The part has an event of this time, too.  A part without events begins as
 * part_info_empty. */
extern const struct part_info part_info_empty;
void part_info_note(struct part_info *part, int64_t time_ns);

/* Find the first phase that has a list, in a partition or behind it, from
 * (partition, phase) on; false: none. */
bool part_list_find(
    struct db_cursor *cursor, uint32_t *partition, uint32_t *phase);

#endif

/*
 * reader - the runs of one hour side by side.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/hour_cursor.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"

const struct lanes_choice lanes_all = { 0, UINT32_MAX, 0, UINT32_MAX };

struct text
lane_key(unsigned char to[static KEY_HEAD_BYTES], const struct key_head *head)
{
	key_put_head(to, head);
	return (struct text){ (const char *)to, KEY_HEAD_BYTES };
}

static bool
same_run(const struct key_head *a, const struct key_head *b)
{
	return a->partition == b->partition && a->kind == b->kind &&
	       a->bucket == b->bucket && a->run == b->run;
}

static void
lane_take(struct lane *lane, struct text key, bool found)
{
	struct key_head head;

	lane->more =
	    found && key_get_head(key, &head) && same_run(&head, &lane->head);
	if (lane->more)
		lane->head = head;
}

static void
next_row(struct lane *lane)
{
	struct text key;
	bool found = db_next(lane->cursor, &key, &lane->value);

	lane_take(lane, key, found);
}

/* As a sealed run has it. */
static void
follow(struct lane *lane)
{
	lane->more = lane->sealed->more;
	lane->head = lane->sealed->head;
	lane->lent = false;
}

/* To the first row of the run at or behind (node, track). */
static void
seek(struct lane *lane, uint32_t node, uint32_t track)
{
	unsigned char bytes[KEY_HEAD_BYTES];
	struct key_head to = lane->head;
	struct text key;
	bool found;

	if (lane->sealed != NULL) {
		sealed_seek(lane->sealed, node, track);
		follow(lane);
		return;
	}
	to.node = node;
	to.track = track;
	to.first_ns = INT64_MIN;
	to.row = 0;
	found = db_seek(lane->cursor, lane_key(bytes, &to), &key, &lane->value);
	lane_take(lane, key, found);
}

static bool
is_before(const struct lane *a, const struct lane *b)
{
	if (a->more != b->more)
		return a->more; /* those at their end come last */
	if (a->head.node != b->head.node)
		return a->head.node < b->head.node;
	return a->head.track < b->head.track;
}

static bool
same_band(const struct key_head *a, const struct key_head *b)
{
	return a->node == b->node && a->track == b->track;
}

static void
sink(struct lanes *lanes, uint32_t i)
{
	for (;;) {
		uint32_t least = i, child;

		for (child = 2 * i + 1; child <= 2 * i + 2; child++) {
			if (child < lanes->count &&
			    is_before(&lanes->at[child], &lanes->at[least]))
				least = child;
		}
		if (least == i)
			return;
		struct lane lane = lanes->at[i];

		lanes->at[i] = lanes->at[least];
		lanes->at[least] = lane;
		i = least;
	}
}

static struct lane *
add(struct lanes *lanes, const struct key_head *head)
{
	struct lane *lane;

	if (lanes->count == lanes->room) {
		lanes->room = 2 * lanes->room + 8;
		lanes->at =
		    realloc(lanes->at, lanes->room * sizeof(*lanes->at));
		if (lanes->at == NULL)
			abort();
	}
	lane = &lanes->at[lanes->count++];
	*lane = (struct lane){ .head = *head };
	return lane;
}

void
lanes_close(struct lanes *lanes)
{
	uint32_t i;

	for (i = 0; i < lanes->count; i++) {
		db_cursor_close(&lanes->at[i].cursor);
		sealed_close(&lanes->at[i].sealed);
	}
	lanes->count = 0;
	lanes->lent = false;
}

void
lanes_clear(struct lanes *lanes)
{
	lanes_close(lanes);
	free(lanes->at);
	*lanes = (struct lanes){ .at = NULL };
}

/* The next run of the hour in a table, from `to` on, which is moved. */
static bool
find_run(struct db_cursor *cursor, struct key_head *to, uint32_t last)
{
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	struct key_head head;
	uint32_t run;

	if (!db_seek(cursor, lane_key(bytes, to), &key, &value) ||
	    !key_get_head(key, &head))
		return false;
	run = to->run;
	to->run = head.run;
	if (same_run(&head, to) && head.run <= last)
		return true;
	to->run = run;
	return false;
}

static void
open_runs(struct lanes *lanes, struct db_txn *txn, struct sealed_cache *cache,
    const struct key_head *first, const struct lanes_choice *choice)
{
	unsigned table = cache != NULL ? TABLES_CHUNKS : TABLES_HEADS;
	uint32_t last = cache != NULL ? choice->sealed_to : choice->heads_to;
	struct db_cursor *cursor = db_cursor_open(txn, table);
	struct key_head to = *first;
	struct lane *lane;

	to.node = to.track = to.row = 0;
	to.first_ns = INT64_MIN;
	to.run = cache != NULL ? choice->sealed_from : choice->heads_from;
	while (find_run(cursor, &to, last)) {
		lane = add(lanes, &to);
		if (cache != NULL)
			lane->sealed = sealed_open(txn, cache, &to);
		else
			lane->cursor = db_cursor_open(txn, table);
		seek(lane, first->node, first->track);
		if (to.run++ == UINT32_MAX)
			break;
	}
	db_cursor_close(&cursor);
}

static void
heap(struct lanes *lanes)
{
	for (uint32_t i = lanes->count; i-- > 0;)
		sink(lanes, i);
}

void
lanes_open(struct lanes *lanes, struct db_txn *txn, struct sealed_cache *cache,
    const struct key_head *first, const struct lanes_choice *choice)
{
	open_runs(lanes, txn, NULL, first, choice);
	open_runs(lanes, txn, cache, first, choice);
	heap(lanes);
}

/* What was lent to the merge goes on behind its band. */
static void
take_back(struct lanes *lanes)
{
	if (!lanes->lent)
		return;
	for (uint32_t i = 0; i < lanes->count; i++) {
		struct lane *lane = &lanes->at[i];

		if (!lane->lent)
			continue;
		sealed_leave(lane->sealed, lane->head.node, lane->head.track);
		follow(lane);
	}
	lanes->lent = false;
	heap(lanes);
}

bool
lanes_band(struct lanes *lanes, struct key_head *key)
{
	take_back(lanes);
	if (lanes->count == 0 || !lanes->at[0].more)
		return false;
	*key = lanes->at[0].head;
	return true;
}

void
lanes_collect(struct lanes *lanes, const struct key_head *key,
    struct merge *merge, int64_t from_ns)
{
	unsigned runs = 0;

	for (; lanes->at[0].more && same_band(&lanes->at[0].head, key);
	     sink(lanes, 0), runs++) {
		struct lane *lane = &lanes->at[0];

		if (lane->sealed != NULL) {
			merge_add_sealed(merge, lane->sealed, from_ns);
			lane->lent = lanes->lent = true;
			lane->more = false;
			continue;
		}
		for (; lane->more && same_band(&lane->head, key);
		     next_row(lane))
			merge_add(
			    merge, lane->value, lane->head.first_ns, from_ns);
	}
	if (runs > 1)
		merge_sort(merge);
}

void
lanes_pass(struct lanes *lanes, const struct key_head *key,
    const struct key_head *next)
{
	while (lanes->at[0].more && same_band(&lanes->at[0].head, key)) {
		seek(&lanes->at[0], next->node, next->track);
		sink(lanes, 0);
	}
}

struct sealed *
lanes_alone(struct lanes *lanes, const struct key_head *key)
{
	struct lane *lane = &lanes->at[0];

	/* Another would be right below the top of the heap. */
	for (uint32_t i = 1; i <= 2 && i < lanes->count; i++)
		if (lanes->at[i].more && same_band(&lanes->at[i].head, key))
			return NULL;
	return lane->sealed != NULL &&
		       lane->head.run >> SEAL_LEVEL_BITS == SEAL_LEVEL_WHOLE
		   ? lane->sealed
		   : NULL;
}

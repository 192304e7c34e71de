/*
 * reader - the runs of one hour side by side.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/reader_lanes.h"

#include <stdlib.h>

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

void
lane_next(struct lane *lane)
{
	struct text key;
	bool found = db_next(lane->cursor, &key, &lane->value);

	lane_take(lane, key, found);
}

void
lane_seek(struct lane *lane, uint32_t node, uint32_t track)
{
	unsigned char bytes[KEY_HEAD_BYTES];
	struct key_head to = lane->head;
	struct text key;
	bool found;

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

void
lanes_sink(struct lanes *lanes, uint32_t i)
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
lanes_add(struct lanes *lanes, struct page *page)
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
	memset(lane, 0, sizeof(*lane));
	lane->cursor = db_cursor_open(page->txn, TABLES_HEADS);
	return lane;
}

void
lanes_close(struct lanes *lanes)
{
	uint32_t i;

	for (i = 0; i < lanes->count; i++)
		db_cursor_close(&lanes->at[i].cursor);
	lanes->count = 0;
}

void
lanes_open(struct lanes *lanes, struct page *page, struct db_cursor *cursor,
    const struct key_head *first)
{
	struct key_head to = *first, head;
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	uint32_t i;

	to.run = to.node = to.track = 0;
	while (db_seek(cursor, lane_key(bytes, &to), &key, &value) &&
	       key_get_head(key, &head)) {
		struct lane *lane;

		to.run = head.run;
		if (!same_run(&head, &to))
			break;
		lane = lanes_add(lanes, page);
		lane->head = head;
		lane_seek(lane, first->node, first->track);
		if (to.run++ == UINT32_MAX)
			break;
	}
	for (i = lanes->count; i-- > 0;)
		lanes_sink(lanes, i);
}

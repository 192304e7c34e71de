/*
 * part_list - the parts of a phase.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/part_list.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { FLAG_FIFO = 1, SMALL_BYTES = 1900 };

void
part_list_clear(struct part_list *list)
{
	free(list->at);
	*list = (struct part_list){ .at = NULL };
}

static struct text
put_key(unsigned char to[static PART_LIST_KEY_BYTES], uint32_t partition,
    uint32_t phase)
{
	varint_put_u32_be(to, partition);
	varint_put_u32_be(to + 4, phase);
	varint_put_u32_be(to + 8, 0);
	return (struct text){ (const char *)to, PART_LIST_KEY_BYTES };
}

static void
get_part(struct varint_reader *u, struct part_info *part, uint32_t before)
{
	uint64_t number = before + varint_get_max(u, UINT32_MAX);

	if (number > UINT32_MAX)
		u->bad = true;
	part->number = (uint32_t)number;
	part->rows = varint_get_u32(u);
	part->events = varint_get(u);
	part->bytes = varint_get(u);
	part->least_ns = varint_unzigzag(varint_get(u));
	part->most_ns = varint_undelta(part->least_ns, varint_get(u));
	part->columns = varint_get_max(u, 1) != 0;
}

bool
part_list_decode(struct part_list *list, struct text value)
{
	struct varint_reader u = varint_reader_of(value);
	uint64_t count, flags;
	uint32_t before = 0;

	flags = varint_get_max(&u, FLAG_FIFO | OWN_PHASE_MARKS << 1);
	list->fifo = (flags & FLAG_FIFO) != 0;
	list->marks = (uint32_t)flags >> 1;
	list->last = varint_get_u32(&u);
	list->making = varint_get_u32(&u);
	list->cut_ns = varint_unzigzag(varint_get(&u));
	list->form = varint_get(&u);
	count = varint_get_max(&u, value.bytes);
	for (; count > 0 && !u.bad; count--) {
		struct part_info *part = part_list_add(list);

		get_part(&u, part, before);
		before = part->number;
	}
	return !u.bad && u.at == u.end;
}

bool
part_list_get(struct part_list *list, struct db_txn *txn, uint32_t partition,
    uint32_t phase)
{
	unsigned char key[PART_LIST_KEY_BYTES];
	struct text value;

	list->partition = partition;
	list->phase = phase;
	list->fifo = false;
	list->marks = 0;
	list->last = list->making = list->count = 0;
	list->cut_ns = INT64_MIN;
	list->form = 0;
	/* A writer that took it for absent would hide all parts. */
	if (!db_need(
		txn, TABLES_PHASES, put_key(key, partition, phase), &value))
		return false;
	if (part_list_decode(list, value))
		return true;
	db_note_damage(txn, TABLES_PHASES, put_key(key, partition, phase));
	list->count = 0;
	return false;
}

void
part_list_encode(const struct part_list *list, struct buffer *to)
{
	uint32_t before = 0;

	varint_put(
	    to, (list->fifo ? FLAG_FIFO : 0) | (uint64_t)list->marks << 1);
	varint_put(to, list->last);
	varint_put(to, list->making);
	varint_put(to, varint_zigzag(list->cut_ns));
	varint_put(to, list->form);
	varint_put(to, list->count);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct part_info *part = &list->at[i];

		varint_put(to, part->number - before);
		varint_put(to, part->rows);
		varint_put(to, part->events);
		varint_put(to, part->bytes);
		varint_put(to, varint_zigzag(part->least_ns));
		varint_put(to, varint_delta(part->least_ns, part->most_ns));
		varint_put(to, part->columns);
		before = part->number;
	}
}

void
part_list_put(const struct part_list *list, struct db_txn *txn)
{
	struct buffer value = { NULL, 0, 0 };
	unsigned char key[PART_LIST_KEY_BYTES];

	part_list_encode(list, &value);
	db_put(txn, TABLES_PHASES, put_key(key, list->partition, list->phase),
	    buffer_text(&value));
	buffer_clear(&value);
}

void
part_list_renew(struct part_list *list)
{
	list->form = (uint64_t)clock_wall_ns();
}

struct part_info *
part_list_add(struct part_list *list)
{
	MEMORY_GROW(list->at, list->room, list->count);
	list->at[list->count] = (struct part_info){ .number = 0 };
	return &list->at[list->count++];
}

bool
part_list_grows(const struct part_list *list)
{
	const struct part_info *newest = &list->at[list->count - 1];

	return list->count > 0 && newest->rows == 1 &&
	       newest->bytes < SMALL_BYTES;
}

uint32_t
part_list_settled(const struct part_list *list)
{
	return list->count - part_list_grows(list);
}

static void
remove_part(struct part_list *list, uint32_t number)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++)
		if (list->at[i].number != number)
			list->at[kept++] = list->at[i];
	list->count = kept;
}

void
part_list_delete(struct part_list *list, struct db_txn *txn, uint32_t number)
{
	unsigned char prefix[PART_LIST_KEY_BYTES];

	/* The keys of its rows begin as that of the list, but for the 0. */
	put_key(prefix, list->partition, list->phase);
	varint_put_u32_be(prefix + 8, number);
	tables_delete(txn, TABLES_PHASES,
	    (struct text){ (const char *)prefix, sizeof(prefix) }, UINT64_MAX);
	remove_part(list, number);
}

const struct part_info part_info_empty = { .least_ns = INT64_MAX,
	.most_ns = INT64_MIN };

void
part_info_note(struct part_info *part, int64_t time_ns)
{
	if (time_ns < part->least_ns)
		part->least_ns = time_ns;
	if (time_ns > part->most_ns)
		part->most_ns = time_ns;
}

bool
part_list_find(struct db_cursor *cursor, uint32_t *partition, uint32_t *phase)
{
	unsigned char bytes[PART_LIST_KEY_BYTES];
	struct text key, value;

	if (!db_seek(cursor, put_key(bytes, *partition, *phase), &key, &value))
		return false;
	if (key.bytes < PART_LIST_KEY_BYTES)
		return false;
	*partition = varint_get_u32_be(key.at);
	*phase = varint_get_u32_be(key.at + 4);
	return true;
}

/*
 * phase_part - the part that a transaction writes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/phase_write.h"

#include <stdlib.h>

#include "proto/base/memory.h"

enum { SMALL_EVENTS = 64 }; /* more of them always make a part */

static int
compare(const struct part_row_item *a, const struct part_row_item *b)
{
	if (a->key_hash != b->key_hash)
		return a->key_hash < b->key_hash ? -1 : 1;
	if (a->scope != b->scope)
		return a->scope < b->scope ? -1 : 1;
	return phase_compare(&a->entry, &b->entry);
}

/* Merge the events of a row, which are views of it, into the items. */
static void
merge_row(struct indexer_write *to, const struct part_row *row)
{
	uint32_t count = to->item_count + row->count, at = 0, next = 0;
	struct part_row_item *all = memory_alloc(count * sizeof(*all));

	for (uint32_t s = 0; s < row->states; s++)
		for (uint32_t i = row->state[s].from; i < row->state[s].to;
		     i++) {
			const struct part_row_item item = {
				row->state[s].key_hash, row->state[s].scope,
				row->state[s].key, row->at[i]
			};

			while (next < to->item_count &&
			       compare(&to->item[next], &item) < 0)
				all[at++] = to->item[next++];
			all[at++] = item;
		}
	while (next < to->item_count)
		all[at++] = to->item[next++];
	free(to->item);
	to->item = all;
	to->item_count = to->item_room = count;
}

/* Take the only row of the newest part, if it is small. */
static bool
take_newest(struct phase_write *write, struct part_info *part)
{
	struct indexer_write *to = write->indexer_write;
	const struct part_row_key from = { write->list.partition,
		write->list.phase, part->number, 0, 0, INT64_MIN, false, 0 };
	unsigned char bytes[PART_ROW_KEY_BYTES];
	struct db_cursor *rows = db_cursor_open(write->txn, TABLES_PHASES);
	struct text key, value;
	struct part_row_key of;
	bool taken;

	taken = db_seek(rows, part_row_put_key(bytes, &from), &key, &value) &&
		part_row_get_key(key, &of) && of.part == part->number &&
		of.phase == from.phase && of.partition == from.partition &&
		part_row_open(&to->newest, value) &&
		part_row_complete(&to->newest);
	if (taken) {
		db_cursor_del(rows);
		merge_row(to, &to->newest);
	}
	db_cursor_close(&rows);
	return taken;
}

static struct part_info *
part_of(struct phase_write *write)
{
	struct indexer_write *to = write->indexer_write;
	struct part_list *list = &write->list;
	struct part_info *part;

	if (part_list_grows(list) && to->item_count <= SMALL_EVENTS) {
		part = &list->at[list->count - 1];
		if (take_newest(write, part))
			return part;
	}
	part = part_list_add(list);
	part->number = ++list->last;
	return part;
}

void
phase_write_part(struct phase_write *write)
{
	struct indexer_write *to = write->indexer_write;
	struct part_info *part = part_of(write);
	uint32_t done = 0, number = part->number;

	*part = part_info_empty;
	part->number = number;
	part->events = to->item_count;
	for (uint32_t i = 0; i < to->item_count; i++)
		part_info_note(part, to->item[i].entry.id.time_ns);
	while (done < to->item_count) {
		unsigned char key[PART_ROW_KEY_BYTES];
		const struct part_row_item *last;
		struct part_row_key of;

		to->value.bytes = 0;
		done += part_row_put_plain(
		    &to->value, to->item + done, to->item_count - done);
		last = &to->item[done - 1];
		of = (struct part_row_key){ write->list.partition,
			write->list.phase, part->number, last->key_hash,
			last->scope, last->entry.id.time_ns,
			!last->entry.is_end, part->rows++ };
		db_put(write->txn, TABLES_PHASES, part_row_put_key(key, &of),
		    buffer_text(&to->value));
		part->bytes += to->value.bytes;
	}
	to->bytes += part->bytes;
}

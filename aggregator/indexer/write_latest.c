/*
 * write_latest - keep the last record of each node.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/write_records.h"
#include "proto/base/memory.h"

void
indexer_write_note_latest(struct indexer_write *indexer_write,
    const struct group *group, struct latest last)
{
	struct groups *rows = &indexer_write->latest_rows;
	uint32_t partition = group->key[0], kind = group->key[1];
	uint32_t node = group->key[key_is_by_track((uint8_t)kind) ? 4 : 3];
	uint32_t number = indexer_write->latest_count;

	if (kind != RECORD_EVENT && kind != RECORD_SAMPLE &&
	    kind != RECORD_SPAN)
		return;
	indexer_write->latest =
	    memory_grow(indexer_write->latest, &indexer_write->latest_room,
		number, sizeof(*indexer_write->latest));
	indexer_write->latest[number] =
	    (struct indexer_write_latest){ node, last };
	indexer_write->latest_count++;
	group_append(rows,
	    group_of(
		rows, (uint32_t[]){ partition, node / LATEST_NODES, 0, 0, 0 }),
	    number);
}

/* Add the members of a row; true: it has changed. */
static bool
take(struct indexer_write *indexer_write, const struct group *group,
    struct latest_row *row)
{
	uint32_t member;
	bool changed = false;

	for (member = group->first; member != GROUP_END;
	     member = group_next(&indexer_write->latest_rows, member)) {
		const struct indexer_write_latest *of =
		    &indexer_write->latest[member];
		unsigned place = of->node % LATEST_NODES;

		changed |= latest_take(&row->at[place], of->last);
		row->has |= UINT64_C(1) << place;
	}
	return changed;
}

void
indexer_write_latest(struct indexer_write *indexer_write, struct db_txn *txn)
{
	struct groups *rows = &indexer_write->latest_rows;
	unsigned char bytes[LATEST_KEY_BYTES];
	struct text key = { (const char *)bytes, sizeof(bytes) };
	struct latest_row row;

	groups_sort(rows);
	for (uint32_t i = 0; i < rows->count; i++) {
		const struct group *group = &rows->at[i];

		latest_read(txn, group->key[0], group->key[1], &row);
		if (!take(indexer_write, group, &row))
			continue;
		indexer_write->value.bytes = 0;
		latest_encode(&row, &indexer_write->value);
		latest_put_key(bytes, group->key[0], group->key[1]);
		db_put(
		    txn, TABLES_NAMES, key, buffer_text(&indexer_write->value));
		indexer_write->bytes +=
		    sizeof(bytes) + indexer_write->value.bytes;
	}
	groups_reset(rows);
	indexer_write->latest_count = 0;
}

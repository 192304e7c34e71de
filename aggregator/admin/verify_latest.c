/*
 * verify_latest - check what is kept of what was last heard of each node.
 *
 * Retention may have deleted those records, so what is kept may be later than
 * all records that are stored, but none of them may be later than that.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/verify_private.h"

/* Are the nodes of the row nodes? */
static bool
are_nodes(struct check *check, uint32_t partition, uint32_t block, uint64_t has)
{
	for (uint32_t i = 0; i < LATEST_NODES; i++) {
		uint32_t node = block * LATEST_NODES + i, number = node;

		if ((has >> i & 1) != 0 &&
		    (!dictionary_next_node(check->txn, partition, &number) ||
			number != node))
			return false;
	}
	return true;
}

void
verify_latest(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_NAMES);
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);
	uint32_t partition, block;
	struct latest_row row;

	for (; more; more = db_next(cursor, &key, &value)) {
		if (latest_get_key(key, &partition, &block) &&
		    (!latest_decode(&row, value) ||
			!are_nodes(check, partition, block, row.has)))
			verify_report(check,
			    "names: malformed row of the last records of nodes "
			    "from %u on of partition %u",
			    block * LATEST_NODES, partition);
	}
	db_cursor_close(&cursor);
}

void
verify_latest_record(struct check *check, uint32_t partition, uint8_t kind,
    uint32_t node, const struct row_block_item *record)
{
	struct latest_row *row = &check->latest.row;
	struct latest heard = LATEST_NONE;
	uint32_t block = node / LATEST_NODES;

	if (kind != RECORD_EVENT && kind != RECORD_SAMPLE &&
	    kind != RECORD_SPAN)
		return;
	if (check->latest.partition != partition ||
	    check->latest.block != block) {
		check->latest.partition = partition;
		check->latest.block = block;
		latest_read(check->txn, partition, block, row);
	}
	heard.receive_ns = record->receive_ns;
	heard.time_ns = record->time_ns;
	if (kind == RECORD_SAMPLE)
		heard.sample_ns = record->time_ns;
	/* Only the first of them is reported. */
	if (latest_take(&row->at[node % LATEST_NODES], &heard))
		verify_report(check,
		    "names: node %u of partition %u has a record later than "
		    "its last one",
		    node, partition);
}

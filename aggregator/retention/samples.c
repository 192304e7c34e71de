/*
 * samples - delete the compacted samples of an old hour; their rollups stay.
 *
 * Rollups that were to be built later are built first, and again those that
 * lack values, because the metric group was defined after they were built.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/retention/retention_private.h"

enum { BUILT_ROWS = 64 }; /* building rollups counts as this many rows */

/* Build what is missing of the rollups of a chunk that is about to be deleted.
 * Of samples in several chunks the first chunk does it. */
static void
build_rollups(struct retention *retention, struct db_txn *txn,
    const struct key_row_block *chunk, struct text value, uint32_t *rows)
{
	struct compacted_row_rows *chunk_rows = &retention->rows;
	struct key_row_block block = *chunk;

	if (retention->rollups == NULL)
		retention->rollups = rollup_builder_new();
	rollup_builder_begin(retention->rollups, txn, chunk->partition);
	if (!compacted_row_open(chunk_rows, value))
		return;
	for (uint32_t i = 0; i < chunk_rows->series_blocks; i++) {
		block.node = chunk_rows->series_block[i].node;
		block.track = chunk_rows->series_block[i].track;
		if (rollup_build_lacking(retention->rollups, &block))
			*rows +=
			    retention->is_full ? RETENTION_ROWS : BUILT_ROWS;
	}
	rollup_builder_end(retention->rollups);
}

bool
retention_samples(struct retention *retention, struct db_txn *txn,
    struct partition_counts *counts, uint32_t *rows)
{
	int32_t cut = retention_cut_of(&retention->cuts, ROLLUP_RAW);
	uint64_t *records = &counts->records[RECORD_SAMPLE];
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_CHUNKS);
	struct key_row_block *at = &retention->at, row_key;
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;
	bool more;

	if (at->partition != retention->partition)
		*at = (struct key_row_block){ .partition = retention->partition,
			.kind = RECORD_SAMPLE,
			.hour = INT32_MIN,
			.first_ns = INT64_MIN };
	for (more = db_seek(cursor, hour_cursor_key(bytes, at), &key, &value);
	     more; more = db_next(cursor, &key, &value)) {
		uint64_t count = row_block_count(value);

		if (!key_get_row_block(key, &row_key) ||
		    row_key.partition != at->partition ||
		    row_key.kind != at->kind || row_key.hour >= cut) {
			more = false;
			break;
		}
		*at = row_key;
		if (*rows >= RETENTION_ROWS)
			break;
		++*rows;
		if (retention_leaves(retention, txn, &row_key))
			continue;
		/* A slice that is not of the last level has no rollups yet. */
		if (compacted_row_level(row_key.slice) !=
		    COMPACTED_ROW_LEVEL_WHOLE)
			continue;
		build_rollups(retention, txn, &row_key, value, rows);
		*rows += RETENTION_CHUNK;
		*records -= count < *records ? count : *records;
		db_cursor_del(cursor);
	}
	db_cursor_close(&cursor);
	return !more;
}

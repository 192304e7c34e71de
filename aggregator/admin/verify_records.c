/*
 * verify_records - check that every row block, compacted chunk and rollup can
 * be read, and that the record counts of the partitions are right.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/verify_private.h"

#include <stdlib.h>

#include "aggregator/indexer/rejected_batch.h"
#include "aggregator/rows/compacted_row.h"
#include "aggregator/tables/tables.h"
#include "aggregator/rollup/rollup.h"
#include "proto/base/memory.h"

/* Found in one partition. */
struct found {
	struct check *check;
	struct {
		uint64_t of[RECORD_KINDS], rejected_bytes;
	} * records; /* of each partition */
	uint32_t partitions;
	struct compacted_row_rows rows;
};

/* ---- row blocks ---- */

static bool
row_is_good(
    struct check *check, const struct key_row_block *head, struct text value)
{
	struct row_block_item item, last = { .time_ns = INT64_MIN };
	struct row_block_reader rows;
	struct row_block_body body;

	if (head->kind == RECORD_CONTEXT || head->kind >= RECORD_KINDS ||
	    !row_block_open(&rows, value, head->first_ns) || rows.left == 0)
		return false;
	while (row_block_next(&rows, &item)) {
		if (row_block_compare(&last, &item) >= 0 ||
		    key_hour(item.time_ns) != head->hour ||
		    !row_block_get_body(
			item.body, head->kind, item.time_ns, &body))
			return false;
		verify_latest_record(
		    check, head->partition, head->kind, head->node, &item);
		last = item;
	}
	return !rows.bytes.bad && rows.bytes.at == rows.bytes.end &&
	       last.time_ns == rows.last_ns;
}

/* Count a good row. */
static void
count_rows(struct found *found, const struct key_row_block *head,
    uint64_t records, uint64_t rejected_bytes)
{
	if (head->partition <= found->partitions) {
		found->records[head->partition].of[head->kind] += records;
		found->records[head->partition].rejected_bytes +=
		    rejected_bytes;
	} else
		verify_report(found->check,
		    "rows of partition %u, which has no name", head->partition);
}

static void
check_counts(struct found *found, uint32_t partition)
{
	const uint64_t *records = found->records[partition].of;
	struct partition_counts counts;
	int kind;

	tables_get_counts(found->check->txn, partition, &counts);
	if (counts.last_entry > tables_fact(found->check->txn, FACT_INDEXED))
		verify_report(found->check,
		    "partition %u has a record of entry %llu, which is not "
		    "indexed",
		    partition, (unsigned long long)counts.last_entry);
	if (counts.rejected_bytes > found->records[partition].rejected_bytes)
		verify_report(found->check,
		    "partition %u has %llu bytes of rejected batches but "
		    "counts %llu",
		    partition,
		    (unsigned long long)found->records[partition]
			.rejected_bytes,
		    (unsigned long long)counts.rejected_bytes);
	for (kind = RECORD_EVENT; kind < RECORD_KINDS; kind++) {
		if (kind == RECORD_ENTITY || kind == RECORD_PHASE ||
		    counts.records[kind] == records[kind])
			continue;
		verify_report(found->check,
		    "partition %u has %llu records of kind %s but counts %llu",
		    partition, (unsigned long long)records[kind],
		    record_kind_name((enum record_kind)kind),
		    (unsigned long long)counts.records[kind]);
	}
}

static void
check_row_blocks(struct found *found)
{
	struct check *check = found->check;
	struct db_cursor *cursor =
	    db_cursor_open(check->txn, TABLES_ROW_BLOCKS);
	struct text key, value, all = { NULL, 0 };
	struct key_row_block head = { .partition = 0 };
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		if (!key_get_row_block(key, &head))
			verify_report(
			    check, "row blocks: a key has %u bytes", key.bytes);
		else if (row_is_good(check, &head, value))
			count_rows(found, &head, row_block_count(value),
			    head.kind == RECORD_REJECTED
				? rejected_batch_bytes_of_row(value)
				: 0);
		else
			verify_report(check,
			    "row blocks: row %llu of partition %u is malformed",
			    (unsigned long long)head.row, head.partition);
	}
	db_cursor_close(&cursor);
}

/* ---- compacted chunks ---- */

static bool
item_is_good(const struct key_row_block *key,
    const struct compacted_row_header *header,
    const struct compacted_row_item *before,
    const struct compacted_row_item *item)
{
	struct row_block_body body;

	return compacted_row_compare(
		   (enum record_kind)key->kind, before, item) < 0 &&
	       key_hour(item->record.time_ns) == key->hour &&
	       item->record.time_ns >= header->least_ns &&
	       item->record.time_ns <= header->most_ns &&
	       row_block_get_body(item->record.body,
		   (enum record_kind)key->kind, item->record.time_ns, &body);
}

/* `last`: in, the last record of the previous chunk of the same compaction;
 * out, that of this chunk. */
static bool
chunk_is_good(struct found *found, const struct key_row_block *key,
    struct text value, struct compacted_row_item *last)
{
	struct compacted_row_rows *rows = &found->rows;
	struct compacted_row_item item;

	if (key->kind == RECORD_CONTEXT || key->kind >= RECORD_KINDS ||
	    !compacted_row_open(rows, value) ||
	    !compacted_row_read_bodies(rows))
		return false;
	for (uint32_t b = 0; b < rows->series_blocks; b++) {
		item.node = rows->series_block[b].node;
		item.track = rows->series_block[b].track;
		for (uint32_t i = rows->series_block[b].from;
		     i < rows->series_block[b].to; i++) {
			compacted_row_get(rows, i, &item.record);
			if (!item_is_good(key, &rows->header, last, &item))
				return false;
			verify_latest_record(found->check, key->partition,
			    key->kind, item.node, &item.record);
			*last = item;
		}
	}
	return rows->header.node == rows->series_block[0].node &&
	       rows->header.track == rows->series_block[0].track &&
	       rows->header.first_ns == rows->time_ns[0] &&
	       key->node == last->node && key->track == last->track &&
	       key->first_ns == last->record.time_ns;
}

static void
check_chunks(struct found *found)
{
	struct check *check = found->check;
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_CHUNKS);
	struct text key, value, all = { NULL, 0 };
	struct key_row_block head, run = { .partition = 0 };
	struct compacted_row_item last = { .node = 0 };
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		if (!key_get_row_block(key, &head)) {
			verify_report(
			    check, "chunks: a key has %u bytes", key.bytes);
			continue;
		}
		if (head.partition != run.partition || head.kind != run.kind ||
		    head.hour != run.hour || head.slice != run.slice)
			last = (struct compacted_row_item){ .record.time_ns =
								INT64_MIN };
		run = head;
		if (chunk_is_good(found, &head, value, &last))
			count_rows(found, &head, found->rows.count,
			    head.kind == RECORD_REJECTED
				? rejected_batch_bytes_of_chunk(
				      &found->rows, value)
				: 0);
		else
			verify_report(check,
			    "chunks: row %llu of partition %u is malformed",
			    (unsigned long long)head.row, head.partition);
	}
	db_cursor_close(&cursor);
}

void
verify_records(struct check *check)
{
	struct found found = { .check = check,
		.partitions = dictionary_last(check->txn, 0) };

	found.records =
	    memory_zero((size_t)found.partitions + 1, sizeof(*found.records));
	check_row_blocks(&found);
	check_chunks(&found);
	for (uint32_t i = 1; i <= found.partitions; i++)
		check_counts(&found, i);
	free(found.records);
	compacted_row_rows_clear(&found.rows);
}

/* ---- rollups ---- */

static bool
rollup_is_good(
    struct rollup_row *row, const struct key_row_block *key, struct text value)
{
	uint32_t steps;

	if (key->kind != RECORD_SAMPLE ||
	    key->first_ns != (int64_t)key->hour * KEY_HOUR_NS)
		return false;
	if (!rollup_open(row, value) ||
	    rollup_block(row->node[0].node) != key->node)
		return false;
	steps = (uint32_t)(KEY_HOUR_NS / rollup_step_ns(key->slice));
	for (uint32_t i = 0; i < row->count; i++)
		if (row->step[i] >= steps)
			return false;
	for (uint32_t m = 0; m < row->metrics; m++)
		if (rollup_read(row, m) == NULL)
			return false;
	return true;
}

static void
check_rollup(
    struct check *check, struct rollup_row *row, enum rollup_step rollup)
{
	struct db_cursor *cursor =
	    db_cursor_open(check->txn, tables_rollup(rollup));
	struct text key, value, all = { NULL, 0 };
	struct key_row_block head;
	bool more = db_seek(cursor, all, &key, &value);

	for (; more; more = db_next(cursor, &key, &value))
		if (!key_get_row_block(key, &head) || head.slice != rollup ||
		    !rollup_is_good(row, &head, value))
			verify_report(check, "rollups: malformed row");
	db_cursor_close(&cursor);
}

void
verify_rollups(struct check *check)
{
	struct rollup_row *row = memory_zero(1, sizeof(*row));

	for (enum rollup_step rollup = ROLLUP_1MIN; rollup < ROLLUPS; rollup++)
		check_rollup(check, row, rollup);
	rollup_row_clear(row);
	free(row);
}

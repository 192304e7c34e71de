/*
 * pull_write - write records that come in order as row blocks.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pull/pull_write.h"

#include "aggregator/archive/rows/identity.h"
#include "aggregator/tables/dictionary.h"

/* As the indexer numbers them. */
enum { SLICE_RECORDS = 64 << 10 };

int
pull_write_open(struct pull_write *write, struct db *tables, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(tables, false, &txn, err) != 0)
		return -1;
	write->now = (struct pull_written){
		.row = (uint32_t)tables_fact(txn, FACT_ROW),
		.records = tables_fact(txn, FACT_RECORDS),
		.counts = { .first_ns = INT64_MAX, .last_ns = INT64_MIN },
		.oldest_ns = INT64_MAX,
		.last_ns = INT64_MIN,
	};
	write->last_name = dictionary_last(txn, write->partition);
	db_abort(&txn);
	return 0;
}

int
pull_write_begin(struct pull_write *write, struct db *tables,
    enum record_kind kind, int32_t hour, struct err *err)
{
	write->before = write->now;
	write->kind = kind;
	write->hour = hour;
	write->sum = (struct pull_sum){ .rows = 0 };
	write->has_last = false;
	write->builder.records = 0;
	return db_begin(tables, true, &write->txn, err);
}

/* ---- rows ---- */

static void
put_row_block(struct pull_write *write)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text value;

	if (write->builder.records == 0)
		return;
	value = row_block_finish(&write->builder);
	write->key.slice = (uint32_t)(write->now.records / SLICE_RECORDS);
	write->key.first_ns = write->builder.first_ns;
	write->key.row = ++write->now.row;
	key_put_row_block(bytes, &write->key);
	write->now.bytes += sizeof(bytes) + value.bytes;
	db_put(write->txn, TABLES_ROW_BLOCKS,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, value);
	write->builder.records = 0;
}

static uint32_t
number_of(void *context, struct text name)
{
	const struct pull_write *write = context;

	return dictionary_find(write->txn, write->partition, name);
}

/* Compare with the last record: < 0, it comes later; 0, it is the same one. */
static int
compare_with_last(const struct pull_write *write, const struct archive_row *row,
    const struct row_block_item *item)
{
	int series;

	if (!write->has_last)
		return -1;
	series = key_compare_series((uint8_t)write->kind, write->key.node,
	    write->key.track, row->id.node, row->id.track);
	return series != 0 ? series : row_block_compare(&write->last, item);
}

static bool
is_good(const struct pull_write *write, const struct archive_row *row,
    const struct row_block_item *item)
{
	struct row_block_body body;

	return row->id.part == write->part && row->id.hour == write->hour &&
	       key_hour(row->time_ns) == write->hour &&
	       row->id.node <= write->last_name &&
	       row->id.track <= write->last_name &&
	       row->stream <= write->last_name &&
	       row_block_get_body(item->body, write->kind, row->time_ns, &body);
}

static void
use_series(struct pull_write *write, const struct archive_row *row)
{
	if (write->has_last && write->key.node == row->id.node &&
	    write->key.track == row->id.track)
		return;
	put_row_block(write);
	write->key = (struct key_row_block){ .partition = write->partition,
		.kind = (uint8_t)write->kind,
		.hour = write->hour,
		.node = row->id.node,
		.track = row->id.track };
}

static void
count(struct pull_write *write, const struct archive_row *row,
    const struct row_block_item *item)
{
	struct partition_counts *counts = &write->now.counts;

	write->now.records++;
	counts->records[write->kind]++;
	if (item->time_ns < counts->first_ns)
		counts->first_ns = item->time_ns;
	if (item->time_ns > counts->last_ns)
		counts->last_ns = item->time_ns;
	if (write->kind == RECORD_REJECTED)
		counts->rejected_bytes += row->body.bytes;
	if (item->receive_ns > write->now.last_ns)
		write->now.last_ns = item->receive_ns;
	if (item->receive_ns < write->now.oldest_ns)
		write->now.oldest_ns = item->receive_ns;
	write->sum.rows++;
	write->sum.changes += archive_identity_hash(&row->id, item);
	write->last = *item;
	write->has_last = true;
}

int
pull_write_row(
    struct pull_write *write, const struct archive_row *row, struct err *err)
{
	const struct archive_numbers numbers = { number_of, write };
	struct row_block_item item;
	int order;

	if (!archive_record(row, write->kind, &numbers, &item, &write->body) ||
	    !is_good(write, row, &item))
		return err_set(err, "archive: a malformed record in table %s",
		    archive_table(write->kind));
	order = compare_with_last(write, row, &item);
	if (order == 0)
		return 0;
	if (order > 0)
		return err_set(err, "archive: records are not in order");
	use_series(write, row);
	if (write->builder.records == 0)
		row_block_begin(&write->builder);
	if (!row_block_add(&write->builder, &item)) {
		put_row_block(write);
		row_block_begin(&write->builder);
		row_block_add(&write->builder, &item);
	}
	count(write, row, &item);
	return 0;
}

/* ---- the end ---- */

static int
end(struct pull_write *write, struct err *err)
{
	if (db_commit(&write->txn, err) == DB_OK)
		return 0;
	write->now = write->before;
	return -1;
}

int
pull_write_commit(struct pull_write *write, struct err *err)
{
	put_row_block(write);
	tables_put_fact(write->txn, FACT_ROW, write->now.row);
	tables_put_fact(write->txn, FACT_RECORDS, write->now.records);
	return end(write, err);
}

void
pull_write_abort(struct pull_write *write)
{
	db_abort(&write->txn);
	write->now = write->before;
}

int
pull_write_close(struct pull_write *write, struct db *tables, struct err *err)
{
	const struct partition_counts *found = &write->now.counts;
	struct partition_counts counts;

	write->before = write->now;
	if (db_begin(tables, true, &write->txn, err) != 0)
		return -1;
	tables_get_counts(write->txn, write->partition, &counts);
	for (int kind = 0; kind < RECORD_KINDS; kind++)
		if (archive_table((enum record_kind)kind) != NULL)
			counts.records[kind] = found->records[kind];
	counts.first_ns = found->first_ns;
	counts.last_ns = found->last_ns;
	counts.oldest_ns = found->first_ns;
	counts.rejected_bytes = found->rejected_bytes;
	counts.last_entry = 0; /* the journal is a new one */
	tables_put_counts(write->txn, write->partition, &counts);
	return end(write, err);
}

void
pull_write_clear(struct pull_write *write)
{
	db_abort(&write->txn);
	buffer_clear(&write->builder.bytes);
	buffer_clear(&write->body);
}

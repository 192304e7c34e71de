/*
 * restore_rows - copy the rows of a partition of the archive into a store.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/restore_rows.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/rows/common.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/key.h"
#include "proto/base/memory.h"
#include "proto/os/heartbeat.h"

enum {
	TXN_BYTES = 16 << 20,
	SLICE_RECORDS = 64 << 10, /* as the indexer numbers them */
};

/* ---- transactions ---- */

static int
rest(struct restore_rows *rows, struct err *err)
{
	rows->bytes = 0;
	archive_read_rest(rows->read);
	heartbeat_beat();
	return db_commit(&rows->txn, err) == DB_OK &&
		       db_begin(rows->tables, true, &rows->txn, err) == 0
		   ? 0
		   : -1;
}

/* The key with the number that the partition has in the store. */
static int
put(struct restore_rows *rows, unsigned table, struct text key,
    struct text value, struct err *err)
{
	unsigned char bytes[DB_KEY_BYTES_MAX];
	uint32_t before = table == TABLES_NAMES;

	if (key.bytes > sizeof(bytes) || key.bytes < before + 4)
		return err_set(err, "archive: a key is too long");
	memcpy(bytes, key.at, key.bytes);
	varint_put_u32_be(bytes + before, rows->to);
	db_put(
	    rows->txn, table, (struct text){ (char *)bytes, key.bytes }, value);
	rows->bytes += key.bytes + value.bytes;
	return rows->bytes >= TXN_BYTES ? rest(rows, err) : 0;
}

/* ---- records ---- */

static bool
count_records(struct restore_rows *rows, const struct key_row_block *key,
    struct text value)
{
	struct partition_counts *found = &rows->found;
	struct row_block_reader reader;
	struct row_block_item item;
	struct row_block_body body;

	if (!row_block_open(&reader, value, key->first_ns))
		return false;
	while (row_block_next(&reader, &item)) {
		found->records[key->kind]++;
		rows->records++;
		if (item.time_ns < found->first_ns)
			found->first_ns = item.time_ns;
		if (item.time_ns > found->last_ns)
			found->last_ns = item.time_ns;
		if (item.receive_ns > rows->last_ns)
			rows->last_ns = item.receive_ns;
		if (key->kind == RECORD_REJECTED &&
		    row_block_get_body(
			item.body, RECORD_REJECTED, item.time_ns, &body))
			found->rejected_bytes += body.value_bytes.bytes;
	}
	return !reader.bytes.bad;
}

static int
put_records(struct restore_rows *rows, struct text key, struct text value,
    struct err *err)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct key_row_block of;

	if (!key_get_row_block(key, &of))
		return err_set(err, "archive: a malformed key");
	of.slice = (uint32_t)(rows->records / SLICE_RECORDS);
	of.row = ++rows->row;
	key_put_row_block(bytes, &of);
	if (!count_records(rows, &of, value))
		return err_set(err, "archive: a malformed row of records");
	return put(rows, TABLES_ROW_BLOCKS,
	    (struct text){ (char *)bytes, sizeof(bytes) }, value, err);
}

/* An hour may have rollups alone: its samples were deleted. */
static int
put_rollup(struct restore_rows *rows, unsigned table, struct text key,
    struct text value, struct err *err)
{
	struct partition_counts *found = &rows->found;
	struct key_row_block of;

	if (!key_get_row_block(key, &of))
		return err_set(err, "archive: a malformed key");
	if (of.hour * KEY_HOUR_NS < found->first_ns)
		found->first_ns = of.hour * KEY_HOUR_NS;
	if (of.hour * KEY_HOUR_NS > found->last_ns)
		found->last_ns = of.hour * KEY_HOUR_NS;
	return put(rows, table, key, value, err);
}

/* ---- tables ---- */

static int
put_row(struct restore_rows *rows, unsigned table, struct text key,
    struct text value, struct err *err)
{
	switch (table) {
	case TABLES_ROW_BLOCKS: return put_records(rows, key, value, err);
	case TABLES_ROLLUPS:
	case TABLES_ROLLUPS_END:
		return put_rollup(rows, table, key, value, err);
	default: return put(rows, table, key, value, err);
	}
}

/* Rows that begin with `front`, from `from` on. */
static int
copy(struct restore_rows *rows, unsigned table, struct text front,
    struct text from, struct err *err)
{
	unsigned char bytes[DB_KEY_BYTES_MAX];
	struct text key = from, found, value;
	bool is_after = false;
	int rc;

	while ((rc = archive_read_next(rows->read, table, front, key, is_after,
		    &found, &value, err)) == 1) {
		if (found.bytes > sizeof(bytes))
			return err_set(err, "archive: a key is too long");
		memmove(bytes, found.at, found.bytes);
		key = (struct text){ (char *)bytes, found.bytes };
		is_after = true;
		rows->rows += table != TABLES_ROW_BLOCKS;
		if (put_row(rows, table, key, value, err) != 0)
			return -1;
	}
	return rc;
}

static int
copy_table(struct restore_rows *rows, unsigned table, struct err *err)
{
	unsigned char front[4];
	struct text key = { (char *)front, sizeof(front) };

	varint_put_u32_be(front, rows->from);
	return copy(rows, table, key, key, err);
}

static int
copy_names(struct restore_rows *rows, char what, struct err *err)
{
	unsigned char front[5] = { (unsigned char)what };
	struct text key = { (char *)front, sizeof(front) };

	varint_put_u32_be(front + 1, rows->from);
	return copy(rows, TABLES_NAMES, key, key, err);
}

static int
copy_kind(struct restore_rows *rows, unsigned table, enum record_kind kind,
    struct err *err)
{
	const struct key_row_block of = { .partition = rows->from,
		.kind = (uint8_t)kind,
		.hour =
		    table == TABLES_ROW_BLOCKS ? rows->from_hour : INT32_MIN };
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];

	key_put_row_block(bytes, &of);
	return copy(rows, table, (struct text){ (char *)bytes, 5 },
	    (struct text){ (char *)bytes, KEY_HOUR_BYTES }, err);
}

/* What the lists say of events was about, before these were read. */
static int
put_lists(struct restore_rows *rows, struct err *err)
{
	struct made *lists = made_new(TABLES_PHASES);
	int rc = 0;

	read_phase_lists(
	    &rows->read->partition[rows->from - 1], rows->from, lists);
	for (uint32_t i = 0; i < lists->count && rc == 0; i++)
		rc = put(rows, TABLES_PHASES, lists->at[i].key,
		    lists->at[i].value, err);
	made_free(&lists);
	return rc;
}

/* Models, which are of no partition alone. */
static int
copy_common(struct restore_rows *rows, struct err *err)
{
	const struct text all = { NULL, 0 };
	struct text key = all, found, value;
	int rc = archive_read_next(
	    rows->read, TABLES_META, all, key, false, &found, &value, err);

	for (; rc == 1; rc = archive_read_next(rows->read, TABLES_META, all,
			    key, true, &found, &value, err)) {
		key = found;
		if (common_is(key))
			db_put(rows->txn, TABLES_META, key, value);
	}
	return rc;
}

/* Last: rows have brought names that had no number. */
static int
put_names(struct restore_rows *rows, const struct names *names, struct err *err)
{
	struct names_name name;

	for (uint32_t i = 0; names_get(names, i, &name); i++) {
		if (name.number == 0)
			continue;
		dictionary_put(
		    rows->txn, rows->to, name.number, name.text, name.is_run);
		rows->rows += 2;
		rows->bytes += 3 * (size_t)name.text.bytes;
		if (rows->bytes >= TXN_BYTES && rest(rows, err) != 0)
			return -1;
	}
	return copy_names(rows, 'd', err);
}

/* ---- a partition ---- */

static int
add_partition(struct restore_rows *rows, struct text name, struct err *err)
{
	struct dictionary *dictionary = dictionary_new(DICTIONARY_MAX);

	dictionary_set_sender(dictionary, 0, text_of(""));
	rows->to = dictionary_number(dictionary, rows->txn, 0, name);
	dictionary_free(&dictionary);
	return rows->to != 0
		   ? 0
		   : err_set(err, "a store has room for %d partitions",
			 DICTIONARY_PARTITIONS_MAX);
}

static void
put_counts(struct restore_rows *rows, const struct partition_counts *was)
{
	struct partition_counts counts = *was;
	bool is_all = rows->from_hour == INT32_MIN;

	for (unsigned i = 0; i < ARCHIVE_KINDS; i++) {
		enum record_kind kind = archive_kinds[i];
		uint64_t found = rows->found.records[kind];

		counts.records[kind] = found;
		if (!is_all && found < was->records[kind])
			counts.archived[kind] = was->records[kind] - found;
	}
	counts.first_ns = rows->found.first_ns;
	counts.last_ns = rows->found.last_ns;
	counts.oldest_ns = is_all ? counts.first_ns : was->oldest_ns;
	counts.rejected_bytes = rows->found.rejected_bytes;
	counts.last_entry = 0; /* the journal is a new one */
	tables_put_counts(rows->txn, rows->to, &counts);
}

static int
copy_all(struct restore_rows *rows, struct err *err)
{
	/* How far streams came is read before their records. */
	static const unsigned tables[] = { TABLES_STREAMS, TABLES_ONCE,
		TABLES_ENTITIES, TABLES_PHASES, TABLES_STATS, TABLES_RUNS,
		TABLES_RUN_TIMES, TABLES_GROUPS };
	int rc = copy_common(rows, err);

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && rc == 0; i++)
		rc = copy_table(rows, tables[i], err);
	if (rc == 0)
		rc = put_lists(rows, err);
	if (rc == 0)
		rc = copy_names(rows, 'l', err);
	for (unsigned i = 0; i < ARCHIVE_KINDS && rc == 0; i++)
		rc = copy_kind(rows, TABLES_ROW_BLOCKS, archive_kinds[i], err);
	for (enum rollup_step i = ROLLUP_1MIN; i < ROLLUPS && rc == 0; i++)
		rc = copy_kind(rows, tables_rollup(i), RECORD_SAMPLE, err);
	return rc;
}

int
restore_rows(struct restore_rows *rows, uint32_t number, struct err *err)
{
	struct read_partition *of =
	    archive_read_partition(rows->read, number, err);
	int rc;

	if (of == NULL || db_begin(rows->tables, true, &rows->txn, err) != 0)
		return -1;
	rows->from = number;
	rows->found = (struct partition_counts){ .first_ns = INT64_MAX,
		.last_ns = INT64_MIN };
	archive_read_use(rows->read, number);
	rc = add_partition(rows, of->name, err);
	if (rc == 0)
		rc = copy_all(rows, err);
	if (rc == 0)
		rc = put_names(rows, of->names, err);
	if (rc != 0) {
		db_abort(&rows->txn);
		return -1;
	}
	put_counts(rows, &of->counts);
	return db_commit(&rows->txn, err) == DB_OK ? 0 : -1;
}

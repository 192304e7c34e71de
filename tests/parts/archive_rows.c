/*
 * archive_rows STORE - what an archive of this store must have, a row a line:
 *
 *     r KIND PART HOUR NODE TRACK TS STREAM SEQ IDX    a record's identity
 *     s PART TABLE KEY VALUE                           of other tables, hex
 *     p PART NAME                                      a partition
 *
 * It reads the store as a reader does: row blocks and chunks, merged.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/rows/hour_cursor.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/hash/hash.h"

enum { HOURS_MAX = 4096, NUMBER_BYTES = 4 };

struct rows {
	struct db_txn *txn;
	struct compacted_cursor_cache cache;
	struct merge merge;
	struct hour_cursor cursor;
	struct key_row_block hour[HOURS_MAX];
	unsigned hours;
	uint64_t *part; /* of each partition, by number */
	uint32_t parts;
};

/* The SQL function sipHash64. */
static uint64_t
part_of(struct text name)
{
	const struct hash_key zero = { 0, 0 };

	return hash_bytes(zero, name.at, name.bytes);
}

static void
find_hours(struct rows *rows, unsigned table)
{
	struct db_cursor *cursor = db_cursor_open(rows->txn, table);
	const struct text none = { NULL, 0 };
	struct text key, value;

	for (bool more = db_seek(cursor, none, &key, &value); more;
	     more = db_next(cursor, &key, &value)) {
		struct key_row_block found;
		unsigned i = 0;

		if (!key_get_row_block(key, &found))
			exit(1);
		while (i < rows->hours &&
		       (rows->hour[i].partition != found.partition ||
			   rows->hour[i].kind != found.kind ||
			   rows->hour[i].hour != found.hour))
			i++;
		if (i < rows->hours)
			continue;
		if (rows->hours == HOURS_MAX)
			exit(1);
		rows->hour[rows->hours++] =
		    (struct key_row_block){ .partition = found.partition,
			    .kind = found.kind,
			    .hour = found.hour };
	}
	db_cursor_close(&cursor);
}

static void
print_hour(struct rows *rows, const struct key_row_block *hour)
{
	struct row_block_item item;
	struct key_row_block key;

	hour_cursor_open(
	    &rows->cursor, rows->txn, &rows->cache, hour, &hour_cursor_all);
	while (hour_cursor_series_block(&rows->cursor, &key)) {
		merge_reset(&rows->merge);
		hour_cursor_collect(
		    &rows->cursor, &key, &rows->merge, INT64_MIN);
		merge_sort(&rows->merge);
		while (merge_next(&rows->merge, &item))
			printf("r %u %" PRIu64 " %d %u %u %" PRId64
			       " %u %" PRIu64 " %u\n",
			    hour->kind, rows->part[hour->partition], hour->hour,
			    key.node, key.track, item.time_ns, item.stream,
			    item.seq, item.index);
	}
	hour_cursor_close(&rows->cursor);
}

static void
print_hex(struct text bytes)
{
	putchar(' ');
	if (bytes.bytes == 0)
		putchar('-');
	for (uint32_t i = 0; i < bytes.bytes; i++)
		printf("%02X", (unsigned char)bytes.at[i]);
}

static void
print_row(uint64_t part, unsigned table, const char *key, uint32_t bytes,
    struct text v)
{
	printf("s %" PRIu64 " %u", part, table);
	print_hex((struct text){ key, bytes });
	print_hex(v);
	putchar('\n');
}

/* A key without the four bytes of the partition's number. */
static void
print_of_partition(struct rows *rows, unsigned table, uint32_t before,
    struct text key, struct text value)
{
	char rest[DB_KEY_BYTES_MAX];
	const unsigned char *at = (const unsigned char *)key.at + before;
	uint32_t number = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
			  (uint32_t)at[2] << 8 | at[3];

	if (number == 0 || number > rows->parts)
		return;
	memcpy(rest, key.at, before);
	memcpy(rest + before, at + NUMBER_BYTES,
	    key.bytes - before - NUMBER_BYTES);
	print_row(
	    rows->part[number], table, rest, key.bytes - NUMBER_BYTES, value);
}

static bool
begins(struct text key, const char *front)
{
	return key.bytes >= strlen(front) &&
	       memcmp(key.at, front, strlen(front)) == 0;
}

/* Facts that all partitions share are in the archive of each of them. */
static void
print_meta(struct rows *rows, struct text key, struct text value)
{
	if (begins(key, "partition"))
		print_of_partition(rows, TABLES_META, 9, key, value);
	else if ((begins(key, "hash") && key.bytes == 4) ||
		 (begins(key, "models") && key.bytes == 6) ||
		 (begins(key, "phase:") && key.bytes > 6) ||
		 (begins(key, "run:") && key.bytes > 4))
		for (uint32_t i = 1; i <= rows->parts; i++)
			print_row(rows->part[i], TABLES_META, key.at, key.bytes,
			    value);
}

static void
print_table(struct rows *rows, unsigned table)
{
	struct db_cursor *cursor = db_cursor_open(rows->txn, table);
	const struct text none = { NULL, 0 };
	struct text key, value;
	bool has_letter = table == TABLES_NAMES || table == TABLES_NAME_BLOCKS;

	for (bool more = db_seek(cursor, none, &key, &value); more;
	     more = db_next(cursor, &key, &value))
		if (table == TABLES_META)
			print_meta(rows, key, value);
		else
			print_of_partition(
			    rows, table, has_letter ? 1 : 0, key, value);
	db_cursor_close(&cursor);
}

static void
print_all(struct rows *rows)
{
	rows->parts = dictionary_last(rows->txn, 0);
	rows->part = memory_zero(rows->parts + 1, sizeof(uint64_t));
	for (uint32_t i = 1; i <= rows->parts; i++) {
		struct text name;

		if (!dictionary_text(rows->txn, 0, i, &name))
			continue;
		rows->part[i] = part_of(name);
		printf("p %" PRIu64 " %.*s\n", rows->part[i], (int)name.bytes,
		    name.at);
	}
	find_hours(rows, TABLES_ROW_BLOCKS);
	find_hours(rows, TABLES_CHUNKS);
	for (unsigned i = 0; i < rows->hours; i++)
		print_hour(rows, &rows->hour[i]);
	for (unsigned i = 0; i < TABLES_COUNT; i++)
		if (i != TABLES_ROW_BLOCKS && i != TABLES_CHUNKS &&
		    i != TABLES_SORT && i != TABLES_MARKS)
			print_table(rows, i);
}

int
main(int argc, char **argv)
{
	struct db_options options = { .keep_map = true };
	static struct rows rows;
	struct err err = { 0 };
	struct db *db;

	if (argc != 2)
		return 2;
	if (tables_open(&db, argv[1], &options, &err) != 0 ||
	    db_begin(db, false, &rows.txn, &err) != 0) {
		fprintf(stderr, "archive_rows: %s\n", err.text);
		return 1;
	}
	print_all(&rows);
	hour_cursor_clear(&rows.cursor);
	merge_clear(&rows.merge);
	compacted_cursor_cache_clear(&rows.cache);
	free(rows.part);
	db_abort(&rows.txn);
	db_close(&db);
	return 0;
}

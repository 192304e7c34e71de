/*
 * archive_rows STORE - what an archive of this store must have, a row a line;
 * texts in hexadecimal digits, "-": empty:
 *
 *     r KIND PART HOUR NODE TRACK TS SESSION SEQ IDX   a record's identity
 *     n PART NUMBER NAME                               a name
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
#include "aggregator/tables/lookup.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/hash/hash.h"

enum { HOURS_MAX = 4096 };

struct rows {
	struct db_txn *txn;
	struct lookup names;
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
print_hex(struct text bytes)
{
	putchar(' ');
	if (bytes.bytes == 0)
		putchar('-');
	for (uint32_t i = 0; i < bytes.bytes; i++)
		printf("%02X", (unsigned char)bytes.at[i]);
}

static void
print_record(struct rows *rows, const struct key_row_block *key,
    const struct row_block_item *item)
{
	struct session_id session = { { 0 } };

	(void)lookup_session(&rows->names, item->stream, &session);
	printf("r %u %" PRIu64 " %d", key->kind, rows->part[key->partition],
	    key->hour);
	print_hex(lookup_number(&rows->names, key->node));
	print_hex(lookup_number(&rows->names, key->track));
	printf(" %" PRId64, item->time_ns);
	print_hex((struct text){ (char *)session.bytes, sizeof(session) });
	printf(" %" PRIu64 " %u\n", item->seq, item->index);
}

static void
print_hour(struct rows *rows, const struct key_row_block *hour)
{
	struct row_block_item item;
	struct key_row_block key;

	lookup_use(&rows->names, rows->txn, hour->partition);
	hour_cursor_open(
	    &rows->cursor, rows->txn, &rows->cache, hour, &hour_cursor_all);
	while (hour_cursor_series_block(&rows->cursor, &key)) {
		merge_reset(&rows->merge);
		hour_cursor_collect(
		    &rows->cursor, &key, &rows->merge, INT64_MIN);
		merge_sort(&rows->merge);
		while (merge_next(&rows->merge, &item))
			print_record(rows, &key, &item);
	}
	hour_cursor_close(&rows->cursor);
}

static void
print_names(struct rows *rows, uint32_t partition)
{
	uint32_t last = dictionary_last(rows->txn, partition);
	struct text name;

	for (uint32_t i = 1; i <= last; i++)
		if (dictionary_text(rows->txn, partition, i, &name)) {
			printf("n %" PRIu64 " %u", rows->part[partition], i);
			print_hex(name);
			putchar('\n');
		}
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
	for (uint32_t i = 1; i <= rows->parts; i++)
		print_names(rows, i);
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
	lookup_clear(&rows.names);
	compacted_cursor_cache_clear(&rows.cache);
	free(rows.part);
	db_abort(&rows.txn);
	db_close(&db);
	return 0;
}

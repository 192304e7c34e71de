/*
 * partitions_list - list the partitions of a store and the partition table.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/partitions.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aggregator/admin/admin_private.h"
#include "aggregator/tables/dictionary.h"
#include "proto/base/memory.h"
#include "proto/config/partition_table.h"

enum { PATH_WIDTH = 60 };

static const struct table_column columns[] = { { "PARTITION", 57, false },
	{ "NODES", 8, true }, { "RECORDS", 8, true }, { NULL, 0, false } };
static const struct table_column table_columns[] = { { "PATTERN", 23, false },
	{ "ENDPOINT", 55, false }, { NULL, 0, false } };

struct stored {
	uint32_t number;
	struct text name; /* a view, valid until the end of the transaction */
};

struct listing {
	FILE *file;
	enum report_format format;
	struct report rows;
	struct partition_table table; /* the partition table of the brokers */
};

static struct text
find_endpoint(const struct partition_table *table, struct text partition)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (text_match_partition(table->row[i].pattern, partition))
			return table->row[i].endpoint;
	return text_of("");
}

static void
begin(struct listing *to)
{
	static const char *const names[] = { "partition", "nodes", "records",
		"endpoint", NULL };
	static const char *const shown[] = { "partition", "nodes", "records",
		NULL };

	report_begin(&to->rows, to->file, to->format,
	    to->format == REPORT_TABLE ? shown : names, columns);
}

static void
put_row(struct listing *to, struct db_txn *txn, const struct stored *stored)
{
	struct text endpoint = find_endpoint(&to->table, stored->name);
	struct partition_counts counts;
	uint64_t records = 0;

	tables_get_counts(txn, stored->number, &counts);
	for (int kind = 0; kind < RECORD_KINDS; kind++)
		records += counts.records[kind];
	report_text(&to->rows, stored->name);
	report_count(&to->rows, counts.nodes);
	report_count(&to->rows, records);
	if (to->format == REPORT_TABLE)
		return;
	if (endpoint.bytes > 0)
		report_text(&to->rows, endpoint);
	else
		report_none(&to->rows);
}

static void
put_table(const struct partition_table *table, const char *path, FILE *file)
{
	struct table rows;

	if (table->version == 0)
		return;
	fprintf(file, "\nversion %" PRIu64 " of ", table->version);
	table_put_elided(file, text_of(path), PATH_WIDTH);
	fputs("\n", file);
	table_begin(&rows, file, table_columns);
	for (uint32_t i = 0; i < table->count; i++) {
		table_text(&rows, table->row[i].pattern);
		table_text(&rows, table->row[i].endpoint);
	}
}

static int
by_name(const void *a, const void *b)
{
	const struct stored *left = a, *right = b;

	return text_compare(left->name, right->name);
}

static void
put_all(struct listing *to, struct db_txn *txn)
{
	uint32_t last = dictionary_last(txn, 0), count = 0;
	struct stored *found = memory_zero((size_t)last + 1, sizeof(*found));

	for (uint32_t i = 1; i <= last; i++) {
		found[count].number = i;
		count += dictionary_text(txn, 0, i, &found[count].name);
	}
	qsort(found, count, sizeof(*found), by_name);
	begin(to);
	for (uint32_t i = 0; i < count; i++)
		put_row(to, txn, &found[i]);
	report_end(&to->rows);
	free(found);
}

static int
list(struct listing *to, const char *store, struct err *err)
{
	struct db_options how = { .read_only = true, .allow_network = true };
	struct db *tables = NULL;
	struct db_txn *txn;
	int rc = -1;

	if (admin_find(store, err) != 0 ||
	    tables_open(&tables, store, &how, err) != 0)
		return -1;
	if (db_begin(tables, false, &txn, err) == 0) {
		put_all(to, txn);
		db_abort(&txn);
		rc = 0;
	}
	db_close(&tables);
	return rc;
}

int
partitions_list(enum report_format format, FILE *file, const char *store,
    const char *table, struct err *err)
{
	struct listing *to = memory_zero(1, sizeof(*to));
	int rc;

	to->file = file;
	to->format = format;
	rc = partition_table_read(&to->table, table, err);
	if (rc == 0)
		rc = list(to, store, err);
	if (rc == 0 && format == REPORT_TABLE)
		put_table(&to->table, table, file);
	partition_table_clear(&to->table);
	free(to);
	return rc;
}

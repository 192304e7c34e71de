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

struct row {
	struct text partition, endpoint;
	uint64_t nodes, records;
};

struct pattern_row {
	struct text pattern, endpoint;
};

static const struct answer_column columns[] = {
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct row, partition),
	    "account$pool" },
	{ "nodes", "NODES", ANSWER_AT_COUNT(struct row, nodes),
	    "nodes that have records" },
	{ "records", "RECORDS", ANSWER_AT_COUNT(struct row, records),
	    "stored records of all kinds" },
	{ "endpoint", NULL, ANSWER_AT_TEXT(struct row, endpoint),
	    "where the partition table of the brokers sends its records" },
	{ .key = NULL },
};

static const struct answer_column pattern_columns[] = {
	{ "pattern", "PATTERN", ANSWER_AT_TEXT(struct pattern_row, pattern),
	    "partitions that match it" },
	{ "endpoint", "ENDPOINT", ANSWER_AT_TEXT(struct pattern_row, endpoint),
	    "the aggregator that gets their records" },
	{ .key = NULL },
};

const struct answer_table partitions_tables[] = { { "partitions", columns },
	{ "routes", pattern_columns }, { .name = NULL } };

struct stored {
	uint32_t number;
	struct text name; /* a view, valid until the end of the transaction */
};

/* Of at NULL: the partition table has no pattern that matches. */
static struct text
find_endpoint(const struct partition_table *table, struct text partition)
{
	for (uint32_t i = 0; i < table->count; i++)
		if (text_match_partition(table->row[i].pattern, partition))
			return table->row[i].endpoint;
	return (struct text){ NULL, 0 };
}

static void
put_row(struct answer *to, const struct partition_table *table,
    struct db_txn *txn, const struct stored *stored)
{
	struct partition_counts counts;
	struct row row = { .partition = stored->name,
		.endpoint = find_endpoint(table, stored->name) };

	tables_get_counts(txn, stored->number, &counts);
	row.nodes = counts.nodes;
	for (int kind = 0; kind < RECORD_KINDS; kind++)
		row.records += counts.records[kind];
	answer_row(to, &row, NULL);
}

static void
put_routes(
    struct answer *to, const struct partition_table *table, const char *path)
{
	/* Without rows it is there, too, for programs. */
	answer_begin_table(to, "routes");
	for (uint32_t i = 0; i < table->count; i++) {
		const struct pattern_row row = { table->row[i].pattern,
			table->row[i].endpoint };

		answer_row(to, &row, NULL);
	}
	if (table->version > 0)
		answer_note(to, "routes", table->version,
		    "version %" PRIu64 " of the partition table %s",
		    table->version, path);
}

static int
by_name(const void *a, const void *b)
{
	const struct stored *left = a, *right = b;

	return text_compare(left->name, right->name);
}

static void
put_all(
    struct answer *to, const struct partition_table *table, struct db_txn *txn)
{
	uint32_t last = dictionary_last(txn, 0), count = 0;
	struct stored *found = memory_zero((size_t)last + 1, sizeof(*found));

	for (uint32_t i = 1; i <= last; i++) {
		found[count].number = i;
		count += dictionary_text(txn, 0, i, &found[count].name);
	}
	qsort(found, count, sizeof(*found), by_name);
	for (uint32_t i = 0; i < count; i++)
		put_row(to, table, txn, &found[i]);
	free(found);
}

static int
list(struct answer *to, const struct partition_table *table, const char *store,
    struct err *err)
{
	struct db_options how = { .read_only = true, .allow_network = true };
	struct db *tables = NULL;
	struct db_txn *txn;
	int rc = -1;

	if (admin_find(store, err) != 0 ||
	    tables_open(&tables, store, &how, err) != 0)
		return -1;
	if (db_begin(tables, false, &txn, err) == 0) {
		put_all(to, table, txn);
		db_abort(&txn);
		rc = 0;
	}
	db_close(&tables);
	return rc;
}

int
partitions_list(
    struct answer *to, const char *store, const char *path, struct err *err)
{
	struct partition_table *table = memory_zero(1, sizeof(*table));
	int rc = partition_table_read(table, path, err);

	if (rc == 0)
		rc = list(to, table, store, err);
	if (rc == 0)
		put_routes(to, table, path);
	partition_table_clear(table);
	free(table);
	return rc;
}

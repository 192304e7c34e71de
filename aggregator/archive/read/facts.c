/*
 * facts - rows of the table meta: models, and the counts of partitions.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/read_private.h"

#include <stdlib.h>

#include "proto/base/memory.h"

static int
take(void *arg, struct fetch *row, struct err *err)
{
	struct text id = fetch_text(row);

	if (id.bytes == 0 || id.bytes > DB_KEY_BYTES_MAX)
		return err_set(err, "archive: a malformed row of table models");
	made_put(arg, id, fetch_text(row));
	return 0;
}

/* Those that were sent together last. */
static int
read_models(struct archive_read *read, uint64_t part, struct made *range,
    struct err *err)
{
	static const struct native_column columns[] = {
		{ "id", NATIVE_STRING },
		{ "body", NATIVE_STRING },
	};
	const char *database = clickhouse_database(read->fetch.client);
	char *sql = memory_format(
	    "SELECT DISTINCT id, body FROM %s.models WHERE part = %llu AND pos "
	    "IN (SELECT max(pos) FROM %s.models WHERE part = %llu)",
	    database, (unsigned long long)part, database,
	    (unsigned long long)part);
	int rc = fetch_home(&read->fetch, SCHEMA_MODELS, part, columns, 2, sql,
	    take, range, err);

	free(sql);
	return rc;
}

static void
put_counts(
    struct made *range, uint32_t number, const struct partition_counts *of)
{
	unsigned char key[DB_KEY_BYTES_MAX];
	unsigned char value[TABLES_COUNTS_BYTES];

	made_put(range, tables_counts_key(key, number),
	    tables_encode_counts(value, of));
}

int
read_facts(struct archive_read *read, struct made *range, struct err *err)
{
	const struct read_partition *of =
	    read->used != 0 ? &read->partition[read->used - 1] : NULL;

	if (of != NULL && of->is_lost)
		return look_refuse(of->name, err);
	if (of != NULL) {
		read->fetch.version = of->version;
		if (read_models(read, of->part, range, err) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < read->partitions; i++)
		if (!read->partition[i].is_lost)
			put_counts(range, i + 1, &read->partition[i].counts);
	made_sort(range);
	return 0;
}

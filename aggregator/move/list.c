/*
 * move_list - list the partitions of a store and the partition table.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/move/list.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aggregator/move/owned_partitions.h"
#include "proto/base/memory.h"
#include "proto/config/partition_table.h"
#include "proto/os/clock.h"

enum { PATH_WIDTH = 60, NS_PER_US = 1000, US_PER_SECOND = 1000000 };

static const char *const names[] = { "partition", "state", "records",
	"since_us", "store", "endpoint", NULL };
static const struct table_column columns[] = { { "PARTITION", 23, false },
	{ "STATE", 6, false }, { "RECORDS", 8, true }, { "SINCE", 20, false },
	{ "STORE", 18, false }, { NULL, 0, false } };
static const struct table_column table_columns[] = { { "PATTERN", 23, false },
	{ "ENDPOINT", 55, false }, { NULL, 0, false } };

struct listing {
	FILE *file;
	enum report_format format;
	bool begun;
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

/* Print nothing if the store cannot be read. */
static void
begin(struct listing *to)
{
	static const char *const shown[] = { "partition", "state", "records",
		"since", "store", NULL };

	if (!to->begun)
		report_begin(&to->rows, to->file, to->format,
		    to->format == REPORT_TABLE ? shown : names, columns);
	to->begun = true;
}

static void
put_row(void *arg, const struct owned_partition *owned_partition)
{
	struct listing *to = arg;
	struct report *rows = &to->rows;
	struct text endpoint =
	    find_endpoint(&to->table, owned_partition->partition);

	begin(to);
	report_text(rows, owned_partition->partition);
	report_text(rows, text_of(owned_partition->state));
	report_count(rows, owned_partition->records);
	report_time(rows,
	    rows->format == REPORT_TABLE
		? owned_partition->since_ns / NS_PER_SECOND * US_PER_SECOND
		: owned_partition->since_ns / NS_PER_US);
	if (owned_partition->other_store[0] != '\0')
		report_text(rows, text_of(owned_partition->other_store));
	else
		report_none(rows);
	if (rows->format == REPORT_TABLE)
		return;
	if (endpoint.bytes > 0)
		report_text(rows, endpoint);
	else
		report_none(rows);
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
		rc = owned_partitions_each(store, put_row, to, err);
	if (rc == 0) {
		begin(to); /* of a store without partitions */
		report_end(&to->rows);
	}
	if (rc == 0 && format == REPORT_TABLE)
		put_table(&to->table, table, file);
	partition_table_clear(&to->table);
	free(to);
	return rc;
}

/*
 * look - which partitions an archive has.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/look.h"

#include <stdlib.h>

#include "aggregator/archive/kept.h"
#include "aggregator/archive/partitions.h"
#include "aggregator/archive/schema/schema.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* What an archive does not keep is gone after that time. */
#define DELETING_NS (300 * NS_PER_SECOND)

struct looking {
	struct look *to;
	struct arena *texts;
};

static struct look_partition *
find_partition(struct look *look, uint64_t part)
{
	for (uint32_t i = 0; i < look->count; i++)
		if (look->at[i].part == part)
			return &look->at[i];
	look->at =
	    memory_grow(look->at, &look->room, look->count, sizeof(*look->at));
	look->at[look->count] =
	    (struct look_partition){ .part = part, .kept_hour = INT64_MIN };
	return &look->at[look->count++];
}

static void
change(struct look *look, struct look_partition *of)
{
	of->version = ++look->versions;
}

static int
take_partition(void *arg, struct fetch *row, struct err *err)
{
	struct looking *looking = arg;
	struct look_partition *to =
	    find_partition(looking->to, fetch_uint(row));
	uint64_t pos = fetch_uint(row);
	struct text name = fetch_text(row);
	uint32_t first;

	/* Of several replicas' rows the newest counts. */
	if (to->is_found && pos <= to->pos)
		return 0;
	to->is_found = true;
	to->pos = pos;
	if (to->name.bytes == 0)
		to->name = arena_text(looking->texts, name);
	to->counts.nodes = fetch_uint(row);
	to->counts.first_ns = fetch_int(row);
	to->counts.last_ns = fetch_int(row);
	to->counts.oldest_ns = fetch_int(row);
	to->counts.rejected_bytes = fetch_uint(row);
	to->counts.rejected_cut = fetch_uint(row);
	to->counts.last_entry = fetch_uint(row);
	if (native_read_array(row->reader, row->column, row->row, &first) !=
	    RECORD_KINDS)
		return err_set(
		    err, "archive: a malformed row of table partitions");
	for (uint32_t i = 0; i < RECORD_KINDS; i++)
		to->counts.records[i] =
		    native_read_uint(row->reader, row->column, first + i);
	return 0;
}

static int
compare_partitions(const void *a, const void *b)
{
	const struct look_partition *x = a, *y = b;

	return text_compare(x->name, y->name);
}

static int
read_partitions(struct look *next, struct fetch *fetch, struct arena *texts,
    struct err *err)
{
	static const struct native_column columns[] = {
		{ "part", NATIVE_UINT64 },
		{ "pos", NATIVE_UINT64 },
		{ "name", NATIVE_STRING },
		{ "nodes", NATIVE_UINT64 },
		{ "first_ns", NATIVE_INT64 },
		{ "last_ns", NATIVE_INT64 },
		{ "oldest_ns", NATIVE_INT64 },
		{ "rejected_bytes", NATIVE_UINT64 },
		{ "rejected_cut", NATIVE_UINT64 },
		{ "last_entry", NATIVE_UINT64 },
		{ "records", NATIVE_UINT64_ARRAY },
	};
	const char *database = clickhouse_database(fetch->client);
	char *sql = memory_format(
	    "SELECT part, pos, name, nodes, first_ns, last_ns, oldest_ns, "
	    "rejected_bytes, rejected_cut, last_entry, records "
	    "FROM %s.partitions FINAL",
	    database);
	struct looking looking = { next, texts };
	uint32_t before = next->count;
	int rc =
	    fetch_each(fetch, columns, sizeof(columns) / sizeof(columns[0]),
		sql, take_partition, &looking, err);

	free(sql);
	/* Those that were there keep their numbers. */
	if (next->count > before + 1)
		qsort(next->at + before, next->count - before,
		    sizeof(*next->at), compare_partitions);
	return rc;
}

struct committing {
	struct look *next;
	uint64_t lost; /* a partition that was committed, and nobody has */
};

static int
take_commit(void *arg, struct fetch *row, struct err *err)
{
	struct committing *committing = arg;
	struct look *next = committing->next;
	uint64_t part = fetch_uint(row), pos = fetch_uint(row);
	bool is_counted = fetch_uint(row) > 0;
	uint32_t i = 0;

	(void)err;
	while (i < next->count && next->at[i].part != part)
		i++;
	if (i == next->count) {
		if (is_counted)
			committing->lost = part;
	} else if (next->at[i].committed < pos) {
		next->at[i].committed = pos;
		change(next, &next->at[i]);
	}
	return 0;
}

/* -1: readers would not hear of it. */
static int
lose(struct fetch *fetch, uint64_t part, struct err *err)
{
	struct partitions partitions = { .at = NULL };
	const char *name = "?";

	if (partitions_read(&partitions, fetch->client, NULL, err) != 0) {
		partitions_clear(&partitions);
		return -1;
	}
	for (uint32_t i = 0; i < partitions.count; i++)
		if (partitions.at[i].part == part)
			name = partitions.at[i].name;
	err_set(err,
	    "archive: no replica has the row of partition %s that was "
	    "committed of table partitions: it was deleted or lost; see "
	    "poolscope archive verify",
	    name);
	partitions_clear(&partitions);
	return fetch_may_lack(fetch, SCHEMA_PARTITIONS, err) ? 0 : -1;
}

static int
read_commits(struct look *next, struct fetch *fetch, struct err *err)
{
	static const struct native_column columns[] = {
		{ "part", NATIVE_UINT64 },
		{ "last", NATIVE_UINT64 },
		{ "counted", NATIVE_UINT64 },
	};
	struct committing committing = { .next = next };
	char *sql = memory_format("SELECT part, max(pos) AS last, "
				  "countIf(tbl = 'partitions' AND rows > 0) "
				  "AS counted FROM %s.commits GROUP BY part",
	    clickhouse_database(fetch->client));
	int rc =
	    fetch_each(fetch, columns, 3, sql, take_commit, &committing, err);

	free(sql);
	return rc == 0 && committing.lost != 0
		   ? lose(fetch, committing.lost, err)
		   : rc;
}

/* Servers delete rows some time after an archive keeps them no longer. */
static int
read_kept(struct look *next, struct fetch *fetch, struct err *err)
{
	int64_t now_ns = clock_monotonic_ns();
	struct kept kept;

	if (kept_read(&kept, fetch->client, err) != 0)
		return -1;
	for (uint32_t i = 0; i < next->count; i++) {
		struct look_partition *of = &next->at[i];
		int64_t hour = kept_from(&kept, of->part);

		if (hour != of->kept_hour)
			of->kept_ns = now_ns;
		of->kept_hour = hour;
		if (hour != INT64_MIN && now_ns - of->kept_ns < DELETING_NS)
			change(next, of);
	}
	kept_clear(&kept);
	return 0;
}

static void
see_changes(const struct look *before, struct look *next)
{
	for (uint32_t i = 0; i < next->count; i++)
		if (i >= before->count || next->at[i].pos != before->at[i].pos)
			change(next, &next->at[i]);
}

int
look_again(const struct look *before, struct look *next, struct fetch *fetch,
    struct arena *texts, struct err *err)
{
	*next = (struct look){ .versions = before->versions };
	if (before->count > 0) {
		next->at = memory_copy(
		    before->at, before->count * sizeof(*before->at));
		next->count = next->room = before->count;
	}
	for (uint32_t i = 0; i < next->count; i++)
		next->at[i].is_found = false;
	if (read_partitions(next, fetch, texts, err) != 0) {
		look_clear(next);
		return -1;
	}
	see_changes(before, next);
	if (read_commits(next, fetch, err) == 0 &&
	    read_kept(next, fetch, err) == 0)
		return 0;
	look_clear(next);
	return -1;
}

void
look_clear(struct look *look)
{
	free(look->at);
	*look = (struct look){ .at = NULL };
}

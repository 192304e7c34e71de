/*
 * look - which partitions an archive has.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/look.h"

#include <stdlib.h>

#include "aggregator/archive/kept.h"
#include "aggregator/archive/partitions.h"
#include "proto/base/memory.h"
#include "proto/hash/string_table.h"
#include "proto/os/clock.h"

/* What an archive does not keep is gone after that time. */
#define DELETING_NS (300 * NS_PER_SECOND)

struct looking {
	struct look *to;
	struct string_table places; /* of the partitions, by part */
	struct string_table lost;   /* parts */
	struct arena *texts;
};

static struct text
part_text(const uint64_t *part)
{
	return (struct text){ (const char *)part, sizeof(*part) };
}

static struct look_partition *
add_partition(struct looking *looking, uint64_t part)
{
	struct look *look = looking->to;

	MEMORY_GROW(look->at, look->room, look->count);
	look->at[look->count] =
	    (struct look_partition){ .part = part, .kept_hour = INT64_MIN };
	(void)string_table_add(&looking->places, part_text(&part));
	return &look->at[look->count++];
}

/* NULL: there is none. */
static struct look_partition *
find_partition(struct looking *looking, uint64_t part)
{
	uint32_t place;

	return string_table_find(&looking->places, part_text(&part), &place)
		   ? &looking->to->at[place]
		   : NULL;
}

static void
find_places(struct looking *looking)
{
	string_table_clear(&looking->places);
	string_table_init(&looking->places);
	for (uint32_t i = 0; i < looking->to->count; i++)
		(void)string_table_add(
		    &looking->places, part_text(&looking->to->at[i].part));
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
	uint64_t part = fetch_uint(row);
	struct look_partition *to = find_partition(looking, part);
	uint64_t pos = fetch_uint(row);
	struct text name = fetch_text(row);
	uint32_t first;

	if (to == NULL)
		to = add_partition(looking, part);
	/* Of several replicas' rows the newest counts. */
	if (to->is_found && pos <= to->pos)
		return 0;
	to->is_found = true;
	to->is_lost = false;
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
read_partitions(struct looking *looking, struct fetch *fetch, struct err *err)
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
	struct look *next = looking->to;
	uint32_t before = next->count;
	int rc =
	    fetch_each(fetch, columns, sizeof(columns) / sizeof(columns[0]),
		sql, take_partition, looking, err);

	free(sql);
	/* Those that were there keep their numbers. */
	if (next->count > before + 1) {
		qsort(next->at + before, next->count - before,
		    sizeof(*next->at), compare_partitions);
		find_places(looking);
	}
	return rc;
}

static int
take_commit(void *arg, struct fetch *row, struct err *err)
{
	struct looking *looking = arg;
	uint64_t part = fetch_uint(row), pos = fetch_uint(row);
	/* Or committed without a count, which has a name. */
	bool is_counted = fetch_uint(row) > 0;
	struct look_partition *of = find_partition(looking, part);

	(void)err;
	if (of == NULL && is_counted)
		(void)string_table_add(&looking->lost, part_text(&part));
	if (of != NULL && of->committed < pos) {
		of->committed = pos;
		change(looking->to, of);
	}
	if (of != NULL && is_counted && !of->is_found && !of->is_lost) {
		of->is_lost = true;
		change(looking->to, of);
	}
	return 0;
}

/* Those that were committed and that nobody has: others are answered, and these
 * not (look_refuse).  -1: readers would not hear of one. */
static int
add_lost(struct looking *looking, struct fetch *fetch, struct err *err)
{
	struct partitions named = { .at = NULL };
	uint32_t found = 0, number;
	int rc = 0;

	if (looking->lost.count == 0)
		return 0;
	rc = partitions_read(&named, fetch->client, NULL, err);
	for (uint32_t i = 0; rc == 0 && i < named.count; i++) {
		struct look_partition *of;

		if (!string_table_find(
			&looking->lost, part_text(&named.at[i].part), &number))
			continue;
		of = add_partition(looking, named.at[i].part);
		of->name =
		    arena_text(looking->texts, text_of(named.at[i].name));
		of->is_lost = true;
		change(looking->to, of);
		found++;
	}
	partitions_clear(&named);
	if (rc == 0 && found < looking->lost.count)
		rc = err_set(err,
		    "archive: no replica has the row of a pool in table "
		    "partitions, nor its name, although it was committed: run "
		    "poolscope archive verify --repair where its store is");
	return rc;
}

int
look_refuse(struct text name, struct err *err)
{
	return err_set(err,
	    "archive: no replica has the row of pool %.*s in table "
	    "partitions, although it was committed: it was deleted or lost; "
	    "see poolscope archive verify",
	    (int)name.bytes, name.at);
}

static int
read_commits(struct looking *looking, struct fetch *fetch, struct err *err)
{
	static const struct native_column columns[] = {
		{ "part", NATIVE_UINT64 },
		{ "last", NATIVE_UINT64 },
		{ "counted", NATIVE_UINT64 },
	};
	char *sql = memory_format("SELECT part, max(pos) AS last, "
				  "countIf(tbl = 'partitions' AND (rows > 0 OR "
				  "name != '')) AS counted FROM %s.commits "
				  "GROUP BY part",
	    clickhouse_database(fetch->client));
	int rc = fetch_each(fetch, columns, 3, sql, take_commit, looking, err);

	free(sql);
	return rc == 0 ? add_lost(looking, fetch, err) : rc;
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

		/* A TTL goes on by an hour each hour. */
		if (hour != INT64_MIN && hour == of->kept_hour + 1)
			change(next, of);
		else if (hour != of->kept_hour)
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
		if (i >= before->count ||
		    next->at[i].pos != before->at[i].pos ||
		    (before->at[i].is_lost && next->at[i].is_found))
			change(next, &next->at[i]);
}

static int
look_at_all(const struct look *before, struct looking *looking,
    struct fetch *fetch, struct err *err)
{
	if (read_partitions(looking, fetch, err) != 0)
		return -1;
	see_changes(before, looking->to);
	return read_commits(looking, fetch, err) == 0
		   ? read_kept(looking->to, fetch, err)
		   : -1;
}

int
look_again(const struct look *before, struct look *next, struct fetch *fetch,
    struct arena *texts, struct err *err)
{
	struct looking looking = { .to = next, .texts = texts };
	int rc;

	*next = (struct look){ .versions = before->versions };
	if (before->count > 0) {
		next->at = memory_copy(
		    before->at, before->count * sizeof(*before->at));
		next->count = next->room = before->count;
	}
	for (uint32_t i = 0; i < next->count; i++)
		next->at[i].is_found = false;
	string_table_init(&looking.lost);
	string_table_init(&looking.places);
	find_places(&looking);
	rc = look_at_all(before, &looking, fetch, err);
	string_table_clear(&looking.places);
	string_table_clear(&looking.lost);
	if (rc != 0)
		look_clear(next);
	return rc;
}

void
look_clear(struct look *look)
{
	free(look->at);
	*look = (struct look){ .at = NULL };
}

/*
 * read - an archive as if it were a store.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/read_private.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/question.h"
#include "aggregator/archive/schema/schema.h"
#include "proto/base/memory.h"
#include "proto/base/varint.h"
#include "proto/os/clock.h"

#define MADE_BYTES_MAX (UINT64_C(256) << 20)
/* What an archive does not keep is gone after that time. */
#define DELETING_NS (300 * NS_PER_SECOND)

/* ---- partitions ---- */

static struct read_partition *
find_partition(struct archive_read *read, uint64_t part)
{
	for (uint32_t i = 0; i < read->partitions; i++)
		if (read->partition[i].part == part)
			return &read->partition[i];
	read->partition = memory_grow(read->partition, &read->partition_room,
	    read->partitions, sizeof(*read->partition));
	read->partition[read->partitions] =
	    (struct read_partition){ .part = part, .kept_hour = INT64_MIN };
	return &read->partition[read->partitions++];
}

static int
take_partition(void *arg, struct fetch *row, struct err *err)
{
	struct archive_read *read = arg;
	struct read_partition *to = find_partition(read, fetch_uint(row));
	uint64_t pos = fetch_uint(row);
	struct text name = fetch_text(row);
	uint32_t first;

	(void)err;
	to->is_changed = to->pos != pos;
	to->pos = pos;
	if (to->name.bytes == 0)
		to->name = arena_text(&read->texts, name);
	to->counts.nodes = fetch_uint(row);
	to->counts.first_ns = fetch_int(row);
	to->counts.last_ns = fetch_int(row);
	to->counts.oldest_ns = fetch_int(row);
	to->counts.rejected_bytes = fetch_uint(row);
	to->counts.rejected_cut = fetch_uint(row);
	to->counts.last_entry = fetch_uint(row);
	if (native_read_array(row->reader, row->column, row->row, &first) ==
	    RECORD_KINDS)
		for (uint32_t i = 0; i < RECORD_KINDS; i++)
			to->counts.records[i] = native_read_uint(
			    row->reader, row->column, first + i);
	return 0;
}

static int
compare_partitions(const void *a, const void *b)
{
	const struct read_partition *x = a, *y = b;

	return text_compare(x->name, y->name);
}

static int
read_partitions(struct archive_read *read, struct err *err)
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
	const char *database = clickhouse_database(read->fetch.client);
	char *sql = memory_format(
	    "SELECT part, pos, name, nodes, first_ns, last_ns, oldest_ns, "
	    "rejected_bytes, rejected_cut, last_entry, records "
	    "FROM %s.partitions FINAL",
	    database);
	uint32_t before = read->partitions;
	int rc = fetch_all(&read->fetch, columns,
	    sizeof(columns) / sizeof(columns[0]), sql, take_partition, read,
	    err);

	free(sql);
	/* Those that were there keep their numbers. */
	if (read->partitions > before + 1)
		qsort(read->partition + before, read->partitions - before,
		    sizeof(*read->partition), compare_partitions);
	return rc;
}

static int
take_commit(void *arg, struct fetch *row, struct err *err)
{
	struct archive_read *read = arg;
	uint64_t part = fetch_uint(row), pos = fetch_uint(row);

	(void)err;
	for (uint32_t i = 0; i < read->partitions; i++) {
		struct read_partition *of = &read->partition[i];

		if (of->part != part || of->committed >= pos)
			continue;
		of->committed = pos;
		of->is_changed = true;
	}
	return 0;
}

static int
read_commits(struct archive_read *read, struct err *err)
{
	static const struct native_column columns[] = {
		{ "part", NATIVE_UINT64 },
		{ "last", NATIVE_UINT64 },
	};
	char *sql = memory_format("SELECT part, max(pos) AS last FROM "
				  "%s.commits GROUP BY part",
	    clickhouse_database(read->fetch.client));
	int rc =
	    fetch_all(&read->fetch, columns, 2, sql, take_commit, read, err);

	free(sql);
	return rc;
}

/* Servers delete rows some time after an archive keeps them no longer. */
static int
read_kept(struct archive_read *read, struct err *err)
{
	int64_t now_ns = clock_monotonic_ns();
	struct kept kept;

	if (kept_read(&kept, read->fetch.client, err) != 0)
		return -1;
	for (uint32_t i = 0; i < read->partitions; i++) {
		struct read_partition *of = &read->partition[i];
		int64_t hour = kept_from(&kept, of->part);

		if (hour != of->kept_hour)
			of->kept_ns = now_ns;
		of->kept_hour = hour;
		of->is_changed |=
		    hour != INT64_MIN && now_ns - of->kept_ns < DELETING_NS;
	}
	kept_clear(&kept);
	return 0;
}

int
archive_read_expected(
    struct archive_read *read, struct read_partition *of, struct err *err)
{
	return of->expected.is_read ? 0
				    : expected_read(&of->expected,
					  read->fetch.client, of->part, err);
}

/* Has the replica what was committed? */
static int
is_whole(void *arg, const struct fetch_must *must, unsigned shard,
    unsigned replica, struct err *err)
{
	struct archive_read *read = arg;
	struct read_partition *of = find_partition(read, must->part);
	struct expected_rows *rows;

	if (archive_read_expected(read, of, err) != 0)
		return -1;
	rows = expected_of(&of->expected, must->table, must->hour, shard);
	return rows == NULL || (must->table < SCHEMA_PHASES &&
				   must->hour < of->kept_hour)
		   ? 1
		   : expected_is_there(rows, read->fetch.client, of->part,
			 replica, NULL, err);
}

struct read_partition *
archive_read_partition(
    struct archive_read *read, uint32_t number, struct err *err)
{
	struct read_partition *of;

	if (number == 0 || number > read->partitions)
		return NULL;
	of = &read->partition[number - 1];
	if (of->names == NULL &&
	    names_read(&of->names, &read->fetch, of->part, err) != 0)
		return NULL;
	return of;
}

struct read_partition *
archive_read_whole(struct archive_read *read, struct text key, uint32_t before,
    struct made *range, int *rc, struct err *err)
{
	unsigned char from[8] = { 0 }, to[8] = { 0 };
	uint32_t bytes = before + (uint32_t)sizeof(uint32_t), number;
	struct read_partition *of;

	memcpy(from, key.at, key.bytes < bytes ? key.bytes : bytes);
	memcpy(to, from, before);
	number = varint_get_u32_be(from + before);
	varint_put_u32_be(to + before, number + 1);
	made_set_range(range, (struct text){ (char *)from, bytes },
	    (struct text){ (char *)to, bytes });
	of = archive_read_partition(read, number, err);
	*rc = of == NULL && number > 0 && number <= read->partitions ? -1 : 0;
	return of;
}

/* ---- names ---- */

static struct text
number_text(struct archive_read *read, uint32_t number)
{
	unsigned char bytes[4];

	varint_put_u32_be(bytes, number);
	return arena_text(&read->values,
	    (struct text){ (char *)bytes, number != 0 ? sizeof(bytes) : 0 });
}

static int
partition_name(struct archive_read *read, struct text key, struct text *value)
{
	struct text rest = { key.at + 5, key.bytes - 5 };
	uint32_t number;

	if (key.at[0] == 'n') {
		number = varint_get_u32_be(rest.at);
		if (number == 0) {
			unsigned char bytes[8] = { 0 };

			varint_put_u32_be(bytes, read->partitions);
			varint_put_u32_be(bytes + 4, read->partitions);
			*value = arena_text(&read->values,
			    (struct text){ (char *)bytes, sizeof(bytes) });
			return 1;
		}
		if (number > read->partitions)
			return 0;
		*value = read->partition[number - 1].name;
		return 1;
	}
	for (uint32_t i = 0; i < read->partitions; i++)
		if (text_equal(read->partition[i].name, rest)) {
			*value = number_text(read, i + 1);
			return 1;
		}
	return 0;
}

/* A name by its number, or the number by the name: asked for one by one, and
 * some get their numbers while rows are made. */
static int
find_name(struct archive_read *read, struct text key, struct text *value,
    struct err *err)
{
	struct text rest = { key.at + 5, key.bytes - 5 };
	struct read_partition *of;
	uint32_t partition;

	if (key.bytes < 5 || (key.at[0] != 't' && key.bytes != 9))
		return 0;
	partition = varint_get_u32_be(key.at + 1);
	if (partition == 0)
		return partition_name(read, key, value);
	of = archive_read_partition(read, partition, err);
	if (of == NULL)
		return partition > read->partitions ? 0 : -1;
	if (key.at[0] == 'n' || key.at[0] == 'r')
		return names_text(of->names, varint_get_u32_be(rest.at), value);
	*value = number_text(read, names_find(of->names, rest));
	return value->bytes > 0;
}

/* The nodes of a partition, from a number on. */
static int
put_nodes(struct archive_read *read, struct made *range, struct text key,
    struct err *err)
{
	uint32_t partition = varint_get_u32_be(key.at + 1), number = 0;
	struct read_partition *of =
	    archive_read_partition(read, partition, err);
	unsigned char from[9] = { 'd' }, to[5] = { 'd' };
	bool is_host;

	if (of == NULL && partition > 0 && partition <= read->partitions)
		return -1;
	varint_put_u32_be(from + 1, partition);
	varint_put_u32_be(to + 1, partition + 1);
	made_set_range(range, (struct text){ (char *)from, 5 },
	    (struct text){ (char *)to, 5 });
	while (of != NULL && names_next_node(of->names, &number, &is_host)) {
		varint_put_u32_be(from + 5, number++);
		made_put(range, (struct text){ (char *)from, 9 },
		    (struct text){ "h", is_host });
	}
	return 0;
}

static bool
is_latest(struct text key)
{
	return key.bytes > 0 && key.at[0] == 'l';
}

/* ---- ranges ---- */

static int
make(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	switch (range->table) {
	case TABLES_ENTITIES: return read_entities(read, key, range, err);
	case TABLES_RUNS: return read_runs(read, key, range, err);
	case TABLES_RUN_TIMES: return read_run_times(read, key, range, err);
	case TABLES_GROUPS: return read_groups(read, key, range, err);
	case TABLES_NAMES:
		if (is_latest(key))
			return read_latest(read, key, range, err);
		return key.bytes >= 5 && key.at[0] == 'd'
			   ? put_nodes(read, range, key, err)
			   : 0;
	case TABLES_META: return read_facts(read, range, err);
	case TABLES_ROW_BLOCKS:
	case TABLES_ROLLUPS:
	case TABLES_ROLLUPS_END: return read_records(read, key, range, err);
	case TABLES_PHASES: return read_phases(read, key, range, err);
	case TABLES_STATS: return read_stats(read, key, range, err);
	case TABLES_STREAMS: return read_streams(read, key, range, err);
	case TABLES_ONCE: return read_known(read, key, range, err);
	default: return 0; /* all of the table: no rows */
	}
}

/* Keep it, and forget those that were not used for long. */
static void
keep(struct archive_read *read, struct made *range)
{
	range->next = read->made[range->table];
	read->made[range->table] = range;
	read->made_bytes += range->bytes.used;
}

static void
forget_all(struct archive_read *read, unsigned table)
{
	while (read->made[table] != NULL) {
		struct made *range = read->made[table];

		read->made[table] = range->next;
		read->made_bytes -= range->bytes.used;
		made_free(&range);
	}
}

/* Those that were not used for long. */
static void
forget_oldest(struct archive_read *read, unsigned table)
{
	struct made **last = &read->made[table];

	while (*last != NULL && read->made_bytes > MADE_BYTES_MAX) {
		for (last = &read->made[table]; (*last)->next != NULL;
		     last = &(*last)->next)
			;
		read->made_bytes -= (*last)->bytes.used;
		made_free(last);
		last = &read->made[table];
	}
}

static struct made *
range_of(
    struct archive_read *read, unsigned table, struct text key, struct err *err)
{
	struct made **at = &read->made[table], *range;

	for (; *at != NULL; at = &(*at)->next)
		if (made_has(*at, table, key)) {
			range = *at;
			*at = range->next;
			range->next = read->made[table];
			return read->made[table] = range;
		}
	range = made_new(table);
	if (make(read, key, range, err) != 0) {
		made_free(&range);
		return NULL;
	}
	keep(read, range);
	return range;
}

static int
give(const struct made *range, uint32_t at, struct text *found,
    struct text *value)
{
	*found = range->at[at].key;
	*value = range->at[at].value;
	return 1;
}

/* A walk does not leave the front of the key that it began at: a partition, and
 * the kind of records.  What is behind is of other questions. */
static bool
leaves(unsigned table, struct text key, struct text next)
{
	bool is_by_kind = table == TABLES_ROW_BLOCKS || table == TABLES_NAMES ||
			  table == TABLES_ROLLUPS ||
			  table == TABLES_ROLLUPS_END;
	uint32_t front = sizeof(uint32_t) + is_by_kind;

	return next.bytes < front || key.bytes < front ||
	       memcmp(key.at, next.at, front) != 0;
}

/* From the key on, or behind it. */
static int
forward(struct archive_read *read, unsigned table, struct text key,
    bool is_after, struct text *found, struct text *value, struct err *err)
{
	for (;;) {
		struct made *range = range_of(read, table, key, err);
		uint32_t at;

		if (range == NULL)
			return -1;
		at = made_find(range, key);
		if (is_after && at < range->count &&
		    text_equal(range->at[at].key, key))
			at++;
		if (at < range->count)
			return give(range, at, found, value);
		if (leaves(table, key, range->to))
			return 0;
		key = range->to;
		is_after = false;
	}
}

/* Only of tables that are made as a whole for a partition, which is the one in
 * use. */
static int
backward(struct archive_read *read, unsigned table, struct text key,
    bool is_last, struct text *found, struct text *value, struct err *err)
{
	unsigned char last[4];
	struct made *range;
	uint32_t at;

	varint_put_u32_be(last, read->used);
	if (is_last)
		key = (struct text){ (char *)last, sizeof(last) };
	range = range_of(read, table, key, err);
	if (range == NULL)
		return -1;
	at = is_last ? range->count : made_find(range, key);
	return at > 0 ? give(range, at - 1, found, value) : 0;
}

static int
row(void *arg, unsigned table, enum db_source_place place, struct text key,
    struct text *found, struct text *value, struct err *err)
{
	struct archive_read *read = arg;
	struct made *range;
	uint32_t at;

	switch (place) {
	case DB_SOURCE_AT:
		*found = key;
		if (table == TABLES_NAMES && !is_latest(key))
			return find_name(read, key, value, err);
		range = range_of(read, table, key, err);
		if (range == NULL)
			return -1;
		at = made_find(range, key);
		return at < range->count && text_equal(range->at[at].key, key)
			   ? give(range, at, found, value)
			   : 0;
	case DB_SOURCE_FROM:
	case DB_SOURCE_AFTER:
		return forward(read, table, key, place == DB_SOURCE_AFTER,
		    found, value, err);
	default:
		return backward(read, table, key, place == DB_SOURCE_LAST,
		    found, value, err);
	}
}

int
archive_read_next(struct archive_read *read, unsigned table, struct text front,
    struct text key, bool is_after, struct text *found, struct text *value,
    struct err *err)
{
	int rc = forward(read, table, key, is_after, found, value, err);

	return rc == 1 && (found->bytes < front.bytes ||
			      memcmp(found->at, front.at, front.bytes) != 0)
		   ? 0
		   : rc;
}

void
archive_read_rest(struct archive_read *read)
{
	arena_reset(&read->values);
	for (unsigned i = 0; i < TABLES_COUNT; i++)
		forget_oldest(read, i);
}

static void
end(void *arg)
{
	archive_read_rest(arg);
}

/* ---- pages ---- */

/* Of which partition is the range?  0: of several. */
static uint32_t
partition_of(const struct made *range)
{
	uint32_t before = range->table == TABLES_NAMES;

	return range->table == TABLES_META ||
		       range->from.bytes < before + sizeof(uint32_t)
		   ? 0
		   : varint_get_u32_be(range->from.at + before);
}

/* What was read of partitions that have changed since. */
static void
forget_changed(struct archive_read *read)
{
	for (unsigned i = 0; i < TABLES_COUNT; i++)
		for (struct made **at = &read->made[i]; *at != NULL;) {
			struct made *range = *at;
			uint32_t number = partition_of(range);

			if (number > 0 && number <= read->partitions &&
			    !read->partition[number - 1].is_changed) {
				at = &range->next;
				continue;
			}
			*at = range->next;
			read->made_bytes -= range->bytes.used;
			made_free(&range);
		}
	for (uint32_t i = 0; i < read->partitions; i++) {
		struct read_partition *of = &read->partition[i];

		if (!of->is_changed)
			continue;
		names_free(&of->names);
		read_phases_clear(&of->phases);
		of->expected.is_read = of->is_changed = false;
		if (read->plan.partition == i + 1)
			read->plan.partition = 0;
	}
}

void
archive_read_use(struct archive_read *read, uint32_t number)
{
	if (number == read->used)
		return;
	read->used = number;
	forget_all(read, TABLES_META);
}

static void
use(struct archive_read *read, struct text partition)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < read->partitions; i++)
		if (text_equal(read->partition[i].name, partition))
			number = i + 1;
	archive_read_use(read, number);
}

/* Read again what there is, and forget what has changed. */
static int
refresh(struct archive_read *read, struct err *err)
{
	if (clickhouse_find(read->fetch.client, err) != 0 ||
	    schema_check(read->fetch.client, err) != 0 ||
	    read_partitions(read, err) != 0 || read_commits(read, err) != 0 ||
	    read_kept(read, err) != 0)
		return -1;
	forget_changed(read);
	read->read_ns = clock_monotonic_ns();
	return 0;
}

/* -1: a shard has too few replicas for a commit, so nothing newer comes. */
static int
see_copies(struct clickhouse *client, struct err *err)
{
	const struct clickhouse_cluster *cluster = clickhouse_cluster(client);

	for (unsigned s = 0; s < cluster->shards; s++) {
		const struct clickhouse_shard *shard = &cluster->shard[s];
		unsigned up = 0;

		for (unsigned r = 0; r < shard->replicas; r++)
			up += shard->replica[r].up;
		if (up < question_copies(client, s))
			return err_set(err,
			    "archive: %u of %u replicas of shard %u answer: "
			    "aggregators commit nothing until another one does",
			    up, shard->replicas, s + 1);
	}
	return 0;
}

/* Note how the last attempt went. */
static void
note(struct archive_read *read, int rc, const struct err *err)
{
	struct archive_read_state *state = read->options.state;

	if (state == NULL)
		return;
	pthread_mutex_lock(&state->lock);
	state->status.partitions = read->partitions;
	state->status.failed += rc != 0;
	if (rc == 0)
		state->status.until_ns = clock_wall_ns();
	snprintf(state->status.error, sizeof(state->status.error), "%.199s",
	    rc != 0 ? err->text : "");
	pthread_mutex_unlock(&state->lock);
}

static int
begin(void *arg, const struct wire_header *header,
    const struct wire_query *query, struct err *err)
{
	struct archive_read *read = arg;
	bool is_old =
	    clock_monotonic_ns() - read->read_ns > ARCHIVE_READ_OLD_NS;
	int rc;

	if (header->type == WIRE_FOLLOW)
		return err_set(err, "an archive cannot be followed");
	if (query->cursor.bytes == 0 && is_old) {
		rc = refresh(read, err);
		if (rc == 0 && read->options.state != NULL)
			rc = see_copies(read->fetch.client, err);
		note(read, rc, err);
		read->read_ns = clock_monotonic_ns();
		/* Where the status says so, answers have what was read. */
		if (rc != 0 && read->options.state == NULL)
			return -1;
	}
	use(read, header->partition);
	return 0;
}

void
archive_read_look(
    struct archive_read_state *state, struct archive_read_status *status)
{
	pthread_mutex_lock(&state->lock);
	*status = state->status;
	pthread_mutex_unlock(&state->lock);
}

/* ---- opening ---- */

void
archive_read_free(struct archive_read *read)
{
	for (uint32_t i = 0; i < read->partitions; i++)
		read->partition[i].is_changed = true;
	forget_changed(read);
	for (uint32_t i = 0; i < read->partitions; i++)
		expected_clear(&read->partition[i].expected);
	free(read->partition);
	read_plan_clear(&read->plan);
	compacted_row_writer_free(&read->columns);
	arena_clear(&read->texts);
	arena_clear(&read->values);
	db_close(&read->db);
	clickhouse_close(&read->fetch.client);
	free(read);
}

static void
close_read(void *arg)
{
	archive_read_free(arg);
}

static int
beside(void *arg, struct reader **reader, struct err *err)
{
	const struct archive_read *read = arg;

	return archive_read_open(reader, &read->options, err);
}

int
archive_read_new(struct archive_read **out,
    const struct archive_read_options *options, struct err *err)
{
	struct archive_read *read = memory_zero(1, sizeof(*read));
	int rc;

	read->options = *options;
	read->source = (struct db_source){ row, end, read };
	read->db = db_open_source(&read->source);
	read->fetch.has = is_whole;
	read->fetch.has_arg = read;
	rc = clickhouse_open(
	    &read->fetch.client, &options->clickhouse, options->option, err);
	if (rc == 0)
		rc = refresh(read, err);
	note(read, rc, err);
	if (rc != 0) {
		archive_read_free(read);
		read = NULL;
	}
	*out = read;
	return rc;
}

int
archive_read_open(struct reader **reader,
    const struct archive_read_options *options, struct err *err)
{
	static const struct reader_origin origin = { begin, beside,
		close_read };
	struct archive_read *read;

	*reader = NULL;
	if (archive_read_new(&read, options, err) != 0)
		return -1;
	*reader = reader_open_made(read->db, &origin, read);
	return 0;
}

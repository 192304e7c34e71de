/*
 * records - row blocks of an hour, made of its records.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/read_private.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/rows/typed.h"
#include "aggregator/tables/key.h"
#include "proto/base/memory.h"

enum {
	CHUNK_BYTES = 24 << 20, /* of an answer, about */
	NAMES_BYTES =
	    1 << 17,        /* in a statement, of which servers take 256 KiB */
	ANSWERS_MAX = 1000, /* of some series */
};

struct item {
	uint32_t node, track;
	struct row_block_item is;
};

struct records {
	struct names *names;
	struct read_covered *covered;
	struct key_row_block key; /* kind and hour */
	struct item *at;
	uint32_t count, room;
	struct arena bodies;
	struct buffer body;
};

/* ---- which hours there are ---- */

struct hours {
	int32_t from, first; /* the first one from `from` on; INT32_MAX: none */
};

static int
take_hour(void *arg, struct fetch *row, struct err *err)
{
	struct hours *hours = arg;
	bool is_any = fetch_uint(row) != 0;
	int32_t hour = (int32_t)fetch_int(row);

	if (is_any && !key_is_hour(hour))
		return err_set(err, "archive: a row of hour %d", hour);
	if (is_any && hour < hours->first)
		hours->first = hour;
	return 0;
}

static int
find_hour(struct archive_read *read, uint64_t part, enum rollup_step step,
    const struct schema_table *table, struct hours *hours, struct err *err)
{
	static const struct native_column columns[] = {
		{ "n", NATIVE_UINT64 },
		{ "h", NATIVE_INT32 },
	};
	char *sql = memory_format(
	    "SELECT count() AS n, min(hour) AS h FROM %s.%s WHERE part = %llu "
	    "AND hour >= %d%s%s",
	    clickhouse_database(read->fetch.client), table->name,
	    (unsigned long long)part, hours->from,
	    step != ROLLUP_RAW ? " AND step = " : "",
	    step == ROLLUP_RAW    ? ""
	    : step == ROLLUP_1MIN ? "1"
				  : "2");
	int rc =
	    fetch_all(&read->fetch, columns, 2, sql, take_hour, hours, err);

	free(sql);
	return rc;
}

/* ---- records ---- */

/* Bodies have names as texts. */
static uint32_t
no_number(void *context, struct text name)
{
	(void)context;
	(void)name;
	return 0;
}

static int
take_record(void *arg, struct fetch *row, struct err *err)
{
	static const struct archive_numbers numbers = { no_number, NULL };
	struct records *records = arg;
	enum record_kind kind = (enum record_kind)records->key.kind;
	struct item item = { .track = 0 };
	struct archive_row of;

	if (!fetch_record(row, kind, &of))
		return err_set(
		    err, "archive: a record has more than a record can have");
	of.stream = names_session(records->names, of.session);
	if (read_is_left(records->covered, of.stream, of.seq, of.pos))
		return 0;
	item.node = names_number(records->names, of.node);
	item.track = names_number(records->names, of.track);
	if (!archive_record(&of, kind, &numbers, &item.is, &records->body))
		return err_set(err, "archive: a malformed record in table %s",
		    typed_of_kind(kind)->name);
	item.is.body = arena_text(&records->bodies, item.is.body);
	*MEMORY_ADD(records->at, records->room, records->count) = item;
	return 0;
}

static int
compare_by_node(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = key_compare_series(
	    RECORD_EVENT, x->node, x->track, y->node, y->track);

	return order != 0 ? order : row_block_compare(&x->is, &y->is);
}

static int
compare_by_track(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = key_compare_series(
	    RECORD_SAMPLE, x->node, x->track, y->node, y->track);

	return order != 0 ? order : row_block_compare(&x->is, &y->is);
}

static void
put_row(struct records *records, struct made *range,
    struct row_block_builder *row, const struct item *of)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct key_row_block key = records->key;

	key.node = of->node;
	key.track = of->track;
	key.first_ns = row->first_ns;
	key.row = ++records->key.row;
	key_put_row_block(bytes, &key);
	made_put(range, (struct text){ (char *)bytes, sizeof(bytes) },
	    row_block_finish(row));
	row_block_begin(row);
}

/* Rows in the order of their keys; equal records are one. */
static void
put_rows(struct records *records, struct made *range)
{
	int (*compare)(const void *, const void *) =
	    key_is_by_track(records->key.kind) ? compare_by_track
					       : compare_by_node;
	struct row_block_builder row = { .records = 0 };
	const struct item *last = NULL;

	if (records->count > 1)
		qsort(
		    records->at, records->count, sizeof(*records->at), compare);
	row_block_begin(&row);
	for (uint32_t i = 0; i < records->count; i++) {
		const struct item *item = &records->at[i];

		if (last != NULL && compare(last, item) == 0)
			continue;
		if (last != NULL &&
		    (last->node != item->node || last->track != item->track))
			put_row(records, range, &row, last);
		if (!row_block_add(&row, &item->is)) {
			put_row(records, range, &row, last);
			(void)row_block_add(&row, &item->is);
		}
		last = item;
	}
	if (last != NULL)
		put_row(records, range, &row, last);
	buffer_clear(&row.bytes);
}

/* ---- which series an hour has ---- */

static int
take_series(void *arg, struct fetch *row, struct err *err)
{
	struct read_plan *plan = arg;
	struct read_series series = { .node = 0 };

	(void)err;
	series.node = names_number(plan->names, fetch_text(row));
	series.track = names_number(plan->names, fetch_text(row));
	series.bytes = fetch_uint(row);
	plan->bytes += series.bytes;
	*MEMORY_ADD(plan->at, plan->room, plan->count) = series;
	return 0;
}

static int
compare_nodes(const void *a, const void *b)
{
	const struct read_series *x = a, *y = b;

	return key_compare_series(
	    RECORD_EVENT, x->node, x->track, y->node, y->track);
}

int
read_compare_tracks(const void *a, const void *b)
{
	const struct read_series *x = a, *y = b;

	return key_compare_series(
	    RECORD_SAMPLE, x->node, x->track, y->node, y->track);
}

static const char *
bytes_sql(enum record_kind kind)
{
	switch (kind) {
	case RECORD_SAMPLE: return "90 + 9 * length(v) + 8 * length(big)";
	case RECORD_GAP: return "150";
	case RECORD_REJECTED: return "250 + length(body)";
	default:
		return "200 + 4 * length(keys) + "
		       "length(arrayStringConcat(keys)) + "
		       "length(arrayStringConcat(vals))";
	}
}

static int
read_series(struct archive_read *read, uint64_t part, struct err *err)
{
	static const struct native_column columns[] = {
		{ "a", NATIVE_STRING },
		{ "b", NATIVE_STRING },
		{ "n", NATIVE_UINT64 },
	};
	struct read_plan *plan = &read->plan;
	enum record_kind kind = (enum record_kind)plan->kind;
	char *sql = memory_format(
	    "SELECT node AS a, %s AS b, sum(toUInt64(%s)) AS n FROM %s.%s "
	    "WHERE part = %llu AND hour = %d GROUP BY a, b",
	    key_is_by_track(plan->kind) ? "track" : "''", bytes_sql(kind),
	    clickhouse_database(read->fetch.client), typed_of_kind(kind)->name,
	    (unsigned long long)part, plan->hour);
	int rc =
	    fetch_all(&read->fetch, columns, 3, sql, take_series, plan, err);

	free(sql);
	return rc;
}

/* Records of one node (and, of samples, track) come together, in the order of
 * numbers. */
static int
make_plan(struct archive_read *read, struct read_partition *of,
    const struct key_row_block *key, enum rollup_step step, struct err *err)
{
	struct read_plan *plan = &read->plan;
	int rc;

	if (plan->partition == key->partition && plan->kind == key->kind &&
	    plan->hour == key->hour && plan->step == step)
		return 0;
	plan->partition = plan->count = 0;
	plan->bytes = 0;
	plan->names = of->names;
	plan->kind = key->kind;
	plan->hour = key->hour;
	plan->step = step;
	rc = step != ROLLUP_RAW ? read_rollup_plan(read, of->part, err)
				: read_series(read, of->part, err);
	if (rc != 0)
		return -1;
	if (plan->count > 1)
		qsort(plan->at, plan->count, sizeof(*plan->at),
		    key_is_by_track(key->kind) ? read_compare_tracks
					       : compare_nodes);
	plan->partition = key->partition;
	return 0;
}

/* The node in the key of the row that has a series. */
static uint32_t
row_node(const struct read_plan *plan, uint32_t at)
{
	uint32_t node = plan->at[at].node;

	return plan->step != ROLLUP_RAW ? rollup_block(node) : node;
}

/* The first series of the plan that is not before the key. */
static uint32_t
find_series(const struct read_plan *plan, const struct key_row_block *key)
{
	uint32_t i = 0;

	while (
	    i < plan->count &&
	    key_compare_series(plan->kind, row_node(plan, i), plan->at[i].track,
		key->node, key_is_by_track(plan->kind) ? key->track : 0) < 0)
		i++;
	return i;
}

static uint32_t
quoted_bytes(const struct names *names, uint32_t number)
{
	struct text name = { NULL, 0 };

	(void)names_text(names, number, &name);
	return (uint32_t)(2 * name.bytes + strlen("unhex(''), "));
}

/* How many series from `from` on to read at once: of one track, and all that
 * are in one row. */
static uint32_t
count_series(const struct read_plan *plan, uint32_t from)
{
	uint64_t bytes = 0;
	uint32_t count = 0, names = 0;
	bool has_room;

	while (from + count < plan->count &&
	       plan->at[from + count].track == plan->at[from].track) {
		const struct read_series *next = &plan->at[from + count];

		names += quoted_bytes(plan->names, next->node);
		has_room =
		    names <= NAMES_BYTES && bytes + next->bytes <= CHUNK_BYTES;
		if (count > 0 && !has_room &&
		    (plan->step == ROLLUP_RAW ||
			row_node(plan, from + count) !=
			    row_node(plan, from + count - 1)))
			break;
		bytes += next->bytes;
		count++;
	}
	return count;
}

static void
put_quoted(FILE *to, const struct names *names, uint32_t number)
{
	struct text name = { NULL, 0 };

	(void)names_text(names, number, &name);
	fputs("unhex('", to);
	for (uint32_t i = 0; i < name.bytes; i++)
		fprintf(to, "%02x", (unsigned char)name.at[i]);
	fputs("')", to);
}

static char *
where_sql(
    const struct read_plan *plan, uint64_t part, uint32_t from, uint32_t count)
{
	char *sql = NULL;
	size_t bytes;
	FILE *to = memory_stream(&sql, &bytes);

	fprintf(to, "part = %llu AND hour = %d", (unsigned long long)part,
	    plan->hour);
	if (count < plan->count) {
		if (key_is_by_track(plan->kind)) {
			fputs(" AND track = ", to);
			put_quoted(to, plan->names, plan->at[from].track);
		}
		for (uint32_t i = 0; i < count; i++) {
			fputs(i == 0 ? " AND node IN (" : ", ", to);
			put_quoted(to, plan->names, plan->at[from + i].node);
		}
		fputc(')', to);
	}
	memory_stream_end(&to);
	return sql;
}

/* In how many answers these series come: an answer has an end, an hour of a
 * node has none. */
static uint32_t
count_answers(const struct read_plan *plan, uint32_t from, uint32_t count)
{
	uint64_t bytes = 0;

	for (uint32_t i = from; i < from + count; i++)
		bytes += plan->at[i].bytes;
	return bytes / CHUNK_BYTES < ANSWERS_MAX
		   ? (uint32_t)(bytes / CHUNK_BYTES) + 1
		   : ANSWERS_MAX;
}

static int
read_chunk(struct archive_read *read, struct read_partition *of,
    const struct key_row_block *key, uint32_t from, uint32_t count,
    struct made *range, struct err *err)
{
	struct records records = {
		.names = of->names, .covered = read->covered, .key = *key
	};
	char *where = where_sql(&read->plan, of->part, from, count);
	uint32_t answers = count_answers(&read->plan, from, count);
	int rc = 0;

	if (read->plan.step != ROLLUP_RAW) {
		rc = read_rollup_rows(
		    read, where, answers, from, count, range, err);
		free(where);
		return rc;
	}
	records.key.row = 0;
	records.key.slice = 0;
	for (uint32_t i = 0; i < answers && rc == 0; i++) {
		char *some =
		    memory_format("%s AND seq %% %u = %u", where, answers, i);

		rc = fetch_typed(&read->fetch,
		    typed_of_kind((enum record_kind)key->kind), some,
		    take_record, &records, err);
		free(some);
	}
	free(where);
	if (rc == 0)
		put_rows(&records, range);
	free(records.at);
	buffer_clear(&records.body);
	arena_clear(&records.bodies);
	return rc;
}

void
read_plan_clear(struct read_plan *plan)
{
	free(plan->at);
	*plan = (struct read_plan){ .at = NULL };
}

/* ---- what must be there ---- */

static enum schema_number
number_of(uint8_t kind, enum rollup_step step)
{
	return step != ROLLUP_RAW
		   ? SCHEMA_ROLLUPS
		   : (enum schema_number)(
			 typed_of_kind((enum record_kind)kind) - schema_tables);
}

/* The first hour from `from` on that there is, or must be. */
static int
next_hour(struct archive_read *read, struct read_partition *of,
    enum rollup_step step, uint8_t kind, struct hours *hours, struct err *err)
{
	enum schema_number table = number_of(kind, step);
	int64_t from = step == ROLLUP_RAW && of->kept_hour > hours->from
			   ? of->kept_hour
			   : hours->from;
	int32_t hour;

	if (archive_read_expected(read, of, err) != 0 ||
	    find_hour(
		read, of->part, step, &schema_tables[table], hours, err) != 0)
		return -1;
	if (from > INT32_MAX)
		return 0;
	hour = expected_hour(&of->expected, table, (int32_t)from);
	if (hour < hours->first)
		hours->first = hour;
	return 0;
}

/* ---- ranges ---- */

static struct text
front(unsigned char to[static KEY_ROW_BLOCK_BYTES], uint32_t partition,
    uint8_t kind, int32_t hour)
{
	const struct key_row_block key = {
		.partition = partition, .kind = kind, .hour = hour
	};

	key_put_row_block(to, &key);
	return (struct text){ (char *)to, KEY_HOUR_BYTES };
}

/* A range with no rows, of all hours of the kind from `from` on. */
static void
put_none(struct made *range, const struct key_row_block *from)
{
	unsigned char a[KEY_ROW_BLOCK_BYTES], b[KEY_ROW_BLOCK_BYTES];

	made_set_range(range, front(a, from->partition, from->kind, from->hour),
	    from->kind < UINT8_MAX
		? front(
		      b, from->partition, (uint8_t)(from->kind + 1), INT32_MIN)
		: front(b, from->partition + 1, 0, INT32_MIN));
}

/* The place of a series of the plan. */
static struct text
series_place(unsigned char to[static KEY_ROW_BLOCK_BYTES],
    const struct read_plan *plan, uint32_t at)
{
	const struct key_row_block key = { .partition = plan->partition,
		.kind = plan->kind,
		.hour = plan->hour,
		.slice = plan->step,
		.node = row_node(plan, at),
		.track = plan->at[at].track,
		.first_ns = INT64_MIN };

	key_put_row_block(to, &key);
	return (struct text){ (char *)to, KEY_ROW_BLOCK_BYTES };
}

/* Some series of the hour, with the one of the key or the next. */
static int
read_hour(struct archive_read *read, struct read_partition *of,
    const struct key_row_block *from, int32_t hour, enum rollup_step step,
    struct made *range, struct err *err)
{
	unsigned char a[KEY_ROW_BLOCK_BYTES], b[KEY_ROW_BLOCK_BYTES];
	const struct read_plan *plan = &read->plan;
	struct key_row_block key = *from;
	uint32_t first = 0, count;

	if (from->hour < hour)
		key.slice = key.node = key.track = 0;
	key.hour = hour;
	if (make_plan(read, of, &key, step, err) != 0)
		return -1;
	if (plan->bytes > CHUNK_BYTES)
		first = key.slice > step   ? plan->count
			: key.slice < step ? 0
					   : find_series(plan, &key);
	count =
	    plan->bytes > CHUNK_BYTES ? count_series(plan, first) : plan->count;
	made_set_range(range,
	    first == 0 ? front(a, from->partition, from->kind, from->hour)
	    : first < plan->count
		? series_place(a, plan, first)
		: (struct text){ (char *)a,
		      (key_put_row_block(a, &key), KEY_ROW_BLOCK_BYTES) },
	    first + count < plan->count
		? series_place(b, plan, first + count)
		: front(b, from->partition, from->kind, hour + 1));
	return count > 0 ? read_chunk(read, of, &key, first, count, range, err)
			 : 0;
}

/* The table of the archive that has rows of such a key; NULL: none. */
static const struct schema_table *
table_of(const struct key_row_block *key, enum rollup_step step)
{
	if (step == ROLLUP_RAW)
		return typed_of_kind((enum record_kind)key->kind);
	return key->kind == RECORD_SAMPLE ? &schema_tables[SCHEMA_ROLLUPS]
					  : NULL;
}

int
read_records(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	unsigned char a[KEY_ROW_BLOCK_BYTES] = { 0 };
	enum rollup_step step = range->table == TABLES_ROW_BLOCKS ? ROLLUP_RAW
				: range->table == TABLES_ROLLUPS  ? ROLLUP_1MIN
								  : ROLLUP_1H;
	struct key_row_block from = { .partition = 0 };
	struct hours hours = { .first = INT32_MAX };
	const struct schema_table *table;
	struct read_partition *of;
	struct fetch_must must;
	int rc;

	if (key.bytes < KEY_HOUR_BYTES || key.bytes > sizeof(a))
		return 0;
	memcpy(a, key.at, key.bytes);
	(void)key_get_row_block((struct text){ (char *)a, sizeof(a) }, &from);
	of = archive_read_partition(read, from.partition, err);
	table = table_of(&from, step);
	if (of == NULL || table == NULL) {
		put_none(range, &from);
		return of == NULL && from.partition > 0 &&
			       from.partition <= read->partitions
			   ? -1
			   : 0;
	}
	hours.from = from.hour;
	if (next_hour(read, of, step, from.kind, &hours, err) != 0)
		return -1;
	if (hours.first == INT32_MAX) {
		put_none(range, &from);
		return 0;
	}
	must = (struct fetch_must){ number_of(from.kind, step), of->part,
		hours.first };
	read->fetch.must = &must;
	rc = read_hour(read, of, &from, hours.first, step, range, err);
	read->fetch.must = NULL;
	return rc;
}

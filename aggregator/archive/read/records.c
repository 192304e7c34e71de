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

struct item {
	uint32_t node, track;
	struct row_block_item is;
};

struct records {
	struct names *names;
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

	(void)err;
	if (is_any && hour < hours->first)
		hours->first = hour;
	return 0;
}

static int
find_hour(struct archive_read *read, uint64_t part,
    const struct schema_table *table, struct hours *hours, struct err *err)
{
	static const struct native_column columns[] = {
		{ "n", NATIVE_UINT64 },
		{ "h", NATIVE_INT32 },
	};
	char *sql = memory_format("SELECT count() AS n, min(hour) AS h FROM "
				  "%s.%s WHERE part = %llu AND hour >= %d",
	    clickhouse_database(read->fetch.client), table->name,
	    (unsigned long long)part, hours->from);
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

static bool
take_body(struct fetch *row, enum record_kind kind, struct archive_row *to)
{
	switch (kind) {
	case RECORD_EVENT:
		to->source = fetch_text(row);
		to->name = fetch_text(row);
		to->key = fetch_text(row);
		return fetch_attributes(row, to);
	case RECORD_SPAN:
		to->end_ns = fetch_int(row);
		to->name = fetch_text(row);
		to->key = fetch_text(row);
		return fetch_attributes(row, to);
	case RECORD_SAMPLE: return fetch_values(row, to);
	case RECORD_GAP:
		to->end_ns = fetch_int(row);
		to->source = fetch_text(row);
		to->name = fetch_text(row);
		to->count = fetch_uint(row);
		return true;
	default:
		to->name = fetch_text(row);
		to->count = fetch_uint(row);
		to->body = fetch_text(row);
		to->key = fetch_text(row);
		return true;
	}
}

static int
take_record(void *arg, struct fetch *row, struct err *err)
{
	static const struct archive_numbers numbers = { no_number, NULL };
	struct records *records = arg;
	enum record_kind kind = (enum record_kind)records->key.kind;
	struct archive_row of = { .id.part = fetch_uint(row) };
	struct item item = { .track = 0 };

	of.id.hour = (int32_t)fetch_int(row);
	item.node = names_number(records->names, fetch_text(row));
	if (kind == RECORD_SAMPLE || kind == RECORD_SPAN)
		item.track = names_number(records->names, fetch_text(row));
	of.time_ns = fetch_int(row);
	of.stream = names_session(records->names, fetch_text(row));
	of.seq = fetch_uint(row);
	of.index = (uint32_t)fetch_uint(row);
	of.receive_ns = fetch_int(row);
	of.id.pos = fetch_uint(row);
	if (!take_body(row, kind, &of) ||
	    !archive_record(&of, kind, &numbers, &item.is, &records->body))
		return err_set(
		    err, "archive: a record has more than a record can have");
	item.is.body = arena_text(&records->bodies, item.is.body);
	records->at = memory_grow(
	    records->at, &records->room, records->count, sizeof(*records->at));
	records->at[records->count++] = item;
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

static int
read_hour(struct archive_read *read, struct read_partition *of,
    struct key_row_block *key, struct made *range, struct err *err)
{
	const struct schema_table *table =
	    typed_of_kind((enum record_kind)key->kind);
	struct records records = { .names = of->names, .key = *key };
	char *where = memory_format("part = %llu AND hour = %d",
	    (unsigned long long)of->part, key->hour);
	int rc;

	records.key.row = 0;
	rc =
	    fetch_typed(&read->fetch, table, where, take_record, &records, err);
	free(where);
	if (rc == 0)
		put_rows(&records, range);
	free(records.at);
	buffer_clear(&records.body);
	arena_clear(&records.bodies);
	return rc;
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

int
read_records(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	unsigned char a[KEY_ROW_BLOCK_BYTES], b[KEY_ROW_BLOCK_BYTES];
	struct key_row_block from = { .partition = 0 };
	struct read_partition *of;
	struct hours hours = { .first = INT32_MAX };

	memset(a, 0, sizeof(a));
	if (key.bytes < KEY_HOUR_BYTES || key.bytes > sizeof(a))
		return 0;
	memcpy(a, key.at, key.bytes);
	if (!key_get_row_block((struct text){ (char *)a, sizeof(a) }, &from))
		return 0;
	of = archive_read_partition(read, from.partition, err);
	if (of == NULL || typed_of_kind((enum record_kind)from.kind) == NULL) {
		put_none(range, &from);
		return of == NULL && from.partition > 0 &&
			       from.partition <= read->partitions
			   ? -1
			   : 0;
	}
	hours.from = from.hour;
	if (find_hour(read, of->part,
		typed_of_kind((enum record_kind)from.kind), &hours, err) != 0)
		return -1;
	if (hours.first == INT32_MAX) {
		put_none(range, &from);
		return 0;
	}
	made_set_range(range, front(a, from.partition, from.kind, from.hour),
	    front(b, from.partition, from.kind, hours.first + 1));
	from.hour = hours.first;
	return read_hour(read, of, &from, range, err);
}

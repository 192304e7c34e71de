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
/* Ranges of hours, of each table, that a page may be looking at. */
enum { HOURS_MIN = 8 };
/* Of each reader where all have the answers to their questions. */
#define MADE_BYTES_BESIDE (UINT64_C(64) << 20)

int
archive_read_expected(
    struct archive_read *read, struct read_partition *of, struct err *err)
{
	struct answers *answers = read->fetch.answers;
	enum answers_result result = ANSWERS_ASK;
	struct answer *kept = NULL;
	enum { ROW = sizeof(struct expected_rows) };
	struct text text;

	if (of->expected.is_read)
		return 0;
	if (answers != NULL)
		result = answers_take(answers, of->version, 0,
		    text_of("commits"), FETCH_WAIT_NS, &kept, err);
	if (result == ANSWERS_FAILED)
		return -1;
	if (result == ANSWERS_KEPT) {
		text = answer_text(kept);
		expected_take(&of->expected,
		    (const struct expected_rows *)(const void *)text.at,
		    text.bytes / ROW);
	} else if (expected_read(
		       &of->expected, read->fetch.client, of->part, err) != 0) {
		if (answers != NULL)
			answers_fail(answers, &kept, err);
		return -1;
	} else if (answers != NULL) {
		text = (struct text){ (const char *)of->expected.at,
			of->expected.count * ROW };
		answers_put(answers, kept, text);
	}
	answers_release(answers, &kept);
	return 0;
}

/* Has the replica what was committed? */
static int
is_whole(void *arg, const struct fetch_must *must, unsigned shard,
    unsigned replica, uint64_t *found, struct err *err)
{
	struct archive_read *read = arg;
	struct read_partition *of = read->partition;
	struct expected_rows *rows;

	while (of->part != must->part)
		of++;
	if (archive_read_expected(read, of, err) != 0)
		return -1;
	rows = expected_of(&of->expected, must->table, must->hour, shard);
	return rows == NULL || (must->table < SCHEMA_PHASES &&
				   must->hour < of->kept_hour)
		   ? 1
		   : expected_is_there(rows, read->fetch.client, of->part,
			 replica, found, err);
}

struct read_partition *
archive_read_partition(
    struct archive_read *read, uint32_t number, struct err *err)
{
	struct read_partition *of;

	if (number == 0 || number > read->partitions)
		return NULL;
	of = &read->partition[number - 1];
	if (of->is_lost) {
		(void)look_refuse(of->name, err);
		return NULL;
	}
	read->fetch.version = of->version;
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

/* Those that were not used for long, but not the last `least`. */
static void
forget_oldest(struct archive_read *read, unsigned table, uint32_t least)
{
	while (read->made_bytes > read->made_bytes_max) {
		struct made **last = &read->made[table];
		uint32_t count = 0;

		for (; *last != NULL && (*last)->next != NULL;
		     last = &(*last)->next)
			count++;
		if (*last == NULL || count < least)
			return;
		read->made_bytes -= (*last)->bytes.used;
		made_free(last);
	}
}

/* Keep it.  A page may look at many hours before it ends: rows of hours that it
 * has left are not needed any more. */
static void
keep(struct archive_read *read, struct made *range)
{
	range->next = read->made[range->table];
	read->made[range->table] = range;
	read->made_bytes += range->bytes.used;
	if (range->table == TABLES_ROW_BLOCKS ||
	    range->table == TABLES_ROLLUPS ||
	    range->table == TABLES_ROLLUPS_END)
		forget_oldest(read, range->table, HOURS_MIN);
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
		forget_oldest(read, i, 0);
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

/* The ranges of a partition, and those of several. */
static void
forget_ranges(struct archive_read *read, uint32_t number)
{
	for (unsigned i = 0; i < TABLES_COUNT; i++)
		for (struct made **at = &read->made[i]; *at != NULL;) {
			struct made *range = *at;
			uint32_t of = partition_of(range);

			if (of != 0 && of != number) {
				at = &range->next;
				continue;
			}
			*at = range->next;
			read->made_bytes -= range->bytes.used;
			made_free(&range);
		}
}

static void
forget_partition(struct archive_read *read, uint32_t number)
{
	struct read_partition *of = &read->partition[number - 1];

	forget_ranges(read, number);
	names_free(&of->names);
	read_phases_clear(&of->phases);
	of->expected.is_read = false;
	if (read->plan.partition == number)
		read->plan.partition = 0;
}

void
archive_read_take(struct archive_read *read, const struct look *look)
{
	forget_ranges(read, 0);
	for (uint32_t i = 0; i < look->count; i++) {
		const struct look_partition *from = &look->at[i];
		struct read_partition *to;

		if (i == read->partitions) {
			MEMORY_GROW(read->partition, read->partition_room, i);
			read->partition[read->partitions++] =
			    (struct read_partition){ .part = from->part };
		}
		to = &read->partition[i];
		if (to->version != from->version)
			forget_partition(read, i + 1);
		to->name = from->name;
		to->version = from->version;
		to->counts = from->counts;
		to->kept_hour = from->kept_hour;
		to->is_lost = from->is_lost;
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

static int
begin(void *arg, const struct wire_header *header,
    const struct wire_query *query, struct err *err)
{
	struct archive_read *read = arg;
	int rc;

	if (header->type == WIRE_FOLLOW)
		return err_set(err, "an archive cannot be followed");
	rc = read_state_look(read, query->cursor.bytes == 0, err);
	/* Where the status says so, answers have what was read. */
	if (rc != 0 && read->options.state == NULL)
		return -1;
	use(read, header->partition);
	return 0;
}

/* ---- opening ---- */

void
archive_read_free(struct archive_read *read)
{
	for (uint32_t i = 0; i < read->partitions; i++) {
		forget_partition(read, i + 1);
		expected_clear(&read->partition[i].expected);
	}
	forget_ranges(read, 0);
	free(read->partition);
	read_plan_clear(&read->plan);
	compacted_row_writer_free(&read->columns);
	arena_clear(&read->values);
	db_close(&read->db);
	clickhouse_close(&read->fetch.client);
	if (read->options.state == NULL)
		archive_read_state_free(&read->state);
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
	read->state =
	    options->state != NULL ? options->state : read_state_new(0);
	read->made_bytes_max =
	    options->state != NULL ? MADE_BYTES_BESIDE : MADE_BYTES_MAX;
	read->fetch.answers = read->state->answers;
	read->source = (struct db_source){ row, end, read };
	read->db = db_open_source(&read->source);
	read->fetch.has = is_whole;
	read->fetch.has_arg = read;
	read->fetch.on_lack = options->on_lack;
	rc = clickhouse_open(
	    &read->fetch.client, &options->clickhouse, options->option, err);
	if (rc == 0)
		rc = read_state_look(read, true, err);
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

/*
 * phases - the list of a phase, and its events as one part.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/read_private.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/question.h"
#include "aggregator/phases/part_list.h"
#include "aggregator/phases/part_row.h"
#include "proto/base/memory.h"

enum {
	LIST = 0, /* numbers of parts in keys */
	PART = 1,
	ANSWER_EVENTS = 100000, /* about */
	ANSWER_BYTES = 24 << 20,
};

/* ---- which phases there are ---- */

struct read_phase {
	uint32_t number;
	struct text id, stats;
	bool fifo;
	uint32_t marks;
	uint64_t form;
	uint64_t events, expected;
	int64_t least_ns, most_ns;
};

static struct read_phase *
find(struct read_phase_list *phases, struct text id)
{
	for (uint32_t i = 0; i < phases->count; i++)
		if (text_equal(phases->at[i].id, id))
			return &phases->at[i];
	return NULL;
}

static struct read_phase *
add(struct read_partition *of, struct text id)
{
	struct read_phase_list *phases = &of->phases;
	struct read_phase *to = find(phases, id);

	if (to != NULL)
		return to;
	to = MEMORY_ADD(phases->at, phases->room, phases->count);
	*to = (struct read_phase){ .number = names_number(of->names, id),
		.id = arena_text(&phases->texts, id),
		.least_ns = INT64_MAX,
		.most_ns = INT64_MIN };
	return to;
}

static int
take_sums(void *arg, struct fetch *row, struct err *err)
{
	struct read_partition *of = arg;
	struct text id = fetch_text(row);
	uint64_t form = fetch_uint(row);
	struct read_phase *to;

	(void)err;
	if (form == 0)
		return 0; /* it was removed */
	to = add(of, id);
	to->form = form;
	to->expected = expected_events(&of->expected, to->id, to->form);
	to->fifo = fetch_uint(row) != 0;
	to->marks = (uint32_t)fetch_uint(row);
	to->stats = arena_text(&of->phases.texts, fetch_text(row));
	return 0;
}

static int
take_extent(void *arg, struct fetch *row, struct err *err)
{
	struct read_partition *of = arg;
	struct read_phase *to = find(&of->phases, fetch_text(row));
	uint64_t form = fetch_uint(row), events = fetch_uint(row);
	int64_t least_ns = fetch_int(row), most_ns = fetch_int(row);

	(void)err;
	if (to == NULL || to->form != form)
		return 0;
	to->events += events;
	if (least_ns < to->least_ns)
		to->least_ns = least_ns;
	if (most_ns > to->most_ns)
		to->most_ns = most_ns;
	return 0;
}

static int
compare_numbers(const void *a, const void *b)
{
	const struct read_phase *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int
read_sums(struct archive_read *read, struct read_partition *of, struct err *err)
{
	static const struct native_column columns[] = {
		{ "phase", NATIVE_STRING },
		{ "form", NATIVE_UINT64 },
		{ "fifo", NATIVE_UINT8 },
		{ "marks", NATIVE_UINT32 },
		{ "stats", NATIVE_STRING },
	};
	char *sql = memory_format("SELECT phase, form, fifo, marks, stats FROM "
				  "%s.sums FINAL WHERE part = %llu",
	    clickhouse_database(read->fetch.client),
	    (unsigned long long)of->part);
	int rc = fetch_home(&read->fetch, SCHEMA_SUMS, of->part, columns, 5,
	    sql, take_sums, of, err);

	free(sql);
	return rc;
}

static int
read_extents(
    struct archive_read *read, struct read_partition *of, struct err *err)
{
	static const struct native_column columns[] = {
		{ "phase", NATIVE_STRING },
		{ "form", NATIVE_UINT64 },
		{ "events", NATIVE_UINT64 },
		{ "least", NATIVE_INT64 },
		{ "most", NATIVE_INT64 },
	};
	char *sql = memory_format(
	    "SELECT phase, form, count() AS events, min(ts) AS least, max(ts) "
	    "AS most FROM %s.phases WHERE part = %llu GROUP BY phase, form",
	    clickhouse_database(read->fetch.client),
	    (unsigned long long)of->part);
	int rc = fetch_all(&read->fetch, columns, 5, sql, take_extent, of, err);

	free(sql);
	return rc;
}

/* ---- which replicas have all events ---- */

static struct read_phase *
find_short(struct read_partition *of)
{
	for (uint32_t i = 0; i < of->phases.count; i++)
		if (of->phases.at[i].events < of->phases.at[i].expected)
			return &of->phases.at[i];
	return NULL;
}

struct most {
	uint64_t part, count;
	unsigned *replica; /* by shard, the one that has most */
};

static int
find_most(void *arg, const struct question *question, struct err *err)
{
	struct most *most = arg;
	uint64_t count;

	if (question_numbers(question, &count, 1, err,
		"SELECT count() FROM (SELECT DISTINCT phase, form, "
		"key_hash, scope, ts, role, session, seq, idx, node "
		"FROM %s.phases WHERE part = %llu)",
		clickhouse_database(question->client),
		(unsigned long long)most->part) != 0)
		return -1;
	if (count >= most->count) {
		most->count = count;
		most->replica[question->shard] = question->replica;
	}
	return 0;
}

static int
lack(struct archive_read *read, const struct read_phase *of, uint64_t events,
    struct err *err)
{
	err_set(err,
	    "archive: it has %llu of %llu events of phase %.*s that were "
	    "committed: they were deleted or lost; see poolscope archive "
	    "verify",
	    (unsigned long long)events, (unsigned long long)of->expected,
	    (int)of->id.bytes, of->id.at);
	return fetch_may_lack(&read->fetch, SCHEMA_PHASES, err) ? 0 : -1;
}

/* The events of all phases, from replicas that have them. */
static int
read_all_extents(
    struct archive_read *read, struct read_partition *of, struct err *err)
{
	unsigned shards = clickhouse_cluster(read->fetch.client)->shards;
	const struct read_phase *missing;

	if (read_extents(read, of, err) != 0)
		return -1;
	if (find_short(of) == NULL)
		return 0;
	for (unsigned s = 0; s < shards; s++) {
		struct most most = { of->part, 0, read->fetch.first };

		if (question_shard(
			read->fetch.client, s, find_most, &most, err) != 0)
			return -1;
	}
	for (uint32_t i = 0; i < of->phases.count; i++)
		of->phases.at[i].events = 0;
	if (read_extents(read, of, err) != 0)
		return -1;
	missing = find_short(of);
	return missing == NULL ? 0 : lack(read, missing, missing->events, err);
}

static int
read_list(struct archive_read *read, struct read_partition *of, struct err *err)
{
	struct read_phase_list *list = &of->phases;

	if (list->is_read)
		return 0;
	read_phases_clear(list);
	if (archive_read_expected(read, of, err) != 0 ||
	    read_sums(read, of, err) != 0 ||
	    read_all_extents(read, of, err) != 0)
		return -1;
	if (list->count > 1)
		qsort(
		    list->at, list->count, sizeof(*list->at), compare_numbers);
	list->is_read = true;
	return 0;
}

void
read_phases_clear(struct read_phase_list *list)
{
	free(list->at);
	arena_clear(&list->texts);
	*list = (struct read_phase_list){ .at = NULL };
}

/* ---- statistics ---- */

int
read_stats(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	uint32_t number = key.bytes < 4 ? 0 : varint_get_u32_be(key.at);
	struct read_partition *of = archive_read_partition(read, number, err);
	unsigned char from[8] = { 0 }, to[4];
	int rc;

	varint_put_u32_be(from, number);
	varint_put_u32_be(to, number + 1);
	made_set_range(range, (struct text){ (char *)from, 4 },
	    (struct text){ (char *)to, 4 });
	if (of == NULL)
		return number > 0 && number <= read->partitions ? -1 : 0;
	rc = read_list(read, of, err);
	for (uint32_t i = 0; rc == 0 && i < of->phases.count; i++) {
		varint_put_u32_be(from + 4, of->phases.at[i].number);
		if (of->phases.at[i].stats.bytes > 0)
			made_put(range, (struct text){ (char *)from, 8 },
			    of->phases.at[i].stats);
	}
	return rc;
}

/* ---- lists ---- */

/* The front of keys of a part. */
static struct text
front(unsigned char to[static PART_LIST_KEY_BYTES], uint32_t partition,
    uint32_t phase, uint32_t part)
{
	varint_put_u32_be(to, partition);
	varint_put_u32_be(to + 4, phase);
	varint_put_u32_be(to + 8, part);
	return (struct text){ (char *)to, PART_LIST_KEY_BYTES };
}

static void
put_list(struct made *range, uint32_t partition, const struct read_phase *phase)
{
	unsigned char key[PART_LIST_KEY_BYTES];
	struct buffer value = { NULL, 0, 0 };
	struct part_info part = { .number = PART,
		.rows = (uint32_t)(phase->events / PART_ROW_COLUMNS + 1),
		.events = phase->events,
		.bytes = phase->events,
		.least_ns = phase->least_ns,
		.most_ns = phase->most_ns,
		.columns = true };
	const struct part_list list = { .fifo = phase->fifo,
		.form = phase->form,
		.marks = phase->marks,
		.last = PART,
		.cut_ns = INT64_MIN,
		.at = &part,
		.count = phase->events > 0 };

	part_list_encode(&list, &value);
	made_put(range, front(key, partition, phase->number, LIST),
	    buffer_text(&value));
	buffer_clear(&value);
}

/* ---- events ---- */

struct events {
	struct names *names;
	struct read_covered *covered;
	struct part_row_item *at;
	uint32_t count, room;
	struct arena texts;
	struct buffer body;
};

static uint32_t
no_number(void *context, struct text name)
{
	(void)context;
	(void)name;
	return 0;
}

static int
take_event(void *arg, struct fetch *row, struct err *err)
{
	static const struct archive_numbers numbers = { no_number, NULL };
	struct events *events = arg;
	struct archive_row of = { .part = fetch_uint(row) };
	struct part_row_item item = { .scope = 0 };
	struct phase_entry *entry = &item.entry;
	unsigned role;
	struct text node;

	(void)fetch_int(row);
	(void)fetch_text(row);
	(void)fetch_uint(row);
	item.key_hash = fetch_uint(row);
	item.scope = names_number(events->names, fetch_text(row));
	entry->id.time_ns = fetch_int(row);
	role = (unsigned)fetch_uint(row);
	entry->is_end = role != ARCHIVE_START;
	entry->measured = role == ARCHIVE_END_MEASURED;
	node = fetch_text(row);
	entry->node =
	    node.bytes == 0 ? item.scope : names_number(events->names, node);
	entry->id.stream = names_session(events->names, fetch_text(row));
	entry->id.seq = fetch_uint(row);
	entry->id.index = (uint32_t)fetch_uint(row);
	entry->id.receive_ns = fetch_int(row);
	if (read_is_left(events->covered, entry->id.stream, entry->id.seq,
		fetch_uint(row)))
		return 0;
	item.key = arena_text(&events->texts, fetch_text(row));
	entry->measured_ns = fetch_int(row);
	events->body.bytes = 0;
	if (!fetch_attributes(row, &of) ||
	    !archive_attributes(&of, &numbers, &events->body))
		return err_set(
		    err, "archive: an event has more than an event can have");
	entry->id.body = arena_text(&events->texts, buffer_text(&events->body));
	*MEMORY_ADD(events->at, events->room, events->count) = item;
	return 0;
}

static int
compare_items(const void *a, const void *b)
{
	const struct part_row_item *x = a, *y = b;

	if (x->key_hash != y->key_hash)
		return x->key_hash < y->key_hash ? -1 : 1;
	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	return phase_compare(&x->entry, &y->entry);
}

/* Equal ones are one. */
static void
sort(struct events *events)
{
	uint32_t kept = 0;

	if (events->count > 1)
		qsort(events->at, events->count, sizeof(*events->at),
		    compare_items);
	for (uint32_t i = 0; i < events->count; i++)
		if (kept == 0 ||
		    compare_items(&events->at[kept - 1], &events->at[i]) != 0)
			events->at[kept++] = events->at[i];
	events->count = kept;
}

static uint32_t
fit(const struct events *events, uint32_t from)
{
	size_t bytes = 0;
	uint32_t count = 0;

	while (from + count < events->count && count < PART_ROW_COLUMNS &&
	       (count == 0 || bytes < PART_ROW_COLUMNS_BYTES))
		bytes += events->at[from + count++].entry.id.body.bytes;
	return count;
}

static void
put_events(struct archive_read *read, struct events *events, struct made *range,
    uint32_t partition, uint32_t phase)
{
	struct part_row_key key = {
		.partition = partition, .phase = phase, .part = PART
	};
	unsigned char bytes[PART_ROW_KEY_BYTES];
	struct buffer value = { NULL, 0, 0 };
	uint32_t count;

	if (read->columns == NULL)
		read->columns = compacted_row_writer_new();
	for (uint32_t i = 0; (count = fit(events, i)) > 0; i += count) {
		const struct part_row_item *last = &events->at[i + count - 1];

		value.bytes = 0;
		part_row_put_columns(
		    &value, read->columns, events->at + i, count);
		key.key_hash = last->key_hash;
		key.scope = last->scope;
		key.time_ns = last->entry.id.time_ns;
		key.is_start = !last->entry.is_end;
		made_put(
		    range, part_row_put_key(bytes, &key), buffer_text(&value));
		key.row++;
	}
	buffer_clear(&value);
}

/* A name as hexadecimal digits: it may have any byte. */
static char *
quote(struct text name)
{
	char *sql = memory_alloc(2 * (size_t)name.bytes + 1);

	for (uint32_t i = 0; i < name.bytes; i++)
		snprintf(sql + 2 * i, 3, "%02x", (unsigned char)name.at[i]);
	sql[2 * name.bytes] = 0;
	return sql;
}

static int
take_bytes(void *arg, struct fetch *row, struct err *err)
{
	uint64_t *bytes = arg, some = fetch_uint(row);

	(void)err;
	if (some > *bytes)
		*bytes = some;
	return 0;
}

/* In how many answers events come of which a shard has that many bytes; 0:
 * nobody says. */
static uint64_t
answers_by_bytes(struct archive_read *read, const char *of)
{
	static const struct native_column column = { "n", NATIVE_UINT64 };
	struct err err = { 0 };
	uint64_t bytes = 0;
	char *sql = memory_format(
	    "SELECT sum(toUInt64(200 + length(key) + 4 * length(keys) + "
	    "length(arrayStringConcat(keys)) + "
	    "length(arrayStringConcat(vals)))) AS n FROM %s.phases WHERE %s",
	    clickhouse_database(read->fetch.client), of);
	int rc =
	    fetch_all(&read->fetch, &column, 1, sql, take_bytes, &bytes, &err);

	free(sql);
	return rc == 0 ? bytes / ANSWER_BYTES + 1 : 0;
}

static int
fetch_events(struct archive_read *read, const char *of, uint64_t answers,
    struct events *events, struct err *err)
{
	int rc = 0;

	for (uint64_t i = 0; i < answers && rc == 0; i++) {
		char *where = memory_format("%s AND seq %% %llu = %llu", of,
		    (unsigned long long)answers, (unsigned long long)i);

		rc = fetch_typed(&read->fetch, &schema_tables[SCHEMA_PHASES],
		    where, take_event, events, err);
		free(where);
	}
	return rc;
}

static int
read_events(struct archive_read *read, struct read_partition *of,
    uint32_t partition, struct read_phase *phase, struct made *range,
    struct err *err)
{
	struct events events = { .names = of->names, .covered = read->covered };
	uint64_t answers = phase->events / ANSWER_EVENTS + 1, more;
	char *id = quote(phase->id);
	char *where = memory_format(
	    "part = %llu AND phase = unhex('%s') AND form = %llu",
	    (unsigned long long)of->part, id, (unsigned long long)phase->form);
	int rc = fetch_events(read, where, answers, &events, err);

	/* Large events make an answer too large.  Equal ones are one: what came
	 * may come again. */
	if (rc != 0 && (more = answers_by_bytes(read, where)) > answers)
		rc = fetch_events(read, where, more, &events, err);
	free(where);
	free(id);
	sort(&events);
	phase->events = events.count;
	if (rc == 0 && events.count < phase->expected)
		rc = lack(read, phase, events.count, err);
	if (rc == 0)
		put_events(read, &events, range, partition, phase->number);
	free(events.at);
	buffer_clear(&events.body);
	arena_clear(&events.texts);
	return rc;
}

void
read_phase_lists(struct read_partition *of, uint32_t number, struct made *range)
{
	for (uint32_t i = 0; i < of->phases.count; i++)
		put_list(range, number, &of->phases.at[i]);
}

/* ---- ranges ---- */

/* Of the list of the next phase, or of all of its events. */
static int
make(struct archive_read *read, struct read_partition *of, uint32_t number,
    uint32_t phase, uint32_t part, struct made *range, struct err *err)
{
	const struct read_phase_list *phases = &of->phases;
	unsigned char a[PART_LIST_KEY_BYTES], b[PART_LIST_KEY_BYTES];
	uint32_t i = 0;

	while (i < phases->count &&
	       (phases->at[i].number < phase ||
		   (phases->at[i].number == phase && part > PART)))
		i++;
	if (i == phases->count) {
		made_set_range(range, front(a, number, phase, part),
		    front(b, number + 1, 0, 0));
		return 0;
	}
	if (phases->at[i].number != phase || part == LIST) {
		made_set_range(range, front(a, number, phase, part),
		    front(b, number, phases->at[i].number, PART));
		put_list(range, number, &phases->at[i]);
		return 0;
	}
	made_set_range(range, front(a, number, phase, PART),
	    front(b, number, phase, PART + 1));
	return read_events(read, of, number, &phases->at[i], range, err);
}

int
read_phases(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	unsigned char at[PART_LIST_KEY_BYTES] = { 0 };
	struct read_partition *of;
	uint32_t number;
	int rc;

	memcpy(at, key.at, key.bytes < sizeof(at) ? key.bytes : sizeof(at));
	number = varint_get_u32_be(at);
	of = archive_read_partition(read, number, err);
	if (of == NULL) {
		unsigned char to[PART_LIST_KEY_BYTES];

		made_set_range(range, front(at, number, 0, 0),
		    front(to, number + 1, 0, 0));
		return number > 0 && number <= read->partitions ? -1 : 0;
	}
	rc = read_list(read, of, err);
	if (rc == 0)
		rc = make(read, of, number, varint_get_u32_be(at + 4),
		    varint_get_u32_be(at + 8), range, err);
	return rc;
}

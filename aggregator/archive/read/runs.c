/*
 * runs - rows of test runs, of their times and of their groups.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/read/read_private.h"

#include <stdlib.h>

#include "aggregator/phases/run_sum.h"
#include "proto/base/memory.h"

enum { ANSWER_RUNS = 5000, ANSWER_TIMES = 200000 }; /* in an answer */

/* Their numbers are those of their names: in the store that wrote a row, `no`
 * may have been another run's (the partition was dropped and made again). */
struct runs {
	struct names *names;
	struct made *range;
	uint32_t partition;
	struct run_row row;
	struct buffer value;
};

/* Elements of an array column of the row, of which there are `count`. */
static bool
has_count(struct fetch *row, unsigned column, uint32_t count, uint32_t *first)
{
	return native_read_array(
		   row->reader, row->column + column, row->row, first) == count;
}

static bool
take_events(struct runs *runs, struct fetch *row)
{
	struct run_row *to = &runs->row;
	uint32_t first[7];
	const struct native_reader *r = row->reader;
	unsigned at = row->column;

	to->count = native_read_array(r, at, row->row, &first[0]);
	if (to->count > RUN_EVENTS_MAX)
		return false;
	for (unsigned c = 1; c < 7; c++)
		if (!has_count(row, c, to->count, &first[c]))
			return false;
	for (uint32_t i = 0; i < to->count; i++)
		to->at[i] = (struct run_row_event){
			.id = { .time_ns = (int64_t)native_read_uint(
				    r, at + 1, first[1] + i),
			    .receive_ns = (int64_t)native_read_uint(
				r, at + 2, first[2] + i),
			    .seq = native_read_uint(r, at + 5, first[5] + i),
			    .stream = names_session(runs->names,
				native_read_text(r, at + 4, first[4] + i)),
			    .index = (uint32_t)native_read_uint(
				r, at + 6, first[6] + i) },
			.event = names_number(
			    runs->names, native_read_text(r, at, first[0] + i)),
			.node = names_number(runs->names,
			    native_read_text(r, at + 3, first[3] + i)),
		};
	row->column += 7;
	return true;
}

static bool
take_tallies(struct runs *runs, struct fetch *row)
{
	struct run_row *to = &runs->row;
	const struct native_reader *r = row->reader;
	unsigned at = row->column;
	uint32_t first[4];

	to->tallies = native_read_array(r, at, row->row, &first[0]);
	if (to->tallies > RUN_ROW_TALLIES_MAX)
		return false;
	for (unsigned c = 1; c < 4; c++)
		if (!has_count(row, c, to->tallies, &first[c]))
			return false;
	for (uint32_t i = 0; i < to->tallies; i++)
		to->tally[i] = (struct run_row_tally){
			names_number(
			    runs->names, native_read_text(r, at, first[0] + i)),
			(int32_t)native_read_uint(r, at + 1, first[1] + i),
			(int64_t)native_read_uint(r, at + 2, first[2] + i),
			native_read_uint(r, at + 3, first[3] + i)
		};
	return true;
}

static int
take_run(void *arg, struct fetch *row, struct err *err)
{
	unsigned char key[RUN_ROW_KEY_BYTES];
	struct runs *runs = arg;
	struct run_row *to = &runs->row;
	struct run_row_key of = { .partition = runs->partition };
	unsigned flags;

	run_row_reset(to);
	of.model = names_number(runs->names, fetch_text(row));
	to->id = fetch_text(row);
	of.run = names_number(runs->names, to->id);
	flags = (unsigned)fetch_uint(row);
	to->known = (flags & 1) != 0;
	to->error = (flags & 2) != 0;
	to->group = names_number(runs->names, fetch_text(row));
	to->requestor = names_number(runs->names, fetch_text(row));
	to->overflow = fetch_uint(row);
	to->overflow_ns = fetch_int(row);
	if (!take_events(runs, row) || !take_tallies(runs, row))
		return err_set(
		    err, "archive: a test run has more than one can have");
	runs->value.bytes = 0;
	run_row_encode(to, &runs->value);
	run_row_put_key(key, &of);
	made_put(runs->range, (struct text){ (char *)key, sizeof(key) },
	    buffer_text(&runs->value));
	return 0;
}

/* In how many answers all test runs of the partition come. */
static uint64_t
answers_of(const struct archive_read *read, struct text key, uint64_t each)
{
	uint32_t number = key.bytes < 4 ? 0 : varint_get_u32_be(key.at);

	return number == 0 || number > read->partitions
		   ? 1
		   : read->partition[number - 1].counts.records[RECORD_RUN] /
			     each +
			 1;
}

static int
read_whole(struct archive_read *read, struct text key, struct made *range,
    enum schema_number table, const struct native_column *columns,
    unsigned count, const char *column, uint64_t answers, fetch_row *take,
    struct err *err)
{
	struct runs *runs;
	int rc;
	struct read_partition *of =
	    archive_read_whole(read, key, 0, range, &rc, err);
	char *sql = NULL;
	size_t bytes;
	FILE *to;

	if (of == NULL)
		return rc;
	runs = memory_zero(1, sizeof(*runs));
	runs->names = of->names;
	runs->range = range;
	runs->partition = varint_get_u32_be(key.at);
	for (uint64_t n = 0; n < answers && rc == 0; n++) {
		to = memory_stream(&sql, &bytes);
		for (unsigned i = 0; i < count; i++)
			fprintf(to, "%s%s", i == 0 ? "SELECT " : ", ",
			    columns[i].name);
		fprintf(to,
		    " FROM %s.%s FINAL WHERE part = %llu AND %s %% %llu = %llu",
		    clickhouse_database(read->fetch.client),
		    schema_tables[table].name, (unsigned long long)of->part,
		    column, (unsigned long long)answers, (unsigned long long)n);
		memory_stream_end(&to);
		rc = fetch_home(&read->fetch, table, of->part, columns, count,
		    sql, take, runs, err);
		free(sql);
	}
	made_sort(range);
	buffer_clear(&runs->value);
	free(runs);
	return rc;
}

int
read_runs(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	static const struct native_column columns[] = {
		{ "model", NATIVE_STRING },
		{ "run", NATIVE_STRING },
		{ "flags", NATIVE_UINT8 },
		{ "grp", NATIVE_STRING },
		{ "requestor", NATIVE_STRING },
		{ "overflow", NATIVE_UINT64 },
		{ "overflow_ns", NATIVE_INT64 },
		{ "ev", NATIVE_STRING_ARRAY },
		{ "ev_ts", NATIVE_UINT64_ARRAY },
		{ "ev_recv", NATIVE_UINT64_ARRAY },
		{ "ev_node", NATIVE_STRING_ARRAY },
		{ "ev_session", NATIVE_STRING_ARRAY },
		{ "ev_seq", NATIVE_UINT64_ARRAY },
		{ "ev_idx", NATIVE_UINT64_ARRAY },
		{ "other", NATIVE_STRING_ARRAY },
		{ "other_hour", NATIVE_UINT64_ARRAY },
		{ "other_ns", NATIVE_UINT64_ARRAY },
		{ "other_count", NATIVE_UINT64_ARRAY },
	};

	return read_whole(read, key, range, SCHEMA_RUNS, columns,
	    sizeof(columns) / sizeof(columns[0]), "no",
	    answers_of(read, key, ANSWER_RUNS), take_run, err);
}

/* ---- times ---- */

static int
take_time(void *arg, struct fetch *row, struct err *err)
{
	unsigned char key[RUN_ROW_TIME_KEY_BYTES];
	struct runs *runs = arg;
	struct run_row_time at = { .partition = runs->partition };

	(void)err;
	at.model = names_number(runs->names, fetch_text(row));
	at.run = names_number(runs->names, fetch_text(row));
	at.time_ns = fetch_int(row);
	run_row_put_time_key(key, &at);
	made_put(runs->range, (struct text){ (char *)key, sizeof(key) },
	    (struct text){ "", 0 });
	return 0;
}

int
read_run_times(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	static const struct native_column columns[] = {
		{ "model", NATIVE_STRING },
		{ "run", NATIVE_STRING },
		{ "first_ns", NATIVE_INT64 },
	};

	return read_whole(read, key, range, SCHEMA_RUNS, columns, 3, "no",
	    answers_of(read, key, ANSWER_TIMES), take_time, err);
}

/* ---- groups ---- */

static int
take_group(void *arg, struct fetch *row, struct err *err)
{
	unsigned char key[RUN_SUM_KEY_BYTES];
	struct runs *runs = arg;
	struct run_sum_key of = { .partition = runs->partition };
	struct text group, name, value;
	uint32_t number;
	bool known;

	(void)err;
	of.model = names_number(runs->names, fetch_text(row));
	known = fetch_uint(row) != 0;
	group = fetch_text(row);
	of.group =
	    known ? names_number(runs->names, group) : RUN_SUM_GROUP_UNKNOWN;
	of.part = (uint8_t)fetch_uint(row);
	name = fetch_text(row);
	of.which = (uint8_t)fetch_uint(row);
	number = (uint32_t)fetch_uint(row);
	value = fetch_text(row);
	of.number = name.bytes > 0 ? names_number(runs->names, name) : number;
	if (value.bytes == 0)
		return 0; /* it was removed */
	run_sum_put_key(key, &of);
	made_put(runs->range, (struct text){ (char *)key, sizeof(key) }, value);
	return 0;
}

int
read_groups(struct archive_read *read, struct text key, struct made *range,
    struct err *err)
{
	static const struct native_column columns[] = {
		{ "model", NATIVE_STRING },
		{ "known", NATIVE_UINT8 },
		{ "grp", NATIVE_STRING },
		{ "sort", NATIVE_UINT8 },
		{ "name", NATIVE_STRING },
		{ "which", NATIVE_UINT8 },
		{ "no", NATIVE_UINT32 },
		{ "value", NATIVE_STRING },
	};

	return read_whole(read, key, range, SCHEMA_GROUPS, columns,
	    sizeof(columns) / sizeof(columns[0]), "no", 1, take_group, err);
}

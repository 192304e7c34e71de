/*
 * runs_run_table - one row for each run: the durations of its steps, or the
 * number of each of its events, or its state.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/run_table.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "exporters/runs/run_list.h"
#include "exporters/runs/run_tally.h"
#include "proto/json/json_bytes.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	LINE_COLUMNS = 79,
	STEP_COLUMNS = 7,
	STEPS_WIDE_MAX = 7, /* of the table with a row for each run */
	COUNT_COLUMNS = 6,
	ID_COLUMNS = 32,
	WORDS_COLUMNS = LINE_COLUMNS - ID_COLUMNS - COUNT_COLUMNS - 2,
};
#define MORE ", ..." /* there are more words than fit */

static_assert(RUN_LIST_COLUMNS <= RUN_STEPS_MAX + 2, "columns of a list");
static_assert(RUN_STEPS_MAX <= RUN_ROLES_MAX, "keys are of steps or events");

/* ---- JSON ---- */

/* `"name":` and the bracket after it, copied into every row. */
static struct text
make_key(struct runs_rows *rows, struct text name, const char *after)
{
	struct byte_stream *byte_stream = &rows->byte_stream;
	size_t at = byte_stream->used;
	struct text key;

	json_put_text(byte_stream, name);
	byte_stream_put(byte_stream, after, strlen(after));
	key = string_table_keep(
	    &rows->texts, (struct text){ (const char *)byte_stream->buffer + at,
			      (uint32_t)(byte_stream->used - at) });
	byte_stream->used = at;
	return key;
}

static void
make_keys(struct runs_rows *rows)
{
	const struct runs *runs = rows->runs;
	uint32_t i;

	if (rows->what != RUNS_ITERATIONS)
		for (i = 0; i < runs->step_count; i++)
			rows->keys[i] =
			    make_key(rows, runs->steps[i].name, ":[");
	else
		for (i = 0; i < runs->event_count; i++)
			rows->keys[i] = make_key(rows, runs->events[i], ":");
}

static void
put_json_deltas(struct runs_rows *rows, const struct runs_run *run)
{
	int64_t duration[RUN_EVENTS_MAX / 2];

	for (uint32_t i = 0; i < rows->runs->step_count; i++) {
		uint32_t count = run_events_durations(&run->events,
		    rows->runs->steps[i].of, rows->clock, duration);
		struct text key = rows->keys[i];
		unsigned char *to = byte_stream_room(
		    &rows->byte_stream, NAME_BYTES_MAX * 7 + 8);

		if (i > 0)
			*to++ = ',';
		to = json_put_bytes(to, key.at, key.bytes);
		for (uint32_t k = 0; k < count; k++) {
			if (k > 0) {
				byte_stream_filled(&rows->byte_stream, to);
				to = byte_stream_room(
				    &rows->byte_stream, JSON_DECIMAL_BYTES + 2);
				*to++ = ',';
			}
			to = json_put_decimal(to, duration[k], NS_PER_SECOND);
		}
		*to++ = ']';
		byte_stream_filled(&rows->byte_stream, to);
	}
}

static void
put_json_iterations(struct runs_rows *rows, const struct runs_run *run)
{
	struct byte_stream *to = &rows->byte_stream;
	struct run_tallies tallies;
	bool first = true;

	run_tally(&tallies, rows->runs, run);
	for (uint32_t i = 0; i < tallies.count; i++) {
		unsigned char *digits;

		if (tallies.at[i].count == 0)
			continue;
		if (!first)
			byte_stream_put(to, ",", 1);
		first = false;
		if (i < tallies.roles) {
			byte_stream_put(
			    to, rows->keys[i].at, rows->keys[i].bytes);
		} else {
			json_put_text(to, tallies.at[i].name);
			byte_stream_put(to, ":", 1);
		}
		digits = byte_stream_room(to, 32);
		byte_stream_filled(
		    to, json_put_digits(digits, tallies.at[i].count));
	}
}

static void
put_json(struct runs_rows *rows, const struct runs_run *run)
{
	if (rows->count > 0)
		byte_stream_put(&rows->byte_stream, ",\n", 2);
	if (rows->what == RUNS_LIST) {
		run_list_put_json(&rows->byte_stream, run);
		put_json_deltas(rows, run);
		byte_stream_put(&rows->byte_stream, "}}", 2);
		return;
	}
	json_put_text(&rows->byte_stream, run->id);
	byte_stream_put(&rows->byte_stream, ":{", 2);
	if (rows->what == RUNS_DELTAS)
		put_json_deltas(rows, run);
	else
		put_json_iterations(rows, run);
	byte_stream_put(&rows->byte_stream, "}", 1);
}

/* ---- CSV ---- */

static void
put_csv_seconds(struct csv *csv, int64_t ns)
{
	unsigned char text[JSON_DECIMAL_BYTES];
	unsigned char *end = json_put_decimal(text, ns, NS_PER_SECOND);

	csv_number(
	    csv, (struct text){ (const char *)text, (uint32_t)(end - text) });
}

static void
put_csv_deltas(struct runs_rows *rows, const struct runs_run *run)
{
	int64_t duration[RUN_EVENTS_MAX / 2];

	for (uint32_t i = 0; i < rows->runs->step_count; i++) {
		const struct runs_step *step = &rows->runs->steps[i];
		uint32_t count = run_events_durations(
		    &run->events, step->of, rows->clock, duration);

		for (uint32_t k = 0; k < count; k++) {
			csv_text(&rows->csv, run->id);
			csv_text(&rows->csv, run->group);
			csv_text(&rows->csv, step->name);
			csv_uint(&rows->csv, k + 1);
			put_csv_seconds(&rows->csv, duration[k]);
			csv_end_row(&rows->csv);
		}
	}
}

static void
put_csv_iterations(struct runs_rows *rows, const struct runs_run *run)
{
	struct run_tallies tallies;

	run_tally(&tallies, rows->runs, run);
	for (uint32_t i = 0; i < tallies.count; i++) {
		if (tallies.at[i].count == 0)
			continue;
		csv_text(&rows->csv, run->id);
		csv_text(&rows->csv, run->group);
		csv_text(&rows->csv, tallies.at[i].name);
		csv_uint(&rows->csv, tallies.at[i].count);
		csv_end_row(&rows->csv);
	}
}

static void
put_csv_titles(struct runs_rows *rows)
{
	csv_string(&rows->csv, "run");
	csv_string(&rows->csv, "group");
	if (rows->what == RUNS_DELTAS) {
		csv_string(&rows->csv, "step");
		csv_string(&rows->csv, "iteration");
		csv_string(&rows->csv, "seconds");
	} else {
		csv_string(&rows->csv, "event");
		csv_string(&rows->csv, "count");
	}
	csv_end_row(&rows->csv);
}

/* ---- table ---- */

static bool
is_wide(const struct runs_rows *rows)
{
	return rows->runs->step_count <= STEPS_WIDE_MAX;
}

/* Names of steps as titles, in the case of the table. */
static const char *
make_title(struct runs_rows *rows, struct text name)
{
	char title[4 * STEP_COLUMNS + 8];
	size_t bytes = table_elide(title, sizeof(title), name, STEP_COLUMNS);

	return string_table_keep(
	    &rows->texts, (struct text){ title, (uint32_t)bytes + 1 })
	    .at;
}

static void
begin_table(struct runs_rows *rows)
{
	static const char *const clocks[] = { "emitted", "received" };
	const struct runs *runs = rows->runs;
	struct table_column *at = rows->columns;
	uint32_t steps = runs->step_count;

	fputs("runs of ", rows->file);
	table_put_elided(rows->file, runs->partition, 30);
	if (rows->what == RUNS_ITERATIONS) {
		fputs(": number of events\n\n", rows->file);
		*at++ = (struct table_column){ "RUN", ID_COLUMNS, false };
		*at++ = (struct table_column){ "EVENTS", COUNT_COLUMNS, true };
		*at++ = (struct table_column){ "NOT ONCE OR NOT IN THE MODEL",
			WORDS_COLUMNS, false };
	} else if (is_wide(rows)) {
		fprintf(rows->file,
		    ": seconds between events as %s, iterations added up\n\n",
		    clocks[rows->clock]);
		*at++ = (struct table_column){ "RUN",
			LINE_COLUMNS - steps * (STEP_COLUMNS + 1), false };
		for (uint32_t i = 0; i < steps; i++)
			*at++ = (struct table_column){ make_title(rows,
							   runs->steps[i].name),
				STEP_COLUMNS, true };
	} else {
		fprintf(rows->file, ": seconds between events as %s\n\n",
		    clocks[rows->clock]);
		*at++ = (struct table_column){ "RUN", ID_COLUMNS, false };
		*at++ = (struct table_column){ "STEP", 26, false };
		*at++ = (struct table_column){ "TIMES", COUNT_COLUMNS, true };
		*at++ = (struct table_column){ "SECONDS", 10, true };
	}
	*at = (struct table_column){ .title = NULL };
	table_begin(&rows->table, rows->file, rows->columns);
}

static void
put_seconds(struct table *table, bool known, int64_t ns)
{
	if (known)
		table_number(table, (double)ns / NS_PER_SECOND);
	else
		table_none(table);
}

static void
put_table_deltas(struct runs_rows *rows, const struct runs_run *run)
{
	bool wide = is_wide(rows);

	if (wide)
		table_text(&rows->table, run->id);
	for (uint32_t i = 0; i < rows->runs->step_count; i++) {
		const struct runs_step *step = &rows->runs->steps[i];
		int64_t duration[RUN_EVENTS_MAX / 2], ns;
		bool known = runs_total(run, step, rows->clock, &ns);

		if (wide) {
			put_seconds(&rows->table, known, ns);
		} else if (known) {
			table_text(&rows->table, run->id);
			table_text(&rows->table, step->name);
			table_count(
			    &rows->table, run_events_durations(&run->events,
					      step->of, rows->clock, duration));
			put_seconds(&rows->table, known, ns);
		}
	}
}

/* What a reader should see first: names that the model does not have, then what
 * happened several times, then what did not happen. */
static int
interest(const struct run_tallies *tallies, uint32_t i)
{
	if (i >= tallies->roles)
		return 0;
	return tallies->at[i].count > 1 ? 1 : tallies->at[i].count == 0 ? 2 : 3;
}

static void
put_table_iterations(struct runs_rows *rows, const struct runs_run *run)
{
	char words[WORDS_COLUMNS + 1] = "", word[RUN_NAME_BYTES_MAX + 32];
	struct run_tallies tallies;
	size_t used = 0;

	run_tally(&tallies, rows->runs, run);
	for (uint32_t k = 0; k < 3 * tallies.count; k++) {
		const struct run_tally *tally = &tallies.at[k % tallies.count];

		if (interest(&tallies, k % tallies.count) !=
		    (int)(k / tallies.count))
			continue;
		snprintf(word, sizeof(word), "%s%.*s %" PRIu64,
		    used > 0 ? ", " : "", (int)tally->name.bytes,
		    tally->name.at, tally->count);
		if (used + strlen(word) > WORDS_COLUMNS - strlen(MORE)) {
			/* Without the comma if it is the first. */
			strcpy(words + used, used > 0 ? MORE : MORE + 2);
			break;
		}
		memcpy(words + used, word, strlen(word) + 1);
		used += strlen(word);
	}
	table_text(&rows->table, run->id);
	table_count(&rows->table, tallies.events);
	table_string(&rows->table, words[0] != '\0' ? words : "-");
}

/* ---- all formats ---- */

int
runs_rows_begin(struct runs_rows *rows, struct err *err)
{
	bool list = rows->what == RUNS_LIST;

	rows->csv = (struct csv){ .file = rows->file };
	rows->count = 0;
	rows->unnamed = 0;
	rows->doubt = (struct runs_doubt){ 0 };
	string_table_init(&rows->texts);
	ordered_rows_init(&rows->ordered, rows->order);
	if (byte_stream_begin(&rows->byte_stream, rows->file, BYTE_STREAM_PLAIN,
		(struct text){ NULL, 0 }, err) != 0)
		return -1;
	if (rows->format == STATS_JSON) {
		make_keys(rows);
		byte_stream_put(&rows->byte_stream, list ? "[" : "{", 1);
	} else if (rows->format == STATS_CSV) {
		if (list)
			run_list_titles(&rows->csv);
		else
			put_csv_titles(rows);
	} else if (list) {
		run_list_begin(&rows->table, rows->runs->partition,
		    rows->columns, rows->file);
	} else {
		begin_table(rows);
	}
	return 0;
}

static void
put(struct runs_rows *rows, const struct runs_run *run)
{
	bool list = rows->what == RUNS_LIST;
	bool deltas = rows->what == RUNS_DELTAS;

	if (rows->format == STATS_JSON)
		put_json(rows, run);
	else if (list && rows->format == STATS_CSV)
		run_list_put_csv(&rows->csv, run);
	else if (list)
		run_list_put_table(&rows->table, run);
	else if (rows->format == STATS_CSV)
		(deltas ? put_csv_deltas : put_csv_iterations)(rows, run);
	else
		(deltas ? put_table_deltas : put_table_iterations)(rows, run);
}

/* To memory: JSON, an object, has no order. */
static int
put_ordered(struct runs_rows *rows, const struct runs_run *run, struct err *err)
{
	const struct run_order order = { rows->order->column, rows->runs,
		rows->what, rows->clock };

	rows->csv.file = rows->table.file = ordered_rows_begin(&rows->ordered);
	put(rows, run);
	rows->csv.file = rows->table.file = rows->file;
	return ordered_rows_end(
	    &rows->ordered, run_order_key(&order, run), err);
}

int
runs_rows_put(
    struct runs_rows *rows, const struct runs_run *run, struct err *err)
{
	bool deltas = rows->what != RUNS_ITERATIONS;
	int rc = 0;

	if (order_is_given(rows->order))
		rc = put_ordered(rows, run, err);
	else
		put(rows, run);
	for (uint32_t i = 0;
	     deltas && rows->clock == RUN_RECEIVE && i < rows->runs->step_count;
	     i++)
		runs_doubt_add(&rows->doubt, run, &rows->runs->steps[i]);
	rows->count++;
	rows->unnamed += run->events.overflow;
	return rc;
}

int
runs_rows_end(struct runs_rows *rows, bool whole, struct err *err)
{
	if (whole && rows->format == STATS_JSON)
		byte_stream_put(&rows->byte_stream,
		    rows->what == RUNS_LIST ? "]\n" : "}\n", 2);
	if (whole && order_is_given(rows->order))
		ordered_rows_print(&rows->ordered, rows->file);
	ordered_rows_clear(&rows->ordered);
	runs_doubt_warn(&rows->doubt, "durations");
	if (rows->what == RUNS_ITERATIONS && rows->unnamed > 0)
		log_warn("%" PRIu64 " events are counted as " RUNS_OTHERS
			 ": a run can have %d names of events that its model "
			 "does not name",
		    rows->unnamed, RUN_NAMES_MAX);
	string_table_clear(&rows->texts);
	return byte_stream_end(&rows->byte_stream, err);
}

/*
 * run_list - one row for each run: group, state, when it began.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/run_list.h"

#include <string.h>

#include "proto/json/json_bytes.h"
#include "proto/os/clock.h"

static const char *
state_of(const struct runs_run *run)
{
	static const char *const words[RUN_STATES] = { "queued", "ongoing",
		"finished" };

	return words[run->state];
}

static void
put(struct byte_stream *to, const char *text)
{
	byte_stream_put(to, text, strlen(text));
}

void
run_list_put_json(struct byte_stream *to, const struct runs_run *run)
{
	unsigned char *digits;

	put(to, "{\"run\":");
	json_put_text(to, run->id);
	put(to, ",\"group\":");
	json_put_text(to, run->group);
	put(to, ",\"state\":\"");
	put(to, state_of(run));
	put(to, run->error ? "\",\"error\":true" : "\",\"error\":false");
	put(to, ",\"first_ns\":");
	if (run->has_time) {
		digits = byte_stream_room(to, JSON_INTEGER_BYTES);
		byte_stream_filled(to, json_put_integer(digits, run->time_ns));
	} else {
		put(to, "null");
	}
	put(to, ",\"steps\":{");
}

void
run_list_titles(struct csv *csv)
{
	csv_titles(csv, "run group state error first_ns");
	csv_end_row(csv);
}

void
run_list_put_csv(struct csv *csv, const struct runs_run *run)
{
	csv_text(csv, run->id);
	csv_text(csv, run->group);
	csv_string(csv, state_of(run));
	csv_string(csv, run->error ? "true" : "false");
	if (run->has_time)
		csv_int(csv, run->time_ns);
	else
		csv_string(csv, "");
	csv_end_row(csv);
}

void
run_list_begin(struct table *table, struct text partition,
    struct table_column columns[static RUN_LIST_COLUMNS], FILE *file)
{
	static const struct table_column titles[RUN_LIST_COLUMNS] = {
		{ "RUN", 26, false },
		{ "GROUP", 16, false },
		{ "STATE", 8, false },
		{ "ERROR", 5, false },
		{ "FIRST", 20, false },
		{ .title = NULL },
	};

	fputs("runs of ", file);
	table_put_elided(file, partition, 30);
	fputs("\n\n", file);
	memcpy(columns, titles, sizeof(titles));
	table_begin(table, file, columns);
}

void
run_list_put_table(struct table *table, const struct runs_run *run)
{
	char text[CLOCK_TEXT_BYTES];

	table_text(table, run->id);
	table_text(table, run->group);
	table_string(table, state_of(run));
	table_string(table, run->error ? "yes" : "-");
	table_string(
	    table, run->has_time ? clock_text(text, run->time_ns, 0) : "-");
}

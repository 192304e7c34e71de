/*
 * view_list - lists the content of a spool's directory.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "agents/spool/view/commands.h"
#include "agents/spool/view/summary.h"
#include "proto/json/json.h"
#include "proto/format/table.h"

struct list {
	struct view *view;
	const char *dir;
	struct summary summary;
	FILE *file;
	struct json json;
};

/* The count of missing numbers; in JSON with their ranges. */
static uint64_t
count_missing(struct list *list, uint32_t stream, bool as_json)
{
	const struct summary_stream *s = &list->summary.streams[stream];
	uint64_t acked = view_acked(list->view, stream), count = 0, from = 0;
	struct coverage_interval hole;

	while (summary_next_missing(s, acked, from, &hole)) {
		count += hole.last - hole.first + 1;
		if (as_json) {
			json_begin_array(&list->json);
			json_uint(&list->json, hole.first);
			json_uint(&list->json, hole.last);
			json_end_array(&list->json);
		}
		if (hole.last == UINT64_MAX)
			break;
		from = hole.last + 1;
	}
	return count;
}

/* ---- tables ---- */

static void
put_headline(struct list *list)
{
	const struct view *view = list->view;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < view_segments(view); i++)
		bytes += view_segment(view, i)->bytes;
	fprintf(list->file, "directory    %s\n", list->dir);
	if (view_has_acked(view))
		fprintf(list->file, "starts       %" PRIu64 "\n",
		    view_start_count(view));
	else
		fputs("acknowledged unknown: ACKED is absent or damaged\n",
		    list->file);
	fprintf(list->file, "segments     %" PRIu32 ", %" PRIu64 " bytes\n",
	    view_segments(view), bytes);
}

/* The first 8 digits tell sessions apart. */
static struct text
short_session(const struct session_id *session, char text[static 33])
{
	return (struct text){ session_text(text, session), 8 };
}

static void
put_segments(struct list *list)
{
	static const struct table_column columns[] = { { "SEGMENT", 16, true },
		{ "SESSION", 8, false }, { "BYTES", 10, true },
		{ "USED", 10, true }, { "BATCHES", 8, true },
		{ "RECORDS", 8, true }, { "STATE", 10, false },
		{ .title = NULL } };
	struct table table;
	char session[33];

	if (view_segments(list->view) == 0)
		return;
	fputc('\n', list->file);
	table_begin(&table, list->file, columns);
	for (uint32_t i = 0; i < view_segments(list->view); i++) {
		const struct spool_entry *s = view_segment(list->view, i);
		const struct summary_segment *in = &list->summary.segments[i];

		table_count(&table, s->number);
		table_text(&table, short_session(&s->head.session, session));
		table_count(&table, s->bytes);
		table_count(&table, s->extent.end);
		table_count(&table, in->batches);
		table_count(&table, in->records);
		table_string(&table, view_state_name(s->state));
	}
}

static void
put_streams(struct list *list)
{
	static const struct table_column columns[] = {
		{ "PARTITION", 20, false }, { "SESSION", 8, false },
		{ "FIRST", 8, true }, { "LAST", 8, true }, { "ACKED", 8, true },
		{ "BATCHES", 8, true }, { "MISSING", 7, true },
		{ .title = NULL }
	};
	struct table table;
	char session[33];

	if (view_streams(list->view) == 0)
		return;
	fputc('\n', list->file);
	table_begin(&table, list->file, columns);
	for (uint32_t i = 0; i < view_streams(list->view); i++) {
		const struct summary_stream *s = &list->summary.streams[i];

		table_text(&table, view_partition(list->view, i));
		table_text(&table,
		    short_session(view_session(list->view, i), session));
		if (s->first > 0) {
			table_count(&table, s->first);
			table_count(&table, s->last);
		} else {
			table_none(&table);
			table_none(&table);
		}
		table_count(&table, view_acked(list->view, i));
		table_count(&table, s->batches);
		table_count(&table, count_missing(list, i, false));
	}
}

/* ---- JSON ---- */

static void
put_json_segments(struct list *list)
{
	struct json *json = &list->json;
	char session[33];

	json_add_array(json, "segments");
	for (uint32_t i = 0; i < view_segments(list->view); i++) {
		const struct spool_entry *s = view_segment(list->view, i);
		const struct summary_segment *in = &list->summary.segments[i];

		json_begin_object(json);
		json_add_uint(json, "number", s->number);
		json_add_string(
		    json, "session", session_text(session, &s->head.session));
		json_add_string(json, "state", view_state_name(s->state));
		json_add_uint(json, "bytes", s->bytes);
		json_add_uint(json, "used_bytes", s->extent.end);
		json_add_uint(json, "batches", in->batches);
		json_add_uint(json, "records", in->records);
		json_end_object(json);
	}
	json_end_array(json);
}

static void
put_json_streams(struct list *list)
{
	struct json *json = &list->json;
	char session[33];

	json_add_array(json, "streams");
	for (uint32_t i = 0; i < view_streams(list->view); i++) {
		const struct summary_stream *s = &list->summary.streams[i];

		json_begin_object(json);
		json_add_text(json, "partition", view_partition(list->view, i));
		json_add_string(json, "session",
		    session_text(session, view_session(list->view, i)));
		if (s->first > 0) {
			json_add_uint(json, "first", s->first);
			json_add_uint(json, "last", s->last);
		}
		json_add_uint(json, "acknowledged", view_acked(list->view, i));
		json_add_uint(json, "batches", s->batches);
		json_add_uint(json, "records", s->records);
		json_add_array(json, "missing");
		count_missing(list, i, true);
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}

static void
put_json(struct list *list)
{
	struct json *json = &list->json;

	json_init(json, list->file, JSON_INDENTED | JSON_STRICT);
	json_begin_object(json);
	json_add_string(json, "directory", list->dir);
	json_add_bool(json, "acked", view_has_acked(list->view));
	json_add_uint(json, "start_count", view_start_count(list->view));
	put_json_segments(list);
	put_json_streams(list);
	json_add_bool(json, "incomplete", list->summary.incomplete);
	json_end_object(json);
	fputc('\n', list->file);
}

int
view_list(struct view *view, const char *dir, bool as_json, FILE *file,
    struct err *err)
{
	struct list list = { .view = view, .dir = dir, .file = file };
	int rc = summary_make(&list.summary, view, err);

	if (rc == 0 && as_json) {
		put_json(&list);
	} else if (rc == 0) {
		put_headline(&list);
		put_segments(&list);
		put_streams(&list);
		if (list.summary.incomplete)
			fputs("\nthere are more missing numbers than are "
			      "counted\n",
			    file);
	}
	summary_clear(&list.summary);
	return rc;
}

/*
 * view_list - lists the content of a spool's directory.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>

#include "agents/spool/view/commands.h"
#include "agents/spool/view/summary.h"
#include "proto/json/json.h"
#include "proto/format/table.h"
#include "proto/wire/wire.h"

struct list {
	struct view *view;
	const char *dir;
	struct summary summary;
	FILE *file;
	struct json json;
};

static const char *
found_name(enum view_found found)
{
	static const char *const names[] = { "ok", "absent", "damaged" };

	return names[found];
}

/* A stream that META names, or one that has frames without it. */
static bool
is_shown(const struct list *list, uint32_t stream)
{
	return stream < view_streams(list->view) ||
	       list->summary.streams[stream].first > 0;
}

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
	char session[33];
	const struct view *view = list->view;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < view_segments(view); i++)
		bytes += view_segment(view, i)->bytes;
	fprintf(list->file, "directory    %s\n", list->dir);
	if (view_meta(view) == VIEW_FOUND)
		fprintf(list->file,
		    "session      %s, start count %" PRIu64 "\n",
		    session_text(session, view_session(view)),
		    view_start_count(view));
	else
		fprintf(list->file, "session      unknown: META is %s\n",
		    found_name(view_meta(view)));
	if (view_acked_file(view) != VIEW_FOUND)
		fprintf(list->file, "acknowledged unknown: ACKED is %s\n",
		    found_name(view_acked_file(view)));
	fprintf(list->file, "segments     %" PRIu32 ", %" PRIu64 " bytes\n",
	    view_segments(view), bytes);
	if (view_previous(view) > 0)
		fprintf(list->file,
		    "previous     %" PRIu32
		    " partitions of previous sessions\n",
		    view_previous(view));
}

static void
put_segments(struct list *list)
{
	static const struct table_column columns[] = { { "SEGMENT", 20, true },
		{ "BYTES", 10, true }, { "USED", 10, true },
		{ "BATCHES", 8, true }, { "GAPS", 6, true },
		{ "RECORDS", 8, true }, { "STATE", 10, false },
		{ .title = NULL } };
	struct table table;

	if (view_segments(list->view) == 0)
		return;
	fputc('\n', list->file);
	table_begin(&table, list->file, columns);
	for (uint32_t i = 0; i < view_segments(list->view); i++) {
		const struct view_segment *s = view_segment(list->view, i);
		const struct summary_segment *in = &list->summary.segments[i];

		table_count(&table, s->number);
		table_count(&table, s->bytes);
		table_count(&table, s->extent.end);
		table_count(&table, in->batches);
		table_count(&table, in->gaps);
		table_count(&table, in->records);
		table_string(&table, view_state_name(s->state));
	}
}

static void
put_partitions(struct list *list)
{
	static const struct table_column columns[] = {
		{ "PARTITION", 22, false }, { "FIRST", 8, true },
		{ "LAST", 8, true }, { "ACKED", 8, true },
		{ "BATCHES", 8, true }, { "RECORDS", 8, true },
		{ "GAPS", 5, true }, { "MISSING", 7, true }, { .title = NULL }
	};
	struct table table;
	bool begun = false;

	for (uint32_t i = 0; i < SPOOL_STREAMS_MAX; i++) {
		const struct summary_stream *s = &list->summary.streams[i];

		if (!is_shown(list, i))
			continue;
		if (!begun) {
			fputc('\n', list->file);
			table_begin(&table, list->file, columns);
		}
		begun = true;
		table_text(&table, view_partition(list->view, i));
		if (s->first > 0) {
			table_count(&table, s->first);
			table_count(&table, s->last);
		} else {
			table_none(&table);
			table_none(&table);
		}
		table_count(&table, view_acked(list->view, i));
		table_count(&table, s->batches);
		table_count(&table, s->records);
		table_count(&table, s->gaps);
		table_count(&table, count_missing(list, i, false));
	}
}

static const char *
reason_name(uint32_t reason)
{
	return wire_reason_name(
	    reason < WIRE_REASONS ? (enum wire_reason)reason : WIRE_REASONS);
}

static void
put_gaps(struct list *list)
{
	static const struct table_column columns[] = {
		{ "GAPS OF PARTITION", 40, false }, { "FROM", 12, true },
		{ "TO", 12, true }, { "REASON", 10, false }, { .title = NULL }
	};
	struct table table;

	if (list->summary.gaps_count == 0)
		return;
	fputc('\n', list->file);
	table_begin(&table, list->file, columns);
	for (uint32_t i = 0; i < list->summary.gaps_count; i++) {
		const struct summary_gap *gap = &list->summary.gaps[i];

		table_text(&table, view_partition(list->view, gap->stream));
		table_count(&table, gap->first);
		table_count(&table, gap->last);
		table_string(&table, reason_name(gap->reason));
	}
}

/* ---- JSON ---- */

static void
put_json_uint(struct json *json, const char *name, uint64_t value)
{
	json_name(json, name);
	json_uint(json, value);
}

static void
put_json_string(struct json *json, const char *name, const char *value)
{
	json_name(json, name);
	json_string(json, value);
}

static void
put_json_segments(struct list *list)
{
	struct json *json = &list->json;

	json_name(json, "segments");
	json_begin_array(json);
	for (uint32_t i = 0; i < view_segments(list->view); i++) {
		const struct view_segment *s = view_segment(list->view, i);
		const struct summary_segment *in = &list->summary.segments[i];

		json_begin_object(json);
		put_json_uint(json, "number", s->number);
		put_json_string(json, "state", view_state_name(s->state));
		put_json_uint(json, "bytes", s->bytes);
		put_json_uint(json, "used_bytes", s->extent.end);
		put_json_uint(json, "batches", in->batches);
		put_json_uint(json, "gaps", in->gaps);
		put_json_uint(json, "records", in->records);
		json_end_object(json);
	}
	json_end_array(json);
}

static void
put_json_gaps(struct list *list, uint32_t stream)
{
	struct json *json = &list->json;

	json_name(json, "gaps");
	json_begin_array(json);
	for (uint32_t i = 0; i < list->summary.gaps_count; i++) {
		const struct summary_gap *gap = &list->summary.gaps[i];

		if (gap->stream != stream)
			continue;
		json_begin_object(json);
		put_json_uint(json, "first", gap->first);
		put_json_uint(json, "last", gap->last);
		put_json_string(json, "reason", reason_name(gap->reason));
		json_end_object(json);
	}
	json_end_array(json);
}

static void
put_json_partitions(struct list *list)
{
	struct json *json = &list->json;

	json_name(json, "partitions");
	json_begin_array(json);
	for (uint32_t i = 0; i < SPOOL_STREAMS_MAX; i++) {
		const struct summary_stream *s = &list->summary.streams[i];

		if (!is_shown(list, i))
			continue;
		json_begin_object(json);
		json_name(json, "partition");
		json_text(json, view_partition(list->view, i));
		if (s->first > 0) {
			put_json_uint(json, "first", s->first);
			put_json_uint(json, "last", s->last);
		}
		put_json_uint(json, "acknowledged", view_acked(list->view, i));
		put_json_uint(json, "batches", s->batches);
		put_json_uint(json, "records", s->records);
		put_json_gaps(list, i);
		json_name(json, "missing");
		json_begin_array(json);
		count_missing(list, i, true);
		json_end_array(json);
		json_end_object(json);
	}
	json_end_array(json);
}

static void
put_json_previous(struct list *list)
{
	struct json *json = &list->json;
	char session[33];

	json_name(json, "previous_sessions");
	json_begin_array(json);
	for (uint32_t i = 0; i < view_previous(list->view); i++) {
		const struct spool_past_session *p =
		    view_previous_at(list->view, i);

		json_begin_object(json);
		put_json_string(
		    json, "session", session_text(session, &p->session));
		put_json_string(json, "partition", p->partition);
		put_json_uint(json, "acknowledged", p->known);
		json_end_object(json);
	}
	json_end_array(json);
}

static void
put_json(struct list *list)
{
	struct json *json = &list->json;
	char session[33];

	json_init(json, list->file, JSON_INDENTED | JSON_STRICT);
	json_begin_object(json);
	put_json_string(json, "directory", list->dir);
	put_json_string(json, "meta", found_name(view_meta(list->view)));
	put_json_string(json, "acked", found_name(view_acked_file(list->view)));
	json_name(json, "session");
	if (view_meta(list->view) == VIEW_FOUND)
		json_string(
		    json, session_text(session, view_session(list->view)));
	else
		json_null(json);
	put_json_uint(json, "start_count", view_start_count(list->view));
	put_json_segments(list);
	put_json_partitions(list);
	put_json_previous(list);
	json_name(json, "incomplete");
	json_bool(json, list->summary.incomplete);
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
		put_partitions(&list);
		put_gaps(&list);
		if (list.summary.incomplete)
			fputs("\nthere are more gaps than are listed\n", file);
	}
	summary_clear(&list.summary);
	return rc;
}

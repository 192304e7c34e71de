/*
 * scanner_trace_command - a profiled Scanner job as a Chrome trace.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/scanner/trace_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/samples/time_window.h"
#include "exporters/scanner/job.h"
#include "exporters/scanner/span_sort.h"
#include "exporters/trace/chrome_json.h"
#include "exporters/trace/tracks.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/record/node_list.h"

/* Spans of one begin that are placed together, the longest first.  Of more the
 * later ones may take a lane more than they need. */
enum { EQUAL_MAX = 256 };

struct writing {
	const struct trace_request *request;
	struct scanner_job job;
	struct span_sort *order;
	struct chrome_json json;
	struct lanes lanes; /* of the thread */
	struct span_item equal[EQUAL_MAX];
	uint32_t equal_count;
	int64_t tid;      /* the next one of a worker's thread */
	int64_t lane_tid; /* the next one of a further lane */
	uint64_t crowded; /* spans for which no lane was free */
};

static const char *const waits[] = {
	"Wait on Input Queue",
	"Wait on Output Queue",
};

static struct text
colour_of(struct text name)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (text_equal(name, text_of(waits[i])))
			return text_of("grey");
	return (struct text){ NULL, 0 };
}

/* ---- reading ---- */

static int
by_length(const void *left, const void *right)
{
	const struct span_item *a = left, *b = right;

	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return a->seq != b->seq ? (a->seq < b->seq ? -1 : 1)
				: (a->index > b->index) - (a->index < b->index);
}

/* Place the spans of one begin on lanes, and hand them to the sorter. */
static int
place_equal(struct writing *w, struct err *err)
{
	uint32_t count = w->equal_count;

	qsort(w->equal, count, sizeof(*w->equal), by_length);
	w->equal_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct span_item *item = &w->equal[i];

		if (!lanes_place(&w->lanes, item->begin_ns,
			item->end_ns > item->begin_ns ? item->end_ns
						      : item->begin_ns,
			&item->lane)) {
			w->crowded++;
			item->lane = 0;
		}
		if (span_sort_add(w->order, item, err) != 0)
			return -1;
	}
	return 0;
}

/* Spans arrive sorted by begin. */
static int
take_span(struct writing *w, const struct span_item *item, struct err *err)
{
	if (w->equal_count > 0 &&
	    (w->equal[0].begin_ns != item->begin_ns ||
		w->equal_count == EQUAL_MAX) &&
	    place_equal(w, err) != 0)
		return -1;
	w->equal[w->equal_count++] = *item;
	return 0;
}

/* Read the spans of the thread into the sorter and their names into `names`. */
static int
read_thread(struct writing *w, const struct scanner_job_thread *thread,
    struct string_table *names, struct err *err)
{
	const struct scanner_job_node *node = &w->job.nodes[thread->node];
	struct text role = text_of(scanner_roles[thread->role]);
	struct wire_query query = source_query(1u << RECORD_SPAN);
	struct source *source = w->request->source;
	char list[2 * NAME_BYTES_MAX];
	struct record record;
	int rc;

	query.node = node_list_quote(list, node->name, false);
	query.columns = thread->track;
	query.from_ns = thread->first_ns;
	query.to_ns =
	    thread->last_ns < TIME_MAX_NS ? thread->last_ns + 1 : TIME_MAX_NS;
	if (source_select(source, SOURCE_RECORDS, w->request->partition, &query,
		err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		struct span_item item = { .seq = record.id.seq,
			.index = record.id.index,
			.begin_ns = record.time_ns,
			.end_ns = record.end_ns };

		/* An older aggregator returns all tracks of the node; another
		 * job may have had the same thread at the same time. */
		if (!session_equal(&record.id.session, &w->job.session) ||
		    !text_equal(record.source, thread->track) ||
		    !text_equal(record.node, node->name) ||
		    !text_equal(record.key, role))
			continue;
		item.name = string_table_add(names, record.name);
		if (take_span(w, &item, err) != 0)
			return -1;
	}
	if (rc != 0 || place_equal(w, err) != 0)
		return -1;
	return span_sort_end(w->order, err);
}

/* ---- writing ---- */

/* Name the lanes of a thread; the first one has the number of the thread, the
 * others have numbers behind those of all threads. */
static void
name_lanes(struct writing *w, const struct scanner_job_thread *thread,
    int64_t pid, int64_t tid)
{
	int64_t position = (int64_t)(uint32_t)thread->sort * LANES_LANES_MAX;
	char name[NAME_BYTES_MAX + 16];

	chrome_json_thread_name(&w->json, pid, tid, thread->name);
	if (pid >= 0)
		chrome_json_thread_sort(&w->json, pid, tid, position);
	for (uint32_t i = 1; i < w->lanes.count; i++) {
		int n = snprintf(name, sizeof(name), "%.*s (%" PRIu32 ")",
		    (int)thread->name.bytes, thread->name.at, i + 1);

		tid = w->lane_tid + i - 1;
		chrome_json_thread_name(
		    &w->json, pid, tid, (struct text){ name, (uint32_t)n });
		if (pid >= 0)
			chrome_json_thread_sort(
			    &w->json, pid, tid, position + i);
	}
}

static int
write_intervals(struct writing *w, const struct scanner_job_thread *thread,
    const struct string_table *names, int64_t pid, int64_t tid, struct err *err)
{
	struct trace_slice slice = { .pid = pid,
		.category = text_of(scanner_roles[thread->role]) };
	struct span_item item;
	int64_t written = 0;
	int rc;

	while ((rc = span_sort_next(w->order, &item, err)) > 0) {
		slice.tid = item.lane > 0 ? w->lane_tid + item.lane - 1 : tid;
		slice.name = names->names[item.name];
		slice.colour = colour_of(slice.name);
		slice.begin_ns = item.begin_ns - w->job.base_ns;
		slice.duration_ns = item.end_ns - item.begin_ns;
		chrome_json_complete(&w->json, &slice);
		written++;
	}
	if (rc == 0 && written != thread->intervals)
		log_warn("%.*s %.*s: only %" PRId64 " of %" PRId64
			 " intervals are in the store",
		    (int)w->job.nodes[thread->node].name.bytes,
		    w->job.nodes[thread->node].name.at,
		    (int)thread->track.bytes, thread->track.at, written,
		    thread->intervals);
	return rc;
}

static int
write_thread(struct writing *w, const struct scanner_job_thread *thread,
    int64_t pid, int64_t tid, struct err *err)
{
	struct string_table names;
	int rc = 0;

	string_table_init(&names);
	if (thread->intervals > 0)
		rc = read_thread(w, thread, &names, err);
	if (rc == 0) {
		name_lanes(w, thread, pid, tid);
		if (thread->intervals > 0)
			rc = write_intervals(w, thread, &names, pid, tid, err);
	}
	if (w->lanes.count > 1)
		w->lane_tid += w->lanes.count - 1;
	lanes_clear(&w->lanes);
	string_table_clear(&names);
	return rc;
}

static int
write_node(
    struct writing *w, const struct scanner_job_node *node, struct err *err)
{
	bool is_master = node->worker < 0;
	char name[32];

	snprintf(name, sizeof(name), "Worker %" PRId64, node->worker);
	chrome_json_process_name(
	    &w->json, node->worker, text_of(is_master ? "Master" : name));
	for (uint32_t i = 0; i < node->threads; i++) {
		const struct scanner_job_thread *thread =
		    &w->job.threads[node->first + i];
		/* Threads are numbered across all workers. */
		int64_t number = is_master ? (int64_t)i : w->tid++;

		if (write_thread(w, thread, node->worker, number, err) != 0)
			return -1;
	}
	return 0;
}

static int
write_all(struct writing *w, struct err *err)
{
	struct trace_output output;
	int rc = 0;

	if (trace_output_open(
		&output, w->request->path, w->request->format, err) != 0)
		return -1;
	chrome_json_begin(&w->json, &output.byte_stream);
	w->lane_tid = w->job.thread_count;
	for (uint32_t i = 0; i < w->job.node_count && rc == 0; i++)
		rc = write_node(w, &w->job.nodes[i], err);
	if (rc != 0) {
		trace_output_abort(&output);
		return -1;
	}
	chrome_json_end(&w->json);
	if (w->crowded > 0)
		log_warn("%" PRIu64 " intervals overlap others that are "
			 "drawn: more than %d overlap on one thread",
		    w->crowded, LANES_LANES_MAX);
	return trace_output_commit(&output, err);
}

/* Refuse options that would have no effect. */
static void
refuse(const struct opt *options)
{
	for (const struct opt *o = options; o->name != NULL; o++)
		if (strcmp(o->name, "job") != 0 &&
		    opt_origin(o) == OPT_COMMAND_LINE)
			opt_usage(
			    "--%s is for timeline, not for scanner", o->name);
}

void
scanner_trace_check(const struct trace_request *request)
{
	refuse(time_window_options);
	refuse(timeline_options);
	for (const struct opt *o = source_options; o->name != NULL; o++)
		if (strcmp(o->name, "clock") == 0 &&
		    opt_origin(o) == OPT_COMMAND_LINE)
			opt_usage("scanner writes times as they were recorded; "
				  "use timeline for --clock");
	source_default_clock(request->source_options, CLOCK_RAW);
	if (request->window->jobs.job == NULL)
		opt_usage("missing option: --job names the job");
	if (request->format > TRACE_TAR_GZIP)
		opt_usage("scanner writes .trace, .json, .json.gz or .tar.gz; "
			  "use timeline for .pftrace");
}

int
scanner_trace_write(const struct trace_request *request, struct err *err)
{
	struct writing *w = memory_zero(1, sizeof(*w));
	int rc;

	w->request = request;
	rc = scanner_job_read(&w->job, request->source, request->partition,
	    request->window->jobs.job, err);
	if (rc == 0) {
		w->order = span_sort_new(SPAN_SORT_ITEMS);
		rc = write_all(w, err);
		span_sort_free(&w->order);
	}
	scanner_job_clear(&w->job);
	free(w);
	return rc;
}

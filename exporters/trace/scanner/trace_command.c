/*
 * scanner_trace_command - a profiled Scanner job as a Chrome trace.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/scanner/trace_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exporters/samples/time_window.h"
#include "exporters/trace/format/chrome_json.h"
#include "exporters/trace/scanner/job.h"
#include "exporters/trace/scanner/span_sort.h"
#include "exporters/trace/timeline/timeline.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

/* The page limit: as many records as fit. */
enum { PAGE_BYTES = 192 << 10 };

struct writing {
	const struct trace_request *request;
	struct scanner_job job;
	struct span_sort *order;
	struct chrome_json json;
	uint64_t events; /* written intervals */
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

/* Read the spans of the thread into the sorter and their names into `names`. */
static int
read_thread(struct writing *w, const struct scanner_job_thread *thread,
    struct string_table *names, struct err *err)
{
	const struct scanner_job_node *node = &w->job.nodes[thread->node];
	struct text role = text_of(scanner_roles[thread->role]);
	struct wire_query query = source_query(1u << RECORD_SPAN);
	struct source *source = w->request->source;
	struct record record;
	int rc;

	query.node = node->name;
	query.columns = thread->track;
	query.from_ns = thread->first_ns;
	query.to_ns =
	    thread->last_ns < TIME_MAX_NS ? thread->last_ns + 1 : TIME_MAX_NS;
	query.page_bytes = PAGE_BYTES;
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
		if (span_sort_add(w->order, &item, err) != 0)
			return -1;
	}
	return rc == 0 ? span_sort_end(w->order, err) : -1;
}

static int
write_intervals(struct writing *w, const struct scanner_job_thread *thread,
    int64_t pid, int64_t tid, struct err *err)
{
	struct trace_slice slice = { .pid = pid,
		.tid = tid,
		.category = text_of(scanner_roles[thread->role]) };
	struct span_item item;
	struct string_table names;
	int64_t written = 0;
	int rc;

	if (thread->intervals == 0)
		return 0;
	string_table_init(&names);
	rc = read_thread(w, thread, &names, err);
	while (rc == 0 && (rc = span_sort_next(w->order, &item, err)) > 0) {
		slice.name = names.names[item.name];
		slice.colour = colour_of(slice.name);
		slice.begin_ns = item.begin_ns - w->job.base_ns;
		slice.duration_ns = item.end_ns - item.begin_ns;
		chrome_json_complete(&w->json, &slice);
		written++;
		rc = 0;
	}
	string_table_clear(&names);
	if (rc == 0 && written != thread->intervals)
		log_warn("%.*s %.*s: only %" PRId64 " of %" PRId64
			 " intervals are in the store",
		    (int)w->job.nodes[thread->node].name.bytes,
		    w->job.nodes[thread->node].name.at,
		    (int)thread->track.bytes, thread->track.at, written,
		    thread->intervals);
	w->events += (uint64_t)written;
	return rc;
}

static int
write_node(struct writing *w, const struct scanner_job_node *node, int64_t *tid,
    struct err *err)
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
		int64_t number = is_master ? (int64_t)i : (*tid)++;

		chrome_json_thread_name(
		    &w->json, node->worker, number, thread->name);
		if (!is_master)
			chrome_json_thread_sort(
			    &w->json, node->worker, number, thread->sort);
		if (write_intervals(w, thread, node->worker, number, err) != 0)
			return -1;
	}
	return 0;
}

static int
write_all(struct writing *w, struct err *err)
{
	struct trace_output output;
	int64_t tid = 0;
	int rc = 0;

	if (trace_output_open(
		&output, w->request->path, w->request->format, err) != 0)
		return -1;
	chrome_json_begin(&w->json, &output.byte_stream);
	for (uint32_t i = 0; i < w->job.node_count && rc == 0; i++)
		rc = write_node(w, &w->job.nodes[i], &tid, err);
	if (rc != 0) {
		trace_output_abort(&output);
		return -1;
	}
	chrome_json_end(&w->json);
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
	if (request->window->job == NULL)
		opt_usage("missing option: --job names the job");
	if (request->format > TRACE_TAR_GZIP)
		opt_usage("scanner writes .trace, .json, .json.gz or .tar.gz; "
			  "use timeline for .pftrace");
}

int
scanner_trace_write(const struct trace_request *request, struct err *err)
{
	struct writing w = { .request = request };
	int rc;

	rc = scanner_job_read(&w.job, request->source, request->partition,
	    request->window->job, err);
	if (rc == 0) {
		w.order = span_sort_new(SPAN_SORT_ITEMS);
		rc = write_all(&w, err);
		span_sort_free(&w.order);
	}
	scanner_job_clear(&w.job);
	return rc;
}

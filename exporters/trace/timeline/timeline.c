/*
 * timeline - the whole pool on one timeline.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/select/kinds.h"
#include "exporters/trace/timeline/timeline_private.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { NODES_MAX = 1 << 16 };

static const struct part {
	enum record_kind kind;
	int (*read)(struct timeline *t, struct err *err);
} parts[] = {
	{ RECORD_PHASE, timeline_phases },
	{ RECORD_SPAN, timeline_spans },
	{ RECORD_EVENT, timeline_events },
	{ RECORD_SAMPLE, timeline_samples },
};
enum { PARTS = sizeof(parts) / sizeof(*parts) };

const struct opt timeline_options[] = {
	{ "kind", 0, OPT_LIST, OPT_TO(struct timeline_options, kinds), "KIND",
	    "write only this kind: phase (with jobs), span, event or sample; "
	    "may be repeated",
	    NULL, false },
	{ "metric", 'm', OPT_LIST, OPT_TO(struct timeline_options, metrics),
	    "PATTERN",
	    "write only samples of metrics that match this pattern; may be "
	    "repeated",
	    NULL, false },
	{ "nodes", 0, OPT_TEXT, OPT_TO(struct timeline_options, nodes),
	    "all|worst:K",
	    "write all nodes (the default), or only the K with the longest "
	    "phases, the longest first",
	    NULL, false },
	{ "max-size", 0, OPT_BYTES, OPT_TO(struct timeline_options, max_bytes),
	    "BYTES", "limit the size of the trace, and report what is left out",
	    NULL, false },
	{ .name = NULL },
};

int
timeline_options_complete(struct timeline_options *options, struct err *err)
{
	static const char prefix[] = "worst:";
	uint32_t all = 0;
	struct err ignored;
	uint64_t count;

	for (size_t i = 0; i < PARTS; i++)
		all |= 1u << parts[i].kind;
	options->kind_bits = kinds_of(&options->kinds, all, all);
	if (options->nodes == NULL || strcmp(options->nodes, "all") == 0)
		return 0;
	if (strncmp(options->nodes, prefix, sizeof(prefix) - 1) != 0 ||
	    number_parse_u64(text_of(options->nodes + sizeof(prefix) - 1),
		&count, &ignored) != 0 ||
	    count == 0 || count > NODES_MAX)
		return err_set_option(err, "nodes",
		    "takes all, or worst:K with K from 1 to %d", NODES_MAX);
	options->worst = (uint32_t)count;
	return 0;
}

void
timeline_check(const struct trace_request *request)
{
	struct err err;

	if (timeline_options_complete(request->timeline, &err) != 0)
		opt_usage("%s", err.text);
}

/* ---- names ---- */

/* Names are of the node that was described last. */
struct describing {
	struct timeline *timeline;
	struct text node;
};

static void
account_name(struct describing *d, uint64_t before)
{
	struct timeline *t = d->timeline;

	if (t->limit != NULL)
		size_limit_add_name(
		    t->limit, d->node, trace_writer_bytes(&t->sink) - before);
}

static void
on_process(void *arg, struct text node, int64_t pid, struct text name,
    int64_t position)
{
	struct describing *d = arg;
	uint64_t before = trace_writer_bytes(&d->timeline->sink);

	d->node = node;
	trace_writer_process(&d->timeline->sink, pid, name, position);
	account_name(d, before);
}

static void
on_thread(
    void *arg, int64_t pid, int64_t tid, struct text name, int64_t position)
{
	struct describing *d = arg;
	uint64_t before = trace_writer_bytes(&d->timeline->sink);

	trace_writer_thread(&d->timeline->sink, pid, tid, name, position);
	account_name(d, before);
}

static int
read_all(struct timeline *t, struct err *err)
{
	struct describing describing = { .timeline = t };
	struct tracks_names names = { &describing, on_process, on_thread };

	if (tracks_read(&t->tracks, t->source, t->partition, err) != 0)
		return -1;
	for (size_t i = 0; i < PARTS; i++)
		if (t->kind_bits >> parts[i].kind & 1 &&
		    parts[i].read(t, err) != 0)
			return -1;
	tracks_describe(&t->tracks, t->chosen_only ? &t->chosen : NULL, &names);
	return 0;
}

/* ---- time range ---- */

static int
open_window(struct timeline *t, const struct time_window_options *options,
    struct err *err)
{
	if (time_window_open(
		&t->time_window, options, t->source, t->partition, err) != 0)
		return -1;
	/* The length of the time range must fit 64 bits. */
	if (t->time_window.from_ns < TIME_MAX_NS - INT64_MAX)
		t->time_window.from_ns = TIME_MAX_NS - INT64_MAX;
	t->from_ns = t->time_window.from_ns;
	t->end_ns = t->time_window.to_ns;
	t->cut_ns = TIME_MAX_NS;
	if (options->to_ns != TIME_MAX_NS || t->time_window.job != NULL)
		t->cut_ns = t->time_window.to_ns;
	return 0;
}

/* ---- writing ---- */

static void
warn_left_out(const struct timeline *t)
{
	if (t->tracks.crowded + t->crowded > 0)
		log_warn(
		    "%" PRIu64
		    " intervals left out: more than %d overlap on one track",
		    t->tracks.crowded + t->crowded, LANES_LANES_MAX);
	if (t->rowless > 0)
		log_warn("%" PRIu64
			 " records left out: there are more than %d tracks",
		    t->rowless, TRACKS_MAX);
	if (t->written == 0 && !opt_common_values.quiet)
		log_warn("the trace is empty");
}

int
timeline_write_pass(struct timeline *t, const struct trace_request *request,
    struct byte_stream *byte_stream, uint64_t *bytes, struct err *err)
{
	char clock[SOURCE_CLOCK_WORDS];
	struct trace_about about = { .partition = request->partition,
		.base_ns = t->from_ns,
		.job = t->time_window.job,
		.end_ns = t->time_window.to_ns,
		.clock =
		    source_clock_ahead(clock, source_clock(request->source)) };
	int rc;

	tracks_clear(&t->tracks);
	tracks_init(&t->tracks);
	t->written = t->crowded = t->rowless = 0;
	trace_writer_begin(&t->sink, request->format, byte_stream, &about);
	rc = read_all(t, err);
	*bytes = trace_writer_end(&t->sink);
	timeline_shows_nothing(t);
	return rc;
}

static int
write_trace(
    struct timeline *t, const struct trace_request *request, struct err *err)
{
	char left_out[TIMELINE_WARNING_BYTES] = "";
	struct trace_output output;
	uint64_t bytes;

	if (request->timeline->max_bytes > 0 &&
	    timeline_make_fit(t, request, left_out, err) != 0)
		return -1;
	if (trace_output_open(&output, request->path, request->format, err) !=
	    0)
		return -1;
	if (timeline_write_pass(t, request, &output.byte_stream, &bytes, err) !=
	    0) {
		trace_output_abort(&output);
		return -1;
	}
	if (trace_output_commit(&output, err) != 0)
		return -1;
	if (left_out[0] != '\0')
		log_warn("--max-size: %s", left_out);
	return 0;
}

/* Choose the nodes; `log`: say so. */
static int
begin(struct timeline *t, const struct trace_request *request, bool log,
    struct err *err)
{
	const struct timeline_options *options = request->timeline;
	int rc;

	*t = (struct timeline){ .source = request->source,
		.partition = request->partition,
		.metrics = &options->metrics,
		.kind_bits = options->kind_bits,
		.has_terminal =
		    log && progress_is_wanted() && !opt_common_values.quiet };
	tracks_init(&t->tracks);
	string_table_init(&t->chosen);
	rc = open_window(t, request->window, err);
	if (rc == 0 && (t->kind_bits & 1u << RECORD_PHASE) != 0)
		rc = job_intervals_read(&t->jobs, t->source, t->partition,
		    request->window->job, err);
	if (rc == 0)
		rc = timeline_count(t, err);
	if (rc == 0 && options->worst > 0)
		rc = timeline_choose_worst(t, options->worst, err);
	if (rc == 0 && log && options->worst > 0 &&
	    t->nodes > t->chosen.count && !opt_common_values.quiet)
		log_info("the %" PRIu32 " worst of %" PRIu32 " nodes",
		    t->chosen.count, t->nodes);
	return rc;
}

static void
clear(struct timeline *t)
{
	timeline_shows_nothing(t);
	time_window_close(&t->time_window);
	job_intervals_clear(&t->jobs);
	tracks_clear(&t->tracks);
	string_table_clear(&t->chosen);
}

int
timeline_write(const struct trace_request *request, struct err *err)
{
	struct timeline t;
	int rc = begin(&t, request, true, err);

	if (rc == 0)
		rc = write_trace(&t, request, err);
	if (rc == 0)
		warn_left_out(&t);
	clear(&t);
	return rc;
}

static int
write_to(struct timeline *t, const struct trace_request *request, FILE *file,
    struct timeline_shown *shown, struct err *err)
{
	char ignored[TIMELINE_WARNING_BYTES] = "";
	int64_t to_ns = t->time_window.to_ns;
	struct byte_stream stream;
	uint64_t bytes;
	int rc;

	if (request->timeline->max_bytes > 0 &&
	    timeline_make_fit(t, request, ignored, err) != 0)
		return -1;
	if (byte_stream_begin(&stream, file, BYTE_STREAM_PLAIN,
		(struct text){ NULL, 0 }, err) != 0)
		return -1;
	rc = timeline_write_pass(t, request, &stream, &bytes, err);
	if (byte_stream_end(&stream, rc == 0 ? err : NULL) != 0)
		rc = -1;
	*shown = (struct timeline_shown){ .nodes = t->chosen.count,
		.of = t->chosen_only ? t->nodes : 0,
		.until_ns = t->time_window.to_ns < to_ns ? t->time_window.to_ns
							 : TIME_MAX_NS,
		.left_out = t->tracks.crowded + t->crowded + t->rowless };
	if (rc == 0 && t->written == 0)
		rc = err_set(err, "the trace would be empty%s",
		    t->chosen_only ? ": none of these nodes has a phase or a "
				     "span; ask for all nodes"
				   : "");
	return rc;
}

int
timeline_write_to(const struct trace_request *request, FILE *file,
    struct timeline_shown *shown, struct err *err)
{
	struct timeline t;
	int rc = begin(&t, request, false, err);

	if (rc == 0)
		rc = write_to(&t, request, file, shown, err);
	clear(&t);
	return rc;
}

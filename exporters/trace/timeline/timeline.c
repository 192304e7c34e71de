/*
 * timeline - the whole pool on one timeline.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/source/kinds.h"
#include "exporters/trace/timeline/timeline_private.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { NODES_MAX = 1 << 16, TRIES_MAX = 60, NAMED_MAX = 3 };

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
	    "worst:K",
	    "write only the K nodes with the longest phases, the longest first",
	    NULL, false },
	{ "max-size", 0, OPT_BYTES, OPT_TO(struct timeline_options, max_bytes),
	    "BYTES", "limit the size of the trace, and report what is left out",
	    NULL, false },
	{ .name = NULL },
};

void
timeline_check(const struct trace_request *request)
{
	static const char prefix[] = "worst:";
	uint32_t all = 0;
	struct timeline_options *options = request->timeline;
	struct err err;
	uint64_t count;

	for (size_t i = 0; i < PARTS; i++)
		all |= 1u << parts[i].kind;
	options->kind_bits = kinds_of(&options->kinds, all, all);
	if (options->nodes == NULL)
		return;
	if (strncmp(options->nodes, prefix, sizeof(prefix) - 1) != 0 ||
	    number_parse_u64(text_of(options->nodes + sizeof(prefix) - 1),
		&count, &err) != 0 ||
	    count == 0 || count > NODES_MAX)
		opt_usage(
		    "--nodes takes worst:K, with K from 1 to %d", NODES_MAX);
	options->worst = (uint32_t)count;
}

/* ---- names ---- */

static void
on_process(void *arg, int64_t pid, struct text name, int64_t position)
{
	trace_writer_process(arg, pid, name, position);
}

static void
on_thread(
    void *arg, int64_t pid, int64_t tid, struct text name, int64_t position)
{
	trace_writer_thread(arg, pid, tid, name, position);
}

static int
read_all(struct timeline *t, struct err *err)
{
	struct tracks_names names = { &t->sink, on_process, on_thread };

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

/* ---- writing, and the size limit ---- */

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

/* Write all records once to `stream`. */
static int
write_pass(struct timeline *t, const struct trace_request *request,
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
count(struct timeline *t, const struct trace_request *request, uint64_t *bytes,
    struct err *err)
{
	struct byte_stream byte_stream;
	int rc = byte_stream_begin(&byte_stream, NULL, BYTE_STREAM_PLAIN,
	    (struct text){ NULL, 0 }, err);

	if (rc != 0)
		return -1;
	rc = write_pass(t, request, &byte_stream, bytes, err);
	if (byte_stream_end(&byte_stream, rc == 0 ? err : NULL) != 0)
		rc = -1;
	return rc;
}

static void
end_at(struct timeline *t, int64_t end_ns)
{
	t->time_window.to_ns = t->cut_ns = t->end_ns = end_ns;
}

/* Leave out nodes, the best first, until the rest fits or one is left; then
 * leave out time, the latest first.  `bytes` is the result of the last count.
 * Leaving records out also changes the size of the others a little, so count
 * again until the trace fits. */
static int
make_fit(struct timeline *t, const struct trace_request *request,
    uint64_t *bytes, struct err *err)
{
	struct size_limit *limit = memory_alloc(sizeof(*limit));
	int rc = 0, tries = 0;

	for (*bytes = UINT64_MAX;
	     rc == 0 && *bytes > request->timeline->max_bytes;) {
		size_limit_init(limit, t->time_window.from_ns,
		    t->time_window.to_ns, t->ranks);
		t->limit = limit;
		rc = count(t, request, bytes, err);
		t->limit = NULL;
		if (rc == 0 && *bytes > request->timeline->max_bytes &&
		    t->ranks > 1) {
			uint32_t ranks = size_limit_ranks(
			    limit, *bytes, request->timeline->max_bytes);

			if (ranks == t->ranks)
				ranks--;
			t->ranks = ranks > 0 ? ranks : 1;
		} else if (rc == 0 && *bytes > request->timeline->max_bytes) {
			int64_t end_ns = size_limit_time(
			    limit, *bytes, request->timeline->max_bytes);

			if (++tries == TRIES_MAX ||
			    end_ns >= t->time_window.to_ns)
				rc = err_set(err,
				    "--max-size is too small for any record");
			end_at(t, end_ns);
		}
		size_limit_clear(limit);
	}
	free(limit);
	return rc;
}

static void
warn_limit(const struct timeline *t, uint32_t ranks, int64_t to_ns)
{
	char text[CLOCK_TEXT_BYTES], names[NAMED_MAX * (NAME_BYTES_MAX + 4)];
	size_t used = 0;

	if (t->time_window.to_ns < to_ns) {
		clock_text(text, t->time_window.to_ns, 9);
		log_warn("--max-size: records from %s on are left out; use "
			 "--from %s for the rest",
		    text, text);
	}
	names[0] = '\0';
	for (uint32_t i = t->ranks; i < ranks && i < t->ranks + NAMED_MAX; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
		    "%s%.*s", used > 0 ? ", " : "",
		    (int)t->chosen.names[i].bytes, t->chosen.names[i].at);
	if (t->ranks < ranks)
		log_warn("--max-size: of the %" PRIu32
			 " worst nodes the last %" PRIu32 " are left out: %s%s",
		    ranks, ranks - t->ranks, names,
		    ranks - t->ranks > NAMED_MAX ? " ..." : "");
}

static int
write_trace(
    struct timeline *t, const struct trace_request *request, struct err *err)
{
	uint32_t ranks = t->ranks;
	int64_t to_ns = t->time_window.to_ns;
	struct trace_output output;
	uint64_t bytes;

	if (request->timeline->max_bytes > 0 &&
	    make_fit(t, request, &bytes, err) != 0)
		return -1;
	if (trace_output_open(&output, request->path, request->format, err) !=
	    0)
		return -1;
	if (write_pass(t, request, &output.byte_stream, &bytes, err) != 0) {
		trace_output_abort(&output);
		return -1;
	}
	if (trace_output_commit(&output, err) != 0)
		return -1;
	warn_limit(t, ranks, to_ns);
	return 0;
}

int
timeline_write(const struct trace_request *request, struct err *err)
{
	const struct timeline_options *options = request->timeline;
	struct timeline t = { .source = request->source,
		.partition = request->partition,
		.metrics = &options->metrics,
		.kind_bits = options->kind_bits,
		.has_terminal =
		    progress_is_wanted() && !opt_common_values.quiet };
	int rc;

	tracks_init(&t.tracks);
	string_table_init(&t.chosen);
	rc = open_window(&t, request->window, err);
	if (rc == 0)
		rc = timeline_count(&t, err);
	if (rc == 0 && options->worst > 0)
		rc = timeline_choose_worst(&t, options->worst, err);
	if (rc == 0 && options->worst > 0 && t.nodes > t.ranks &&
	    !opt_common_values.quiet)
		log_info("the %" PRIu32 " worst of %" PRIu32 " nodes", t.ranks,
		    t.nodes);
	if (rc == 0)
		rc = write_trace(&t, request, err);
	if (rc == 0)
		warn_left_out(&t);
	timeline_shows_nothing(&t);
	time_window_close(&t.time_window);
	tracks_clear(&t.tracks);
	string_table_clear(&t.chosen);
	return rc;
}

/*
 * timeline - the whole pool on one timeline.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/source/select_options.h"
#include "exporters/trace/timeline_records.h"
#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/config/opt.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

/* For --max-size: leave out nodes, then time, until the rest fits; sets
 * `warning` to what is left out (empty: nothing). */
enum { TIMELINE_WARNING_BYTES = 4 * NAME_BYTES_MAX };

/* The worst nodes: those with the longest phase. */

struct one {
	int64_t longest_ns; /* longest phase, or span */
	int64_t latest_ns;  /* end of the one that ended last */
	uint32_t number;    /* number of the node in `nodes` */
};

/* A start without an end: it is open unless the same phase starts again. */
struct open_start {
	bool any;
	int64_t begin_ns;
	struct text node, source, name, key; /* views of `texts` */
	struct buffer texts;
};

struct worst {
	struct string_table nodes;
	struct string_table ignored; /* phases that may lack their end */
	struct one *at;              /* indexed by the number of the node */
	uint32_t room;
	struct open_start open;
};

static void
take(struct worst *worst, struct text node, int64_t begin_ns, int64_t end_ns)
{
	uint32_t before = worst->nodes.count;
	uint32_t number = string_table_add(&worst->nodes, node);
	struct one *one;

	MEMORY_GROW(worst->at, worst->room, number);
	one = &worst->at[number];
	if (number == before)
		*one = (struct one){ INT64_MIN, INT64_MIN, number };
	if (end_ns - begin_ns > one->longest_ns)
		one->longest_ns = end_ns - begin_ns;
	if (end_ns > one->latest_ns)
		one->latest_ns = end_ns;
}

/* ---- phases without an end ---- */

static struct text
keep(struct buffer *texts, struct text text)
{
	unsigned char *at = buffer_need(texts, text.bytes);

	if (text.bytes > 0)
		memcpy(at, text.at, text.bytes);
	texts->bytes += text.bytes;
	return (struct text){ (const char *)at, text.bytes };
}

static void
hold(struct open_start *open, const struct record *record)
{
	open->texts.bytes = 0;
	/* Once for all, so that the views stay valid. */
	buffer_need(
	    &open->texts, (size_t)record->node.bytes + record->source.bytes +
			      record->name.bytes + record->key.bytes + 1);
	open->any = true;
	open->begin_ns = record->time_ns;
	open->node = keep(&open->texts, record->node);
	open->source = keep(&open->texts, record->source);
	open->name = keep(&open->texts, record->name);
	open->key = keep(&open->texts, record->key);
}

/* The phases of one name, key and node follow each other. */
static bool
is_same(const struct open_start *open, const struct record *record)
{
	return text_equal(open->node, record->node) &&
	       text_equal(open->source, record->source) &&
	       text_equal(open->name, record->name) &&
	       text_equal(open->key, record->key);
}

static void
take_interval(struct timeline *t, struct worst *worst, struct text node,
    int64_t begin_ns, int64_t end_ns)
{
	if (timeline_wants(t, node, begin_ns, end_ns))
		take(worst, node, begin_ns > t->from_ns ? begin_ns : t->from_ns,
		    end_ns);
}

/* What is open lasts to the end of the trace.  If the same phase started again
 * its end was lost, and nobody knows when it was. */
static void
release(struct timeline *t, struct worst *worst, const struct record *next)
{
	struct open_start *open = &worst->open;

	if (open->any && (next == NULL || !is_same(open, next)))
		take_interval(t, worst, open->node, open->begin_ns, t->end_ns);
	open->any = false;
}

/* ---- reading ---- */

/* Jobs do not count: a long job does not make a node slow. */
static void
take_phase(struct timeline *t, struct worst *worst, const struct record *record)
{
	release(t, worst, record);
	if (!record->has_time || timeline_is_job(record) ||
	    timeline_is_ignored(&worst->ignored, record))
		return;
	if (record->has_end)
		take_interval(
		    t, worst, record->node, record->time_ns, record->end_ns);
	else
		hold(&worst->open, record);
}

static int
read_kind(struct timeline *t, struct worst *worst, enum record_kind kind,
    struct err *err)
{
	struct record record;
	int rc;

	if (timeline_select(t, kind, TIME_MIN_NS, err) != 0)
		return -1;
	while ((rc = source_next(t->source, &record, err)) > 0) {
		if (kind == RECORD_PHASE)
			take_phase(t, worst, &record);
		else
			take_interval(t, worst, record.node, record.time_ns,
			    record.end_ns);
	}
	release(t, worst, NULL);
	return rc;
}

static int
by_length(const void *left, const void *right)
{
	const struct one *a = left, *b = right;

	if (a->longest_ns != b->longest_ns)
		return a->longest_ns > b->longest_ns ? -1 : 1;
	if (a->latest_ns != b->latest_ns)
		return a->latest_ns > b->latest_ns ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

/* Choose the nodes with the longest phases, or, if there are no phases, with
 * the longest spans; at most `count`. */
static int
timeline_choose_worst(struct timeline *t, uint64_t count, struct err *err)
{
	struct worst worst = { .at = NULL };
	uint64_t pairs = 0;
	int rc;

	string_table_init(&worst.nodes);
	string_table_init(&worst.ignored);
	rc = timeline_read_ignored(t, &worst.ignored, &pairs, err);
	if (rc == 0)
		rc = read_kind(t, &worst, RECORD_PHASE, err);
	if (rc == 0 && worst.nodes.count == 0)
		rc = read_kind(t, &worst, RECORD_SPAN, err);
	if (rc == 0 && worst.nodes.count > 1)
		qsort(
		    worst.at, worst.nodes.count, sizeof(*worst.at), by_length);
	if (rc == 0)
		t->nodes = worst.nodes.count;
	for (uint32_t i = 0; rc == 0 && i < worst.nodes.count && i < count; i++)
		(void)string_table_add(
		    &t->chosen, worst.nodes.names[worst.at[i].number]);
	t->chosen_only = true;
	free(worst.at);
	buffer_clear(&worst.open.texts);
	string_table_clear(&worst.ignored);
	string_table_clear(&worst.nodes);
	return rc;
}

/*
 * Make the trace fit --max-size.
 *
 * Whole nodes are left out first: of all nodes, the worst one first, each stays
 * that still fits.  If not even the worst node fits, its time is cut.  Leaving
 * records out also changes the size of the others a little, so the bytes are
 * counted again until the trace fits.
 */

enum { TRIES_MAX = 60, NAMED_MAX = 3, ENOUGH_PERCENT = 90 };

/* What a count says. */
struct counted {
	struct size_limit *limit; /* NULL: nothing was counted yet */
	uint64_t bytes, max;
};

static int timeline_write_pass(struct timeline *t,
    const struct trace_request *request, struct byte_stream *byte_stream,
    uint64_t *bytes, struct err *err);

static int
count_once(struct timeline *t, const struct trace_request *request,
    uint64_t *bytes, struct err *err)
{
	struct byte_stream byte_stream;
	int rc = byte_stream_begin(&byte_stream, NULL, BYTE_STREAM_PLAIN,
	    (struct text){ NULL, 0 }, err);

	if (rc != 0)
		return -1;
	rc = timeline_write_pass(t, request, &byte_stream, bytes, err);
	if (byte_stream_end(&byte_stream, rc == 0 ? err : NULL) != 0)
		rc = -1;
	return rc;
}

/* Count the bytes of what is in the trace now; sections are from `from_ns` to
 * the end of the trace. */
static int
count(struct timeline *t, const struct trace_request *request,
    struct counted *counted, int64_t from_ns, struct err *err)
{
	int rc;

	if (counted->limit == NULL)
		counted->limit = memory_alloc(sizeof(*counted->limit));
	else
		size_limit_clear(counted->limit);
	size_limit_init(counted->limit, from_ns, t->time_window.to_ns);
	t->limit = counted->limit;
	rc = count_once(t, request, &counted->bytes, err);
	t->limit = NULL;
	return rc;
}

/* ---- nodes ---- */

static void
swap_tables(struct string_table *a, struct string_table *b)
{
	struct string_table old = *a;

	*a = *b;
	*b = old;
}

/* All nodes that were counted, the worst one first; those without phases and
 * spans last, as they came. */
static int
rank_nodes(struct timeline *t, const struct counted *counted, struct err *err)
{
	const struct string_table *nodes = &counted->limit->nodes;

	if (t->chosen_only)
		return 0;
	if (timeline_choose_worst(t, UINT64_MAX, err) != 0)
		return -1;
	for (uint32_t i = 0; i < nodes->count; i++)
		(void)string_table_add(&t->chosen, nodes->names[i]);
	t->nodes = t->chosen.count;
	return 0;
}

/* Leave out the nodes that do not fit, at least one. */
static void
leave_out_nodes(struct timeline *t, const struct counted *counted)
{
	struct string_table fit, fewer;
	uint32_t before = t->chosen.count;

	string_table_init(&fit);
	string_table_init(&fewer);
	size_limit_nodes(
	    counted->limit, &t->chosen, counted->bytes, counted->max, &fit);
	if (fit.count == 0) {
		(void)string_table_add(&fit, t->chosen.names[0]);
	} else if (fit.count == before) {
		for (uint32_t i = 0; i + 1 < fit.count; i++)
			(void)string_table_add(&fewer, fit.names[i]);
		swap_tables(&fit, &fewer);
	}
	swap_tables(&fit, &t->chosen);
	string_table_clear(&fit);
	string_table_clear(&fewer);
}

/* ---- time ---- */

static void
end_at(struct timeline *t, int64_t end_ns)
{
	t->time_window.to_ns = t->cut_ns = t->end_ns = end_ns;
}

/* Cut the time so that what is left fits, and fills the size well: `counted`
 * has the sections of the whole time, which does not fit. */
static int
cut_time(struct timeline *t, const struct trace_request *request,
    struct counted *counted, struct err *err)
{
	/* What ends at `fits_ns` fits, what ends at `over_ns` does not. */
	int64_t fits_ns = t->time_window.from_ns;
	int64_t over_ns = t->time_window.to_ns;
	uint64_t records = 0; /* that begin before `fits_ns` */

	for (int i = 0; i < TRIES_MAX && over_ns - fits_ns > 1; i++) {
		int64_t end_ns = size_limit_time(
		    counted->limit, counted->bytes, counted->max);

		end_at(t, end_ns);
		if (count(t, request, counted, fits_ns, err) != 0)
			return -1;
		if (counted->bytes > counted->max) {
			over_ns = end_ns;
			continue;
		}
		fits_ns = end_ns;
		records = t->written;
		if (counted->bytes >= counted->max / 100 * ENOUGH_PERCENT ||
		    over_ns - fits_ns == 1)
			break;
		/* Much of the size is left: look where the next section, which
		 * is too large, can be divided. */
		end_at(t, over_ns);
		if (count(t, request, counted, fits_ns, err) != 0)
			return -1;
	}
	if (records == 0)
		return err_set_option(
		    err, "max-size", "is too small for any record");
	end_at(t, fits_ns);
	return 0;
}

/* ---- both ---- */

/* "8 of 10 nodes are left out, the worst of them a, b, c" */
static void
say_nodes(char to[static TIMELINE_WARNING_BYTES],
    const struct string_table *all, const struct string_table *kept)
{
	uint32_t named = 0, number;
	int used = snprintf(to, TIMELINE_WARNING_BYTES,
	    "%" PRIu32 " of %" PRIu32 " nodes are left out, the worst of them ",
	    all->count - kept->count, all->count);

	for (uint32_t i = 0; i < all->count && named < NAMED_MAX; i++) {
		struct text name = all->names[i];

		if (string_table_find(kept, name, &number))
			continue;
		used += snprintf(to + used,
		    (size_t)(TIMELINE_WARNING_BYTES - used), "%s%.*s",
		    named > 0 ? ", " : "", (int)name.bytes, name.at);
		named++;
	}
}

static void
say_time(char to[static TIMELINE_WARNING_BYTES], int64_t to_ns)
{
	size_t used = strlen(to);
	char text[CLOCK_TEXT_BYTES];

	clock_text(text, to_ns, 9);
	snprintf(to + used, TIMELINE_WARNING_BYTES - used,
	    "%srecords from %s on are left out; use --from %s for the rest",
	    used > 0 ? "; " : "", text, text);
}

static int
timeline_make_fit(struct timeline *t, const struct trace_request *request,
    char warning[static TIMELINE_WARNING_BYTES], struct err *err)
{
	struct counted counted = { .max = request->timeline->max_bytes };
	int64_t from_ns = t->time_window.from_ns, to_ns = t->time_window.to_ns;
	struct string_table all;
	int rc;

	string_table_init(&all);
	rc = count(t, request, &counted, from_ns, err);
	if (rc == 0 && counted.bytes > counted.max)
		rc = rank_nodes(t, &counted, err);
	for (uint32_t i = 0; rc == 0 && i < t->chosen.count; i++)
		(void)string_table_add(&all, t->chosen.names[i]);
	while (rc == 0 && counted.bytes > counted.max && t->chosen.count > 1) {
		leave_out_nodes(t, &counted);
		rc = count(t, request, &counted, from_ns, err);
	}
	if (rc == 0 && t->chosen.count < all.count)
		say_nodes(warning, &all, &t->chosen);
	if (rc == 0 && counted.bytes > counted.max) {
		t->without_path = true;
		rc = count(t, request, &counted, from_ns, err);
	}
	if (rc == 0 && counted.bytes > counted.max) {
		rc = cut_time(t, request, &counted, err);
		if (rc == 0 && t->time_window.to_ns < to_ns)
			say_time(warning, t->time_window.to_ns);
	}
	if (counted.limit != NULL)
		size_limit_clear(counted.limit);
	free(counted.limit);
	string_table_clear(&all);
	return rc;
}

enum { NODES_MAX = 1 << 16 };

static const struct part {
	enum record_kind kind;
	int (*read)(struct timeline *t, struct err *err);
} parts[] = {
	{ RECORD_PHASE, timeline_path },
	{ RECORD_PHASE, timeline_phases },
	{ RECORD_SPAN, timeline_spans },
	{ RECORD_EVENT, timeline_events },
	{ RECORD_SAMPLE, timeline_samples },
};
enum { PARTS = sizeof(parts) / sizeof(*parts) };

const struct opt timeline_options[] = {
	{ "kind", 0, OPT_LIST, OPT_TO(struct timeline_options, kinds), "KIND",
	    "write only this kind: phase (with jobs), span, event or sample; "
	    "may be repeated" },
	{ "metric", 'm', OPT_LIST, OPT_TO(struct timeline_options, metrics),
	    "PATTERN",
	    "write only samples of metrics that match this pattern; may be "
	    "repeated" },
	{ "nodes", 0, OPT_TEXT, OPT_TO(struct timeline_options, nodes),
	    "all|worst:K",
	    "write all nodes (the default), or only the K with the longest "
	    "phases, the longest first" },
	{ "max-size", 0, OPT_BYTES, OPT_TO(struct timeline_options, max_bytes),
	    "BYTES",
	    "limit the size of the trace, and report what is left out" },
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
	options->kind_bits = select_kinds(&options->kinds, all, all);
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

	if (t->limit != NULL && d->node.bytes > 0)
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
	if (options->to_ns != TIME_MAX_NS || t->time_window.of_jobs != NULL)
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

/* Write all records once to the stream; `bytes`: before compression. */
static int
timeline_write_pass(struct timeline *t, const struct trace_request *request,
    struct byte_stream *byte_stream, uint64_t *bytes, struct err *err)
{
	char clock[SOURCE_CLOCK_WORDS];
	struct trace_about about = { .partition = request->partition,
		.base_ns = t->from_ns,
		.job = t->time_window.jobs.job,
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
		.gap_ns = request->gap_ns,
		.kind_bits = options->kind_bits,
		.has_terminal =
		    log && progress_is_wanted() && !opt_common_values.quiet };
	tracks_init(&t->tracks);
	string_table_init(&t->chosen);
	rc = open_window(t, request->window, err);
	if (rc == 0 && (t->kind_bits & 1u << RECORD_PHASE) != 0)
		rc = job_intervals_read(&t->jobs, t->source, t->partition,
		    &request->window->jobs, err);
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

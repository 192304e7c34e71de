/*
 * timeline - the whole pool on one time line.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/timeline.h"

#include <inttypes.h>

#include "exporters/kinds.h"
#include "exporters/timeline_core.h"
#include "proto/clock.h"
#include "proto/log.h"

static struct {
	struct opt_list kinds, metrics;
} values;

const struct opt timeline_options[] = {
	{ "kind", 0, OPT_LIST, &values.kinds, "KIND",
	    "phase (with jobs), span, event, sample; may be repeated (all)",
	    NULL, false },
	{ "metric", 'm', OPT_LIST, &values.metrics, "PATTERN",
	    "samples only of metrics like this; may be repeated", NULL, false },
	{ .name = NULL },
};

/* ---- names ---- */

static void
on_process(void *arg, int64_t pid, struct text name, int64_t place)
{
	sink_process(arg, pid, name, place);
}

static void
on_thread(void *arg, int64_t pid, int64_t tid, struct text name, int64_t place)
{
	sink_thread(arg, pid, tid, name, place);
}

static int
read_all(struct timeline *t, struct err *err)
{
	static const struct {
		enum record_kind kind;
		int (*read)(struct timeline *t, struct err *err);
	} parts[] = {
		{ RECORD_PHASE, timeline_phases },
		{ RECORD_SPAN, timeline_spans },
		{ RECORD_EVENT, timeline_events },
		{ RECORD_SAMPLE, timeline_samples },
	};
	struct row_names names = { &t->sink, on_process, on_thread };
	uint32_t all = 0, kinds;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		all |= 1u << parts[i].kind;
	kinds = kinds_of(&values.kinds, all, all);
	if (rows_read(&t->rows, t->source, t->partition, err) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (kinds >> parts[i].kind & 1 && parts[i].read(t, err) != 0)
			return -1;
	rows_describe(&t->rows, NULL, &names);
	return 0;
}

/* ---- the time of it ---- */

static int
open_window(struct timeline *t, struct err *err)
{
	int64_t from_ns, to_ns;

	if (window_open(&t->window, t->source, t->partition, err) != 0)
		return -1;
	window_times(&from_ns, &to_ns);
	t->from_ns = t->window.from_ns;
	t->end_ns = t->window.to_ns;
	t->cut_ns = TIME_MAX_NS;
	if (to_ns != TIME_MAX_NS || t->window.job != NULL)
		t->cut_ns = t->window.to_ns;
	return 0;
}

static void
say_left_out(const struct timeline *t)
{
	if (t->rows.crowded + t->crowded > 0)
		log_warn("%" PRIu64 " intervals are left out: more than %d "
			 "overlap on one track",
		    t->rows.crowded + t->crowded, NEST_LANES_MAX);
	if (t->rowless > 0)
		log_warn("%" PRIu64 " records are left out: there are more "
			 "than %d tracks",
		    t->rowless, ROWS_MAX);
	if (t->written == 0 && !opt_common_values.quiet)
		log_warn("there is nothing in this trace");
}

static int
write_trace(
    struct timeline *t, const struct trace_request *request, struct err *err)
{
	struct trace_about about = { .partition = request->partition,
		.base_ns = t->from_ns,
		.job = t->window.job,
		.end_ns = t->window.to_ns };
	struct trace_output output;

	if (trace_output_open(&output, request->path, err) != 0)
		return -1;
	sink_begin(&t->sink, request->format, &output.stream, &about);
	if (read_all(t, err) != 0) {
		trace_output_abort(&output);
		return -1;
	}
	sink_end(&t->sink);
	return trace_output_commit(&output, err);
}

int
timeline_write(const struct trace_request *request, struct err *err)
{
	struct timeline t = { .source = request->source,
		.partition = request->partition,
		.metrics = &values.metrics };
	int rc;

	rows_init(&t.rows);
	rc = open_window(&t, err);
	if (rc == 0)
		rc = write_trace(&t, request, err);
	if (rc == 0)
		say_left_out(&t);
	window_close(&t.window);
	rows_clear(&t.rows);
	return rc;
}

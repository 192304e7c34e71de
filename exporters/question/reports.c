/*
 * question_reports - the reports of hosts themselves, a row each.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>

#include "exporters/question/perf.h"
#include "proto/base/memory.h"

enum { NAMED_MAX = 10 };

struct row {
	struct text node;
	int64_t time;
	struct value at[PERF_GROUP_REPORTED];
};

#define VALUE(key, title, column, unit, help)                                  \
	{                                                                      \
		key, title, ANSWER_AT_VALUE(struct row, at[column]), help,     \
		    unit, ANSWER_SPARE                                         \
	}

/* In the order of the older sampler (perf_report_order). */
static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node), "the node" },
	{ "time", "TIME", ANSWER_AT_TIME(struct row, time),
	    "when it was reported" },
	VALUE("cpu_pct_per_cpu_avg", "CPU%", 0, "%", "the mean of all CPUs"),
	VALUE("cpu_pct_per_cpu_min", NULL, 1, "%", "the least busy CPU"),
	VALUE("cpu_pct_per_cpu_max", "MAX%", 2, "%", "the busiest CPU"),
	VALUE("mem_percent", "MEM%", 3, "%", "used memory"),
	VALUE("disk_usage_percent", "DISK%", 4, "%", "used space of /"),
	VALUE("disk_io_read_mb", "READ", 5, "MiBy", "read since boot"),
	VALUE("disk_io_write_mb", "WRITE", 6, "MiBy", "written since boot"),
	VALUE("net_io_lo_sent_mb", NULL, 7, "MiBy", "sent over loopback"),
	VALUE("net_io_ext_sent_mb", "SENT", 8, "MiBy", "sent over the others"),
	VALUE("net_io_lo_recv_mb", NULL, 9, "MiBy", "received over loopback"),
	VALUE("net_io_ext_recv_mb", "RECV", 10, "MiBy",
	    "received over the others"),
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "reports", columns },
	{ .name = NULL } };

/* ---- what the questions share ---- */

static struct perf_decimation
decimation_of(const struct question_values *values)
{
	return perf_decimation_of(&values->perf,
	    question_is_given(values, "decimate"),
	    question_is_given(values, "max-length"));
}

int
question_reports_check(const struct question_values *values, struct err *err)
{
	struct perf_decimation how = decimation_of(values);

	return perf_decimation_check(&how, err);
}

/* The names of the first nodes without a report, a line each; the caller
 * frees them. */
static char *
name_missing(const struct perf_pool *pool, uint32_t *missing)
{
	char shown[300], *text = NULL;
	size_t bytes;
	FILE *file = memory_stream(&text, &bytes);

	*missing = 0;
	for (uint32_t i = 0; i < pool->names.count; i++) {
		if (pool->nodes[pool->order[i]].reports > 0)
			continue;
		if (++*missing <= NAMED_MAX)
			fprintf(file, "%snode %s has no reports",
			    *missing > 1 ? "\n" : "",
			    text_quote(shown, sizeof(shown),
				pool->names.names[pool->order[i]]));
	}
	if (*missing > NAMED_MAX)
		fprintf(file, "\nand %" PRIu32 " more node%s",
		    *missing - NAMED_MAX, *missing - NAMED_MAX == 1 ? "" : "s");
	memory_stream_end(&file);
	return text;
}

static int
judge_missing(const struct question_reports *reports,
    const struct question_asked *asked, struct answer *answer, struct err *err)
{
	uint32_t missing, nodes = reports->pool.names.count;
	char *text = name_missing(&reports->pool, &missing);
	char shown[300];
	int rc = 0;

	if (missing == nodes)
		rc = err_set(err, "no reports of partition %s in %s%s%s",
		    text_quote(shown, sizeof(shown), asked->partition),
		    source_name(asked->source), missing > 0 ? ": " : "", text);
	else if (missing > 0 && asked->values->strict)
		rc = err_set(err,
		    "%" PRIu32 " of %" PRIu32
		    " nodes have no reports (--strict): %s",
		    missing, nodes, text);
	else if (missing > 0)
		answer_note(answer, "without_reports", missing, "%s", text);
	free(text);
	return rc;
}

int
question_reports_read(struct question_reports *reports,
    const struct question_asked *asked, struct answer *answer, struct err *err)
{
	const struct time_window_options *window = &asked->values->window;

	*reports =
	    (struct question_reports){ .select = { .source = asked->source,
					   .partition = asked->partition,
					   .node = text_of(window->node.list),
					   .from_ns = window->from_ns,
					   .to_ns = window->to_ns },
		    .how = decimation_of(asked->values) };
	if (job_options_given(&window->jobs)) {
		reports->select.jobs = &reports->jobs;
		if (job_intervals_read(&reports->jobs, asked->source,
			asked->partition, &window->jobs, err) != 0)
			return -1;
	}
	if (perf_read(&reports->pool, &reports->select, err) != 0)
		return -1;
	return judge_missing(reports, asked, answer, err);
}

void
question_reports_clear(struct question_reports *reports)
{
	perf_pool_clear(&reports->pool);
	if (reports->select.jobs != NULL)
		job_intervals_clear(&reports->jobs);
}

/* ---- the rows ---- */

struct putting {
	struct answer *answer;
	struct text node;
};

static void
put(void *arg, const struct perf_report *report)
{
	const struct putting *putting = arg;
	struct row row = { .node = putting->node, .time = report->time_ns };

	for (int i = 0; i < PERF_GROUP_REPORTED; i++) {
		enum perf_group_column c = perf_report_order[i];

		if ((report->known >> c & 1) == 0) {
			row.at[i].type = VALUE_NIL;
		} else if (report->whole >> c & 1) {
			row.at[i].type = VALUE_INT;
			row.at[i].is.i = report->at[c].i;
		} else {
			row.at[i].type = VALUE_FLOAT;
			row.at[i].is.f = report->at[c].f;
		}
	}
	answer_row(putting->answer, &row, NULL);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct question_reports reports;
	struct putting putting = { .answer = answer };
	const struct perf_pool *pool = &reports.pool;
	char shown[300];
	int rc = question_reports_read(&reports, asked, answer, err);

	answer_title(answer, "reports of %s, MiB",
	    text_quote(shown, sizeof(shown), asked->partition));
	for (uint32_t i = 0; rc == 0 && i < pool->names.count; i++) {
		putting.node = pool->names.names[pool->order[i]];
		rc = perf_list_each(&reports.select, pool, pool->order[i],
		    &reports.how, put, &putting, err);
	}
	question_reports_clear(&reports);
	return rc;
}

const struct question question_reports = { .word = "reports",
	.summary = "the reports of each node, as the older sampler makes them",
	.options =
	    "node job user start gap from to strict decimate max-length sort "
	    "top columns",
	.examples = "poolscope stats reports --from -1h --format csv\n"
		    "poolscope stats reports --max-length 100\n",
	.tables = tables,
	.kinds = 1u << RECORD_SAMPLE,
	.check = question_reports_check,
	.ask = ask };

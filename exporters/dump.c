/*
 * poolscope-dump - print the records of a pool, one per line.
 * poolscope-dump(1).
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exporters/dump/follow.h"
#include "exporters/dump/rows.h"
#include "exporters/dump/sample_values.h"
#include "exporters/samples/job_intervals.h"
#include "exporters/source/known.h"
#include "exporters/source/node_option.h"
#include "exporters/source/time_option.h"
#include "exporters/source/kinds.h"
#include "exporters/tool/tool.h"
#include "proto/config/opt.h"
#include "proto/decode/record_json.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum format { DUMP_JSONL, DUMP_CSV, DUMP_LONG, DUMP_WIDE, DUMP_TABLE, DUMP_MD };

struct values {
	struct pool_options pool;
	struct source_options source;
	struct node_option node;
	struct job_options jobs;
	const char *output, *name, *cursor;
	struct opt_list kinds;
	int64_t from_ns, to_ns;
	int format;
	bool follow;
	struct answer_options answer; /* of all formats but jsonl */
	uint32_t wanted;              /* kinds */
};

static const struct values defaults = {
	.output = "-",
	.from_ns = TIME_MIN_NS,
	.to_ns = TIME_MAX_NS,
};

static const struct opt options[] = {
	{ "format", 0, OPT_CHOICE, OPT_TO(struct values, format), "FORMAT",
	    "print records as jsonl (default), csv, table or md; the values of "
	    "samples as CSV with their names: long (a row for each value) or "
	    "wide (a column for each metric)",
	    "jsonl|csv|long|wide|table|md", false },
	TOOL_OUTPUT(struct values, output),
	{ "kind", 0, OPT_LIST, OPT_TO(struct values, kinds), "KIND",
	    "print only this kind: event, sample, span, entity, gap, rejected, "
	    "phase, run; may be repeated (default: all except phase and run)",
	    NULL, false },
	NODE_OPTION(struct values, node),
	JOB_OPTIONS(struct values, jobs),
	{ "name", 0, OPT_TEXT, OPT_TO(struct values, name), "PATTERN",
	    "print only matching records: source:name of an event, metric "
	    "group of a sample, kind:id of an entity, model:phase, model:run",
	    NULL, false },
	TIME_OPTIONS(struct values, from_ns, to_ns, "print only records"),
	{ "follow", 0, OPT_FLAG, OPT_TO(struct values, follow), NULL,
	    "print records as they are received, until a signal", NULL, false },
	{ "cursor", 0, OPT_TEXT, OPT_TO(struct values, cursor), "FILE",
	    "with --follow: continue at the position in FILE, and save the "
	    "position there",
	    NULL, false },
	{ .name = NULL },
};

static bool
has_only_values(const struct values *values)
{
	return values->format == DUMP_LONG || values->format == DUMP_WIDE;
}

static const struct answer_table *
tables_of(const struct values *values)
{
	switch (values->format) {
	case DUMP_LONG: return sample_values_long;
	case DUMP_WIDE: return sample_values_wide;
	default: return dump_tables;
	}
}

static uint32_t
kinds_wanted(const struct values *values)
{
	uint32_t all = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE |
		       1u << RECORD_SPAN | 1u << RECORD_ENTITY |
		       1u << RECORD_GAP;

	if (has_only_values(values))
		return 1u << RECORD_SAMPLE;
	if (values->follow)
		return kinds_of(&values->kinds, all, all);
	all |= 1u << RECORD_REJECTED;
	return kinds_of(
	    &values->kinds, all | 1u << RECORD_PHASE | 1u << RECORD_RUN, all);
}

static void
check_answer(struct values *values)
{
	struct answer_options *answer = &values->answer;

	answer->format =
	    values->format == DUMP_JSONL || values->format == DUMP_TABLE
		? ANSWER_FORMAT_TABLE
	    : values->format == DUMP_MD ? ANSWER_FORMAT_MD
					: ANSWER_FORMAT_CSV;
	answer_options_judge(answer, tables_of(values));
	if (values->format == DUMP_JSONL &&
	    (answer->sort != NULL || answer->top > 0 ||
		answer->columns != NULL))
		opt_usage("--sort, --top and --columns are not for --format "
			  "jsonl: use csv or table");
}

static void
check_usage(struct values *values)
{
	values->wanted = kinds_wanted(values);
	check_answer(values);
	node_option_check(&values->node);
	time_options_check(values->from_ns, values->to_ns);
	if (values->cursor != NULL && !values->follow)
		opt_usage("--cursor requires --follow");
	if (has_only_values(values) &&
	    (values->kinds.count > 1 ||
		(values->kinds.count == 1 &&
		    strcmp(values->kinds.at[0], "sample") != 0)))
		opt_usage("--format %s prints the values of samples only: use "
			  "csv or jsonl for other kinds",
		    values->format == DUMP_LONG ? "long" : "wide");
	if (job_options_given(&values->jobs) && values->kinds.count > 0 &&
	    (values->wanted & (1u << RECORD_RUN | 1u << RECORD_REJECTED)) != 0)
		opt_usage("--job and --user select by node and time: records "
			  "of kinds run and rejected have no node");
	if (!values->follow)
		return;
	if (job_options_given(&values->jobs))
		opt_usage("--follow does not know which jobs will run: leave "
			  "out --job and --user");
	if (values->format != DUMP_JSONL)
		opt_usage("--follow supports only jsonl");
	if (strcmp(values->output, "-") != 0)
		opt_usage("--follow prints only to standard output");
}

static struct wire_query
make_query(const struct values *values)
{
	struct wire_query query = source_query(values->wanted);

	query.node = text_of(values->node.list);
	query.name = text_of(values->name);
	query.from_ns = values->from_ns;
	query.to_ns = values->to_ns;
	return query;
}

/* How the times of the last record were corrected; NULL: raw times were
 * requested. */
static const struct record_json_clock *
clock_of_last(struct source *source, struct record_json_clock *to)
{
	const struct source_clock *clock = source_clock(source);

	if (clock->choice == CLOCK_RAW)
		return NULL;
	*to = (struct record_json_clock){ clock->last.corrected,
		clock->last.time_ns, clock->last.end_ns, clock->last.offset_ns,
		clock->last.error_ns };
	return to;
}

static void
report_count(const struct values *values, struct source *source,
    struct text partition, int rc, uint64_t count)
{
	struct wire_query query = make_query(values);
	struct err err;

	if (rc >= 0 && count == 0 && !opt_common_values.quiet) {
		if (known_check_partition(source, partition, 0, &err) == 0) {
			err_set(&err, "%s", source_name(source));
			known_suggest(source, SOURCE_RECORDS, partition, &query,
			    values->name, &err);
		}
		log_warn("no matching records in %s", err.text);
	}
	log_debug("%" PRIu64 " records", count);
}

struct printing {
	const struct values *values;
	struct text partition;
	FILE *file;
	struct answer *answer; /* NULL: jsonl */
	struct sample_values samples;
};

static void
put(struct printing *p, const struct record *record,
    const struct record_json_clock *clock)
{
	if (p->answer == NULL)
		record_json_line(p->file, p->partition, record, clock);
	else if (has_only_values(p->values))
		sample_values_rows(&p->samples, p->answer, record);
	else
		dump_row(p->answer, p->partition, record, clock);
}

static int
put_all(struct printing *p, struct source *source,
    const struct job_intervals *jobs, struct err *err)
{
	struct wire_query query = make_query(p->values);
	const struct record_json_clock *clock;
	struct record_json_clock last;
	struct record record;
	uint64_t count = 0;
	int rc;

	if (jobs != NULL) {
		job_intervals_narrow(jobs, &query);
		job_intervals_limit(jobs, source);
	}
	if (source_select(source, SOURCE_RECORDS, p->partition, &query, err) !=
	    0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		clock = clock_of_last(source, &last);
		put(p, &record, clock);
		count++;
		/* The reader has closed the pipe, the disk is full, or there
		 * are too many rows to sort. */
		if (ferror(p->file) ||
		    (p->answer != NULL && answer_is_broken(p->answer)))
			break;
	}
	report_count(p->values, source, p->partition, rc, count);
	return rc < 0 ? -1 : 0;
}

static int
put_of_jobs(struct printing *p, struct source *source, struct err *err)
{
	const struct job_options *of = &p->values->jobs;
	struct job_intervals jobs;
	int rc;

	if (!job_options_given(of))
		return put_all(p, source, NULL, err);
	rc = job_intervals_read(&jobs, source, p->partition, of, err);
	if (rc == 0)
		rc = put_all(p, source, &jobs, err);
	job_intervals_limit(NULL, source);
	job_intervals_clear(&jobs);
	return rc;
}

static int
print_answer(struct printing *p, struct tool_open *open, struct err *err)
{
	struct answer_options how = p->values->answer;
	int rc;

	how.width = open->width;
	p->answer = answer_new(p->file, &how, tables_of(p->values));
	if (p->values->format == DUMP_WIDE)
		sample_values_add_columns(&p->samples, p->answer);
	else if (p->values->format != DUMP_LONG &&
		 source_clock(open->source)->choice != CLOCK_RAW)
		dump_rows_add_clock(p->answer);
	rc = put_of_jobs(p, open->source, err);
	rc = source_end_answer(open->source, p->answer, rc, err);
	answer_free(&p->answer);
	return rc;
}

static int
print(const struct values *values, struct tool_open *open, struct err *err)
{
	struct printing p = { .values = values,
		.partition = open->partition,
		.file = open->file };
	int rc = 0;

	if (values->format == DUMP_JSONL)
		return put_of_jobs(&p, open->source, err);
	if (has_only_values(values))
		rc = sample_values_open(&p.samples, open->source,
		    open->partition, text_of(values->name),
		    values->format == DUMP_WIDE, err);
	if (rc == 0)
		rc = print_answer(&p, open, err);
	if (has_only_values(values))
		sample_values_clear(&p.samples);
	return rc;
}

static int
follow(const struct values *values, struct tool_open *open, struct err *err)
{
	struct wire_query query = make_query(values);

	if (source_clock(open->source)->choice != CLOCK_RAW)
		opt_usage("--follow prints only raw times: use --clock raw");
	return dump_follow(
	    open->source, open->partition, &query, values->cursor, err);
}

static int
dump(void *arg, struct tool_open *open, struct err *err)
{
	const struct values *values = arg;

	if (values->follow)
		return follow(values, open, err);
	/* Of test runs -n selects groups. */
	if ((values->wanted & 1u << RECORD_RUN) == 0 &&
	    known_check_nodes(open->source, open->partition,
		text_of(values->node.list), err) != 0) {
		if (source_has_failed(open->source))
			return -1;
		log_warn("%s", err->text);
	}
	return print(values, open, err);
}

static void
parse(struct values *values, int argc, char **argv)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { answer_row_options, &values->answer },
		{ source_options, &values->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-dump",
		.synopsis = "[options]",
		.summary = "print the records of a pool, each with its "
			   "session, sequence number and index",
		.examples = "poolscope dump -p 'acct$pool' --kind event "
			    "--format jsonl\n"
			    "poolscope dump --follow --format jsonl\n",
		.tables = tables,
		.operands_min = 0,
		.operands_max = 0,
	};

	opt_parse(&program, argc, argv, NULL);
}

int
main(int argc, char **argv)
{
	struct values values = defaults;
	struct sandbox sandbox;

	parse(&values, argc, argv);
	check_usage(&values);
	/* Stored times are the default. */
	source_default_clock(&values.source, CLOCK_RAW);
	sandbox_begin(&sandbox);
	sandbox_write_parent(&sandbox, values.cursor);
	return tool_main(&(struct tool){ .pool = &values.pool,
	    .source = &values.source,
	    .output = values.follow ? NULL : values.output,
	    .sandbox = &sandbox,
	    .work = dump,
	    .arg = &values });
}

/*
 * poolscope-dump - print the records of a pool, one per line.
 * poolscope-dump(1).
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exporters/dump/follow.h"
#include "exporters/dump/record_csv.h"
#include "exporters/dump/sample_values.h"
#include "exporters/select/known.h"
#include "exporters/select/node_option.h"
#include "exporters/select/time_option.h"
#include "exporters/select/kinds.h"
#include "exporters/tool/tool.h"
#include "proto/config/opt.h"
#include "proto/decode/record_json.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum format { DUMP_JSONL, DUMP_CSV, DUMP_LONG, DUMP_WIDE };

struct values {
	struct pool_options pool;
	struct source_options source;
	struct node_option node;
	const char *output, *name, *cursor;
	struct opt_list kinds;
	int64_t from_ns, to_ns;
	int format;
	bool follow;
	uint32_t wanted; /* kinds */
};

static const struct values defaults = {
	.output = "-",
	.from_ns = TIME_MIN_NS,
	.to_ns = TIME_MAX_NS,
};

static const struct opt options[] = {
	{ "format", 0, OPT_CHOICE, OPT_TO(struct values, format), "FORMAT",
	    "print records as jsonl (default) or csv; the values of samples as "
	    "CSV with their names: long (a row for each value) or wide (a "
	    "column for each metric)",
	    "jsonl|csv|long|wide", false },
	TOOL_OUTPUT(struct values, output),
	{ "kind", 0, OPT_LIST, OPT_TO(struct values, kinds), "KIND",
	    "print only this kind: event, sample, span, entity, gap, rejected, "
	    "phase, run; may be repeated (default: all except phase and run)",
	    NULL, false },
	NODE_OPTION(struct values, node),
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
check_usage(struct values *values)
{
	values->wanted = kinds_wanted(values);
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
	if (!values->follow)
		return;
	if (values->format != DUMP_JSONL)
		opt_usage("--follow supports only jsonl");
	if (strcmp(values->output, "-") != 0)
		opt_usage("--follow prints only to standard output");
}

static struct wire_query
make_query(const struct values *values, uint32_t kinds)
{
	struct wire_query query = source_query(kinds);

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
	struct wire_query query = make_query(values, kinds_wanted(values));
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

static int
print(const struct values *values, struct source *source, struct text partition,
    uint32_t kinds, FILE *file, struct err *err)
{
	struct wire_query query = make_query(values, kinds);
	bool corrections = source_clock(source)->choice != CLOCK_RAW;
	const struct record_json_clock *clock;
	struct record_json_clock last;
	struct csv csv = { .file = file };
	struct record record;
	uint64_t count = 0;
	int rc;

	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	if (values->format == DUMP_CSV)
		dump_csv_titles(&csv, corrections);
	while ((rc = source_next(source, &record, err)) > 0) {
		clock = clock_of_last(source, &last);
		if (values->format == DUMP_CSV)
			dump_csv(&csv, partition, &record, clock);
		else
			record_json_line(file, partition, &record, clock);
		count++;
		/* The reader has closed the pipe, or the disk is full. */
		if (ferror(file))
			break;
	}
	report_count(values, source, partition, rc, count);
	return rc < 0 ? -1 : 0;
}

static int
print_values(const struct values *values, struct source *source,
    struct text partition, FILE *file, struct err *err)
{
	struct wire_query query = make_query(values, 1u << RECORD_SAMPLE);
	struct sample_values samples;
	struct csv csv = { .file = file };
	struct record record;
	uint64_t count = 0;
	int rc = sample_values_open(&samples, source, partition, query.name,
	    values->format == DUMP_WIDE, err);

	if (rc == 0)
		rc = source_select(
		    source, SOURCE_RECORDS, partition, &query, err);
	if (rc == 0)
		sample_values_titles(&samples, &csv);
	while (rc == 0 && !ferror(file) &&
	       (rc = source_next(source, &record, err)) > 0) {
		sample_values_rows(&samples, &csv, &record);
		count++;
		rc = 0;
	}
	report_count(values, source, partition, rc, count);
	sample_values_clear(&samples);
	return rc;
}

static int
follow(const struct values *values, struct source *source,
    struct text partition, uint32_t kinds, struct err *err)
{
	struct wire_query query = make_query(values, kinds);

	if (source_clock(source)->choice != CLOCK_RAW)
		opt_usage("--follow prints only raw times: use --clock raw");
	return dump_follow(source, partition, &query, values->cursor, err);
}

static int
dump(void *arg, struct tool_open *open, struct err *err)
{
	const struct values *values = arg;
	uint32_t kinds = values->wanted;

	/* Of test runs -n selects groups. */
	if ((kinds & 1u << RECORD_RUN) == 0 && !values->follow &&
	    known_check_nodes(open->source, open->partition,
		text_of(values->node.list), err) != 0) {
		if (source_has_failed(open->source))
			return -1;
		log_warn("%s", err->text);
	}
	if (values->follow)
		return follow(
		    values, open->source, open->partition, kinds, err);
	if (has_only_values(values))
		return print_values(
		    values, open->source, open->partition, open->file, err);
	return print(
	    values, open->source, open->partition, kinds, open->file, err);
}

static void
parse(struct values *values, int argc, char **argv)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ options, values }, { source_options, &values->source },
		{ opt_common, NULL }, { NULL, NULL } };
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

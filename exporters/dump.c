/*
 * poolscope-dump - print the records of a pool, one per line.
 * poolscope-dump(1).
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/samples/columns.h"
#include "exporters/samples/job_intervals.h"
#include "exporters/source/follow_print.h"
#include "exporters/source/known.h"
#include "exporters/source/source.h"
#include "exporters/source/select_options.h"
#include "exporters/tool/tool.h"
#include "proto/answer/answer.h"
#include "proto/config/opt.h"
#include "proto/decode/record_json.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

struct row {
	struct text kind, partition, node, session;
	uint64_t seq, index, count;
	int64_t receive_ns, time_ns, end_ns, duration_ns;
	struct text time, end; /* the same as text, but in arrow and parquet */
	enum answer_flag measured;
	struct text source, name, key, labels, attributes, values;
};

static const struct answer_column columns[] = {
	{ "kind", "KIND", ANSWER_AT_TEXT(struct row, kind),
	    "event, sample, span, entity, gap, rejected, phase or run" },
	{ "partition", NULL, ANSWER_AT_TEXT(struct row, partition),
	    "account and pool", .traits = ANSWER_REPEATS },
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "the node that recorded it", .traits = ANSWER_REPEATS },
	{ "session", NULL, ANSWER_AT_TEXT(struct row, session),
	    "the session of the agent that sent it" },
	{ "seq", NULL, ANSWER_AT_COUNT(struct row, seq),
	    "the number of its batch in the session" },
	{ "index", NULL, ANSWER_AT_COUNT(struct row, index),
	    "its position in the batch" },
	{ "receive_ns", NULL, ANSWER_AT_WHOLE(struct row, receive_ns),
	    "when the aggregator received it, since 1970", "ns" },
	{ "time_ns", NULL, ANSWER_AT_WHOLE(struct row, time_ns),
	    "when it happened or began, since 1970", "ns" },
	{ "time", "TIME", ANSWER_AT_TEXT(struct row, time),
	    "the same as text, in the zone of --tz" },
	{ "end_ns", NULL, ANSWER_AT_WHOLE(struct row, end_ns),
	    "when it ended, since 1970", "ns" },
	{ "end", "END", ANSWER_AT_TEXT(struct row, end),
	    "the same as text, in the zone of --tz", .traits = ANSWER_SPARE },
	{ "duration_ns", NULL, ANSWER_AT_WHOLE(struct row, duration_ns),
	    "how long a phase took", "ns" },
	{ "measured", NULL, ANSWER_AT_FLAG(struct row, measured),
	    "whether the end event of a phase gave its duration" },
	{ "source", "SOURCE", ANSWER_AT_TEXT(struct row, source),
	    "the source of an event, the group of a sample, the model of a "
	    "phase or run" },
	{ "name", "NAME", ANSWER_AT_TEXT(struct row, name),
	    "the name of an event, span, phase or run" },
	{ "key", "KEY", ANSWER_AT_TEXT(struct row, key),
	    "the key of an event, phase or run, the id of an entity",
	    .traits = ANSWER_SPARE },
	{ "count", NULL, ANSWER_AT_COUNT(struct row, count),
	    "how many records were lost" },
	{ "labels", "LABELS", ANSWER_AT_TEXT(struct row, labels),
	    "the labels of the group of a sample, a JSON object",
	    .traits = ANSWER_REPEATS | ANSWER_SPARE },
	{ "attributes", "ATTRIBUTES", ANSWER_AT_TEXT(struct row, attributes),
	    "attributes, or the events of a run, as JSON",
	    .traits = ANSWER_SPARE },
	{ "values", NULL, ANSWER_AT_TEXT(struct row, values),
	    "the values of a sample as JSON, the bytes of a rejected batch" },
	ANSWER_FAMILY("clock*", ANSWER_VALUE, NULL,
	    "with --clock auto or corrected: the clock of the times, what was "
	    "added to them, and its uncertainty"),
	ANSWER_FAMILY("raw_*_ns", ANSWER_VALUE, "ns",
	    "with --clock auto or corrected: the times on the node's clock, if "
	    "they were corrected"),
	{ .key = NULL },
};

/* Arrow and parquet have times instead of numbers and texts. */
static const struct answer_column typed_columns[] = {
	{ "time", NULL, ANSWER_AT_TIME(struct row, time_ns),
	    "when it happened or began" },
	{ "end", NULL, ANSWER_AT_TIME(struct row, end_ns), "when it ended" },
	{ "duration", NULL,
	    ANSWER_AT_(ANSWER_DURATION, int64_t, struct row, duration_ns),
	    "how long a phase took" },
	{ "received", NULL, ANSWER_AT_TIME(struct row, receive_ns),
	    "when the aggregator received it" },
	{ .key = NULL },
};
/* A kind has those that it has values of. */
static const char *const typed_keys[] = { "time", "end", "duration", "measured",
	"node", "source", "name", "key", "count", "attributes", "values",
	"partition", "session", "seq", "index", "received" };
enum { TYPED_COLUMNS = sizeof(typed_keys) / sizeof(typed_keys[0]) };

static const struct answer_column *
find_column(const struct answer_column *from, const char *key)
{
	while (from->key != NULL && strcmp(from->key, key) != 0)
		from++;
	return from->key != NULL ? from : NULL;
}

static bool
has_column(const struct record_json_fields *f, const char *key)
{
	const struct {
		const char *key;
		bool is_there;
	} columns_of_kind[] = {
		{ "time", f->time != NULL },
		{ "end", f->end != NULL },
		{ "duration", f->duration },
		{ "measured", f->duration },
		{ "source", f->source != NULL },
		{ "name", f->name != NULL },
		{ "key", f->key != NULL },
		{ "count", f->count },
		{ "attributes", f->pairs != NULL || f->run },
		{ "values", f->values || f->bytes },
	};

	for (size_t i = 0;
	     i < sizeof(columns_of_kind) / sizeof(columns_of_kind[0]); i++)
		if (strcmp(columns_of_kind[i].key, key) == 0)
			return columns_of_kind[i].is_there;
	return true;
}

/* The families of columns are those of all formats, the last ones. */
static void
choose_typed(struct answer_column to[static TYPED_COLUMNS + 3], int kind)
{
	const struct answer_column *from;

	for (int i = 0; i < TYPED_COLUMNS; i++) {
		if (!has_column(&record_json_fields[kind], typed_keys[i]))
			continue;
		from = find_column(typed_columns, typed_keys[i]);
		if (from == NULL)
			from = find_column(columns, typed_keys[i]);
		*to++ = *from;
	}
	for (from = columns; from->key != NULL; from++)
		if (from->family != NULL)
			*to++ = *from;
	*to = (struct answer_column){ .key = NULL };
}

static const struct answer_table record_tables[] = { { "records", columns },
	{ NULL, NULL } };

enum { CLOCK_CELLS = 5, SESSION_BYTES = 33 };

/* Before the first row, if its `clock` is not NULL. */
static void
add_clock_columns(struct answer *answer)
{
	static const char *const keys[CLOCK_CELLS] = { "clock",
		"clock_offset_ns", "clock_error_ns", "raw_time_ns",
		"raw_end_ns" };

	for (int i = 0; i < CLOCK_CELLS; i++)
		answer_add_column(answer, text_of(keys[i]), NULL, ANSWER_VALUE,
		    i == 0 ? NULL : "ns");
}

static struct value
value_of(bool known, int64_t number)
{
	return known ? (struct value){ VALUE_INT, .is.i = number }
		     : (struct value){ .type = VALUE_NIL };
}

static struct text
text_if(bool known, struct text text)
{
	return known && text.bytes > 0 ? text : (struct text){ NULL, 0 };
}

static struct text
key_of(const struct record *record, char hex[static SESSION_BYTES])
{
	struct session_id uuid;

	if (record->kind != RECORD_EVENT)
		return text_if(true, record->key);
	if (record->key.bytes != sizeof(uuid.bytes))
		return (struct text){ NULL, 0 };
	memcpy(uuid.bytes, record->key.at, sizeof(uuid.bytes));
	return text_of(session_text(hex, &uuid));
}

/* The two cells that are JSON. */
static void
set_json(struct row *row, struct json_memory *attributes,
    struct json_memory *values, const struct record *record)
{
	const struct record_json_fields *f = &record_json_fields[record->kind];

	if (f->pairs != NULL || f->run) {
		json_memory_begin(attributes, JSON_LINE | JSON_STRICT);
		if (f->run) {
			json_begin_object(&attributes->to);
			record_json_run(&attributes->to, record);
			json_end_object(&attributes->to);
		} else {
			json_pairs(&attributes->to, record->pairs);
		}
		row->attributes = json_memory_end(attributes);
	}
	if (f->values || f->bytes) {
		json_memory_begin(values, JSON_LINE | JSON_STRICT);
		if (f->values)
			record_json_values(&values->to, record->value_bytes);
		else
			json_hex(&values->to, record->value_bytes);
		row->values = json_memory_end(values);
	}
}

static void
set_clock(struct answer_cell cells[static CLOCK_CELLS],
    const struct record *record, const struct record_json_clock *clock)
{
	const struct record_json_fields *f = &record_json_fields[record->kind];
	bool known = f->time != NULL && clock->corrected;
	struct value values[CLOCK_CELLS] = { { .type = VALUE_NIL } };

	if (f->time != NULL)
		values[0] = (struct value){ VALUE_TEXT,
			.is.text =
			    text_of(clock->corrected ? "corrected" : "raw") };
	values[1] = value_of(known, clock->offset_ns);
	values[2] = value_of(known, clock->error_ns);
	values[3] = value_of(
	    known && record_json_has_time(record, false), clock->time_ns);
	values[4] = value_of(
	    known && f->end != NULL && record_json_has_time(record, true),
	    clock->end_ns);
	for (int i = 0; i < CLOCK_CELLS; i++)
		cells[i] =
		    (struct answer_cell){ ANSWER_VALUE, .is.value = values[i] };
}

static struct text
time_as_text(char room[static CLOCK_TEXT_BYTES], int64_t ns)
{
	if (ns == ANSWER_NO_NS)
		return (struct text){ NULL, 0 };
	return text_of(clock_text(room, ns, RECORD_JSON_DECIMALS));
}

/* `clock` as for record_json_object. */
static void
print_row(struct answer *answer, bool is_typed, struct text partition,
    const struct record *record, struct text labels,
    const struct record_json_clock *clock)
{
	const struct record_json_fields *f = &record_json_fields[record->kind];
	bool has_time = f->time != NULL && record_json_has_time(record, false);
	bool has_end = f->end != NULL && record_json_has_time(record, true);
	char session[SESSION_BYTES], key[SESSION_BYTES];
	char time[CLOCK_TEXT_BYTES], end[CLOCK_TEXT_BYTES];
	struct json_memory attributes = { .text = NULL };
	struct json_memory values = { .text = NULL };
	struct answer_cell clock_cells[CLOCK_CELLS];
	struct row row = {
		.kind = text_of(record_kind_name(record->kind)),
		.partition = partition,
		.node = text_if(true, record->node),
		.seq = record->id.seq,
		.index = record->id.index,
		.receive_ns = record->receive_ns,
		.time_ns = has_time ? record->time_ns : ANSWER_NO_NS,
		.end_ns = has_end ? record->end_ns : ANSWER_NO_NS,
		.duration_ns = f->duration && record->has_duration
				   ? record->duration_ns
				   : ANSWER_NO_NS,
		.measured = !f->duration ? ANSWER_NO_FLAG
			    : record->count & RECORD_PHASE_MEASURED ? ANSWER_YES
								    : ANSWER_NO,
		.source = text_if(f->source != NULL, record->source),
		.name = text_if(f->name != NULL, record->name),
		.key = key_of(record, key),
		.labels = labels,
		.count = f->count ? record->count : ANSWER_NO_COUNT,
	};

	if (session_is_known(&record->id.session))
		row.session =
		    text_of(session_text(session, &record->id.session));
	if (!is_typed) {
		row.time = time_as_text(time, row.time_ns);
		row.end = time_as_text(end, row.end_ns);
	}
	set_json(&row, &attributes, &values, record);
	if (clock != NULL)
		set_clock(clock_cells, record, clock);
	answer_row(answer, &row, clock_cells);
	free(attributes.text);
	free(values.text);
}

enum format {
	DUMP_JSONL,
	DUMP_CSV,
	DUMP_LONG,
	DUMP_WIDE,
	DUMP_TABLE,
	DUMP_MD,
	DUMP_ARROW,
	DUMP_PARQUET,
};

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
	/* Of the one kind that arrow and parquet print. */
	struct answer_column typed[TYPED_COLUMNS + 3];
	struct answer_table typed_tables[2];
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
	    "wide (a column for each metric); or one kind as arrow or parquet",
	    "jsonl|csv|long|wide|table|md|arrow|parquet" },
	TOOL_OUTPUT(struct values, output),
	{ "kind", 0, OPT_LIST, OPT_TO(struct values, kinds), "KIND",
	    "print only this kind: event, sample, span, entity, gap, rejected, "
	    "phase, run; may be repeated (default: all except phase and run)" },
	NODE_OPTION(struct values, node),
	JOB_OPTIONS(struct values, jobs),
	{ "name", 0, OPT_TEXT, OPT_TO(struct values, name), "PATTERN",
	    "print only matching records: source:name of an event, metric "
	    "group of a sample, kind:id of an entity, model:phase, model:run" },
	TIME_OPTIONS(struct values, from_ns, to_ns, "print only records"),
	{ "follow", 0, OPT_FLAG, OPT_TO(struct values, follow), NULL,
	    "print records as they are received, until a signal" },
	{ "cursor", 0, OPT_TEXT, OPT_TO(struct values, cursor), "FILE",
	    "with --follow: continue at the position in FILE, and save the "
	    "position there" },
	{ .name = NULL },
};

static bool
is_typed(const struct values *values)
{
	return values->format == DUMP_ARROW || values->format == DUMP_PARQUET;
}

static bool
has_only_values(const struct values *values)
{
	return values->format == DUMP_LONG || values->format == DUMP_WIDE ||
	       (is_typed(values) && values->wanted == 1u << RECORD_SAMPLE);
}

static const struct answer_table *
tables_of(const struct values *values)
{
	switch (values->format) {
	case DUMP_LONG: return sample_values_long;
	case DUMP_WIDE: return sample_values_wide;
	case DUMP_ARROW:
	case DUMP_PARQUET:
		return has_only_values(values) ? sample_values_typed
					       : values->typed_tables;
	default: return record_tables;
	}
}

static uint32_t
kinds_wanted(const struct values *values)
{
	uint32_t all = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE |
		       1u << RECORD_SPAN | 1u << RECORD_ENTITY |
		       1u << RECORD_GAP;

	if (values->format == DUMP_LONG || values->format == DUMP_WIDE)
		return 1u << RECORD_SAMPLE;
	if (values->follow)
		return select_kinds(&values->kinds, all, all);
	all |= 1u << RECORD_REJECTED;
	return select_kinds(
	    &values->kinds, all | 1u << RECORD_PHASE | 1u << RECORD_RUN, all);
}

/* Arrow and Parquet have one schema. */
static void
choose_schema(struct values *values)
{
	uint32_t kind = 0;

	if ((values->wanted & (values->wanted - 1)) != 0)
		opt_usage("--format %s prints records of one kind: choose it "
			  "with --kind",
		    values->format == DUMP_ARROW ? "arrow" : "parquet");
	while (values->wanted >> kind != 1)
		kind++;
	choose_typed(values->typed, (int)kind);
	values->typed_tables[0] =
	    (struct answer_table){ record_kind_name(kind), values->typed };
}

static void
check_answer(struct values *values)
{
	static const int formats[] = {
		[DUMP_JSONL] = ANSWER_FORMAT_TABLE,
		[DUMP_CSV] = ANSWER_FORMAT_CSV,
		[DUMP_LONG] = ANSWER_FORMAT_CSV,
		[DUMP_WIDE] = ANSWER_FORMAT_CSV,
		[DUMP_TABLE] = ANSWER_FORMAT_TABLE,
		[DUMP_MD] = ANSWER_FORMAT_MD,
		[DUMP_ARROW] = ANSWER_FORMAT_ARROW,
		[DUMP_PARQUET] = ANSWER_FORMAT_PARQUET,
	};
	struct answer_options *answer = &values->answer;

	answer->format = formats[values->format];
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
	if (is_typed(values))
		choose_schema(values);
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
	struct answer *answer;        /* NULL: jsonl */
	struct sample_values samples; /* of what has samples */
};

/* Of the group of a sample. */
static struct text
labels_of(struct printing *p, const struct record *record)
{
	return record->kind == RECORD_SAMPLE
		   ? columns_find(&p->samples.groups, record->source)->labels
		   : (struct text){ NULL, 0 };
}

static void
put(struct printing *p, const struct record *record,
    const struct record_json_clock *clock)
{
	if (p->answer == NULL)
		record_json_sample_line(
		    p->file, p->partition, record, labels_of(p, record), clock);
	else if (has_only_values(p->values))
		sample_values_rows(&p->samples, p->answer, record);
	else
		print_row(p->answer, is_typed(p->values), p->partition, record,
		    labels_of(p, record), clock);
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
	if ((p->values->wanted & 1u << RECORD_SAMPLE) == 0)
		answer_hide_column(p->answer, "labels");
	if (p->values->format == DUMP_WIDE)
		sample_values_add_columns(&p->samples, p->answer);
	else if (!has_only_values(p->values) &&
		 source_clock(open->source)->choice != CLOCK_RAW)
		add_clock_columns(p->answer);
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
	bool has_samples = (values->wanted & 1u << RECORD_SAMPLE) != 0;
	int rc = 0;

	if (has_samples)
		rc = sample_values_open(&p.samples, open->source,
		    open->partition, text_of(values->name),
		    values->format == DUMP_WIDE   ? SAMPLE_VALUES_WIDE
		    : values->format == DUMP_LONG ? SAMPLE_VALUES_LONG
						  : SAMPLE_VALUES_TYPED,
		    err);
	if (rc == 0)
		rc = values->format == DUMP_JSONL
			 ? put_of_jobs(&p, open->source, err)
			 : print_answer(&p, open, err);
	if (has_samples)
		sample_values_clear(&p.samples);
	return rc;
}

static int
follow(const struct values *values, struct tool_open *open, struct err *err)
{
	struct wire_query query = make_query(values);

	if (source_clock(open->source)->choice != CLOCK_RAW)
		opt_usage("--follow prints only raw times: use --clock raw");
	return follow_print(
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

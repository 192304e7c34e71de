/*
 * question_spans - how long the spans of commands, programs and imports took: a
 * row for each name, track or node, those of the longest sum first; or one for
 * each of the slowest spans.
 *
 * Quantiles (proto/base/quantile.h) are exact, of all durations in memory.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/question/question.h"
#include "exporters/source/known.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/hash/string_table.h"
#include "proto/os/clock.h"

enum {
	SPANS_MAX = 16 << 20, /* 16 bytes each */
	SLOWEST_MAX = 10000,  /* rows of --by span */
};

enum by { BY_NAME, BY_TRACK, BY_NODE, BY_SPAN };

struct row {
	struct text name, track, node; /* one of them: that of --by */
	int64_t begin, duration;       /* with --by span */
	uint64_t count;
	double p50, p90, p99, max, sum, wall_share;
};

#define NUMBER(member) .unit = "s", ANSWER_AT_NUMBER(struct row, member)

static const struct answer_column columns[] = {
	{ "name", "NAME", ANSWER_AT_TEXT(struct row, name),
	    "the name of the spans" },
	{ "track", "TRACK", ANSWER_AT_TEXT(struct row, track),
	    "with --by track or span: on which track they are" },
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "with --by node or span: of which node" },
	{ "count", "COUNT", ANSWER_AT_COUNT(struct row, count),
	    "how many there are" },
	{ "p50", "P50", NUMBER(p50), "the median" },
	{ "p90", "P90", NUMBER(p90), "nine of ten are not longer",
	    .traits = ANSWER_SPARE },
	{ "p99", "P99", NUMBER(p99), "99 of 100 are not longer",
	    .traits = ANSWER_SPARE },
	{ "max", "MAX", NUMBER(max), "the longest duration" },
	{ "sum", "SUM", NUMBER(sum), "all durations together" },
	{ "wall_share", "OF WALL", ANSWER_AT_SHARE(struct row, wall_share),
	    "the sum as a part of the time from the first begin to the last "
	    "end" },
	{ "begin", "BEGIN", ANSWER_AT_TIME(struct row, begin),
	    "with --by span: when it began" },
	{ "duration", "DURATION", ANSWER_AT_DURATION(struct row, duration),
	    "with --by span: how long it took" },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "wall", ANSWER_HEAD(ANSWER_DURATION),
	    "the time from the first begin to the last end", "s" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "spans", columns },
	{ "head", head }, { .name = NULL } };

/* ---- reading ---- */

struct duration {
	uint32_t row;
	int64_t ns;
};

/* With --by span: one of the slowest. */
struct one {
	uint32_t name, track, node;
	int64_t begin_ns, ns;
};

struct spans {
	struct string_table names; /* of rows */
	struct one *slowest; /* up to twice SLOWEST_MAX; NULL: not wanted */
	uint32_t slow_count;
	uint64_t left_out;
	struct duration *durations;
	uint32_t count, room;
	int64_t begin_ns, end_ns; /* the first begin, the last end */
};

/* A window has the spans that begin in it. */
static bool
is_selected(const struct question_values *values, const struct record *record)
{
	return record->kind == RECORD_SPAN && record->has_time &&
	       record->has_end && record->end_ns >= record->time_ns &&
	       record->time_ns >= values->window.from_ns &&
	       record->time_ns < values->window.to_ns &&
	       (values->name == NULL || values->name[0] == '\0' ||
		   text_match(text_of(values->name), record->name));
}

/* The longest first; of equal ones that which began first. */
static int
by_duration(const void *left, const void *right)
{
	const struct one *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static void
cut_slowest(struct spans *spans)
{
	qsort(spans->slowest, spans->slow_count, sizeof(*spans->slowest),
	    by_duration);
	if (spans->slow_count <= SLOWEST_MAX)
		return;
	spans->left_out += spans->slow_count - SLOWEST_MAX;
	spans->slow_count = SLOWEST_MAX;
}

static void
take_one(struct spans *spans, const struct record *record)
{
	if (spans->slow_count == 2 * SLOWEST_MAX)
		cut_slowest(spans);
	spans->slowest[spans->slow_count++] =
	    (struct one){ string_table_add(&spans->names, record->name),
		    string_table_add(&spans->names, record->source),
		    string_table_add(&spans->names, record->node),
		    record->time_ns, record->end_ns - record->time_ns };
}

static void
take(struct spans *spans, enum by by, const struct record *record)
{
	struct text name = by == BY_NAME    ? record->name
			   : by == BY_TRACK ? record->source
					    : record->node;

	if (spans->count == 0 || record->time_ns < spans->begin_ns)
		spans->begin_ns = record->time_ns;
	if (spans->count == 0 || record->end_ns > spans->end_ns)
		spans->end_ns = record->end_ns;
	if (by == BY_SPAN) {
		take_one(spans, record);
		spans->count = 1; /* there are some */
		return;
	}
	*MEMORY_ADD(spans->durations, spans->room, spans->count) =
	    (struct duration){ string_table_add(&spans->names, name),
		    record->end_ns - record->time_ns };
}

static int
refuse(const struct question_asked *asked, const struct wire_query *query,
    struct err *err)
{
	const char *name = asked->values->name;
	char shown[300];

	err_set(err, "no such spans in partition %s of %s",
	    text_quote(shown, sizeof(shown), asked->partition),
	    source_name(asked->source));
	known_suggest(asked->source, SOURCE_RECORDS, asked->partition, query,
	    name != NULL ? name : "", err);
	return -1;
}

static int
read_spans(struct spans *spans, const struct question_asked *asked, enum by by,
    struct err *err)
{
	struct wire_query query = question_query(asked, 1u << RECORD_SPAN);
	struct record record;
	int rc;

	if (source_select(asked->source, SOURCE_RECORDS, asked->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(asked->source, &record, err)) > 0) {
		if (!is_selected(asked->values, &record))
			continue;
		if (spans->count == SPANS_MAX)
			return err_set(err,
			    "there are more than %d spans; select fewer with "
			    "--from, --to, --name or --node",
			    SPANS_MAX);
		take(spans, by, &record);
	}
	return rc == 0 && spans->count == 0 ? refuse(asked, &query, err) : rc;
}

/* ---- rows ---- */

static int
by_row(const void *left, const void *right)
{
	const struct duration *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

static struct text
name_of(const struct row *row)
{
	return row->name.at != NULL    ? row->name
	       : row->track.at != NULL ? row->track
				       : row->node;
}

static int
by_sum(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->sum < b->sum || a->sum > b->sum)
		return a->sum > b->sum ? -1 : 1;
	return text_compare(name_of(a), name_of(b));
}

static double
quantile(const struct duration *sorted, uint64_t count, unsigned percent)
{
	return (double)sorted[quantile_index(count, percent)].ns / 1e9;
}

/* Of `count` durations in their order. */
static struct row
make_row(const struct spans *spans, const struct duration *sorted,
    uint64_t count, enum by by)
{
	struct text name = spans->names.names[sorted->row];
	double wall = (double)(spans->end_ns - spans->begin_ns) / 1e9;
	struct row row = { .begin = ANSWER_NO_NS,
		.duration = ANSWER_NO_NS,
		.count = count,
		.p50 = quantile(sorted, count, 50),
		.p90 = quantile(sorted, count, 90),
		.p99 = quantile(sorted, count, 99),
		.max = quantile(sorted, count, 100) };

	*(by == BY_NAME      ? &row.name
	    : by == BY_TRACK ? &row.track
			     : &row.node) = name;
	for (uint64_t i = 0; i < count; i++)
		row.sum += (double)sorted[i].ns / 1e9;
	row.wall_share = wall > 0 ? row.sum / wall : NAN;
	return row;
}

static void
put_slowest(struct spans *spans, struct answer *answer)
{
	const struct text *names = spans->names.names;

	cut_slowest(spans);
	for (uint32_t i = 0; i < spans->slow_count; i++) {
		const struct one *of = &spans->slowest[i];
		const struct row row = { .name = names[of->name],
			.track = names[of->track],
			.node = names[of->node],
			.begin = of->begin_ns,
			.duration = of->ns,
			.count = ANSWER_NO_COUNT,
			.p50 = NAN,
			.p90 = NAN,
			.p99 = NAN,
			.max = NAN,
			.sum = NAN,
			.wall_share = NAN };

		answer_row(answer, &row, NULL);
	}
	if (spans->left_out > 0)
		answer_note(answer, "left_out", spans->left_out,
		    "left out: %" PRIu64 " span%s shorter than these "
		    "%d; select with --from, --to, --name or --node",
		    spans->left_out, spans->left_out == 1 ? "" : "s",
		    SLOWEST_MAX);
}

/* The table has the columns of its rows. */
static void
hide_columns(struct answer *answer, enum by by)
{
	bool one = by == BY_SPAN;

	for (int i = 0; columns[i].key != NULL; i++)
		if (i <= BY_NODE
			? !one && i != (int)by
			: one != (columns[i].type == ANSWER_TIME ||
				     columns[i].type == ANSWER_DURATION))
			answer_hide_column(answer, columns[i].key);
}

static void
put_rows(struct spans *spans, enum by by, struct answer *answer)
{
	struct row *rows = memory_zero(spans->names.count, sizeof(*rows));
	uint32_t n = 0;

	qsort(
	    spans->durations, spans->count, sizeof(*spans->durations), by_row);
	for (uint32_t i = 0, end; i < spans->count; i = end) {
		const struct duration *first = &spans->durations[i];

		for (end = i; end < spans->count &&
			      spans->durations[end].row == first->row;)
			end++;
		rows[n++] = make_row(spans, first, end - i, by);
	}
	qsort(rows, n, sizeof(*rows), by_sum);
	for (uint32_t i = 0; i < n; i++)
		answer_row(answer, &rows[i], NULL);
	free(rows);
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	enum by by = (enum by)question_by(&question_spans, asked->values);
	struct spans spans = { .count = 0 };
	char shown[300];
	int rc;

	string_table_init(&spans.names);
	if (by == BY_SPAN)
		spans.slowest =
		    memory_zero(2 * SLOWEST_MAX, sizeof(*spans.slowest));
	rc = read_spans(&spans, asked, by, err);
	if (rc == 0) {
		int64_t wall_ns = spans.end_ns - spans.begin_ns;

		answer_head(answer, "wall", answer_duration(wall_ns));
		answer_title(answer,
		    "spans of %s, seconds; %.6g s from first to last",
		    text_quote(shown, sizeof(shown), asked->partition),
		    (double)wall_ns / 1e9);
		hide_columns(answer, by);
		if (by == BY_SPAN)
			put_slowest(&spans, answer);
		else
			put_rows(&spans, by, answer);
	}
	free(spans.durations);
	free(spans.slowest);
	string_table_clear(&spans.names);
	return rc;
}

const struct question question_spans = { .word = "spans",
	.summary = "how long commands, programs and their parts took",
	.options = "by name node job user start gap from to sort top columns",
	.examples = "poolscope stats spans --from -1h\n"
		    "poolscope stats spans --by track --name 'cc*'\n"
		    "poolscope stats spans --by span --top 20\n",
	.tables = tables,
	.by = "name|track|node|span",
	.is_of_records = true,
	.kinds = 1u << RECORD_SPAN,
	.ask = ask };

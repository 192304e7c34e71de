/*
 * question_breakdown - how nodes divided their time between phases, no matter
 * when: the time in each phase, added up.
 *
 * A row is a node, or the middle one of several nodes that follow each other
 * in the order: 10,000 nodes fit a screen.  Bands are those of node_bands.h; a
 * column of theirs has the name of the phase with its model, which no other
 * column has.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/phases/node_bands.h"
#include "exporters/question/question.h"
#include "exporters/source/order.h"
#include "proto/base/memory.h"

enum { ROWS = 800, ROWS_MAX = 2000 };

struct row {
	struct text node, longest;
	uint64_t nodes;
	double begin, total, longest_seconds;
	const struct bands_row *of;
};

#define SECONDS(member) .unit = "s", ANSWER_AT_NUMBER(struct row, member)

static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "the node; of several the middle one" },
	{ "nodes", "NODES", ANSWER_AT_COUNT(struct row, nodes),
	    "how many nodes the row stands for" },
	{ "begin", "BEGIN", SECONDS(begin),
	    "when its first phase began, after the first of all" },
	{ "total", "TOTAL", SECONDS(total),
	    "from there to the end of its last phase: all bands together" },
	{ "longest", "LONGEST", ANSWER_AT_TEXT(struct row, longest),
	    "the band in which it spent most" },
	{ "longest_seconds", "SECONDS", SECONDS(longest_seconds),
	    "how long it was in that one" },
	ANSWER_FAMILY("*:*", ANSWER_NUMBER, "s",
	    "the time in this phase, added up; of phases inside others the "
	    "inner one counts"),
	ANSWER_FAMILY("other_phases", ANSWER_NUMBER, "s",
	    "the time in phases without a column"),
	ANSWER_FAMILY(
	    "no_phase", ANSWER_NUMBER, "s", "the time between phases"),
	{ .key = NULL },
};

struct band_row {
	struct text band, title;
	double seconds;
	uint64_t colour;
};

static const struct answer_column band_columns[] = {
	{ "band", "BAND", ANSWER_AT_TEXT(struct band_row, band),
	    "its column in the rows, in the order of the model" },
	{ "title", NULL, ANSWER_AT_TEXT(struct band_row, title),
	    "its name without that of the model" },
	{ "seconds", "SECONDS", ANSWER_AT_NUMBER(struct band_row, seconds),
	    "the time of all nodes in it", "s" },
	QUESTION_COLOUR_COLUMN(struct band_row),
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "model", ANSWER_HEAD(ANSWER_TEXT), "of which model the phases are" },
	QUESTION_START_MEMBERS,
	QUESTION_CLOCK_MEMBER,
	{ "t0", ANSWER_HEAD(ANSWER_TIME), "when the first phase began" },
	{ "nodes", ANSWER_HEAD(ANSWER_COUNT), "how many nodes there are" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "breakdown", columns },
	{ "bands", band_columns }, { "models", question_model_columns },
	{ "head", head }, { .name = NULL } };

struct breakdown {
	struct phases_names names;
	struct phases_read phases;
	struct text model;
	struct bands bands;
};

/* ---- order ---- */

static int
by_total(const void *left, const void *right)
{
	const struct bands_row *a = left, *b = right;

	if (a->total_s != b->total_s)
		return a->total_s > b->total_s ? -1 : 1;
	return text_compare_natural(a->node, b->node);
}

enum { NODE, NODES, BEGIN, TOTAL, LONGEST, LONGEST_SECONDS, FIRST_BAND };

/* -1: rows are not sorted by it. */
static int
column_of(const struct bands *bands, const char *sort)
{
	for (int i = 0; sort != NULL && i < FIRST_BAND; i++)
		if (answer_column_is(&columns[i], text_of(sort)))
			return i == NODES ? -1 : i;
	for (unsigned b = 0; sort != NULL && b < bands->band_count; b++)
		if (text_equal(bands->band[b].key, text_of(sort)))
			return FIRST_BAND + (int)b;
	return -1;
}

static struct order_key
key_of(const void *arg, uint32_t number, int column)
{
	const struct row *row = (const struct row *)arg + number;
	struct order_key key = { .is_text =
				     column == NODE || column == LONGEST };

	switch (column) {
	case NODE: key.text = row->node; break;
	case LONGEST: key.text = row->longest; break;
	case BEGIN: key.number = row->begin; break;
	case TOTAL: key.number = row->total; break;
	case LONGEST_SECONDS: key.number = row->longest_seconds; break;
	default: key.number = row->of->seconds[column - FIRST_BAND]; break;
	}
	return key;
}

/* ---- rows ---- */

static struct row
make_row(const struct bands *bands, const struct bands_row *of)
{
	unsigned longest = 0;

	for (unsigned b = 1; b < bands->band_count; b++)
		if (of->seconds[b] > of->seconds[longest])
			longest = b;
	return (struct row){ .node = of->node,
		.longest = bands->band[longest].key,
		.begin = of->start_s,
		.total = of->total_s,
		.longest_seconds = of->seconds[longest],
		.of = of };
}

/* Sorted and cut before they are grouped: a row stands for nodes that are like
 * it. */
static void
put_rows(const struct breakdown *b, const struct question_values *values,
    struct answer *answer)
{
	const struct bands *bands = &b->bands;
	int column = column_of(bands, values->answer.sort);
	struct row *rows = memory_zero(bands->count, sizeof(*rows));
	uint32_t *order = memory_zero(bands->count, sizeof(*order));
	struct answer_cell cells[BANDS_MAX];
	uint64_t most = values->rows > 0 ? values->rows : ROWS;
	uint64_t top = values->answer.top, shown = bands->count, count;

	qsort(bands->rows, bands->count, sizeof(*bands->rows), by_total);
	for (uint32_t i = 0; i < bands->count; i++) {
		rows[i] = make_row(bands, &bands->rows[i]);
		order[i] = i;
	}
	if (column >= 0)
		order_numbers(order, bands->count, key_of, column, rows);
	if (top > 0 && top < shown)
		shown = top;
	count = shown < most ? shown : most;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t first = i * shown / count,
			 end = (i + 1) * shown / count;
		struct row *row = &rows[order[(first + end - 1) / 2]];

		row->nodes = end - first;
		for (unsigned k = 0; k < bands->band_count; k++)
			cells[k] = answer_number(row->of->seconds[k]);
		answer_row(answer, row, cells);
	}
	free(rows);
	free(order);
}

static void
put_bands(const struct bands *bands, struct answer *answer)
{
	answer_begin_table(answer, "bands");
	for (unsigned b = 0; b < bands->band_count; b++) {
		struct band_row row = { bands->band[b].key,
			bands->band[b].title, 0,
			question_colour(bands->band[b].place) };

		for (uint32_t i = 0; i < bands->count; i++)
			row.seconds += bands->rows[i].seconds[b];
		answer_row(answer, &row, NULL);
	}
}

static void
put_all(const struct breakdown *b, const struct question_asked *asked,
    struct answer *answer)
{
	const struct bands *bands = &b->bands;
	char shown[300], words[QUESTION_CLOCK_BYTES];
	char model[PHASES_MODEL_BYTES];
	int64_t first_ns = INT64_MAX;
	const char *clock;

	for (uint32_t i = 0; i < b->phases.count; i++)
		if (b->phases.items[i].begin_ns < first_ns)
			first_ns = b->phases.items[i].begin_ns;
	answer_head(answer, "model", answer_text(b->model));
	clock = question_put_clock(words, asked, answer);
	answer_head(answer, "t0", answer_time(first_ns));
	answer_head(answer, "nodes", answer_count(bands->count));
	answer_title(answer,
	    "time of %s in each phase of %s, added up, in seconds%s",
	    text_quote(shown, sizeof(shown), asked->partition),
	    phases_model_words(model, b->model), clock);
	for (unsigned k = 0; k < bands->band_count; k++)
		answer_add_column(
		    answer, bands->band[k].key, NULL, ANSWER_NUMBER, "s");
	put_rows(b, asked->values, answer);
	put_bands(bands, answer);
	if (!answer_is_for_people(answer))
		question_put_models(&b->names.models, answer);
	if (b->phases.left_out > 0)
		answer_note(answer, "left_out", b->phases.left_out,
		    "left out: %" PRIu64 " without an end or a start",
		    b->phases.left_out);
}

/* ---- asking ---- */

static int
check(const struct question_values *values, struct err *err)
{
	if (values->rows > ROWS_MAX)
		return err_set_option(err, "rows",
		    "is at most %d: a row then stands for several nodes",
		    ROWS_MAX);
	return 0;
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct wire_query query = question_query(asked, 1u << RECORD_PHASE);
	struct breakdown b = { .model = { NULL, 0 } };
	int rc = phases_read_model(&b.phases, &b.names, asked->source,
	    asked->partition, &query, question_model(asked->values),
	    PHASES_COMPLETE, &b.model, err);

	if (rc == 0) {
		node_bands_make(&b.bands, &b.names, &b.phases);
		put_all(&b, asked, answer);
	}
	free(b.bands.rows);
	phases_read_clear(&b.phases);
	phases_names_clear(&b.names);
	return rc;
}

const struct question question_breakdown = { .word = "breakdown",
	.summary = "how nodes divided their time between phases, added up",
	.options =
	    "model node job user start gap from to rows shape sort top columns",
	.examples = "poolscope stats breakdown -p 'acct$pool'\n"
		    "poolscope stats breakdown --sort cascade:pull --top 20\n",
	.tables = tables,
	.is_of_records = true,
	.is_of_start = true,
	.kinds = 1u << RECORD_EVENT,
	.check = check,
	.ask = ask };

/*
 * question_timeline - what each node did when: the segments of its bar.
 *
 * A row is a segment: of a node, from a moment to another, in a phase.  Times
 * are integers in nanoseconds.  With --pixels it is a run of pixels of a bar
 * (raster.h), and the answer is as small as the picture.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/critical/shown.h"
#include "exporters/plot/look.h"
#include "exporters/phases/raster.h"
#include "exporters/question/question.h"
#include "proto/base/memory.h"

enum { ROWS = 800, NODE_LANES = 8 };

struct row {
	struct text node, phase, key;
	int64_t begin, end, offset, duration;
	enum answer_flag open;
	uint64_t lane, row, pixel, pixels;
	double share;
};

#define SECONDS(member) ANSWER_AT_DURATION(struct row, member)

static const struct answer_column columns[] = {
	{ "node", "NODE", ANSWER_AT_TEXT(struct row, node),
	    "the node; those in a phase without an end come first" },
	{ "begin", "BEGIN", ANSWER_AT_TIME(struct row, begin),
	    "when the segment begins; with --pixels: when the whole phase does",
	    .traits = ANSWER_SPARE },
	{ "end", NULL, ANSWER_AT_TIME(struct row, end), "when it ends" },
	{ "offset", "AFTER", SECONDS(offset),
	    "when it begins, after the first begin of all (t0)" },
	{ "duration", "DURATION", SECONDS(duration), "from begin to end" },
	{ "phase", "PHASE", ANSWER_AT_TEXT(struct row, phase),
	    "the model and the phase, or span and its name" },
	{ "key", "KEY", ANSWER_AT_TEXT(struct row, key),
	    "of which image, job or other key, or track of a span; unknown: "
	    "the phase has none" },
	{ "open", "OPEN", ANSWER_AT_FLAG(struct row, open),
	    "has the phase no end? Then the segment goes to the last record of "
	    "the node, or to where the phase or the node begins again, or with "
	    "--job the job ends" },
	{ "lane", "LANE", ANSWER_AT_COUNT(struct row, lane),
	    "with --lanes: the number of the lane, from 0" },
	{ "row", "ROW", ANSWER_AT_COUNT(struct row, row),
	    "with --pixels: the number of the row, from 0" },
	{ "pixel", "PIXEL", ANSWER_AT_COUNT(struct row, pixel),
	    "with --pixels: the first pixel that shows the phase, from 0" },
	{ "pixels", "PIXELS", ANSWER_AT_COUNT(struct row, pixels),
	    "with --pixels: how many do" },
	{ "share", "SHARE", ANSWER_AT_SHARE(struct row, share),
	    "with --pixels, of a row of several nodes: how much of their time "
	    "it is, in tenths and 0.1 at least; their begin, end and key are "
	    "unknown" },
	{ .key = NULL },
};

struct bar_row {
	struct text first, last, key;
	uint64_t nodes, lane;
};

static const struct answer_column bar_columns[] = {
	{ "first", "FIRST", ANSWER_AT_TEXT(struct bar_row, first),
	    "the first node that the row stands for; rows come from 0 on" },
	{ "last", "LAST", ANSWER_AT_TEXT(struct bar_row, last),
	    "the last one" },
	{ "nodes", "NODES", ANSWER_AT_COUNT(struct bar_row, nodes),
	    "how many they are" },
	{ "lane", "LANE", ANSWER_AT_COUNT(struct bar_row, lane),
	    "with --lanes: which lane of the node it is" },
	{ "key", "KEY", ANSWER_AT_TEXT(struct bar_row, key),
	    "with --lanes of spans: the track of all of the lane" },
	{ .key = NULL },
};

struct area_row {
	struct text phase;
	uint64_t pixel, pixels;
	double nodes;
};

static const struct answer_column area_columns[] = {
	{ "phase", "PHASE", ANSWER_AT_TEXT(struct area_row, phase),
	    "the phase; unknown: nodes that began and are in none" },
	{ "pixel", "PIXEL", ANSWER_AT_COUNT(struct area_row, pixel),
	    "the first of the pixels, from 0" },
	{ "pixels", "PIXELS", ANSWER_AT_COUNT(struct area_row, pixels),
	    "how many have this number" },
	{ "nodes", "NODES", ANSWER_AT_NUMBER(struct area_row, nodes),
	    "how many nodes are in it, in the mean of the pixel; all of a "
	    "pixel together are the nodes that have begun" },
	{ .key = NULL },
};

struct occurring_row {
	struct text phase;
	uint64_t colour;
};

static const struct answer_column phase_columns[] = {
	{ "phase", "PHASE", ANSWER_AT_TEXT(struct occurring_row, phase),
	    "a phase that occurs, in the order of the model" },
	QUESTION_COLOUR_COLUMN(struct occurring_row),
	{ .key = NULL },
};

struct path_row {
	struct text kind, node, phase, key;
	int64_t begin, offset, duration;
	uint64_t row;
};

#define PATH_TEXT(member) ANSWER_AT_TEXT(struct path_row, member)

static const struct answer_column path_columns[] = {
	{ "kind", "KIND", PATH_TEXT(kind),
	    "what the pool waited for until it was ready, piece by piece; the "
	    "words are those of stats critical" },
	{ "node", "NODE", PATH_TEXT(node), "on which node" },
	{ "phase", "PHASE", PATH_TEXT(phase),
	    "in which phase; unknown: the node had not begun" },
	{ "key", "KEY", PATH_TEXT(key), "of which key" },
	{ "begin", "BEGIN", ANSWER_AT_TIME(struct path_row, begin),
	    "when the piece begins", .traits = ANSWER_SPARE },
	{ "offset", "AFTER", ANSWER_AT_DURATION(struct path_row, offset),
	    "the same, after t0" },
	{ "duration", "DURATION", ANSWER_AT_DURATION(struct path_row, duration),
	    "how long it is" },
	{ "row", "ROW", ANSWER_AT_COUNT(struct path_row, row),
	    "with --pixels: the number of the row of the node; unknown: it has "
	    "none" },
	{ .key = NULL },
};

static const struct answer_column head[] = {
	{ "model", ANSWER_HEAD(ANSWER_TEXT), "of which model the phases are" },
	QUESTION_START_MEMBERS,
	QUESTION_CLOCK_MEMBER,
	{ "t0", ANSWER_HEAD(ANSWER_TIME),
	    "when the first phase began; with --pixels: the begin of the "
	    "axis" },
	{ "t1", ANSWER_HEAD(ANSWER_TIME),
	    "when the last one ended; with --pixels: the end of the axis" },
	{ "nodes", ANSWER_HEAD(ANSWER_COUNT), "how many nodes there are" },
	{ "pixels", ANSWER_HEAD(ANSWER_COUNT),
	    "how many pixels the axis has; unknown: there is no picture" },
	{ "path_node", ANSWER_HEAD(ANSWER_TEXT),
	    "which node the critical path ends at: the last one that the pool "
	    "needed; unknown: there is none" },
	{ "path_duration", ANSWER_HEAD(ANSWER_DURATION), "how long it is",
	    "s" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "timeline", columns },
	{ "phases", phase_columns }, { "models", question_model_columns },
	{ "bars", bar_columns }, { "area", area_columns },
	{ "path", path_columns }, { "head", head }, { .name = NULL } };

struct asking {
	struct answer *answer;
	const struct critical_shown *path;
	const struct phases_timeline *of;
	enum phases_form form;
	uint64_t without_lane;
	struct raster raster;
	int64_t t0_ns, t1_ns;
	uint32_t nodes;
};

static struct row
make_row(const struct asking *asking, const struct phases_segment *segment)
{
	const struct phases_timeline *t = asking->of;
	struct text key = t->phases.keys.names[segment->key];
	struct row row = { .node = t->phases.nodes.names[segment->node],
		.phase = t->names.phases.names[segment->phase],
		.key = key.bytes > 0 ? key : (struct text){ NULL, 0 },
		.begin = segment->begin_ns,
		.end = segment->end_ns,
		.offset = segment->begin_ns - asking->t0_ns,
		.duration = segment->end_ns - segment->begin_ns,
		.open = segment->is_open ? ANSWER_YES : ANSWER_NO,
		.lane = ANSWER_NO_COUNT,
		.row = ANSWER_NO_COUNT,
		.pixel = ANSWER_NO_COUNT,
		.pixels = ANSWER_NO_COUNT,
		.share = NAN };

	if (asking->form == PHASES_LANES && segment->lane != UINT32_MAX)
		row.lane = segment->lane;
	return row;
}

static void
put(void *arg, const struct phases_segment *segment)
{
	struct asking *asking = arg;
	struct row row = make_row(asking, segment);

	asking->without_lane += segment->lane == UINT32_MAX;
	answer_row(asking->answer, &row, NULL);
}

static void
put_run(void *arg, const struct raster_run *run)
{
	struct asking *asking = arg;
	struct row row = { .begin = ANSWER_NO_NS,
		.end = ANSWER_NO_NS,
		.offset = ANSWER_NO_NS,
		.duration = ANSWER_NO_NS,
		.open = ANSWER_NO_FLAG,
		.lane = ANSWER_NO_COUNT,
		.share = (double)run->shade / RASTER_SHADES };

	if (run->segment != NULL) {
		struct phases_segment whole = *run->segment;

		whole.begin_ns = whole.item->begin_ns;
		whole.end_ns = whole.item->end_ns;
		row = make_row(asking, &whole);
	} else {
		row.node = (struct text){ NULL, 0 };
		row.phase = asking->of->names.phases.names[run->phase];
	}
	row.row = run->row;
	row.pixel = run->pixel;
	row.pixels = run->pixels;
	answer_row(asking->answer, &row, NULL);
}

static void
put_bars(const struct asking *asking)
{
	const struct text *nodes = asking->of->phases.nodes.names;

	answer_begin_table(asking->answer, "bars");
	for (uint32_t i = 0; i < asking->raster.count; i++) {
		const struct raster_row *of = &asking->raster.rows[i];
		struct bar_row row = { .first = nodes[of->first],
			.last = nodes[of->last],
			.nodes = of->nodes,
			.lane = ANSWER_NO_COUNT };

		if (asking->form == PHASES_LANES)
			row.lane = of->lane;
		if (asking->form == PHASES_LANES &&
		    asking->of->phases.is_of_spans)
			row.key = asking->of->phases.keys.names[of->key];
		answer_row(asking->answer, &row, NULL);
	}
}

/* Of one phase, or of none. */
static void
put_area(const struct asking *asking, uint32_t phase)
{
	const struct raster *raster = &asking->raster;
	const int64_t *area_ns =
	    &raster->area_ns[(size_t)phase * raster->pixels];
	const int64_t *edges_ns = raster->edges_ns;
	struct area_row row = { .pixels = 0 };

	if (phase < raster->phases)
		row.phase = asking->of->names.phases.names[phase];
	for (uint32_t p = 0; p < raster->pixels; p++) {
		double nodes = (double)area_ns[p] /
			       (double)(edges_ns[p + 1] - edges_ns[p]);

		if (row.pixels > 0 && nodes == row.nodes) {
			row.pixels++;
			continue;
		}
		if (row.pixels > 0 && row.nodes > 0)
			answer_row(asking->answer, &row, NULL);
		row.pixel = p;
		row.pixels = 1;
		row.nodes = nodes;
	}
	if (row.nodes > 0)
		answer_row(asking->answer, &row, NULL);
}

static void
put_piece(const struct asking *asking, const struct critical_piece *piece)
{
	struct path_row row = { .begin = piece->from_ns,
		.offset = piece->from_ns - asking->t0_ns,
		.duration = piece->to_ns - piece->from_ns,
		.row = ANSWER_NO_COUNT };
	uint32_t node;

	row.kind = text_of(critical_shown_piece(
	    asking->path, piece, &row.node, &row.phase, &row.key));
	if (row.key.bytes == 0)
		row.key.at = NULL;
	if (asking->raster.row_of != NULL &&
	    string_table_find(&asking->of->phases.nodes, row.node, &node) &&
	    asking->raster.row_of[node] != UINT32_MAX)
		row.row = asking->raster.row_of[node];
	answer_row(asking->answer, &row, NULL);
}

static void
put_path(const struct asking *asking)
{
	const struct critical_path *path = &asking->path->path;

	answer_begin_table(asking->answer, "path");
	for (uint32_t i = 0; i < path->count; i++)
		put_piece(asking, &path->at[i]);
}

static void
put_path_head(const struct asking *asking)
{
	const struct critical_shown *shown = asking->path;
	const struct critical_start *of = &shown->of;
	struct text node = { NULL, 0 };
	int64_t duration_ns = ANSWER_NO_NS;

	if (shown->path.count > 0) {
		node = of->phases.nodes.names[of->waits.at[of->run.last].node];
		duration_ns = of->run.ready_ns - shown->start_ns;
	}
	answer_head(asking->answer, "path_node", answer_text(node));
	answer_head(
	    asking->answer, "path_duration", answer_duration(duration_ns));
}

static void
put_names(const struct phases_timeline *t, struct answer *answer)
{
	const struct string_table *phases = &t->names.phases;
	bool *occurs = memory_zero(phases->count, sizeof(*occurs));
	uint8_t *places = memory_zero(phases->count, sizeof(*places));

	palette_place(phases->names, phases->count, places);
	for (uint32_t i = 0; i < t->phases.count; i++)
		occurs[t->phases.items[i].phase] = true;
	answer_begin_table(answer, "phases");
	for (uint32_t i = 0; i < phases->count; i++)
		if (occurs[i])
			answer_row(answer,
			    &(struct occurring_row){
				phases->names[i], question_colour(places[i]) },
			    NULL);
	free(places);
	free(occurs);
	question_put_models(&t->names.models, answer);
}

static void
put_notes(const struct asking *asking)
{
	const struct phases_timeline *t = asking->of;
	uint64_t without_lane =
	    asking->without_lane + asking->raster.without_lane;

	if (t->open > 0)
		answer_note(asking->answer, "open", t->open,
		    "%" PRIu64 " without an end: drawn to the last record",
		    t->open);
	if (t->phases.left_out > 0)
		answer_note(asking->answer, "left_out", t->phases.left_out,
		    "left out: %" PRIu64 " without a start",
		    t->phases.left_out);
	if (without_lane > 0)
		answer_note(asking->answer, "without_lane", without_lane,
		    "%" PRIu64 " have no lane: more than %d at once, or than "
		    "a picture has rows (%d)",
		    without_lane, PHASES_LANES_MAX, RASTER_ROWS_MAX);
}

static void
put_picture(struct asking *asking)
{
	raster_make(&asking->raster, put_run, asking);
	put_bars(asking);
	answer_begin_table(asking->answer, "area");
	for (uint32_t phase = 0;
	     asking->form == PHASES_CUT && phase <= asking->raster.phases;
	     phase++)
		put_area(asking, phase);
}

/* --from is where the axis begins: what began before it goes on there. */
static int
begin_picture(struct asking *asking, const struct question_values *values,
    struct err *err)
{
	const struct raster_asked of = { .from_ns = values->window.from_ns,
		.to_ns = values->window.to_ns,
		.pixels = (uint32_t)values->pixels,
		.rows = values->rows > 0 ? (uint32_t)values->rows : ROWS,
		.form = asking->form,
		.order = (enum phases_order)values->order };

	if (values->pixels == 0)
		return 0;
	if (raster_begin(&asking->raster, asking->of, &of, err) != 0)
		return -1;
	asking->t0_ns = asking->raster.from_ns;
	asking->t1_ns = asking->raster.to_ns;
	asking->nodes = asking->raster.nodes;
	return 0;
}

static void
hide_columns(const struct asking *asking, bool is_picture)
{
	static const char *const of_pictures[] = { "row", "pixel", "pixels",
		"share" };

	if (asking->form != PHASES_LANES)
		answer_hide_column(asking->answer, "lane");
	for (int i = 0; !is_picture && i < 4; i++)
		answer_hide_column(asking->answer, of_pictures[i]);
}

/* Lanes of many nodes would be a picture that nobody sees whole. */
static enum phases_form
form_of(const struct question_values *values, const struct phases_timeline *t)
{
	return values->lanes &&
		       (values->rows == 0 ||
			   t->phases.nodes.count <= values->rows / NODE_LANES)
		   ? PHASES_LANES
		   : PHASES_CUT;
}

static int
put_all(const struct phases_timeline *t, const struct critical_shown *path,
    const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct asking asking = { .answer = answer,
		.path = path,
		.of = t,
		.form = form_of(asked->values, t),
		.t0_ns = t->first_ns,
		.t1_ns = t->last_ns,
		.nodes = t->phases.nodes.count };
	int rc = begin_picture(&asking, asked->values, err);
	char shown[300], words[QUESTION_CLOCK_BYTES];
	char model[PHASES_MODEL_BYTES], path_words[CRITICAL_SHOWN_BYTES];
	const char *clock;

	answer_head(answer, "model", answer_text(t->model));
	clock = question_put_clock(words, asked, answer);
	answer_head(answer, "t0", answer_time(asking.t0_ns));
	answer_head(answer, "t1", answer_time(asking.t1_ns));
	answer_head(answer, "nodes", answer_count(asking.nodes));
	answer_head(answer, "pixels",
	    answer_count(asked->values->pixels > 0 ? asked->values->pixels
						   : ANSWER_NO_COUNT));
	answer_title(answer, "what nodes of %s did when, by %s%s%s",
	    text_quote(shown, sizeof(shown), asked->partition),
	    phases_model_words(model, t->model), clock,
	    critical_shown_words(path_words, path));
	put_path_head(&asking);
	hide_columns(&asking, asked->values->pixels > 0);
	if (rc == 0 && asked->values->pixels > 0)
		put_picture(&asking);
	else if (rc == 0)
		phases_timeline_each(t, asking.form,
		    (enum phases_order)asked->values->order, put, &asking);
	if (!answer_is_for_people(answer))
		put_names(t, answer);
	if (!answer_is_for_people(answer))
		put_path(&asking);
	put_notes(&asking);
	raster_clear(&asking.raster);
	return rc;
}

static int
check(const struct question_values *values, struct err *err)
{
	const char *model = question_model(values);

	if (values->pixels > RASTER_PIXELS_MAX)
		return err_set_option(
		    err, "pixels", "is at most %d", RASTER_PIXELS_MAX);
	if (values->rows > RASTER_ROWS_MAX)
		return err_set_option(err, "rows",
		    "is at most %d: a row then stands for several nodes",
		    RASTER_ROWS_MAX);
	if (values->name != NULL && values->name[0] != '\0' &&
	    (model == NULL || strcmp(model, RECORD_SPAN_MODEL) != 0))
		return err_set_option(err, "name",
		    "needs model " RECORD_SPAN_MODEL
		    ": which phases there are is the choice of a model");
	if (values->rows > 0 && values->pixels == 0)
		return err_set_option(
		    err, "rows", "needs pixels: rows are those of a picture");
	return 0;
}

static int
ask(const struct question_asked *asked, struct answer *answer, struct err *err)
{
	struct wire_query query = question_query(asked, 1u << RECORD_PHASE);
	struct critical_shown shown = { .start_ns = START_UNKNOWN };
	struct phases_timeline timeline;
	int rc;

	if (asked->values->pixels > 0 &&
	    question_is_given(asked->values, "from"))
		query.from_ns = TIME_MIN_NS;
	if (asked->values->name != NULL)
		query.name = text_of(asked->values->name);
	rc = phases_timeline_read(&timeline, asked->source, asked->partition,
	    &query, asked->jobs, question_model(asked->values), err);
	if (rc == 0 && asked->jobs == NULL)
		rc = critical_shown_read(&shown, asked->source,
		    asked->partition, timeline.model,
		    asked->values->starts.gap_ns, timeline.last_ns, err);
	if (rc == 0)
		rc = put_all(&timeline, &shown, asked, answer, err);
	critical_shown_clear(&shown);
	phases_timeline_clear(&timeline);
	return rc;
}

const struct question question_timeline = { .word = "timeline",
	.summary = "what each node did when",
	.options = "model name node job user start gap from to lanes rows "
		   "pixels "
		   "order shape "
		   "sort top columns",
	.examples = "poolscope stats timeline -p 'acct$pool' --start all\n"
		    "poolscope stats timeline -n cn17 --lanes\n"
		    "poolscope stats timeline --model span --name 'cc*'\n",
	.tables = tables,
	.is_of_start = true,
	/* An open phase lasts until the last record of any kind. */
	.is_of_records = true,
	.kinds = 1u << RECORD_EVENT | 1u << RECORD_SAMPLE | 1u << RECORD_SPAN,
	.check = check,
	.ask = ask };

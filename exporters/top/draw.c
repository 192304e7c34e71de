/*
 * top_draw - put the state on the screen.
 *
 * From the top: two lines about the pool, the titles, the rows; at the bottom
 * the keys.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/top/screen.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { TOP_LINES = 3, BOTTOM_LINES = 1, PART_BYTES = 512 };
/* Without a snapshot for so long, the source does not answer. */
#define SILENCE_NS (5 * NS_PER_SECOND)

/* ---- a line of parts ---- */

struct line {
	unsigned row, at, end;
};

static void
put_width(unsigned row, unsigned column, struct text text, unsigned width,
    unsigned look)
{
	char cell[CELL_BYTES];

	cell_put(cell, text, width, CELL_CUT, screen_is_ascii());
	screen_put(row, column, cell, look);
}

/* With `gap` blanks in front of it; a part that does not fit is left out, and
 * so is all behind it. */
static void
put_part(struct line *line, unsigned gap, unsigned look, const char *text)
{
	struct text part = text_of(text);
	unsigned width = cell_width(part, screen_is_ascii());

	if (line->at == 0)
		gap = 0;
	if (line->at + gap + width > line->end) {
		line->end = line->at;
		return;
	}
	put_width(line->row, line->at + gap, part, width, look);
	line->at += gap + width;
}

static void __attribute__((format(printf, 4, 5))) put_format(
    struct line *line, unsigned gap, unsigned look, const char *format, ...)
{
	char text[PART_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	put_part(line, gap, look, text);
}

/* The time of day of a wall time. */
static const char *
time_text(char to[static CLOCK_TEXT_BYTES], int64_t wall_ns)
{
	char *t = strchr(clock_text(to, wall_ns, 0), 'T');

	if (t == NULL)
		return to;
	t[9] = '\0';
	return t + 1;
}

/* ---- the first lines ---- */

static void
draw_first(const struct top_state *state, struct line line)
{
	static const unsigned looks[NODE_CONDITIONS] = { SCREEN_GOOD,
		SCREEN_WARNING, SCREEN_BAD, SCREEN_BAD, SCREEN_PLAIN,
		SCREEN_PLAIN };
	const struct top_snapshot *shown = state->shown;
	char text[CLOCK_TEXT_BYTES], pool[CELL_BYTES];
	unsigned width;

	put_part(&line, 0, SCREEN_STRONG, "poolscope top");
	if (shown == NULL)
		return;
	width = cell_width(text_of(shown->partition), screen_is_ascii());
	cell_put(pool, text_of(shown->partition),
	    width > line.end / 3 ? line.end / 3 : width, CELL_LEFT,
	    screen_is_ascii());
	put_part(&line, 2, SCREEN_STRONG, pool);
	put_part(&line, 2, SCREEN_PLAIN, time_text(text, shown->taken_ns));
	put_format(&line, 2, SCREEN_PLAIN, "%" PRIu32 " node%s",
	    shown->node_count, shown->node_count == 1 ? "" : "s");
	for (int i = 0; i < NODE_CONDITIONS; i++)
		if (shown->conditions[i] > 0)
			put_format(&line, 1, looks[i], "%" PRIu32 " %s",
			    shown->conditions[i], node_condition_words[i]);
	if (shown->known_ns > 0 &&
	    shown->taken_ns - shown->known_ns > SILENCE_NS)
		put_format(&line, 1, SCREEN_WARNING, "at %s",
		    time_text(text, shown->known_ns));
	if (!isnan(shown->records_second))
		put_format(&line, 2, SCREEN_PLAIN, "%s rec/s",
		    cell_count(text, shown->records_second));
	if (shown->lines != NULL)
		put_format(&line, 2,
		    shown->lines->lag > 0 ? SCREEN_WARNING : SCREEN_PLAIN,
		    "lag %" PRId64, shown->lines->lag);
	put_format(
	    &line, 2, SCREEN_PLAIN, "spool %s", cell_bytes(text, shown->spool));
}

static void
draw_phases(const struct top_state *state, struct line *line)
{
	const struct top_snapshot *shown = state->shown;
	bool ascii = screen_is_ascii();
	char bars[TREND_BYTES];
	struct trend trend;
	char p50[CELL_NUMBER_BYTES], p90[CELL_NUMBER_BYTES];

	trend_begin(&trend, &state->history, shown);
	for (uint32_t i = 0; i < shown->phase_count; i++) {
		const struct top_phase *phase = &shown->phases[i];

		put_part(line, 3, SCREEN_STRONG, phase->label);
		put_part(line, 1, SCREEN_PLAIN,
		    trend_phase(bars, &trend, phase->label, ascii));
		put_format(line, 1, SCREEN_PLAIN, "%.0f open", phase->open);
		if (phase->hang > 0)
			put_format(line, 1, SCREEN_BAD, "%" PRIu32 " too long",
			    phase->hang);
		if (!isnan(phase->p50))
			put_format(line, 1, SCREEN_PLAIN, "(p50 %s p90 %s)",
			    cell_time(p50, phase->p50),
			    cell_time(p90, phase->p90));
	}
}

static bool
draw_silence(const struct top_state *state, struct line *line, int64_t now_ns)
{
	const struct top_snapshot *newest = state->newest;
	char text[CLOCK_TEXT_BYTES];

	if (newest == NULL ||
	    (!newest->is_lost && now_ns - newest->taken_ns < SILENCE_NS))
		return false;
	if (newest->answered_ns == 0)
		put_part(line, 0, SCREEN_BAD, "no answer yet");
	else
		put_format(line, 0, SCREEN_BAD, "no answer since %s",
		    time_text(text, newest->answered_ns));
	if (newest->is_lost)
		put_width(line->row, line->at + 2,
		    text_of(newest->error == NULL ? "" : newest->error),
		    line->end > line->at + 2 ? line->end - line->at - 2 : 0,
		    SCREEN_PLAIN);
	return true;
}

static void
draw_second(const struct top_state *state, struct line line, int64_t now_ns)
{
	const struct top_snapshot *shown = state->shown;
	char text[CLOCK_TEXT_BYTES], age[CELL_NUMBER_BYTES];

	if (shown == NULL) {
		put_part(&line, 0, SCREEN_PLAIN, "reading ...");
	} else if (draw_silence(state, &line, now_ns)) {
		;
	} else if (state->is_past || state->is_stopped) {
		put_format(&line, 0, SCREEN_WARNING, "%s at %s, %s ago",
		    state->is_past ? "this was" : "stopped",
		    time_text(text, shown->taken_ns),
		    cell_time(age, (double)(now_ns - shown->taken_ns) / 1e9));
		put_part(&line, 3, SCREEN_PLAIN,
		    "[ back  ] forward  { } by a minute  space: now");
	} else if (shown->lines != NULL &&
		   shown->lines->verdict != VERDICT_OK &&
		   shown->lines->count > 0) {
		put_width(line.row, 0, shown->lines->at[0], line.end,
		    shown->lines->verdict == VERDICT_CRITICAL ? SCREEN_BAD
							      : SCREEN_WARNING);
	} else {
		draw_phases(state, &line);
	}
}

/* ---- the table ---- */

struct table_layout {
	struct view_column columns[VIEW_COLUMNS_MAX];
	unsigned widths[VIEW_COLUMNS_MAX];
	uint32_t count;
	struct table_names names; /* of nodes, cut to what differs */
	struct trend trend;
};

static void
lay_out(
    struct table_layout *layout, const struct top_state *state, unsigned width)
{
	layout->count =
	    view_of(state->view)->columns(state->shown, layout->columns);
	view_layout(layout->columns, layout->count, width, layout->widths);
	trend_begin(&layout->trend, &state->history, state->shown);
	layout->names = state->shown->names->names;
	table_names_fit(&layout->names, layout->widths[0]);
}

static enum cell_side
side_of(const struct view_column *column)
{
	return column->right     ? CELL_RIGHT
	       : column->is_text ? CELL_LEFT
				 : CELL_CUT;
}

static void
draw_titles(const struct table_layout *layout, const struct top_state *state,
    unsigned width)
{
	const struct view_state *of = &state->of[state->view];
	bool ascii = screen_is_ascii();
	const char *mark = ascii ? (of->is_reversed ? "^" : "v")
				 : (of->is_reversed ? "▲" : "▼");
	char cell[CELL_BYTES], title[VIEW_TITLE_BYTES + 8];
	char span[CELL_NUMBER_BYTES];
	unsigned at = 0;

	cell_time(span, (double)(TREND_BARS * layout->trend.step_ns) / 1e9);
	put_width(TOP_LINES - 1, 0, text_of(""), width, SCREEN_TITLE);
	for (uint32_t i = 0; i < layout->count; i++) {
		const struct view_column *column = &layout->columns[i];
		unsigned wide = layout->widths[i];
		bool marked =
		    (int)i == of->column && view_of(state->view)->key != NULL;
		int room = (int)wide - marked;

		if (wide == 0)
			continue;
		if (column->is_trend)
			snprintf(title, sizeof(title), "%s%s%s%s",
			    column->title, column->title[0] != '\0' ? " " : "",
			    span, marked ? mark : "");
		else
			snprintf(title, sizeof(title), "%.*s%s", room,
			    column->title, marked ? mark : "");
		cell_put(cell, text_of(title), wide, side_of(column), ascii);
		screen_put(TOP_LINES - 1, at, cell, SCREEN_TITLE);
		at += wide + 1;
	}
}

static unsigned
screen_look(enum view_look look)
{
	return look == VIEW_BAD       ? SCREEN_BAD
	       : look == VIEW_WARNING ? SCREEN_WARNING
	       : look == VIEW_GOOD    ? SCREEN_GOOD
				      : SCREEN_PLAIN;
}

static void
draw_row(const struct table_layout *layout, const struct top_state *state,
    uint32_t row, unsigned line, unsigned width, bool is_chosen)
{
	const struct view *view = view_of(state->view);
	unsigned look = screen_look(view->look(state->shown, row)) |
			(is_chosen ? SCREEN_CHOSEN : 0u);
	char cell[CELL_BYTES], text[VIEW_TEXT_BYTES];
	unsigned at = 0;

	if (is_chosen)
		put_width(line, 0, text_of(""), width, look);
	for (uint32_t i = 0; i < layout->count; i++) {
		struct text of;

		if (layout->widths[i] == 0)
			continue;
		if (layout->columns[i].is_trend)
			of = text_of(trend_row(text, &layout->trend, view, row,
			    screen_is_ascii()));
		else
			of = view->cell(state->shown, row, i, text);
		if (i == 0 && state->view == VIEW_NODES)
			of = table_names_rest(&layout->names, of);
		cell_put(cell, of, layout->widths[i],
		    side_of(&layout->columns[i]), screen_is_ascii());
		screen_put(line, at, cell, look);
		at += layout->widths[i] + 1;
	}
}

static bool
is_read(const struct top_state *state)
{
	const struct top_snapshot *shown = state->shown;

	return (state->view != VIEW_NODES || shown->answered_ns != 0) &&
	       (state->view != VIEW_RUNS || shown->runs != NULL) &&
	       (state->view != VIEW_POOLS || shown->pools != NULL) &&
	       (state->view != VIEW_PIPELINE || shown->lines != NULL);
}

static void
draw_table(const struct top_state *state, unsigned rows, unsigned width)
{
	const struct view_state *of = &state->of[state->view];
	struct table_layout layout;

	lay_out(&layout, state, width);
	draw_titles(&layout, state, width);
	for (uint32_t i = 0; i < rows && of->first + i < state->count; i++)
		draw_row(&layout, state, state->rows[of->first + i],
		    TOP_LINES + i, width,
		    of->first + i == of->cursor &&
			state->view != VIEW_PIPELINE);
	if (state->count == 0)
		put_width(TOP_LINES + 1, 2,
		    text_of(!is_read(state) ? "reading ..."
			    : of->filter[0] != '\0'
				? "nothing matches the "
				  "filter; Esc ends it"
				: view_of(state->view)->none),
		    width > 2 ? width - 2 : 0, SCREEN_PLAIN);
}

/* ---- other pages ---- */

static void
draw_text(struct text rest, unsigned rows, unsigned width)
{
	struct text line;

	for (unsigned i = 0; i < rows && text_next_line(&rest, &line); i++)
		put_width(TOP_LINES + i, 2, line, width > 2 ? width - 2 : 0,
		    SCREEN_PLAIN);
}

static void
draw_detail(const struct top_state *state, unsigned rows, unsigned width)
{
	uint32_t row;
	size_t bytes;
	char *memory;
	FILE *file;

	put_width(TOP_LINES - 1, 0, text_of("  Esc, Enter: back to the table"),
	    width, SCREEN_TITLE);
	if (!top_state_row(state, &row))
		return;
	file = memory_stream(&memory, &bytes);
	view_of(state->view)->detail(state->shown, row, file);
	memory_stream_end(&file);
	draw_text((struct text){ memory, (uint32_t)bytes }, rows, width);
	free(memory);
}

static void
draw_help(unsigned rows, unsigned width)
{
	static const char help[] =
	    "arrows h j k l   move; left and right: the view next to it\n"
	    "PgUp PgDn g G    a page, the first row, the last row\n"
	    "1 2 3 4 or v     nodes, runs, pools, pipeline; the next view\n"
	    "/                filter: part of a name, or a pattern with * ?\n"
	    "Esc              end the filter\n"
	    "s r              sort by the next column; the other direction\n"
	    "Enter            all about a node or run; go to a pool\n"
	    "space            stop; go on with what is now\n"
	    "y                copy the link of this view to the page\n"
	    "[ ]              back and forward through the last hour\n"
	    "{ }              the same by a minute\n"
	    "? F1             this text\n"
	    "q                quit\n"
	    "\n"
	    "HEARD: time since a record was made. FOR: time in the phase, or\n"
	    "since the node was ready. CLOCK: how far its clock is behind the\n"
	    "aggregator's. RX/S, DISK/S: bytes received, and read and "
	    "written,\n"
	    "a second. GPU: the busiest. PSI IO: share of the time in which a\n"
	    "task waited for a disk. Bars: the last minutes of CPU.\n"
	    "Of the last hour at most 2 MiB are kept, the older the fewer.\n";

	put_width(TOP_LINES - 1, 0, text_of("  ? Esc: back to the table"),
	    width, SCREEN_TITLE);
	draw_text(text_of(help), rows, width);
}

/* ---- the last line ---- */

static void
draw_keys(const struct top_state *state, struct line line)
{
	const struct view_state *of = &state->of[state->view];

	if (state->mode == MODE_FILTER) {
		put_format(&line, 0, SCREEN_STRONG, "filter: %s_", of->filter);
		put_part(&line, 3, SCREEN_PLAIN, "Enter: keep  Esc: end");
		return;
	}
	for (int i = 0; i < VIEWS; i++)
		put_format(&line, 1,
		    i == (int)state->view ? SCREEN_STRONG | SCREEN_CHOSEN
					  : SCREEN_PLAIN,
		    "%d %s", i + 1, view_of((enum top_view_number)i)->name);
	if (of->filter[0] != '\0')
		put_format(&line, 3, SCREEN_STRONG, "filter: %s", of->filter);
	if (state->count > state->page)
		put_format(&line, 3, SCREEN_PLAIN,
		    "%" PRIu32 "-%" PRIu32 " of %" PRIu32, of->first + 1,
		    of->first + state->page, state->count);
	put_part(&line, 3, SCREEN_PLAIN, "? help");
	put_part(&line, 2, SCREEN_PLAIN, "q quit");
	put_part(&line, 2, SCREEN_PLAIN, "/ filter");
	put_part(&line, 2, SCREEN_PLAIN, "s sort");
	put_part(&line, 2, SCREEN_PLAIN, "space stop");
	put_part(&line, 2, SCREEN_PLAIN, "[ ] time");
	put_part(&line, 2, SCREEN_PLAIN, "Enter open");
}

void
draw_state(struct top_state *state, int64_t now_ns, const char *link)
{
	unsigned rows, width, body;

	screen_size(&rows, &width);
	body = rows > TOP_LINES + BOTTOM_LINES ? rows - TOP_LINES - BOTTOM_LINES
					       : 0;
	top_state_fit(state, body);
	screen_erase();
	draw_first(state, (struct line){ 0, 0, width });
	if (rows > 1 && link != NULL)
		put_width(1, 0, text_of(link), width, SCREEN_STRONG);
	else if (rows > 1)
		draw_second(state, (struct line){ 1, 0, width }, now_ns);
	if (state->mode == MODE_HELP)
		draw_help(body, width);
	else if (state->shown != NULL && state->mode == MODE_DETAIL)
		draw_detail(state, body, width);
	else if (state->shown != NULL)
		draw_table(state, body, width);
	if (rows > TOP_LINES)
		draw_keys(state, (struct line){ rows - 1, 0, width });
	screen_show();
}

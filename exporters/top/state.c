/*
 * top_state - what the user has chosen.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/state.h"

#include <stdlib.h>
#include <string.h>

#include "proto/os/clock.h"

#define MINUTE_NS (60 * NS_PER_SECOND)

static struct view_state *
current(struct top_state *state)
{
	return &state->of[state->view];
}

void
top_state_init(struct top_state *state, enum top_view_number view)
{
	*state = (struct top_state){ .view = view, .page = 1 };
	for (int i = 0; i < VIEWS; i++)
		state->of[i].column = view_of((enum top_view_number)i)->column;
}

void
top_state_clear(struct top_state *state)
{
	top_state_forget(state);
	free(state->rows);
	state->rows = NULL;
}

/* ---- snapshots ---- */

static void
hold(struct top_snapshot **holder, struct top_snapshot *snapshot)
{
	snapshot->holds++;
	top_snapshot_unpack(snapshot);
	top_snapshot_drop(holder);
	*holder = snapshot;
}

void
top_state_take(struct top_state *state, struct top_snapshot *snapshot)
{
	hold(&state->newest, snapshot);
	if (state->shown == NULL || (!state->is_stopped && !state->is_past))
		hold(&state->shown, snapshot);
	/* One without an answer has the data of the one before.  Those before
	 * are packed, unless they are shown. */
	if (!snapshot->is_lost)
		history_add(&state->history, snapshot);
	top_snapshot_drop(&snapshot);
}

void
top_state_forget(struct top_state *state)
{
	top_snapshot_drop(&state->shown);
	top_snapshot_drop(&state->newest);
	history_clear(&state->history);
	state->is_stopped = state->is_past = false;
	state->count = 0;
}

static void
show_now(struct top_state *state)
{
	struct top_snapshot *newest = history_find(&state->history, INT64_MAX);

	state->is_past = false;
	if (newest != NULL)
		hold(&state->shown, newest);
}

/* Back or forward by a snapshot, or by a minute. */
static void
travel(struct top_state *state, int direction, bool by_minute)
{
	struct history *history = &state->history;
	struct top_snapshot *to;
	int64_t at_ns;

	if (state->shown == NULL || (direction > 0 && !state->is_past))
		return;
	at_ns = state->shown->taken_ns;
	to = history_step(history, at_ns, direction);
	if (to != NULL && by_minute) {
		struct top_snapshot *far =
		    history_find(history, at_ns + direction * MINUTE_NS);

		if (direction > 0 ? far->taken_ns > to->taken_ns
				  : far->taken_ns < to->taken_ns)
			to = far;
	}
	if (to == NULL && direction < 0)
		return;
	if (to == NULL || history_step(history, to->taken_ns, 1) == NULL) {
		show_now(state);
		return;
	}
	state->is_past = true;
	hold(&state->shown, to);
}

/* ---- rows ---- */

bool
top_state_row(const struct top_state *state, uint32_t *row)
{
	const struct view_state *of = &state->of[state->view];

	if (of->cursor >= state->count)
		return false;
	*row = state->rows[of->cursor];
	return true;
}

static void
keep_selected(struct top_state *state)
{
	struct view_state *of = current(state);
	struct text name;
	uint32_t row;

	of->selected[0] = '\0';
	if (of->cursor == 0 || !top_state_row(state, &row))
		return;
	name = view_of(state->view)->name_of(state->shown, row);
	snprintf(of->selected, sizeof(of->selected), "%.*s", (int)name.bytes,
	    name.at);
}

/* The row that was selected may be elsewhere now. */
static void
find_selected(struct top_state *state)
{
	const struct view *view = view_of(state->view);
	struct view_state *of = current(state);
	struct text name = text_of(of->selected);

	if (name.bytes == 0) {
		of->cursor = 0;
		return;
	}
	for (uint32_t i = 0; i < state->count; i++)
		if (text_equal(
			view->name_of(state->shown, state->rows[i]), name)) {
			of->cursor = i;
			return;
		}
	if (of->cursor >= state->count)
		of->cursor = state->count > 0 ? state->count - 1 : 0;
}

static void
scroll(struct top_state *state)
{
	struct view_state *of = current(state);
	uint32_t last =
	    state->count > state->page ? state->count - state->page : 0;

	if (of->cursor < of->first)
		of->first = of->cursor;
	if (of->cursor >= of->first + state->page)
		of->first = of->cursor - state->page + 1;
	if (of->first > last)
		of->first = last;
}

void
top_state_fit(struct top_state *state, uint32_t page)
{
	struct view_state *of = current(state);

	state->page = page > 0 ? page : 1;
	state->count = 0;
	if (state->shown == NULL)
		return;
	state->count =
	    view_select(view_of(state->view), state->shown, text_of(of->filter),
		of->column, of->is_reversed, &state->rows, &state->room);
	find_selected(state);
	scroll(state);
}

static void
move_to(struct top_state *state, int64_t to)
{
	struct view_state *of = current(state);
	int64_t last = (int64_t)state->count - 1;

	of->cursor = (uint32_t)(to > last ? (last > 0 ? last : 0)
				: to < 0  ? 0
					  : to);
	keep_selected(state);
	scroll(state);
}

/* ---- keys ---- */

/* The next column, then the same in the other direction. */
static void
sort_next(struct top_state *state)
{
	const struct view *view = view_of(state->view);
	struct view_column columns[VIEW_COLUMNS_MAX];
	struct view_state *of = current(state);

	if (state->shown == NULL || view->key == NULL)
		return;
	of->column++;
	of->is_reversed = false;
	if (of->column >= (int)view->columns(state->shown, columns))
		of->column = view->column < 0 ? -1 : 0;
}

static void
key_of_filter(struct top_state *state, uint32_t key)
{
	char *filter = current(state)->filter, put[8];
	size_t used = strlen(filter);
	uint32_t bytes;

	if (key == TOP_KEY_ENTER) {
		state->mode = MODE_TABLE;
	} else if (key == TOP_KEY_ESCAPE) {
		filter[0] = '\0';
		state->mode = MODE_TABLE;
	} else if (key == TOP_KEY_ERASE) {
		while (used > 0 &&
		       ((unsigned char)filter[used - 1] & 0xC0) == 0x80)
			used--;
		filter[used > 0 ? used - 1 : 0] = '\0';
	} else if (key >= ' ' && key != 0x7F && key < TOP_KEY_ENTER) {
		bytes = text_put_character(put, key);
		if (used + bytes <= FILTER_BYTES) {
			memcpy(filter + used, put, bytes);
			filter[used + bytes] = '\0';
		}
	}
}

static void
change_view(struct top_state *state, uint32_t view)
{
	state->view = (enum top_view_number)(view % VIEWS);
	state->mode = MODE_TABLE;
}

static void
enter(struct top_state *state)
{
	uint32_t row;

	if (!top_state_row(state, &row))
		return;
	if (state->view == VIEW_POOLS)
		state->opens_pool = true;
	else if (view_of(state->view)->detail != NULL)
		state->mode = MODE_DETAIL;
}

static bool
key_of_movement(struct top_state *state, uint32_t key)
{
	int64_t cursor = current(state)->cursor, page = state->page;

	switch (key) {
	case 'k':
	case TOP_KEY_UP: move_to(state, cursor - 1); return true;
	case 'j':
	case TOP_KEY_DOWN: move_to(state, cursor + 1); return true;
	case TOP_KEY_PAGE_UP: move_to(state, cursor - page); return true;
	case TOP_KEY_PAGE_DOWN: move_to(state, cursor + page); return true;
	case 'g':
	case TOP_KEY_FIRST: move_to(state, 0); return true;
	case 'G':
	case TOP_KEY_LAST: move_to(state, INT32_MAX); return true;
	default: return false;
	}
}

static void
key_of_table(struct top_state *state, uint32_t key)
{
	if (key_of_movement(state, key))
		return;
	switch (key) {
	case 'h':
	case TOP_KEY_LEFT: change_view(state, state->view + VIEWS - 1u); break;
	case 'l':
	case 'v':
	case TOP_KEY_RIGHT: change_view(state, state->view + 1u); break;
	case '1':
	case '2':
	case '3':
	case '4': change_view(state, key - '1'); break;
	case '/': state->mode = MODE_FILTER; break;
	case 's': sort_next(state); break;
	case 'r':
		current(state)->is_reversed = !current(state)->is_reversed;
		break;
	case '[': travel(state, -1, false); break;
	case ']': travel(state, 1, false); break;
	case '{': travel(state, -1, true); break;
	case '}': travel(state, 1, true); break;
	case 'y': state->copies_link = true; break;
	case TOP_KEY_ENTER: enter(state); break;
	case TOP_KEY_ESCAPE: current(state)->filter[0] = '\0'; break;
	default: break;
	}
}

/* Space: go on with what is now. */
static void
stop_or_go(struct top_state *state)
{
	if (state->is_stopped || state->is_past) {
		state->is_stopped = false;
		show_now(state);
	} else {
		state->is_stopped = true;
	}
}

void
top_state_key(struct top_state *state, uint32_t key)
{
	if (state->mode == MODE_FILTER) {
		key_of_filter(state, key);
	} else if (key == 'q') {
		state->quits = true;
	} else if (key == ' ') {
		stop_or_go(state);
	} else if (key == '?' || key == TOP_KEY_HELP) {
		state->mode = state->mode == MODE_HELP ? MODE_TABLE : MODE_HELP;
	} else if (state->mode != MODE_TABLE &&
		   (key == TOP_KEY_ESCAPE || key == TOP_KEY_ENTER)) {
		state->mode = MODE_TABLE;
	} else if (state->mode != MODE_HELP) {
		key_of_table(state, key);
	}
}

/* ---- the link ---- */

/* What does not fit is left out. */
static void
put(char to[static LINK_BYTES], const char *text)
{
	size_t used = strlen(to);

	snprintf(to + used, LINK_BYTES - used, "%s", text);
}

static void
put_escaped(char to[static LINK_BYTES], struct text text)
{
	char part[4];

	for (uint32_t i = 0; i < text.bytes; i++) {
		unsigned char c = (unsigned char)text.at[i];
		bool is_plain = (c >= '0' && c <= '9') ||
				(c >= 'A' && c <= 'Z') ||
				(c >= 'a' && c <= 'z') || c == '-' ||
				c == '.' || c == '_' || c == '~';

		snprintf(part, sizeof(part), is_plain ? "%c" : "%%%02X", c);
		put(to, part);
	}
}

static void
put_nodes(char to[static LINK_BYTES], const struct top_state *state)
{
	const char *filter = state->of[VIEW_NODES].filter;
	bool is_pattern = strpbrk(filter, "*?") != NULL;
	uint32_t row;

	if (state->mode == MODE_DETAIL && top_state_row(state, &row)) {
		put(to, "/node/");
		put_escaped(to, view_nodes.name_of(state->shown, row));
		return;
	}
	put(to, "/map");
	if (filter[0] == '\0')
		return;
	put(to, is_pattern ? "?node=" : "?node=*");
	put_escaped(to, text_of(filter));
	put(to, is_pattern ? "" : "*");
}

static void
put_runs(char to[static LINK_BYTES], const struct top_state *state)
{
	uint32_t row;

	put(to, "/runs");
	if (state->mode != MODE_DETAIL || !top_state_row(state, &row) ||
	    view_runs.other_of(state->shown, row).bytes == 0)
		return;
	put(to, "?group=");
	put_escaped(to, view_runs.other_of(state->shown, row));
}

void
top_state_link(
    const struct top_state *state, const char *page, char to[static LINK_BYTES])
{
	size_t bytes = strlen(page);

	to[0] = '\0';
	put(to, page);
	if (bytes == 0 || page[bytes - 1] != '/')
		put(to, "/");
	if (state->view == VIEW_PIPELINE) {
		put(to, "#/status");
	} else if (state->view == VIEW_POOLS || state->shown == NULL) {
		put(to, "#/pools");
	} else {
		put(to, "#/pool/");
		put_escaped(to, text_of(state->shown->partition));
		if (state->view == VIEW_NODES)
			put_nodes(to, state);
		else
			put_runs(to, state);
	}
}

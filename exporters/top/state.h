/*
 * top_state - what the user has chosen: view, filter, order, row, moment.
 *
 * Keys change it; nothing here knows the terminal.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_STATE_H
#define EXPORTERS_TOP_STATE_H

#include "exporters/top/history.h"
#include "exporters/top/screen.h"
#include "exporters/top/view.h"

enum { FILTER_BYTES = 200 };

enum top_mode { MODE_TABLE, MODE_FILTER, MODE_DETAIL, MODE_HELP };

/* Of each view. */
struct view_state {
	char filter[FILTER_BYTES + 1];
	int column; /* sorted by; -1: not */
	bool is_reversed;
	char selected[NAME_BYTES_MAX + 1]; /* name of the row; "": the first */
	uint32_t cursor, first; /* index of that row, and of the one on top */
};

struct top_state {
	enum top_view_number view;
	enum top_mode mode;
	struct view_state of[VIEWS];
	struct top_snapshot *shown, *newest; /* held; NULL: none yet */
	bool is_stopped;                     /* `shown` stays */
	bool is_past;                        /* it is one of the history */
	struct history history;
	/* Rows of the view: those that match, in order. */
	uint32_t *rows, count, room;
	uint32_t page; /* rows on the screen */
	/* What the caller shall do. */
	bool quits, opens_pool, copies_link;
};

void top_state_init(struct top_state *state, enum top_view_number view);
void top_state_clear(struct top_state *state);

/* A new snapshot, which is taken. */
void top_state_take(struct top_state *state, struct top_snapshot *snapshot);
/* Forget all snapshots: another pool is shown. */
void top_state_forget(struct top_state *state);
/* Find rows and cursor again; `page`: rows that fit. */
void top_state_fit(struct top_state *state, uint32_t page);

void top_state_key(struct top_state *state, uint32_t key);

/* The row at the cursor; false: there is none. */
bool top_state_row(const struct top_state *state, uint32_t *row);

/* The address of what is shown.  `page`: that of the page, as poolscope-web
 * prints it, without a token. */
enum { LINK_BYTES = 2048 };
void top_state_link(const struct top_state *state, const char *page,
    char to[static LINK_BYTES]);

#endif

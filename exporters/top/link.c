/*
 * top_link - the address of what is shown, on the page of poolscope-web.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/link.h"

#include <stdio.h>
#include <string.h>

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
link_make(
    char to[static LINK_BYTES], const char *page, const struct top_state *state)
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

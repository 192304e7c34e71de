/*
 * top_draw - put the state on the screen.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_DRAW_H
#define EXPORTERS_TOP_DRAW_H

#include "exporters/top/state.h"

/* Fits the state to the screen first.  `now_ns`: wall clock.  `link`: shown
 * instead of the second line; NULL: none. */
void draw_state(struct top_state *state, int64_t now_ns, const char *link);

#endif

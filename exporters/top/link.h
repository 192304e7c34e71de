/*
 * top_link - the address of what is shown, on the page of poolscope-web.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOP_LINK_H
#define EXPORTERS_TOP_LINK_H

#include "exporters/top/state.h"

enum { LINK_BYTES = 2048 };

/* `page`: the address of the page, as poolscope-web prints it, without a
 * token. */
void link_make(char to[static LINK_BYTES], const char *page,
    const struct top_state *state);

#endif

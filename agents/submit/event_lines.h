/*
 * event_lines - one event a line, as `poolscope-emit --stdin` reads them.
 *
 *     source event [message to the end of the line]
 *     {"source": .., "event": .., "ts": .., "message": .., "node": ..,
 *      "partition": .., "run": .., "receive_ts": ..,
 *      "attrs": {name: text, number, boolean or null}}
 *
 * A line is JSON when it begins with '{'.  Times are seconds since the epoch;
 * a JSON number has the precision of a double, text all nine decimals.
 * An unknown member is an error, so that a misspelling is not lost.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_EVENT_LINES_H
#define AGENTS_SUBMIT_EVENT_LINES_H

#include "agents/submit/compose.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/format/json_fields.h"

enum { EVENT_LINE_BYTES_MAX = 128 << 10 };

/* The event of `line` (without its newline), complete and checked.  `object`
 * is what lines are read with, one after another; zeroed before the first. */
int event_line_read(struct json_fields *object, struct compose *compose,
    struct text line, struct err *err);

#endif

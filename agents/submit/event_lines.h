/*
 * event_lines - parses one event a line, for `poolscope-emit --stdin`.
 *
 *     source event [message to the end of the line]
 *     {"source": .., "event": .., "ts": .., "message": .., "node": ..,
 *      "partition": .., "run": .., "receive_ts": ..,
 *      "attrs": {name: text, number, boolean or null}}
 *
 * A line is JSON when it begins with '{'.  Times are seconds since the epoch;
 * a JSON number has the precision of a double, text all nine decimals. An
 * unknown member is an error, so that a misspelling is noticed.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_EVENT_LINES_H
#define AGENTS_SUBMIT_EVENT_LINES_H

#include "agents/submit/compose.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/json/json_fields.h"

enum { EVENT_LINE_BYTES_MAX = 128 << 10 };

/* Parse and check the event of `line` (without its newline).  `object` is the
 * reader for all lines, zeroed before the first. */
int event_line_read(struct json_fields *object, struct compose *compose,
    struct text line, struct err *err);

#endif

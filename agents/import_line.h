/*
 * import_line - the line to a broker on which rows are sent, and its loop.
 *
 * INT and TERM make the loop end.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_LINE_H
#define AGENTS_IMPORT_LINE_H

#include "proto/loop.h"
#include "proto/port.h"

struct import_line {
	struct loop *loop;
	struct port *port;
};

/* `connect`: an endpoint, or NULL for the instance's broker.  Whatever comes
 * back, import_line_close ends it. */
int import_line_open(
    struct import_line *line, const char *connect, struct err *err);
void import_line_close(struct import_line *line);

#endif

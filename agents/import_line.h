/*
 * import_line - the line to a broker, one of several, on which rows are sent,
 * and its loop.
 *
 * INT and TERM make the loop end.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_LINE_H
#define AGENTS_IMPORT_LINE_H

#include "agents/brokers.h"
#include "proto/loop.h"
#include "proto/port.h"

/* Stays where it is. */
struct import_line {
	struct loop *loop;
	struct port *port;
	struct brokers brokers;
};

/* `brokers`: none or NULL is the instance's.  Whatever comes back,
 * import_line_close ends it. */
int import_line_open(
    struct import_line *line, const struct opt_list *brokers, struct err *err);
void import_line_close(struct import_line *line);

#endif

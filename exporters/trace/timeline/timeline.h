/*
 * timeline - the whole pool on one time line.
 *
 * Phases, complete or not, with jobs; spans; events; samples, each kind in one
 * pass over the source, nothing kept but the names of rows and what is open.
 * Phases are in the order of their keys in the store and are sorted before
 * they are drawn, as many at a time as fit a fixed room.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_TIMELINE_H
#define EXPORTERS_TRACE_TIMELINE_TIMELINE_H

#include "exporters/trace/trace.h"
#include "proto/config/opt.h"

/* --kind, --metric, --nodes, --max-size; bound to struct timeline_options. */
extern const struct opt timeline_options[];

/* Completes the options; wrong use of them ends the program. */
void timeline_check(const struct trace_request *request);
int timeline_write(const struct trace_request *request, struct err *err);

#endif

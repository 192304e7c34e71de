/*
 * timeline - the whole pool on one timeline.
 *
 * Phases (complete or not) with jobs, spans, events, samples: each kind takes
 * one pass over the source, and memory holds only the names of rows and the
 * open intervals.  The store returns phases in the order of their keys; they
 * are sorted before they are drawn, as many at a time as fit a buffer of fixed
 * size.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_TIMELINE_H
#define EXPORTERS_TRACE_TIMELINE_TIMELINE_H

#include "exporters/trace/trace.h"
#include "proto/config/opt.h"

/* --kind, --metric, --nodes, --max-size; bound to struct timeline_options. */
extern const struct opt timeline_options[];

/* Completes the options; exits on a usage error. */
void timeline_check(const struct trace_request *request);
int timeline_write(const struct trace_request *request, struct err *err);

#endif

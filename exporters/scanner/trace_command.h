/*
 * scanner_trace_command - a profiled Scanner job as a Chrome trace: the events
 * of the older tool in its order.
 *
 * First the master, then the workers.  Each writes the name of its process,
 * then for each thread its name, its position and its intervals in the order
 * in which they were recorded.  Times are relative to the job's base.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SCANNER_TRACE_COMMAND_H
#define EXPORTERS_SCANNER_TRACE_COMMAND_H

#include "exporters/trace/timeline.h"

/* Exits on a usage error. */
void scanner_trace_check(const struct trace_request *request);

int scanner_trace_write(const struct trace_request *request, struct err *err);

#endif

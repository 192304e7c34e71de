/*
 * scanner_trace_command - a profiled job of Scanner as Chrome's trace: the
 * events of the older tool, in its order.
 *
 * The master first, then the workers: of each the process's name, then thread
 * by thread its name, its place and its intervals as they were recorded.  Times
 * are relative to the job's base.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_SCANNER_TRACE_COMMAND_H
#define EXPORTERS_TRACE_SCANNER_TRACE_COMMAND_H

#include "exporters/trace/trace.h"

/* Wrong use of the options ends the program. */
void scanner_trace_check(const struct trace_request *request);

int scanner_trace_write(const struct trace_request *request, struct err *err);

#endif

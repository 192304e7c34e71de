/*
 * perfetto - write Perfetto's trace format as the events arrive.
 *
 * TrackEvents on tracks of threads and counters.  Names, categories and keys
 * of attributes are interned; packets are compressed in blocks of some hundred
 * KiB. The trace's clock (BOOTTIME) is 0 at the start of the trace; a
 * ClockSnapshot gives the time of day of that moment, and the metadata (like
 * Chrome's) repeats it.  The interning state is reset from time to time, so
 * that its size is bounded.
 *
 * Begin and end of an interval are written together, before events that lie
 * between them.  A reader sorts by time and keeps the file's order for equal
 * times; this is correct if the intervals of a thread arrive sorted by begin,
 * and for equal begins the longest first.
 *
 * The format: perfetto's protos/perfetto/trace/trace_packet.proto and its
 * imports, of 2024; field numbers never change.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_PERFETTO_H
#define EXPORTERS_TRACE_PERFETTO_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "exporters/trace/chrome_json.h"
#include "proto/stream/byte_stream.h"

struct perfetto; /* opaque */

/* `pairs` become the metadata. */
struct perfetto *perfetto_begin(
    struct byte_stream *byte_stream, int64_t base_ns, struct text pairs);
/* Writes the remaining packets and frees `proto`. */
void perfetto_end(struct perfetto **proto);

/* Bytes written so far, before compression. */
uint64_t perfetto_bytes(const struct perfetto *proto);

/* Processes and threads are named after their events; all numbers of processes
 * and threads are different. */
void perfetto_process(
    struct perfetto *proto, int64_t pid, struct text name, int64_t position);
void perfetto_thread(struct perfetto *proto, int64_t pid, int64_t tid,
    struct text name, int64_t position);

/* The colour is ignored, and so is the duration of instants. */
void perfetto_complete(struct perfetto *proto, const struct trace_slice *slice);
void perfetto_instant(struct perfetto *proto, const struct trace_slice *slice);
/* Like chrome_json_counter. */
void perfetto_counter(struct perfetto *proto, int64_t pid, struct text name,
    struct text unit, int64_t time_ns, double value);

#endif

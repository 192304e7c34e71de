/*
 * perfetto - Perfetto's trace format, written as the events come.
 *
 * TrackEvents on tracks of threads and counters; names, categories and keys of
 * attributes are interned; packets are compressed some hundred KiB at a time.
 * The trace's clock (BOOTTIME) is at 0 where the trace begins, a ClockSnapshot
 * says what the time of day was then, and the metadata (as Chrome's) repeats
 * it.  What is interned is forgotten and begun anew after a while, so that it
 * has an end.
 *
 * A pair of begin and end is written at once, behind it may come what lies
 * between them: a reader sorts by time, and leaves in the order of the file
 * what has one time.  That is right when intervals of a thread come by begin,
 * and of one begin the longest first.
 *
 * The format: perfetto's protos/perfetto/trace/trace_packet.proto and what it
 * includes, of 2024; the numbers of the fields never change.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_FORMAT_PERFETTO_H
#define EXPORTERS_TRACE_FORMAT_PERFETTO_H

#include "exporters/trace/format/chrome_json.h"
#include "proto/format/byte_stream.h"
#include "proto/record/record.h"

struct perfetto; /* opaque */

/* `pairs` are what the metadata says. */
struct perfetto *perfetto_begin(
    struct byte_stream *byte_stream, int64_t base_ns, struct text pairs);
/* Writes what is left; there is no `proto` any more. */
void perfetto_end(struct perfetto **proto);

/* Bytes so far, before compression. */
uint64_t perfetto_bytes(const struct perfetto *proto);

/* Processes and threads are named behind their events; no two of them, of
 * either, have the same number. */
void perfetto_process(
    struct perfetto *proto, int64_t pid, struct text name, int64_t place);
void perfetto_thread(struct perfetto *proto, int64_t pid, int64_t tid,
    struct text name, int64_t place);

/* Colour is not looked at, and the duration only of complete ones. */
void perfetto_complete(struct perfetto *proto, const struct trace_slice *slice);
void perfetto_instant(struct perfetto *proto, const struct trace_slice *slice);
/* As chrome_json_counter. */
void perfetto_counter(struct perfetto *proto, int64_t pid, struct text name,
    struct text unit, int64_t time_ns, double value);

#endif

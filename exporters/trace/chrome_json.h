/*
 * chrome_json - write events in Chrome's trace format as they arrive.
 *
 * One event on each line, without blanks.  The caller's times are in
 * nanoseconds; in the file they are in microseconds, as exact decimal numbers:
 * 1234567 becomes 1234.567.  Text is UTF-8; invalid bytes become U+FFFD.  The
 * members of an event have the order of older writers:
 *
 *     metadata   name ph pid [tid] args
 *     complete   name cat ph ts dur pid tid args [cname]
 *     instant    name cat ph ts pid tid s args
 *     counter    name ph ts pid args
 *
 * The format: "Trace Event Format", Google, 2016.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_CHROME_JSON_H
#define EXPORTERS_TRACE_CHROME_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/stream/byte_stream.h"

struct chrome_json {
	struct byte_stream *byte_stream;
	bool is_object, has_events;
};

struct trace_slice {
	struct text name, category;
	int64_t begin_ns,
	    duration_ns; /* of a complete event; may be negative */
	int64_t pid, tid;
	struct text pairs; /* attributes, as in struct record */
	struct text
	    colour; /* a colour name of the viewer; empty: the viewer chooses */
};

/* An array of events. */
void chrome_json_begin(
    struct chrome_json *json, struct byte_stream *byte_stream);
/* An object with the pairs in "otherData", and the events. */
void chrome_json_begin_object(struct chrome_json *json,
    struct byte_stream *byte_stream, struct text pairs);
void chrome_json_end(struct chrome_json *json);

/* The name of a process ("process_name") or thread ("thread_name"), or its
 * position ("process_sort_index", "thread_sort_index"). */
void chrome_json_process_name(
    struct chrome_json *json, int64_t pid, struct text name);
void chrome_json_process_sort(
    struct chrome_json *json, int64_t pid, int64_t sort_index);
void chrome_json_thread_name(
    struct chrome_json *json, int64_t pid, int64_t tid, struct text name);
void chrome_json_thread_sort(
    struct chrome_json *json, int64_t pid, int64_t tid, int64_t sort_index);

void chrome_json_complete(
    struct chrome_json *json, const struct trace_slice *slice);
/* A point on its thread; the duration and colour of the slice are ignored. */
void chrome_json_instant(
    struct chrome_json *json, const struct trace_slice *slice);
/* `unit` is the name of the value, which viewers append to the name of the
 * counter.  Writes nothing if the value is not finite. */
void chrome_json_counter(struct chrome_json *json, int64_t pid,
    struct text name, struct text unit, int64_t time_ns, double value);

#endif

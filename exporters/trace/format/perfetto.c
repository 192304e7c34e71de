/*
 * perfetto - Perfetto's trace format, written as the events come.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/format/perfetto.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/trace/format/perfetto_packet.h"

enum { COUNTER_KEY_BYTES = 3 * NAME_BYTES_MAX };
/* Tracks of counters have numbers that no process or thread has. */
#define COUNTER_UUID (UINT64_C(1) << 40)

/* clock_snapshot.proto, builtin_clock.proto */
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
/* chrome_trace_event.proto */
enum { CHROME_METADATA = 2 };
enum { CHROME_NAME = 1, CHROME_STRING = 2 };
/* track_descriptor.proto, and what describes processes, threads, counters */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_RANK = 12,
};
enum { PROCESS_PID = 1, PROCESS_SORT = 3, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_SORT = 3, THREAD_NAME = 5 };
enum { COUNTER_UNIT_NAME = 6 };
/* track_event.proto, debug_annotation.proto */
enum {
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_DOUBLE = 44,
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum {
	ANNOTATION_NAME = 1,
	ANNOTATION_BOOL = 2,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_STRING = 6,
};

struct trace_proto {
	struct trace_packets packets;
	struct intern counters;
};

uint64_t
trace_proto_bytes(const struct trace_proto *p)
{
	return trace_packets_bytes(&p->packets);
}

/* ---- events ---- */

static void
put_annotation(struct trace_proto *p, const struct attribute *a)
{
	struct pb *b = &p->packets.block;
	uint64_t key = trace_packet_intern(&p->packets, PACKET_KEY, a->key);
	size_t annotation = pb_begin(b, EVENT_ANNOTATION);

	pb_uint(b, ANNOTATION_NAME, key);
	switch (a->value.type) {
	case VALUE_NIL: pb_text(b, ANNOTATION_STRING, text_of("null")); break;
	case VALUE_BOOL:
		pb_uint(b, ANNOTATION_BOOL, a->value.is.boolean);
		break;
	case VALUE_INT:
		pb_uint(b, ANNOTATION_INT, (uint64_t)a->value.is.i);
		break;
	case VALUE_UINT: pb_uint(b, ANNOTATION_UINT, a->value.is.u); break;
	case VALUE_FLOAT: pb_double(b, ANNOTATION_DOUBLE, a->value.is.f); break;
	case VALUE_TEXT: pb_text(b, ANNOTATION_STRING, a->value.is.text); break;
	}
	pb_end(b, annotation);
}

static void
put_event(struct trace_proto *p, const struct trace_slice *slice, uint64_t type)
{
	struct pb *b = &p->packets.block;
	struct text pairs = slice->pairs;
	struct attribute a;
	size_t packet, event;

	trace_packets_make_room(&p->packets);
	packet = trace_packet_begin(&p->packets);
	pb_uint(b, PACKET_TIMESTAMP, (uint64_t)slice->begin_ns);
	event = pb_begin(b, PACKET_TRACK_EVENT);
	pb_uint(b, EVENT_TYPE, type);
	pb_uint(b, EVENT_TRACK, (uint64_t)slice->tid);
	pb_uint(b, EVENT_NAME,
	    trace_packet_intern(&p->packets, PACKET_NAME, slice->name));
	if (slice->category.bytes > 0)
		pb_uint(b, EVENT_CATEGORY,
		    trace_packet_intern(
			&p->packets, PACKET_CATEGORY, slice->category));
	while (record_next_attribute(&pairs, &a))
		put_annotation(p, &a);
	pb_end(b, event);
	trace_packet_end(&p->packets, packet, PACKET_NEEDS_STATE);
}

void
trace_proto_complete(struct trace_proto *p, const struct trace_slice *slice)
{
	struct pb *b = &p->packets.block;
	size_t packet, event;

	assert(slice->begin_ns >= 0 && slice->duration_ns >= 0);
	put_event(p, slice, SLICE_BEGIN);
	packet = trace_packet_begin(&p->packets);
	pb_uint(b, PACKET_TIMESTAMP,
	    (uint64_t)slice->begin_ns + (uint64_t)slice->duration_ns);
	event = pb_begin(b, PACKET_TRACK_EVENT);
	pb_uint(b, EVENT_TYPE, SLICE_END);
	pb_uint(b, EVENT_TRACK, (uint64_t)slice->tid);
	pb_end(b, event);
	trace_packet_end(&p->packets, packet, 0);
}

void
trace_proto_instant(struct trace_proto *p, const struct trace_slice *slice)
{
	assert(slice->begin_ns >= 0);
	put_event(p, slice, INSTANT);
}

/* ---- counters ---- */

static uint64_t
counter_track(
    struct trace_proto *p, int64_t pid, struct text name, struct text unit)
{
	unsigned char key[COUNTER_KEY_BYTES];
	uint32_t before = p->counters.count, number;
	struct pb *b = &p->packets.block;
	size_t packet, track, counter;

	assert(name.bytes <= sizeof(key) - sizeof(pid));
	memcpy(key, &pid, sizeof(pid));
	memcpy(key + sizeof(pid), name.at, name.bytes);
	number = intern_add(&p->counters,
	    (struct text){ (const char *)key, sizeof(pid) + name.bytes });
	if (number < before)
		return COUNTER_UUID + number;
	packet = trace_packet_begin(&p->packets);
	track = pb_begin(b, PACKET_TRACK_DESCRIPTOR);
	pb_uint(b, TRACK_UUID, COUNTER_UUID + number);
	pb_uint(b, TRACK_PARENT, (uint64_t)pid);
	pb_text(b, TRACK_NAME, name);
	counter = pb_begin(b, TRACK_COUNTER);
	if (unit.bytes > 0)
		pb_text(b, COUNTER_UNIT_NAME, unit);
	pb_end(b, counter);
	pb_end(b, track);
	trace_packet_end(&p->packets, packet, 0);
	return COUNTER_UUID + number;
}

void
trace_proto_counter(struct trace_proto *p, int64_t pid, struct text name,
    struct text unit, int64_t time_ns, double value)
{
	struct pb *b = &p->packets.block;
	size_t packet, event;
	uint64_t uuid;

	assert(time_ns >= 0);
	if (!isfinite(value))
		return;
	uuid = counter_track(p, pid, name, unit);
	packet = trace_packet_begin(&p->packets);
	pb_uint(b, PACKET_TIMESTAMP, (uint64_t)time_ns);
	event = pb_begin(b, PACKET_TRACK_EVENT);
	pb_uint(b, EVENT_TYPE, COUNTER);
	pb_uint(b, EVENT_TRACK, uuid);
	pb_double(b, EVENT_DOUBLE, value);
	pb_end(b, event);
	trace_packet_end(&p->packets, packet, 0);
}

/* ---- names ---- */

void
trace_proto_process(
    struct trace_proto *p, int64_t pid, struct text name, int64_t place)
{
	struct pb *b = &p->packets.block;
	size_t packet = trace_packet_begin(&p->packets), track, process;

	track = pb_begin(b, PACKET_TRACK_DESCRIPTOR);
	pb_uint(b, TRACK_UUID, (uint64_t)pid);
	process = pb_begin(b, TRACK_PROCESS);
	pb_uint(b, PROCESS_PID, (uint64_t)pid);
	pb_uint(b, PROCESS_SORT, (uint64_t)place);
	pb_text(b, PROCESS_NAME, name);
	pb_end(b, process);
	pb_uint(b, TRACK_RANK, (uint64_t)place);
	pb_end(b, track);
	trace_packet_end(&p->packets, packet, 0);
}

void
trace_proto_thread(struct trace_proto *p, int64_t pid, int64_t tid,
    struct text name, int64_t place)
{
	struct pb *b = &p->packets.block;
	size_t packet = trace_packet_begin(&p->packets), track, thread;

	track = pb_begin(b, PACKET_TRACK_DESCRIPTOR);
	pb_uint(b, TRACK_UUID, (uint64_t)tid);
	pb_uint(b, TRACK_PARENT, (uint64_t)pid);
	thread = pb_begin(b, TRACK_THREAD);
	pb_uint(b, THREAD_PID, (uint64_t)pid);
	pb_uint(b, THREAD_TID, (uint64_t)tid);
	pb_uint(b, THREAD_SORT, (uint64_t)place);
	pb_text(b, THREAD_NAME, name);
	pb_end(b, thread);
	pb_uint(b, TRACK_RANK, (uint64_t)place);
	pb_end(b, track);
	trace_packet_end(&p->packets, packet, 0);
}

/* ---- all of it ---- */

static void
put_clock(struct pb *b, uint64_t id, int64_t time_ns)
{
	size_t clock = pb_begin(b, SNAPSHOT_CLOCK);

	pb_uint(b, CLOCK_ID, id);
	pb_uint(b, CLOCK_TIMESTAMP, (uint64_t)time_ns);
	pb_end(b, clock);
}

static void
put_clocks(struct trace_proto *p, int64_t base_ns)
{
	struct pb *b = &p->packets.block;
	size_t packet = trace_packet_begin(&p->packets), snapshot;

	pb_uint(b, PACKET_TIMESTAMP, 0);
	snapshot = pb_begin(b, PACKET_CLOCK_SNAPSHOT);
	put_clock(b, CLOCK_REALTIME_ID, base_ns);
	put_clock(b, CLOCK_BOOTTIME_ID, 0);
	pb_uint(b, SNAPSHOT_PRIMARY, CLOCK_BOOTTIME_ID);
	pb_end(b, snapshot);
	trace_packet_end(&p->packets, packet, 0);
}

static void
put_metadata(struct trace_proto *p, struct text pairs)
{
	struct pb *b = &p->packets.block;
	size_t packet = trace_packet_begin(&p->packets);
	size_t events = pb_begin(b, PACKET_CHROME_EVENTS);
	struct attribute a;

	while (record_next_attribute(&pairs, &a)) {
		size_t one = pb_begin(b, CHROME_METADATA);

		assert(a.value.type == VALUE_TEXT);
		pb_text(b, CHROME_NAME, a.key);
		pb_text(b, CHROME_STRING, a.value.is.text);
		pb_end(b, one);
	}
	pb_end(b, events);
	trace_packet_end(&p->packets, packet, 0);
}

struct trace_proto *
trace_proto_begin(struct stream *stream, int64_t base_ns, struct text pairs)
{
	struct trace_proto *p = calloc(1, sizeof(*p));

	if (p == NULL)
		abort(); /* out of memory */
	trace_packets_init(&p->packets, stream);
	intern_init(&p->counters);
	put_clocks(p, base_ns);
	put_metadata(p, pairs);
	return p;
}

void
trace_proto_end(struct trace_proto **proto)
{
	struct trace_proto *p = *proto;

	trace_packets_clear(&p->packets);
	intern_clear(&p->counters);
	free(p);
	*proto = NULL;
}

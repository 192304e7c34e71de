/*
 * perfetto - write Perfetto's trace format as the events arrive.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/format/perfetto.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/trace/format/perfetto_packet.h"
#include "proto/base/memory.h"

enum { COUNTER_KEY_BYTES = 3 * NAME_BYTES_MAX };
/* The uuids of counter tracks never equal those of processes or threads. */
#define COUNTER_UUID (UINT64_C(1) << 40)

/* clock_snapshot.proto, builtin_clock.proto */
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY = 2 };
enum { CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
/* chrome_trace_event.proto */
enum { CHROME_METADATA = 2 };
enum { CHROME_NAME = 1, CHROME_STRING = 2 };
/* track_descriptor.proto and the descriptors of processes, threads, counters */
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

struct perfetto {
	struct perfetto_packets packets;
	struct string_table counters;
};

uint64_t
perfetto_bytes(const struct perfetto *p)
{
	return perfetto_packets_bytes(&p->packets);
}

/* ---- events ---- */

static void
put_annotation(struct perfetto *p, const struct record_attribute *a)
{
	struct buffer *b = &p->packets.block;
	uint64_t key =
	    perfetto_packet_intern(&p->packets, PERFETTO_PACKET_KEY, a->key);
	size_t annotation = protobuf_begin(b, EVENT_ANNOTATION);

	protobuf_uint(b, ANNOTATION_NAME, key);
	switch (a->value.type) {
	case VALUE_NIL:
		protobuf_text(b, ANNOTATION_STRING, text_of("null"));
		break;
	case VALUE_BOOL:
		protobuf_uint(b, ANNOTATION_BOOL, a->value.is.boolean);
		break;
	case VALUE_INT:
		protobuf_uint(b, ANNOTATION_INT, (uint64_t)a->value.is.i);
		break;
	case VALUE_UINT:
		protobuf_uint(b, ANNOTATION_UINT, a->value.is.u);
		break;
	case VALUE_FLOAT:
		protobuf_double(b, ANNOTATION_DOUBLE, a->value.is.f);
		break;
	case VALUE_TEXT:
		protobuf_text(b, ANNOTATION_STRING, a->value.is.text);
		break;
	}
	protobuf_end(b, annotation);
}

static void
put_event(struct perfetto *p, const struct trace_slice *slice, uint64_t type)
{
	struct buffer *b = &p->packets.block;
	struct text pairs = slice->pairs;
	struct record_attribute a;
	size_t packet, event;

	perfetto_packets_make_room(&p->packets);
	packet = perfetto_packet_begin(&p->packets);
	protobuf_uint(b, PERFETTO_PACKET_TIMESTAMP, (uint64_t)slice->begin_ns);
	event = protobuf_begin(b, PERFETTO_PACKET_TRACK_EVENT);
	protobuf_uint(b, EVENT_TYPE, type);
	protobuf_uint(b, EVENT_TRACK, (uint64_t)slice->tid);
	protobuf_uint(b, EVENT_NAME,
	    perfetto_packet_intern(
		&p->packets, PERFETTO_PACKET_NAME, slice->name));
	if (slice->category.bytes > 0)
		protobuf_uint(b, EVENT_CATEGORY,
		    perfetto_packet_intern(&p->packets,
			PERFETTO_PACKET_CATEGORY, slice->category));
	while (record_next_attribute(&pairs, &a))
		put_annotation(p, &a);
	protobuf_end(b, event);
	perfetto_packet_end(&p->packets, packet, PERFETTO_PACKET_NEEDS_STATE);
}

void
perfetto_complete(struct perfetto *p, const struct trace_slice *slice)
{
	struct buffer *b = &p->packets.block;
	size_t packet, event;

	assert(slice->begin_ns >= 0 && slice->duration_ns >= 0);
	put_event(p, slice, SLICE_BEGIN);
	packet = perfetto_packet_begin(&p->packets);
	protobuf_uint(b, PERFETTO_PACKET_TIMESTAMP,
	    (uint64_t)slice->begin_ns + (uint64_t)slice->duration_ns);
	event = protobuf_begin(b, PERFETTO_PACKET_TRACK_EVENT);
	protobuf_uint(b, EVENT_TYPE, SLICE_END);
	protobuf_uint(b, EVENT_TRACK, (uint64_t)slice->tid);
	protobuf_end(b, event);
	perfetto_packet_end(&p->packets, packet, 0);
}

void
perfetto_instant(struct perfetto *p, const struct trace_slice *slice)
{
	assert(slice->begin_ns >= 0);
	put_event(p, slice, INSTANT);
}

/* ---- counters ---- */

static uint64_t
counter_track(
    struct perfetto *p, int64_t pid, struct text name, struct text unit)
{
	unsigned char key[COUNTER_KEY_BYTES];
	uint32_t before = p->counters.count, number;
	struct buffer *b = &p->packets.block;
	size_t packet, track, counter;

	assert(name.bytes <= sizeof(key) - sizeof(pid));
	memcpy(key, &pid, sizeof(pid));
	memcpy(key + sizeof(pid), name.at, name.bytes);
	number = string_table_add(&p->counters,
	    (struct text){ (const char *)key, sizeof(pid) + name.bytes });
	if (number < before)
		return COUNTER_UUID + number;
	packet = perfetto_packet_begin(&p->packets);
	track = protobuf_begin(b, PERFETTO_PACKET_TRACK_DESCRIPTOR);
	protobuf_uint(b, TRACK_UUID, COUNTER_UUID + number);
	protobuf_uint(b, TRACK_PARENT, (uint64_t)pid);
	protobuf_text(b, TRACK_NAME, name);
	counter = protobuf_begin(b, TRACK_COUNTER);
	if (unit.bytes > 0)
		protobuf_text(b, COUNTER_UNIT_NAME, unit);
	protobuf_end(b, counter);
	protobuf_end(b, track);
	perfetto_packet_end(&p->packets, packet, 0);
	return COUNTER_UUID + number;
}

void
perfetto_counter(struct perfetto *p, int64_t pid, struct text name,
    struct text unit, int64_t time_ns, double value)
{
	struct buffer *b = &p->packets.block;
	size_t packet, event;
	uint64_t uuid;

	assert(time_ns >= 0);
	if (!isfinite(value))
		return;
	uuid = counter_track(p, pid, name, unit);
	packet = perfetto_packet_begin(&p->packets);
	protobuf_uint(b, PERFETTO_PACKET_TIMESTAMP, (uint64_t)time_ns);
	event = protobuf_begin(b, PERFETTO_PACKET_TRACK_EVENT);
	protobuf_uint(b, EVENT_TYPE, COUNTER);
	protobuf_uint(b, EVENT_TRACK, uuid);
	protobuf_double(b, EVENT_DOUBLE, value);
	protobuf_end(b, event);
	perfetto_packet_end(&p->packets, packet, 0);
}

/* ---- names ---- */

void
perfetto_process(
    struct perfetto *p, int64_t pid, struct text name, int64_t position)
{
	struct buffer *b = &p->packets.block;
	size_t packet = perfetto_packet_begin(&p->packets), track, process;

	track = protobuf_begin(b, PERFETTO_PACKET_TRACK_DESCRIPTOR);
	protobuf_uint(b, TRACK_UUID, (uint64_t)pid);
	process = protobuf_begin(b, TRACK_PROCESS);
	protobuf_uint(b, PROCESS_PID, (uint64_t)pid);
	protobuf_uint(b, PROCESS_SORT, (uint64_t)position);
	protobuf_text(b, PROCESS_NAME, name);
	protobuf_end(b, process);
	protobuf_uint(b, TRACK_RANK, (uint64_t)position);
	protobuf_end(b, track);
	perfetto_packet_end(&p->packets, packet, 0);
}

void
perfetto_thread(struct perfetto *p, int64_t pid, int64_t tid, struct text name,
    int64_t position)
{
	struct buffer *b = &p->packets.block;
	size_t packet = perfetto_packet_begin(&p->packets), track, thread;

	track = protobuf_begin(b, PERFETTO_PACKET_TRACK_DESCRIPTOR);
	protobuf_uint(b, TRACK_UUID, (uint64_t)tid);
	protobuf_uint(b, TRACK_PARENT, (uint64_t)pid);
	thread = protobuf_begin(b, TRACK_THREAD);
	protobuf_uint(b, THREAD_PID, (uint64_t)pid);
	protobuf_uint(b, THREAD_TID, (uint64_t)tid);
	protobuf_uint(b, THREAD_SORT, (uint64_t)position);
	protobuf_text(b, THREAD_NAME, name);
	protobuf_end(b, thread);
	protobuf_uint(b, TRACK_RANK, (uint64_t)position);
	protobuf_end(b, track);
	perfetto_packet_end(&p->packets, packet, 0);
}

/* ---- the file ---- */

static void
put_clock(struct buffer *b, uint64_t id, int64_t time_ns)
{
	size_t clock = protobuf_begin(b, SNAPSHOT_CLOCK);

	protobuf_uint(b, CLOCK_ID, id);
	protobuf_uint(b, CLOCK_TIMESTAMP, (uint64_t)time_ns);
	protobuf_end(b, clock);
}

static void
put_clocks(struct perfetto *p, int64_t base_ns)
{
	struct buffer *b = &p->packets.block;
	size_t packet = perfetto_packet_begin(&p->packets), snapshot;

	protobuf_uint(b, PERFETTO_PACKET_TIMESTAMP, 0);
	snapshot = protobuf_begin(b, PERFETTO_PACKET_CLOCK_SNAPSHOT);
	put_clock(b, CLOCK_REALTIME_ID, base_ns);
	put_clock(b, CLOCK_BOOTTIME_ID, 0);
	protobuf_uint(b, SNAPSHOT_PRIMARY, CLOCK_BOOTTIME_ID);
	protobuf_end(b, snapshot);
	perfetto_packet_end(&p->packets, packet, 0);
}

static void
put_metadata(struct perfetto *p, struct text pairs)
{
	struct buffer *b = &p->packets.block;
	size_t packet = perfetto_packet_begin(&p->packets);
	size_t events = protobuf_begin(b, PERFETTO_PACKET_CHROME_EVENTS);
	struct record_attribute a;

	while (record_next_attribute(&pairs, &a)) {
		size_t one = protobuf_begin(b, CHROME_METADATA);

		assert(a.value.type == VALUE_TEXT);
		protobuf_text(b, CHROME_NAME, a.key);
		protobuf_text(b, CHROME_STRING, a.value.is.text);
		protobuf_end(b, one);
	}
	protobuf_end(b, events);
	perfetto_packet_end(&p->packets, packet, 0);
}

struct perfetto *
perfetto_begin(
    struct byte_stream *byte_stream, int64_t base_ns, struct text pairs)
{
	struct perfetto *p = memory_zero(1, sizeof(*p));

	perfetto_packets_init(&p->packets, byte_stream);
	string_table_init(&p->counters);
	put_clocks(p, base_ns);
	put_metadata(p, pairs);
	return p;
}

void
perfetto_end(struct perfetto **proto)
{
	struct perfetto *p = *proto;

	perfetto_packets_clear(&p->packets);
	string_table_clear(&p->counters);
	free(p);
	*proto = NULL;
}

/*
 * otlp_traces - spans and their events.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "agents/receiver/otlp/map.h"
#include "agents/receiver/otlp/map_private.h"

/* The fields of a span, but those that are repeated. */
struct span {
	struct text trace_id, id, parent_id, name, status;
	uint64_t kind, begin_ns, end_ns;
	bool has_links, has_events;
};

static struct span
read_span(struct text message)
{
	struct varint_reader reader = varint_reader_of(message);
	struct protobuf_field field;
	struct span span = { 0 };

	while (protobuf_next(&reader, &field))
		switch (field.number) {
		case OTLP_SPAN_TRACE_ID: span.trace_id = field.bytes; break;
		case OTLP_SPAN_ID: span.id = field.bytes; break;
		case OTLP_SPAN_PARENT_ID: span.parent_id = field.bytes; break;
		case OTLP_SPAN_NAME: span.name = field.bytes; break;
		case OTLP_SPAN_KIND: span.kind = field.value; break;
		case OTLP_SPAN_BEGIN: span.begin_ns = field.value; break;
		case OTLP_SPAN_END: span.end_ns = field.value; break;
		case OTLP_SPAN_STATUS: span.status = field.bytes; break;
		case OTLP_SPAN_LINKS: span.has_links = true; break;
		case OTLP_SPAN_EVENTS: span.has_events = true; break;
		default: break;
		}
	return span;
}

static const char *
kind_name(uint64_t kind)
{
	static const char *const name[] = { "", "internal", "server", "client",
		"producer", "consumer" };

	return kind < sizeof(name) / sizeof(*name) ? name[kind] : "";
}

static void
put_ids(struct otlp_map *map, const struct span *span)
{
	otlp_map_put_id(map, "trace.id", span->trace_id, OTLP_TRACE_ID_BYTES);
	otlp_map_put_id(map, "span.id", span->id, OTLP_SPAN_ID_BYTES);
}

static void
put_status(struct otlp_map *map, struct text status)
{
	struct varint_reader reader = varint_reader_of(status);
	struct text message = { NULL, 0 };
	struct protobuf_field field;
	uint64_t code = 0;

	while (protobuf_next(&reader, &field))
		if (field.number == OTLP_STATUS_CODE)
			code = field.value;
		else if (field.number == OTLP_STATUS_MESSAGE)
			message = field.bytes;
	if (code == OTLP_STATUS_ERROR)
		otlp_map_put_text(map, "error",
		    message.bytes > 0 ? message : text_of("error"));
}

/* TRACE/SPAN, separated by blanks. */
static void
put_links(struct otlp_map *map, struct text span)
{
	enum {
		LINK_BYTES = 2 * (OTLP_TRACE_ID_BYTES + OTLP_SPAN_ID_BYTES) + 2
	};
	char text[OTLP_LINKS_MAX * LINK_BYTES], *end = text;
	struct varint_reader reader = varint_reader_of(span);
	struct protobuf_field field;

	while (protobuf_next(&reader, &field)) {
		struct text trace, id;

		if (field.number != OTLP_SPAN_LINKS)
			continue;
		trace = otlp_map_find(field.bytes, OTLP_LINK_TRACE_ID);
		id = otlp_map_find(field.bytes, OTLP_LINK_SPAN_ID);
		if (trace.bytes != OTLP_TRACE_ID_BYTES ||
		    id.bytes != OTLP_SPAN_ID_BYTES ||
		    (size_t)(text + sizeof(text) - end) < LINK_BYTES)
			continue;
		if (end > text)
			*end++ = ' ';
		end = text_hex(end, trace.at, trace.bytes);
		*end++ = '/';
		end = text_hex(end, id.at, id.bytes);
	}
	if (end > text)
		otlp_map_put_text(map, "links",
		    (struct text){ text, (uint32_t)(end - text) });
}

static int
on_event(struct otlp_map *map, struct text event, const struct span *span)
{
	struct record *record = &map->compose.record;
	struct varint_reader reader = varint_reader_of(event);
	struct text name = { NULL, 0 };
	struct protobuf_field field;
	uint64_t time_ns = 0;

	while (protobuf_next(&reader, &field))
		if (field.number == OTLP_EVENT_TIME)
			time_ns = field.value;
		else if (field.number == OTLP_EVENT_NAME)
			name = field.bytes;
	otlp_map_begin_record(map, RECORD_EVENT);
	if (!otlp_map_take_time(&record->time_ns, time_ns)) {
		otlp_map_refuse(map, "an event of a span has no time");
		return 0;
	}
	put_ids(map, span);
	otlp_map_put_attributes(map, event, OTLP_EVENT_ATTRIBUTES);
	otlp_map_put_kept(map);
	record->source = text_of(map->scope);
	record->name = client_name(map->name, name);
	return otlp_map_end_record(map);
}

static int
on_events(struct otlp_map *map, struct text message, const struct span *span)
{
	struct varint_reader reader = varint_reader_of(message);
	struct protobuf_field field;
	int rc = 0;

	while (rc == 0 && protobuf_next(&reader, &field))
		if (field.number == OTLP_SPAN_EVENTS)
			rc = on_event(map, field.bytes, span);
	return rc;
}

static int
on_span(struct otlp_map *map, struct text message)
{
	struct record *record = &map->compose.record;
	struct span span = read_span(message);
	char thread[CLIENT_PART_BYTES_MAX + 1];
	int rc;

	otlp_map_begin_record(map, RECORD_SPAN);
	if (!otlp_map_take_time(&record->time_ns, span.begin_ns) ||
	    !otlp_map_take_time(&record->end_ns, span.end_ns)) {
		otlp_map_refuse(
		    map, "a span has no begin or no end before 2200-01-01");
		return 0;
	}
	/* The clock was stepped in between. */
	if (record->end_ns < record->time_ns)
		record->end_ns = record->time_ns;
	record->has_end = true;
	put_ids(map, &span);
	otlp_map_put_id(map, "parent.id", span.parent_id, OTLP_SPAN_ID_BYTES);
	put_status(map, span.status);
	if (span.has_links)
		put_links(map, message);
	otlp_map_put_attributes(map, message, OTLP_SPAN_ATTRIBUTES);
	otlp_map_put_kept(map);
	client_take_part(
	    thread, map->thread.bytes > 0 ? map->thread : text_of(map->scope));
	snprintf(map->track, sizeof(map->track), "%s/%s", map->service, thread);
	record->source = text_of(map->track);
	record->name = client_name(map->name, span.name);
	record->key = text_of(kind_name(span.kind));
	rc = otlp_map_end_record(map);
	return rc == 0 && span.has_events ? on_events(map, message, &span) : rc;
}

int
otlp_map_traces(struct otlp_map *map, struct text request)
{
	static const struct otlp_map_items items = { on_span, NULL };

	return otlp_map_each(map, request, &items);
}

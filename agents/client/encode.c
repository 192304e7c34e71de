/*
 * client_encode - from rings to records of the wire.
 *
 * Invalid names are repaired here, in the library's own thread: the agent
 * refuses a batch with one invalid name in it.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "agents/client/client_private.h"
#include "proto/hash/hash.h"
#include "proto/base/text.h"
#include "proto/wire/wire.h"

enum {
	/* The program's attributes, each key and text with the maximum length,
	 * and our own. */
	PAIRS_BYTES = POOLSCOPE_EVENT_BYTES + 1024,
	OWN_ATTRIBUTES = 5,
};

_Static_assert(POOLSCOPE_ATTRIBUTES + OWN_ATTRIBUTES <= RECORD_ATTRIBUTES_MAX,
    "a record has room for our own attributes");

bool
client_put_attribute(
    struct wire_writer *w, const struct poolscope_attribute *attribute)
{
	const char *text;
	struct text key;
	struct value value;

	if (attribute->key == NULL)
		return false;
	key = (struct text){ attribute->key,
		(uint32_t)strnlen(attribute->key, NAME_BYTES_MAX) };
	switch (attribute->type) {
	case POOLSCOPE_INT:
		value.type = VALUE_INT;
		value.is.i = attribute->is.i;
		break;
	case POOLSCOPE_FLOAT:
		value.type = VALUE_FLOAT;
		value.is.f = attribute->is.f;
		break;
	case POOLSCOPE_BOOL:
		value.type = VALUE_BOOL;
		value.is.boolean = attribute->is.boolean != 0;
		break;
	case POOLSCOPE_TEXT:
		text = attribute->is.text != NULL ? attribute->is.text : "";
		value.type = VALUE_TEXT;
		value.is.text =
		    (struct text){ text, (uint32_t)strnlen(text, w->room + 1) };
		break;
	default: return false;
	}
	return wire_put_attribute(w, key, &value);
}

/* ---- attributes ---- */

static void
put_repaired(struct wire_writer *w, const struct record_attribute *attribute)
{
	char key[NAME_BYTES_MAX], text[POOLSCOPE_EVENT_BYTES];
	struct value value = attribute->value;

	if (value.type == VALUE_TEXT && !text_is_utf8(value.is.text))
		value.is.text = client_utf8(text, value.is.text);
	wire_put_attribute(w, client_name(key, attribute->key), &value);
}

static bool
is_own(struct text key)
{
	static const char *const own[OWN_ATTRIBUTES] = { "process.pid",
		"trace.id", "span.id", "parent.id", "attributes.dropped" };

	for (int i = 0; i < OWN_ATTRIBUTES; i++)
		if (text_equal(key, text_of(own[i])))
			return true;
	return false;
}

/* Does a later attribute have the same key?  The last one counts. */
static bool
is_overridden(struct text key, struct text rest)
{
	struct record_attribute attribute;

	while (record_next_attribute(&rest, &attribute))
		if (text_equal(attribute.key, key))
			return true;
	return false;
}

/* The program's attributes; returns their number. */
static uint32_t
put_given(struct wire_writer *w, struct text rest)
{
	struct record_attribute attribute;
	uint32_t count = 0;

	while (record_next_attribute(&rest, &attribute)) {
		if (is_own(attribute.key) || is_overridden(attribute.key, rest))
			continue;
		put_repaired(w, &attribute);
		count++;
	}
	return count;
}

static void
put_int(struct wire_writer *w, const char *key, int64_t i)
{
	struct value value = { .type = VALUE_INT, .is.i = i };

	wire_put_attribute(w, text_of(key), &value);
}

static void
put_span_id(struct wire_writer *w, const char *key, uint64_t id)
{
	char hex[16];

	trace_context_hex_span(hex, id);
	wire_put_text_attribute(
	    w, text_of(key), (struct text){ hex, sizeof(hex) });
}

/* Our own attributes; returns their number. */
static uint32_t
put_own(struct wire_writer *w, const struct client_record *record)
{
	const unsigned char *trace = record->parts & CLIENT_HAS_TRACE
					 ? (const unsigned char *)(record + 1)
					 : client.root.id;
	char hex[2 * TRACE_CONTEXT_BYTES];
	uint32_t count = 2;

	put_int(w, "process.pid", client.pid);
	text_hex(hex, trace, TRACE_CONTEXT_BYTES);
	wire_put_text_attribute(
	    w, text_of("trace.id"), (struct text){ hex, sizeof(hex) });
	if (record->id != 0) {
		put_span_id(w, "span.id", record->id);
		count++;
	}
	if (record->parent != 0) {
		put_span_id(w, "parent.id", record->parent);
		count++;
	}
	if (record->cut > 0) {
		put_int(w, "attributes.dropped", record->cut);
		count++;
	}
	return count;
}

/* ---- records ---- */

/* "PROGRAM/THREAD", or what else the track is of. */
static struct text
track_of(char to[static NAME_BYTES_MAX], const struct client_track *track)
{
	int n = track->name[0] != '\0' ? snprintf(to, NAME_BYTES_MAX, "%s/%s",
					     client.program, track->name)
				       : snprintf(to, NAME_BYTES_MAX, "%s/%u",
					     client.program, track->number);

	return (struct text){ to, (uint32_t)n };
}

_Static_assert(2 * CLIENT_PART_BYTES_MAX + 2 <= NAME_BYTES_MAX,
    "a track has room for program and thread");

static const char *
behind_trace(const struct client_record *record)
{
	return (const char *)(record + 1) +
	       (record->parts & CLIENT_HAS_TRACE ? TRACE_CONTEXT_BYTES : 0);
}

struct text
client_track_name(const struct client_record *record)
{
	const char *at = behind_trace(record);

	if (!(record->parts & CLIENT_HAS_TRACK))
		return (struct text){ "", 0 };
	return (struct text){ at + 1, (unsigned char)*at };
}

static int64_t
time_of(const struct fast_clock *ticks, const struct client_record *record,
    uint64_t moment)
{
	return record->parts & CLIENT_HAS_WALL
		   ? (int64_t)moment
		   : fast_clock_wall_ns(ticks, moment);
}

bool
client_encode(struct wire_writer *w, const struct fast_clock *ticks,
    const struct client_track *track, const struct client_record *from)
{
	const char *at =
	    behind_trace(from) + (from->parts & CLIENT_HAS_TRACK
					 ? 1 + client_track_name(from).bytes
					 : 0);
	char whole[NAME_BYTES_MAX], source[NAME_BYTES_MAX],
	    name[NAME_BYTES_MAX];
	unsigned char pairs[PAIRS_BYTES];
	struct text given = { at + from->source_bytes + from->name_bytes,
		from->pair_bytes };
	struct text first = { at, from->source_bytes };
	struct record record = {
		.time_ns = time_of(ticks, from, from->begin),
		.has_time = true,
		.name = client_name(name,
		    (struct text){ at + from->source_bytes, from->name_bytes }),
	};
	struct wire_writer attributes;

	if (from->kind == CLIENT_SPAN) {
		record.kind = RECORD_SPAN;
		record.end_ns = time_of(ticks, from, from->end);
		record.has_end = true;
		record.source = track_of(whole, track);
		if (first.bytes > 0)
			record.key = client_name(source, first);
	} else {
		record.kind = RECORD_EVENT;
		record.source = client_name(source, first);
	}
	wire_writer_init(&attributes, pairs, sizeof(pairs));
	record.attributes = put_given(&attributes, given);
	record.attributes += put_own(&attributes, from);
	record.pairs =
	    (struct text){ (const char *)pairs, (uint32_t)attributes.bytes };
	return wire_put_record(w, &record);
}

/* "NODE/TRACK", or its beginning and a hash of all of it. */
static struct text
track_id(char to[static NAME_BYTES_MAX], struct text node, struct text track)
{
	enum {
		HASH_DIGITS = 16,
		PREFIX_BYTES = NAME_BYTES_MAX - HASH_DIGITS - 1
	};
	static const struct hash_key key = { 0 };
	char whole[2 * NAME_BYTES_MAX + 1];
	uint32_t bytes = node.bytes + 1 + track.bytes;
	struct text cut;

	memcpy(whole, node.at, node.bytes);
	whole[node.bytes] = '/';
	memcpy(whole + node.bytes + 1, track.at, track.bytes);
	if (bytes <= NAME_BYTES_MAX) {
		memcpy(to, whole, bytes);
		return (struct text){ to, bytes };
	}
	cut = client_name(to, (struct text){ whole, PREFIX_BYTES });
	memmove(to, cut.at, cut.bytes);
	to[cut.bytes] = '~';
	trace_context_hex_span(
	    to + cut.bytes + 1, hash_bytes(key, whole, bytes));
	return (struct text){ to, cut.bytes + 1 + HASH_DIGITS };
}

bool
client_encode_track(
    struct wire_writer *w, const struct client_track *track, struct text node)
{
	char name[NAME_BYTES_MAX], id[NAME_BYTES_MAX];
	unsigned char pairs[6 * NAME_BYTES_MAX];
	struct text whole = track_of(name, track);
	size_t program = strlen(client.program) + 1;
	struct wire_writer properties;
	struct record record = {
		.kind = RECORD_ENTITY,
		.source = text_of("track"),
		.name = track_id(id, node, whole),
		.attributes = 5,
	};

	wire_writer_init(&properties, pairs, sizeof(pairs));
	wire_put_text_attribute(&properties, text_of("node"), node);
	wire_put_text_attribute(&properties, text_of("track"), whole);
	wire_put_text_attribute(&properties, text_of("name"),
	    (struct text){
		whole.at + program, whole.bytes - (uint32_t)program });
	put_int(&properties, "sort", track->number);
	wire_put_text_attribute(
	    &properties, text_of("process"), text_of(client.program));
	record.pairs =
	    (struct text){ (const char *)pairs, (uint32_t)properties.bytes };
	return wire_put_record(w, &record);
}

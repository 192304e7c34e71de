/*
 * otlp_map - what the records of all requests have in common: resource, scope,
 * attributes.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/map.h"

#include <stdlib.h>
#include <string.h>

#include "agents/receiver/otlp/map_private.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"

enum { SHOWN_BYTES = 64 };

/* ---- messages ---- */

struct text
otlp_map_find(struct text message, uint32_t number)
{
	struct varint_reader reader = varint_reader_of(message);
	struct text found = { NULL, 0 };
	struct protobuf_field field;

	while (protobuf_next(&reader, &field))
		if (field.number == number && field.type == PROTOBUF_BYTES)
			found = field.bytes;
	return found;
}

/* ---- values ---- */

static void put_json(struct json *json, struct text any);

/* An attribute has no room for more: control characters in JSON are six times
 * as long, and those of a request would take 200 MB. */
static bool
is_full(const struct json *json)
{
	return ftell(json->file) > RECORD_TEXT_BYTES_MAX;
}

static struct text
clip(struct text text)
{
	if (text.bytes > RECORD_TEXT_BYTES_MAX)
		text.bytes = RECORD_TEXT_BYTES_MAX;
	return text;
}

static void
put_json_array(struct json *json, struct text array)
{
	struct varint_reader reader = varint_reader_of(array);
	struct protobuf_field field;

	json_begin_array(json);
	while (!is_full(json) && protobuf_next(&reader, &field))
		if (field.number == OTLP_LIST_VALUES)
			put_json(json, field.bytes);
	json_end_array(json);
}

static void
put_json_list(struct json *json, struct text list)
{
	struct varint_reader reader = varint_reader_of(list);
	struct protobuf_field field;

	json_begin_object(json);
	while (!is_full(json) && protobuf_next(&reader, &field))
		if (field.number == OTLP_LIST_VALUES) {
			json_key(
			    json, clip(otlp_map_find(field.bytes, OTLP_KEY)));
			put_json(json, otlp_map_find(field.bytes, OTLP_VALUE));
		}
	json_end_object(json);
}

/* What the message AnyValue holds: its last field that has a number of ours. */
static bool
find_value(struct text any, struct protobuf_field *found)
{
	struct varint_reader reader = varint_reader_of(any);
	struct protobuf_field field;

	found->number = 0;
	while (protobuf_next(&reader, &field))
		if (field.number <= OTLP_VALUE_BYTES)
			*found = field;
	return found->number != 0;
}

static void
put_json(struct json *json, struct text any)
{
	struct protobuf_field field;

	if (!find_value(any, &field)) {
		json_null(json);
		return;
	}
	switch (field.number) {
	case OTLP_VALUE_STRING: json_text(json, clip(field.bytes)); break;
	case OTLP_VALUE_BOOL: json_bool(json, field.value != 0); break;
	case OTLP_VALUE_INT: json_int(json, (int64_t)field.value); break;
	case OTLP_VALUE_DOUBLE:
		json_float(json, protobuf_as_double(&field));
		break;
	case OTLP_VALUE_ARRAY: put_json_array(json, field.bytes); break;
	case OTLP_VALUE_LIST: put_json_list(json, field.bytes); break;
	default: json_hex(json, clip(field.bytes)); break;
	}
}

static struct text
as_json(struct arena *texts, struct text any)
{
	struct json_memory json;
	struct text made;

	json_memory_begin(&json, JSON_LINE | JSON_COMPACT | JSON_STRICT);
	put_json(&json.to, any);
	made = arena_text(texts, json_memory_end(&json));
	free(json.text);
	return made;
}

struct text
otlp_map_hex(struct arena *texts, struct text bytes)
{
	char *to = arena_room(texts, 2 * (size_t)bytes.bytes);

	text_hex(to, bytes.at, bytes.bytes);
	arena_keep(texts, 2 * (size_t)bytes.bytes);
	return (struct text){ to, 2 * bytes.bytes };
}

struct value
otlp_map_value(struct arena *texts, struct text any)
{
	struct value value = { .type = VALUE_NIL };
	struct protobuf_field field;

	if (!find_value(any, &field))
		return value;
	switch (field.number) {
	case OTLP_VALUE_BOOL:
		value.type = VALUE_BOOL;
		value.is.boolean = field.value != 0;
		return value;
	case OTLP_VALUE_INT:
		value.type = VALUE_INT;
		value.is.i = (int64_t)field.value;
		return value;
	case OTLP_VALUE_DOUBLE:
		value.type = VALUE_FLOAT;
		value.is.f = protobuf_as_double(&field);
		return value;
	case OTLP_VALUE_STRING: value.is.text = field.bytes; break;
	case OTLP_VALUE_BYTES:
		/* Of a longer one, what an attribute has room for. */
		if (field.bytes.bytes > RECORD_TEXT_BYTES_MAX / 2)
			field.bytes.bytes = RECORD_TEXT_BYTES_MAX / 2;
		value.is.text = otlp_map_hex(texts, field.bytes);
		break;
	default: value.is.text = as_json(texts, any); break;
	}
	value.type = VALUE_TEXT;
	return value;
}

/* ---- records ---- */

void
otlp_map_begin_record(struct otlp_map *map, enum record_kind kind)
{
	struct compose *compose = &map->compose;

	arena_reset(&map->texts);
	compose->partition[0] = compose->node[0] = '\0';
	compose->record = (struct record){ .kind = kind };
	wire_writer_init(
	    &compose->writer, compose->pairs, sizeof(compose->pairs));
	map->thread = (struct text){ NULL, 0 };
}

static bool
has_key(const struct otlp_map *map, struct text key)
{
	for (uint32_t i = 0; i < map->compose.record.attributes; i++)
		if (text_equal(map->key[i], key))
			return true;
	return false;
}

static struct text
clean_text(struct arena *texts, struct text text)
{
	text = clip(text);
	if (text_is_utf8(text))
		return text;
	text = client_utf8(arena_room(texts, text.bytes), text);
	arena_keep(texts, text.bytes);
	return text;
}

void
otlp_map_put(struct otlp_map *map, struct text key, struct value value)
{
	struct record *record = &map->compose.record;
	char room[NAME_BYTES_MAX];

	key = client_name(room, key);
	if (record->attributes == OTLP_ATTRIBUTES_MAX || has_key(map, key))
		return;
	/* It outlives `room`. */
	if (key.at == room)
		key = arena_text(&map->texts, key);
	if (value.type == VALUE_TEXT)
		value.is.text = clean_text(&map->texts, value.is.text);
	if (wire_put_attribute(&map->compose.writer, key, &value))
		map->key[record->attributes++] = key;
}

void
otlp_map_put_text(struct otlp_map *map, const char *key, struct text text)
{
	otlp_map_put(map, text_of(key),
	    (struct value){ .type = VALUE_TEXT, .is.text = text });
}

/* Ids of the wrong length, and of zeros, are none. */
void
otlp_map_put_id(
    struct otlp_map *map, const char *key, struct text id, uint32_t bytes)
{
	static const char zeros[16];

	if (id.bytes == bytes && memcmp(id.at, zeros, bytes) != 0)
		otlp_map_put_text(map, key, otlp_map_hex(&map->texts, id));
}

void
otlp_map_put_attributes(
    struct otlp_map *map, struct text message, uint32_t number)
{
	struct varint_reader reader = varint_reader_of(message);
	struct protobuf_field field;

	while (protobuf_next(&reader, &field)) {
		struct value value;
		struct text key;

		if (field.number != number)
			continue;
		key = otlp_map_find(field.bytes, OTLP_KEY);
		value = otlp_map_value(
		    &map->texts, otlp_map_find(field.bytes, OTLP_VALUE));
		if (value.type == VALUE_TEXT &&
		    text_equal(key, text_of("thread.name")))
			map->thread = value.is.text;
		otlp_map_put(map, key, value);
	}
}

void
otlp_map_put_kept(struct otlp_map *map)
{
	for (uint32_t i = 0; i < map->kepts; i++)
		otlp_map_put(map, map->kept[i].key, map->kept[i].value);
}

bool
otlp_map_take_time(int64_t *to, uint64_t time_ns)
{
	*to = time_ns > TIME_MAX_NS ? TIME_MAX_NS : (int64_t)time_ns;
	return time_ns > 0 && time_ns <= TIME_MAX_NS;
}

int
otlp_map_end_record(struct otlp_map *map)
{
	struct compose *compose = &map->compose;

	if (compose->writer.full) {
		otlp_map_refuse(map, "its attributes are longer than %d bytes",
		    COMPOSE_BYTES_MAX);
		return 0;
	}
	compose->record.pairs = (struct text){ (const char *)compose->pairs,
		(uint32_t)compose->writer.bytes };
	compose->record.has_time = true;
	map->taken++;
	return map->calls.on_record(map->calls.arg, compose);
}

void
otlp_map_refuse(struct otlp_map *map, const char *format, ...)
{
	va_list args;

	if (map->refused++ > 0)
		return;
	va_start(args, format);
	vsnprintf(map->why.text, sizeof(map->why.text), format, args);
	va_end(args);
}

/* ---- resources and scopes ---- */

static bool
is_kept(const struct otlp_map *map, struct text key)
{
	static const char *const kept[] = { "service.namespace",
		"service.version", "service.instance.id", "host.name",
		"k8s.pod.name" };

	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		if (text_equal(key, text_of(kept[i])))
			return true;
	for (uint32_t i = 0; map->keep != NULL && i < map->keep->count; i++)
		if (text_equal(key, text_of(map->keep->at[i])))
			return true;
	return false;
}

static void
take_resource(struct otlp_map *map, struct text resource)
{
	struct varint_reader reader = varint_reader_of(resource);
	struct protobuf_field field;
	struct value value;
	struct text key;

	arena_reset(&map->resource);
	map->kepts = 0;
	client_take_part(map->service, text_of("unknown_service"));
	while (protobuf_next(&reader, &field)) {
		if (field.number != OTLP_RESOURCE_ATTRIBUTES)
			continue;
		key = otlp_map_find(field.bytes, OTLP_KEY);
		value = otlp_map_value(
		    &map->resource, otlp_map_find(field.bytes, OTLP_VALUE));
		if (value.type == VALUE_TEXT && value.is.text.bytes > 0 &&
		    text_equal(key, text_of("service.name")))
			client_take_part(map->service, value.is.text);
		else if (map->kepts < OTLP_KEPT_MAX && is_kept(map, key))
			map->kept[map->kepts++] =
			    (struct otlp_kept){ key, value };
	}
}

static void
take_scope(struct otlp_map *map, struct text scope)
{
	struct text name = otlp_map_find(scope, OTLP_SCOPE_NAME);

	client_take_part(
	    map->scope, name.bytes > 0 ? name : text_of(map->service));
}

/* Call `on_each` for each field of this number. */
static int
each(struct otlp_map *map, struct text message, uint32_t number,
    int (*on_each)(struct otlp_map *map, struct text field,
	const struct otlp_map_items *items),
    const struct otlp_map_items *items)
{
	struct varint_reader reader = varint_reader_of(message);
	struct protobuf_field field;
	int rc = 0;

	while (rc == 0 && protobuf_next(&reader, &field))
		if (field.number == number)
			rc = on_each(map, field.bytes, items);
	return rc;
}

static int
on_item(
    struct otlp_map *map, struct text item, const struct otlp_map_items *items)
{
	return items->on_item(map, item);
}

static int
on_scope(
    struct otlp_map *map, struct text scope, const struct otlp_map_items *items)
{
	/* It may stand behind its items. */
	take_scope(map, otlp_map_find(scope, OTLP_SCOPE_SCOPE));
	return each(map, scope, OTLP_SCOPE_ITEMS, on_item, items);
}

static int
on_resource(struct otlp_map *map, struct text resource,
    const struct otlp_map_items *items)
{
	int rc;

	take_resource(map, otlp_map_find(resource, OTLP_RESOURCE_RESOURCE));
	rc = each(map, resource, OTLP_RESOURCE_SCOPES, on_scope, items);
	return rc == 0 && items->on_end != NULL ? items->on_end(map) : rc;
}

int
otlp_map_each(struct otlp_map *map, struct text request,
    const struct otlp_map_items *items)
{
	return each(map, request, OTLP_REQUEST_RESOURCES, on_resource, items);
}

void
otlp_map_begin(
    struct otlp_map *map, const unsigned char request[static RECORD_ID_BYTES])
{
	memcpy(map->request, request, sizeof(map->request));
	map->taken = map->refused = 0;
	err_clear(&map->why);
}

void
otlp_map_clear(struct otlp_map *map)
{
	arena_clear(&map->resource);
	arena_clear(&map->texts);
	arena_clear(&map->names);
}

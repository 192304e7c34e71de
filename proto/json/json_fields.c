/*
 * json_fields - the members of one JSON object, as views of its text.
 * SPDX-License-Identifier: MIT
 */
#include "proto/json/json_fields.h"

#include <math.h>

#include "proto/base/memory.h"

int
json_fields_read(struct json_fields *object, struct text from, struct err *err)
{
	struct json_reader reader;
	struct text key, value;
	char first;

	object->count = object->next = 0;
	json_reader_init_strict(&reader, from, &object->keys);
	first = json_reader_peek(&reader);
	if (first != '{') {
		json_reader_take(&reader);
	} else if (json_reader_enter(&reader, '{')) {
		while (json_reader_member(&reader, &key)) {
			value = json_reader_take(&reader);
			*MEMORY_ADD(object->values, object->room,
			    object->count) = value;
		}
	}
	if (json_reader_finish(&reader) && first == '{')
		return 0;
	object->count = 0;
	return err_set(
	    err, "%s", reader.bad ? reader.err.text : "not a JSON object");
}

void
json_fields_clear(struct json_fields *object)
{
	json_keys_clear(&object->keys);
	free(object->values);
	*object = (struct json_fields){ .values = NULL };
}

struct text
json_fields_find(struct json_fields *object, const char *key)
{
	struct text wanted = text_of(key);

	for (uint32_t i = 0, at = object->next; i < object->count; i++, at++) {
		if (at >= object->count)
			at = 0;
		if (!text_equal(object->keys.at[at], wanted))
			continue;
		object->next = at + 1;
		return object->values[at];
	}
	return (struct text){ NULL, 0 };
}

bool
json_fields_text(
    struct json_fields *object, struct text value, struct text *text)
{
	if (value.bytes < 2 || value.at[0] != '"')
		return false;
	*text = json_keys_decode(
	    &object->keys, (struct text){ value.at + 1, value.bytes - 2 });
	return true;
}

int
json_fields_number(struct text number, struct value *value, struct err *err)
{
	if (!json_fields_is_number(number))
		return err_set(err, "is not a number");
	json_reader_number(number, value);
	/* An integer is converted exactly. */
	if (value->type == VALUE_FLOAT &&
	    (isinf(value->is.f) || json_reader_is_whole(number)))
		return err_set(err, "is out of range");
	return 0;
}

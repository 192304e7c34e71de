/*
 * json_member - members of the JSON object that a row is.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/json_member.h"

#include <string.h>

#include <jansson.h>

#include "agents/import/json_stream.h"
#include "proto/os/clock.h"

int
json_member_text(
    json_t *row, const char *key, struct text *text, struct err *err)
{
	const json_t *value = json_object_get(row, key);

	if (value == NULL)
		return err_set(err, "\"%s\" is missing", key);
	if (!json_is_string(value))
		return err_set(err, "\"%s\" is not text", key);
	text->at = json_string_value(value);
	text->bytes = (uint32_t)json_string_length(value);
	return 0;
}

int
json_member_text_if_any(
    json_t *row, const char *key, struct text *text, struct err *err)
{
	const json_t *value = json_object_get(row, key);

	*text = (struct text){ NULL, 0 };
	if (value == NULL || json_is_null(value))
		return 0;
	return json_member_text(row, key, text, err);
}

int
json_member_name(
    json_t *row, const char *key, struct text *name, struct err *err)
{
	enum text_fault fault;

	if (json_member_text(row, key, name, err) != 0)
		return -1;
	fault = text_check_name(*name);
	if (fault != TEXT_OK)
		return err_set(err, "\"%s\" %s", key, text_fault_words(fault));
	return 0;
}

struct text
json_member_raw(json_t *row, struct text line, const char *key)
{
	struct text rest = json_stream_inside(line);

	/* Members come in the order in which they were read. */
	for (void *member = json_object_iter(row); member != NULL;
	     member = json_object_iter_next(row, member)) {
		struct text value;

		json_stream_take(&rest); /* the key */
		value = json_stream_take(&rest);
		if (strcmp(json_object_iter_key(member), key) == 0)
			return value;
	}
	return (struct text){ NULL, 0 };
}

int
json_member_time(json_t *row, struct text line, const char *key,
    int64_t *time_ns, struct err *err)
{
	const json_t *value = json_object_get(row, key);

	if (value == NULL)
		return err_set(err, "\"%s\" is missing", key);
	if (!json_is_number(value))
		return err_set(err, "\"%s\" is not a number", key);
	if (json_is_integer(value) &&
	    json_integer_value(value) >= TIME_MIN_NS / NS_PER_SECOND &&
	    json_integer_value(value) <= TIME_MAX_NS / NS_PER_SECOND) {
		*time_ns = json_integer_value(value) * NS_PER_SECOND;
		return 0;
	}
	/* The digits themselves: a double next to the nanosecond is not it. */
	if (clock_parse_seconds(
		json_member_raw(row, line, key), time_ns, err) != 0)
		return err_prefix(err, "\"%s\"", key);
	return 0;
}

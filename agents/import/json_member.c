/*
 * json_member - members of the JSON object of a row.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/json_member.h"

#include "proto/os/clock.h"

static int
get_text(struct json_fields *row, const char *key, struct text value,
    struct text *text, struct err *err)
{
	if (value.bytes == 0)
		return err_set(err, "\"%s\" is missing", key);
	if (!json_fields_text(row, value, text))
		return err_set(err, "\"%s\" is not text", key);
	return 0;
}

int
json_member_text(struct json_fields *row, const char *key, struct text *text,
    struct err *err)
{
	return get_text(row, key, json_fields_find(row, key), text, err);
}

int
json_member_text_if_any(struct json_fields *row, const char *key,
    struct text *text, struct err *err)
{
	struct text value = json_fields_find(row, key);

	*text = (struct text){ NULL, 0 };
	if (value.bytes == 0 || json_fields_is_null(value))
		return 0;
	return get_text(row, key, value, text, err);
}

int
json_member_name(struct json_fields *row, const char *key, struct text *name,
    struct err *err)
{
	enum text_fault fault;

	if (json_member_text(row, key, name, err) != 0)
		return -1;
	fault = text_check_name(*name);
	if (fault != TEXT_OK)
		return err_set(err, "\"%s\" %s", key, text_fault_words(fault));
	return 0;
}

int
json_member_number(struct json_fields *row, const char *key,
    struct value *value, struct err *err)
{
	struct text number = json_fields_find(row, key);
	struct err why;

	if (number.bytes == 0)
		return err_set(err, "\"%s\" is missing", key);
	if (json_fields_number(number, value, &why) != 0)
		return err_set(err, "\"%s\" %s", key, why.text);
	return 0;
}

int
json_member_time(
    struct json_fields *row, const char *key, int64_t *time_ns, struct err *err)
{
	struct text number = json_fields_find(row, key);

	if (number.bytes == 0)
		return err_set(err, "\"%s\" is missing", key);
	if (!json_fields_is_number(number))
		return err_set(err, "\"%s\" is not a number", key);
	/* Use the digits: a double does not have nanoseconds. */
	if (clock_parse_seconds(number, time_ns, err) != 0)
		return err_prefix(err, "\"%s\"", key);
	return 0;
}

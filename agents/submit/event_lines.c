/*
 * event_lines - parses one event a line, for `poolscope-emit --stdin`.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/event_lines.h"

#include <stdio.h>

#include "proto/base/number.h"
#include "proto/base/text.h"

static int
plain_event(struct compose *compose, struct text line, struct err *err)
{
	struct text source = text_next_word(&line),
		    event = text_next_word(&line);

	if (event.bytes == 0)
		return err_set(err, "is not SOURCE EVENT [MESSAGE]");
	if (line.bytes > 0) { /* the one blank after the event */
		line.at++;
		line.bytes--;
	}
	if (compose_event(compose, source, event, err) != 0 ||
	    compose_message(compose, line, err) != 0)
		return -1;
	return compose_end(compose, err);
}

/* One member: its object, name and value. */
struct member {
	struct json_fields *object;
	struct text key, value;
};

static bool
is_called(const struct member *member, const char *name)
{
	return text_equal(member->key, text_of(name));
}

/* Put the member's name before the error about its value. */
static int
fail(const struct member *member, const char *why, struct err *err)
{
	char shown[64];

	return err_set(err, "\"%s\" %s",
	    text_quote(shown, sizeof(shown), member->key), why);
}

static int
get_text(const struct member *member, struct text *text, struct err *err)
{
	if (!json_fields_text(member->object, member->value, text))
		return fail(member, "is not text", err);
	return 0;
}

/* Seconds as a number or as text; "receive_ts" as well as "ts". */
static int
take_time(struct compose *compose, const struct member *member, struct err *err)
{
	struct text text = member->value;
	struct value number;
	char shortest[NUMBER_BYTES];
	struct err why;

	if (json_fields_is_number(text)) {
		if (json_fields_number(text, &number, &why) != 0)
			return fail(member, why.text, err);
		/* The shortest text of the double is what was written, unless
		 * that had more than 15 digits. */
		if (number.type == VALUE_FLOAT)
			text = (struct text){ shortest,
				(uint32_t)number_repr(shortest, number.is.f) };
	} else if (!json_fields_text(member->object, text, &text)) {
		return fail(member, "is neither a number nor text", err);
	}
	if (is_called(member, "ts"))
		return compose_time(compose, text, err);
	if (compose_received(compose, text, err) != 0)
		return err_prefix(err, "\"receive_ts\"");
	return 0;
}

static int
take_attribute(
    struct compose *compose, const struct member *member, struct err *err)
{
	struct value value = { .type = VALUE_NIL };
	struct err why;

	switch (member->value.at[0]) {
	case '"':
		value.type = VALUE_TEXT;
		if (get_text(member, &value.is.text, err) != 0)
			return -1;
		break;
	case 't':
	case 'f':
		value.type = VALUE_BOOL;
		value.is.boolean = member->value.at[0] == 't';
		break;
	case 'n': break;
	case '[':
	case '{':
		return err_set(err,
		    "attribute is a list or an object; only text, "
		    "numbers, booleans and null are supported");
	default:
		if (json_fields_number(member->value, &value, &why) != 0)
			return fail(member, why.text, err);
		break;
	}
	return compose_attribute(compose, member->key, &value, err);
}

static int
take_attributes(
    struct compose *compose, const struct member *attrs, struct err *err)
{
	struct member member = { .object = attrs->object };
	struct json_reader reader;

	if (attrs->value.at[0] != '{')
		return err_set(err, "\"attrs\" is not an object");
	/* The check of the line included it. */
	json_reader_init(&reader, attrs->value);
	json_reader_enter(&reader, '{');
	while (json_reader_member(&reader, &member.key)) {
		member.key = json_keys_decode(&attrs->object->keys, member.key);
		member.value = json_reader_take(&reader);
		if (take_attribute(compose, &member, err) != 0)
			return -1;
	}
	return 0;
}

static int
take_member(
    struct compose *compose, const struct member *member, struct err *err)
{
	struct text text;
	char shown[64];

	if (is_called(member, "source") || is_called(member, "event"))
		return 0;
	if (is_called(member, "ts") || is_called(member, "receive_ts"))
		return json_fields_is_null(member->value)
			   ? 0
			   : take_time(compose, member, err);
	if (is_called(member, "attrs"))
		return take_attributes(compose, member, err);
	if (!is_called(member, "message") && !is_called(member, "node") &&
	    !is_called(member, "partition") && !is_called(member, "run"))
		return err_set(err, "has an unknown member '%s'",
		    text_quote(shown, sizeof(shown), member->key));
	if (json_fields_is_null(member->value))
		return 0;
	if (get_text(member, &text, err) != 0)
		return -1;
	if (is_called(member, "message"))
		return compose_message(compose, text, err);
	if (is_called(member, "node"))
		return compose_node(compose, text, err);
	if (is_called(member, "run"))
		return compose_run(compose, text, err);
	return compose_partition(compose, text, err);
}

static int
object_event(
    struct json_fields *object, struct compose *compose, struct err *err)
{
	struct member source = { object, text_of("source"),
		json_fields_find(object, "source") };
	struct member event = { object, text_of("event"),
		json_fields_find(object, "event") };
	struct text source_text, event_text;

	if (get_text(&source, &source_text, err) != 0 ||
	    get_text(&event, &event_text, err) != 0 ||
	    compose_event(compose, source_text, event_text, err) != 0)
		return -1;
	for (uint32_t i = 0; i < object->count; i++) {
		struct member member = { object, object->keys.at[i],
			object->values[i] };

		if (take_member(compose, &member, err) != 0)
			return -1;
	}
	return compose_end(compose, err);
}

int
event_line_read(struct json_fields *object, struct compose *compose,
    struct text line, struct err *err)
{
	struct err why;

	if (line.bytes == 0 || *line.at != '{')
		return plain_event(compose, line, err);
	if (json_fields_read(object, line, &why) != 0)
		return err_set(err, "is %s", why.text);
	return object_event(object, compose, err);
}

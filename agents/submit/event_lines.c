/*
 * event_lines - one event a line, as `poolscope-emit --stdin` reads them.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/event_lines.h"

#include <stdio.h>

#include <jansson.h>

#include "proto/base/number.h"

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Take a word off the front; empty at the end. */
static struct text
take_word(struct text *rest)
{
	struct text word;

	while (rest->bytes > 0 && is_blank(*rest->at)) {
		rest->at++;
		rest->bytes--;
	}
	word = (struct text){ rest->at, 0 };
	while (rest->bytes > 0 && !is_blank(*rest->at)) {
		rest->at++;
		rest->bytes--;
		word.bytes++;
	}
	return word;
}

static int
plain_event(struct compose *compose, struct text line, struct err *err)
{
	struct text source = take_word(&line), event = take_word(&line);

	if (event.bytes == 0)
		return err_set(err, "is not SOURCE EVENT [MESSAGE]");
	if (line.bytes > 0) { /* the one blank behind the event */
		line.at++;
		line.bytes--;
	}
	if (compose_event(compose, source, event, err) != 0 ||
	    compose_message(compose, line, err) != 0)
		return -1;
	return compose_end(compose, err);
}

static int
get_text(
    const json_t *value, const char *member, struct text *text, struct err *err)
{
	if (!json_is_string(value))
		return err_set(err, "\"%s\" is not text", member);
	if (json_string_length(value) > EVENT_LINE_BYTES_MAX)
		return err_set(err, "\"%s\" is too long", member);
	*text = (struct text){ json_string_value(value),
		(uint32_t)json_string_length(value) };
	return 0;
}

/* Seconds as a number or as text; "receive_ts" as well as "ts". */
static int
take_time(struct compose *compose, const char *member, const json_t *value,
    struct err *err)
{
	char number[NUMBER_BYTES];
	struct text text;

	if (json_is_integer(value)) {
		snprintf(number, sizeof(number), "%lld",
		    (long long)json_integer_value(value));
		text = text_of(number);
	} else if (json_is_real(value)) {
		/* The shortest text of the double is what was written, unless
		 * that had more than 15 digits. */
		number_repr(number, json_real_value(value));
		text = text_of(number);
	} else if (get_text(value, member, &text, err) != 0) {
		return err_set(
		    err, "\"%s\" is neither a number nor text", member);
	}
	if (*member == 't')
		return compose_time(compose, text, err);
	if (compose_received(compose, text, err) != 0)
		return err_prefix(err, "\"%s\"", member);
	return 0;
}

static int
take_attribute(struct compose *compose, const char *key, const json_t *from,
    struct err *err)
{
	struct value value = { .type = VALUE_NIL };

	switch (json_typeof(from)) {
	case JSON_STRING:
		value.type = VALUE_TEXT;
		if (get_text(from, key, &value.is.text, err) != 0)
			return -1;
		break;
	case JSON_INTEGER:
		value.type = VALUE_INT;
		value.is.i = json_integer_value(from);
		break;
	case JSON_REAL:
		value.type = VALUE_FLOAT;
		value.is.f = json_real_value(from);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		value.type = VALUE_BOOL;
		value.is.boolean = json_is_true(from);
		break;
	case JSON_NULL: break;
	default:
		return err_set(err,
		    "attribute is a list or an object; only text, numbers, "
		    "booleans and null have a place");
	}
	return compose_attribute(compose, text_of(key), &value, err);
}

static int
take_attributes(struct compose *compose, json_t *from, struct err *err)
{
	const char *key;
	json_t *value;

	if (!json_is_object(from))
		return err_set(err, "\"attrs\" is not an object");
	json_object_foreach(from, key,
	    value) if (take_attribute(compose, key, value, err) != 0) return -1;
	return 0;
}

static int
take_member(
    struct compose *compose, const char *member, json_t *value, struct err *err)
{
	struct text text;
	char shown[64];

	if (strcmp(member, "source") == 0 || strcmp(member, "event") == 0)
		return 0;
	if (strcmp(member, "ts") == 0 || strcmp(member, "receive_ts") == 0)
		return json_is_null(value)
			   ? 0
			   : take_time(compose, member, value, err);
	if (strcmp(member, "attrs") == 0)
		return take_attributes(compose, value, err);
	if (strcmp(member, "message") != 0 && strcmp(member, "node") != 0 &&
	    strcmp(member, "partition") != 0 && strcmp(member, "run") != 0)
		return err_set(err, "has an unknown member '%s'",
		    text_quote(shown, sizeof(shown), text_of(member)));
	if (json_is_null(value))
		return 0;
	if (get_text(value, member, &text, err) != 0)
		return -1;
	if (*member == 'm')
		return compose_message(compose, text, err);
	if (*member == 'n')
		return compose_node(compose, text, err);
	if (*member == 'r')
		return compose_run(compose, text, err);
	return compose_partition(compose, text, err);
}

static int
object_event(struct compose *compose, json_t *root, struct err *err)
{
	struct text source = { 0 }, event = { 0 };
	const char *member;
	json_t *value;

	if (get_text(json_object_get(root, "source"), "source", &source, err) !=
		0 ||
	    get_text(json_object_get(root, "event"), "event", &event, err) !=
		0 ||
	    compose_event(compose, source, event, err) != 0)
		return -1;
	json_object_foreach(root, member,
	    value) if (take_member(compose, member, value, err) != 0) return -1;
	return compose_end(compose, err);
}

int
event_line_read(struct compose *compose, struct text line, struct err *err)
{
	char shown[JSON_ERROR_TEXT_LENGTH];
	json_error_t error;
	json_t *root;
	int rc;

	if (line.bytes == 0 || *line.at != '{')
		return plain_event(compose, line, err);
	root = json_loadb(line.at, line.bytes, JSON_REJECT_DUPLICATES, &error);
	if (root == NULL)
		return err_set(err, "is not JSON: %s",
		    text_quote(shown, sizeof(shown), text_of(error.text)));
	rc = object_event(compose, root, err);
	json_decref(root);
	return rc;
}

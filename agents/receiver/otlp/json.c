/*
 * otlp_read_json - requests in JSON.
 *
 * The JSON mapping of protocol buffers as OTLP has it: names in
 * lowerCamelCase, ids as hexadecimal digits, enums as numbers, 64 bits as
 * digits in quotes or as a number; null is the default.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "agents/receiver/otlp/schema.h"
#include "proto/base/arena.h"
#include "proto/base/number.h"
#include "proto/json/json_reader.h"

struct reading {
	struct json_reader reader;
	struct json_keys keys;
	struct buffer *to;
	const struct otlp_message *message; /* that is read, for `wrong` */
	struct err *err;
};

static int read_message(
    struct reading *reading, const struct otlp_message *message);

static int
wrong(
    struct reading *reading, const struct otlp_field *field, const char *wanted)
{
	return err_set(reading->err, "%s of %s is not %s", field->name,
	    reading->message->name, wanted);
}

/* ---- values ---- */

/* What is between the quotes, decoded; false: it is no text. */
static bool
take_text(struct reading *reading, struct text *text)
{
	struct text taken;

	if (json_reader_peek(&reading->reader) != '"')
		return false;
	taken = json_reader_take(&reading->reader);
	if (taken.bytes < 2)
		return false;
	*text = json_keys_decode(
	    &reading->keys, (struct text){ taken.at + 1, taken.bytes - 2 });
	return true;
}

/* A number, or its digits as text. */
static bool
take_number(struct reading *reading, struct text *digits)
{
	struct json_reader inner;

	if (json_reader_peek(&reading->reader) == '"') {
		if (!take_text(reading, digits))
			return false;
		json_reader_init(&inner, *digits);
		json_reader_take(&inner);
		if (!json_reader_finish(&inner))
			return false;
	} else {
		*digits = json_reader_take(&reading->reader);
	}
	return digits->bytes > 0 &&
	       strchr("-0123456789NI", digits->at[0]) != NULL;
}

static bool
take_integer(struct reading *reading, bool is_signed, uint64_t *to)
{
	struct value value;
	struct text digits;

	if (!take_number(reading, &digits))
		return false;
	if (!is_signed && json_reader_is_whole(digits))
		return number_parse_u64(digits, to, NULL) == 0;
	json_reader_number(digits, &value);
	/* 1.5e3 is an integer, too. */
	if (value.type == VALUE_FLOAT && fabs(value.is.f) < 0x1p53 &&
	    value.is.f == floor(value.is.f))
		value = (struct value){ .type = VALUE_INT,
			.is.i = (int64_t)value.is.f };
	if (value.type != VALUE_INT || (!is_signed && value.is.i < 0))
		return false;
	*to = (uint64_t)value.is.i;
	return true;
}

static int
read_integer(struct reading *reading, const struct otlp_field *field)
{
	bool is_signed = field->type != OTLP_FIXED64;
	uint64_t value;

	if (!take_integer(reading, is_signed, &value))
		return wrong(reading, field, "an integer");
	if (field->type == OTLP_INT)
		protobuf_uint(reading->to, field->number, value);
	else
		protobuf_fixed64(reading->to, field->number, value);
	return 0;
}

static int
read_double(struct reading *reading, const struct otlp_field *field)
{
	struct value value;
	struct text digits;

	if (!take_number(reading, &digits))
		return wrong(reading, field, "a number");
	json_reader_number(digits, &value);
	protobuf_double(reading->to, field->number,
	    value.type == VALUE_INT ? (double)value.is.i : value.is.f);
	return 0;
}

static int
read_bool(struct reading *reading, const struct otlp_field *field)
{
	char first = json_reader_peek(&reading->reader);

	json_reader_take(&reading->reader);
	if (first != 't' && first != 'f')
		return wrong(reading, field, "true or false");
	protobuf_uint(reading->to, field->number, first == 't');
	return 0;
}

static int
read_string(struct reading *reading, const struct otlp_field *field)
{
	struct text text;

	if (!take_text(reading, &text))
		return wrong(reading, field, "a text");
	protobuf_text(reading->to, field->number, text);
	return 0;
}

static int
read_id(struct reading *reading, const struct otlp_field *field)
{
	unsigned char bytes[32];
	struct text digits;

	if (!take_text(reading, &digits) || digits.bytes > 2 * sizeof(bytes) ||
	    !text_unhex(bytes, digits.bytes / 2, digits))
		return wrong(reading, field, "hexadecimal digits");
	protobuf_text(reading->to, field->number,
	    (struct text){ (const char *)bytes, digits.bytes / 2 });
	return 0;
}

/* The value of a digit of base64, in either alphabet of RFC 4648; 64: none. */
static uint32_t
digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (uint32_t)(c - 'A');
	if (c >= 'a' && c <= 'z')
		return (uint32_t)(c - 'a') + 26;
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0') + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : 64;
}

static int
read_bytes(struct reading *reading, const struct otlp_field *field)
{
	uint32_t bits = 0, held = 0;
	unsigned char *to;
	struct text text;
	size_t bytes = 0;

	if (!take_text(reading, &text))
		return wrong(reading, field, "base64");
	while (text.bytes > 0 && text.at[text.bytes - 1] == '=')
		text.bytes--;
	to = arena_room(&reading->keys.decoded, text.bytes + 1);
	for (uint32_t i = 0; i < text.bytes; i++) {
		uint32_t next = digit(text.at[i]);

		if (next == 64)
			return wrong(reading, field, "base64");
		bits = bits << 6 | next;
		held += 6;
		if (held >= 8) {
			held -= 8;
			to[bytes++] = (unsigned char)(bits >> held);
		}
	}
	protobuf_text(reading->to, field->number,
	    (struct text){ (const char *)to, (uint32_t)bytes });
	return 0;
}

/* ---- messages ---- */

static int
read_one(struct reading *reading, const struct otlp_field *field)
{
	size_t begun;

	switch (field->type) {
	case OTLP_INT:
	case OTLP_FIXED64:
	case OTLP_SFIXED64: return read_integer(reading, field);
	case OTLP_BOOL: return read_bool(reading, field);
	case OTLP_DOUBLE: return read_double(reading, field);
	case OTLP_STRING: return read_string(reading, field);
	case OTLP_BYTES: return read_bytes(reading, field);
	case OTLP_ID: return read_id(reading, field);
	default: break;
	}
	if (json_reader_peek(&reading->reader) != '{')
		return wrong(reading, field, "an object");
	begun = protobuf_begin(reading->to, field->number);
	if (read_message(reading, field->of) != 0)
		return -1;
	protobuf_end(reading->to, begun);
	return 0;
}

static int
read_field(struct reading *reading, const struct otlp_field *field)
{
	if (json_reader_peek(&reading->reader) == 'n') {
		json_reader_take(&reading->reader);
		return 0;
	}
	if (!field->repeated)
		return read_one(reading, field);
	if (!json_reader_enter(&reading->reader, '['))
		return wrong(reading, field, "a list");
	while (json_reader_item(&reading->reader))
		if (read_one(reading, field) != 0)
			return -1;
	return 0;
}

static const struct otlp_field *
find(const struct otlp_message *message, struct text key)
{
	for (uint32_t i = 0; i < message->fields; i++)
		if (json_reader_is(key, message->field[i].name))
			return &message->field[i];
	return NULL;
}

static int
read_message(struct reading *reading, const struct otlp_message *message)
{
	const struct otlp_message *outer = reading->message;
	struct text key;

	json_reader_enter(&reading->reader, '{');
	while (json_reader_member(&reading->reader, &key)) {
		const struct otlp_field *field = find(message, key);

		reading->message = message;
		if (field == NULL)
			json_reader_take(&reading->reader);
		else if (read_field(reading, field) != 0)
			return -1;
	}
	reading->message = outer;
	return 0;
}

int
otlp_read_json(struct buffer *to, const struct otlp_message *message,
    struct text json, struct err *err)
{
	struct reading reading = { .to = to, .message = message, .err = err };
	int rc;

	json_reader_init_strict(&reading.reader, json, &reading.keys);
	if (json_reader_peek(&reading.reader) == '{')
		rc = read_message(&reading, message);
	else
		rc = err_set(err, "%s is not a JSON object", message->name);
	if (reading.reader.bad ||
	    (rc == 0 && !json_reader_finish(&reading.reader)))
		rc = err_set(err, "%s", reading.reader.err.text);
	json_keys_clear(&reading.keys);
	return rc == 0 ? otlp_check(message, buffer_text(to), err) : -1;
}

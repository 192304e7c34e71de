/*
 * json_fields - the members of one JSON object, as they stand in its text.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/json_fields.h"

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
			object->values = memory_grow(object->values,
			    &object->room, object->count, sizeof(value));
			object->values[object->count++] = value;
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

/* ---- numbers ------------------------------------------------------------ */

/* The digits of a number, and which power of ten they are of. */
struct digits {
	uint64_t value;
	int64_t power;
	bool is_exact; /* no digit was left out */
	bool is_integer;
};

static struct digits
take_digits(const char *at, const char *end)
{
	struct digits d = { .is_exact = true, .is_integer = true };
	bool negative = false;
	int64_t power = 0;

	for (; at < end && *at != 'e' && *at != 'E'; at++) {
		if (*at == '.') {
			d.is_integer = false;
			continue;
		}
		if (__builtin_mul_overflow(d.value, 10, &d.value) ||
		    __builtin_add_overflow(
			d.value, (uint64_t)(*at - '0'), &d.value)) {
			d.is_exact = false;
			break;
		}
		d.power -= !d.is_integer;
	}
	if (!d.is_exact) {
		d.is_integer = d.is_integer &&
			       memchr(at, '.', (size_t)(end - at)) == NULL &&
			       memchr(at, 'e', (size_t)(end - at)) == NULL &&
			       memchr(at, 'E', (size_t)(end - at)) == NULL;
		return d;
	}
	if (at == end)
		return d;
	d.is_integer = false;
	at++;
	if (*at == '-' || *at == '+')
		negative = *at++ == '-';
	for (; at < end && power < 100000; at++)
		power = 10 * power + (*at - '0');
	d.power += negative ? -power : power;
	return d;
}

/* Correctly rounded, from the text. */
static double
read_double(struct text number)
{
	char few[64], *copy = few;
	double value;

	if (number.bytes >= sizeof(few)) {
		copy = memory_text(number);
	} else {
		memcpy(few, number.at, number.bytes);
		few[number.bytes] = '\0';
	}
	value = strtod(copy, NULL);
	if (copy != few)
		free(copy);
	return value;
}

/* Both the digits and the power of ten are doubles: one operation rounds once,
 * which is what the nearest double is.  False: they are not. */
static bool
combine(const struct digits *d, double *value)
{
	static const double tens[] = { 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7,
		1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
		1e19, 1e20, 1e21, 1e22 };

	if (!d->is_exact || d->value > UINT64_C(1) << 53 || d->power > 22 ||
	    d->power < -22)
		return false;
	*value = d->power < 0 ? (double)d->value / tens[-d->power]
			      : (double)d->value * tens[d->power];
	return true;
}

int
json_fields_number(struct text number, struct value *value, struct err *err)
{
	bool negative = json_fields_is_number(number) && number.at[0] == '-';
	struct digits d;

	if (!json_fields_is_number(number))
		return err_set(err, "is not a number");
	d = take_digits(number.at + negative, number.at + number.bytes);
	if (d.is_integer) {
		if (!d.is_exact || d.value > (uint64_t)INT64_MAX + negative)
			return err_set(err, "is out of range");
		*value = (struct value){ VALUE_INT,
			.is.i = (int64_t)(negative ? -d.value : d.value) };
		return 0;
	}
	*value = (struct value){ .type = VALUE_FLOAT };
	if (combine(&d, &value->is.f))
		value->is.f = negative ? -value->is.f : value->is.f;
	else
		value->is.f = read_double(number);
	return isinf(value->is.f) ? err_set(err, "is out of range") : 0;
}

/*
 * record - the attributes and values of a record.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/record.h"

#include <assert.h>
#include <math.h>

#include "proto/base/text.h"
#include "proto/msgpack/mp.h"

static inline const unsigned char *
get_value(const unsigned char *at, struct value *value)
{
	unsigned char tag = *at;

	if ((tag & 0xe0) == MP_FIXSTR || (tag >= MP_STR8 && tag <= MP_STR32)) {
		value->type = VALUE_TEXT;
		value->is.text = mp_get_text(&at);
	} else if (tag == MP_NIL) {
		value->type = VALUE_NIL;
		at++;
	} else if (tag == MP_FALSE || tag == MP_TRUE) {
		value->type = VALUE_BOOL;
		value->is.boolean = tag == MP_TRUE;
		at++;
	} else if (tag == MP_FLOAT32 || tag == MP_FLOAT64) {
		value->type = VALUE_FLOAT;
		value->is.f = mp_get_float(&at);
	} else {
		value->is.u = mp_get_int(&at);
		value->type = tag == MP_UINT64 && value->is.u > INT64_MAX
				  ? VALUE_UINT
				  : VALUE_INT;
	}
	return at;
}

/* The reader has reached `at`. */
static inline void
take_up_to(struct text *rest, const unsigned char *at)
{
	uint32_t taken = (uint32_t)((const char *)at - rest->at);

	assert(taken <= rest->bytes);
	*rest = (struct text){ (const char *)at, rest->bytes - taken };
}

bool
record_next_attribute(struct text *rest, struct record_attribute *attribute)
{
	const unsigned char *at = (const unsigned char *)rest->at;

	if (rest->bytes == 0)
		return false;
	attribute->key = mp_get_text(&at);
	take_up_to(rest, get_value(at, &attribute->value));
	return true;
}

bool
record_next_value(struct text *rest, struct value *value)
{
	if (rest->bytes == 0)
		return false;
	take_up_to(rest, get_value((const unsigned char *)rest->at, value));
	return true;
}

void
record_get_numbers(const struct record *record, double *to, uint32_t count)
{
	const unsigned char *at = (const unsigned char *)record->value_bytes.at;
	const unsigned char *end = at + record->value_bytes.bytes;
	struct value value;

	for (uint32_t i = 0; i < count; i++) {
		to[i] = NAN;
		if (at >= end)
			continue;
		if (*at == MP_FLOAT64) {
			to[i] = mp_get_float(&at);
			continue;
		}
		at = get_value(at, &value);
		if (value.type == VALUE_FLOAT)
			to[i] = value.is.f;
		else if (value.type == VALUE_INT)
			to[i] = (double)value.is.i;
		else if (value.type == VALUE_UINT)
			to[i] = (double)value.is.u;
	}
}

bool
record_find_attribute(
    const struct record *record, struct text key, struct value *value)
{
	struct text rest = record->pairs;
	struct record_attribute attribute;

	while (record_next_attribute(&rest, &attribute))
		if (text_equal(attribute.key, key)) {
			*value = attribute.value;
			return true;
		}
	return false;
}

bool
record_find_text(
    const struct record *record, const char *key, struct text *text)
{
	struct value value;

	if (!record_find_attribute(record, text_of(key), &value) ||
	    value.type != VALUE_TEXT)
		return false;
	*text = value.is.text;
	return true;
}

int64_t
record_count(const struct record *record, const char *key)
{
	struct value value;

	if (!record_find_attribute(record, text_of(key), &value))
		return 0;
	if (value.type == VALUE_BOOL)
		return value.is.boolean;
	return value.type == VALUE_INT && value.is.i > 0 ? value.is.i : 0;
}

struct text
record_whole_name(
    char to[static 2 * NAME_BYTES_MAX + 1], const struct record *record)
{
	struct text source = record->source, name = record->name;

	memcpy(to, source.at, source.bytes);
	to[source.bytes] = ':';
	memcpy(to + source.bytes + 1, name.at, name.bytes);
	return (struct text){ to, source.bytes + 1 + name.bytes };
}

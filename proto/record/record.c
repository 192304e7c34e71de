/*
 * record - the unit that is sent and stored.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/record.h"

#include <assert.h>
#include <math.h>

#include "proto/base/text.h"
#include "proto/msgpack/mp.h"
#include "proto/msgpack/walk.h"
#include "proto/os/clock.h"
#include "proto/record/schema.h"

/* ---- attributes and values ---- */

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

/* ---- the limits ---- */

static int
check_name(struct text name, const char *called, struct err *err)
{
	enum text_fault fault = text_check_name(name);

	if (fault == TEXT_OK)
		return 0;
	return err_set(err, "%s %s", called, text_fault_words(fault));
}

static int
check_time(int64_t time_ns, const char *called, struct err *err)
{
	if (time_ns >= TIME_MIN_NS && time_ns <= TIME_MAX_NS)
		return 0;
	return err_set(err, "%s is outside 1900-01-01 .. 2200-01-01", called);
}

static int
check_text(struct text text, const char *called, struct err *err)
{
	if (text.bytes > RECORD_TEXT_BYTES_MAX)
		return err_set(err, "%s is longer than %d bytes", called,
		    RECORD_TEXT_BYTES_MAX);
	if (!text_is_utf8(text))
		return err_set(err, "%s is not UTF-8", called);
	return 0;
}

/* Describe what the walk found wrong with attribute `i`, which begins at
 * `at`. */
static int
explain_pair(const struct walk *walk, const unsigned char *at, uint32_t i,
    uint32_t text_bytes_max, struct err *err)
{
	struct walk again = { .at = at, .end = walk->end };
	struct text key = walk_name(&again);
	char quoted[64];

	text_quote(quoted, sizeof(quoted), key);
	if (again.fault == WALK_TEXT)
		return err_set(err, "name of attribute %u %s", i + 1,
		    text_fault_words(again.text_fault));
	if (walk->fault == WALK_TEXT && walk->text_fault == TEXT_TOO_LONG)
		return err_set(err, "attribute '%s' is longer than %u bytes",
		    quoted, text_bytes_max);
	if (walk->fault == WALK_TEXT)
		return err_set(err, "attribute '%s' %s", quoted,
		    text_fault_words(walk->text_fault));
	if (again.fault == WALK_OK && walk->fault == WALK_SHAPE)
		return err_set(err,
		    "attribute '%s' is not text, number, boolean or nil",
		    quoted);
	return err_set(err, "attribute %u is damaged", i + 1);
}

static int
check_attributes(const struct record *record, struct err *err)
{
	struct walk walk = walk_over(record->pairs);
	uint32_t text_bytes_max = schema_text_bytes_max(record->kind);

	if (record->attributes > RECORD_ATTRIBUTES_MAX)
		return err_set(err, "%u attributes exceed the limit of %d",
		    record->attributes, RECORD_ATTRIBUTES_MAX);
	for (uint32_t i = 0; i < record->attributes; i++) {
		const unsigned char *at = walk.at;

		if (!walk_pair(&walk, text_bytes_max))
			return explain_pair(&walk, at, i, text_bytes_max, err);
	}
	if (!walk_is_done(&walk))
		return err_set(
		    err, "more than %u attributes", record->attributes);
	return 0;
}

static int
check_values(const struct record *record, struct err *err)
{
	struct walk walk = walk_over(record->value_bytes);

	if (record->values > RECORD_VALUES_MAX)
		return err_set(err, "%u values exceed the limit of %d",
		    record->values, RECORD_VALUES_MAX);
	for (uint32_t i = 0; i < record->values; i++)
		if (!walk_value(&walk))
			return err_set(err, "value %u is not a number", i + 1);
	if (!walk_is_done(&walk))
		return err_set(err, "more than %u values", record->values);
	return 0;
}

static int
check_field(const struct record *r, enum schema_field field, const char *called,
    struct err *err)
{
	switch (field) {
	case SCHEMA_TIME: return check_time(r->time_ns, called, err);
	case SCHEMA_END: return check_time(r->end_ns, called, err);
	case SCHEMA_MAYBE_TIME:
		return r->has_time ? check_time(r->time_ns, called, err) : 0;
	case SCHEMA_MAYBE_END:
		return r->has_end ? check_time(r->end_ns, called, err) : 0;
	case SCHEMA_SOURCE: return check_name(r->source, called, err);
	case SCHEMA_NAME: return check_name(r->name, called, err);
	case SCHEMA_CATEGORY:
		return r->key.bytes > 0 ? check_name(r->key, called, err) : 0;
	case SCHEMA_KEY: return check_text(r->key, called, err);
	case SCHEMA_UUID:
		if (r->key.bytes == 0 || r->key.bytes == RECORD_ID_BYTES)
			return 0;
		return err_set(
		    err, "%s is not %d bytes", called, RECORD_ID_BYTES);
	case SCHEMA_ATTRIBUTES: return check_attributes(r, err);
	case SCHEMA_VALUES: return check_values(r, err);
	case SCHEMA_NUMBERS:
	case SCHEMA_COUNT:
	case SCHEMA_BYTES: break;
	}
	return 0;
}

int
record_check(const struct record *record, struct err *err)
{
	const struct schema *schema;

	if (record->kind <= RECORD_CONTEXT || record->kind >= RECORD_KINDS)
		return err_set(
		    err, "%d is not a record kind", (int)record->kind);
	/* Empty: the sender itself. */
	if (record->node.bytes > 0 &&
	    check_name(record->node, "node", err) != 0)
		return -1;
	schema = schema_of(record);
	for (unsigned i = 0; i < schema->fields; i++)
		if (check_field(
			record, schema->field[i], schema->called[i], err) != 0)
			return -1;
	return 0;
}

/* ---- kinds as text ---- */

const char *
record_kind_name(enum record_kind kind)
{
	if ((unsigned)kind >= RECORD_KINDS)
		return "unknown";
	return schemas[kind].kind;
}

int
record_kind_parse(struct text word, enum record_kind *kind)
{
	/* Queries cannot ask for contexts. */
	for (int i = RECORD_CONTEXT + 1; i < RECORD_KINDS; i++)
		if (text_equal(word, text_of(schemas[i].kind))) {
			*kind = (enum record_kind)i;
			return 0;
		}
	return -1;
}

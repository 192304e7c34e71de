/*
 * record_check - the limits of a record, and the names of the kinds.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/text.h"
#include "proto/msgpack/walk.h"
#include "proto/os/clock.h"
#include "proto/record/record.h"
#include "proto/record/schema.h"

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
	case SCHEMA_RUN:
		return r->run.bytes > 0 ? check_name(r->run, called, err) : 0;
	case SCHEMA_KEY: return check_text(r->key, called, err);
	case SCHEMA_UUID:
		if (r->key.bytes == 0 || r->key.bytes == RECORD_ID_BYTES)
			return 0;
		return err_set(
		    err, "%s is not %d bytes", called, RECORD_ID_BYTES);
	case SCHEMA_ATTRIBUTES: return check_attributes(r, err);
	case SCHEMA_VALUES: return check_values(r, err);
	case SCHEMA_DURATION:
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

/*
 * schema - which fields a record of each kind has, in the order of the wire.
 *
 * Private to the modules of proto.  One table for record_check, the check of
 * received bytes, the reader and the writer, so that they cannot disagree.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_SCHEMA_H
#define PROTO_RECORD_SCHEMA_H

#include <stdint.h>

#include "proto/record/record.h"

enum { SHAPE_FIELDS_MAX = 7 };

/* A field: its form on the wire and its place in struct record. */
enum shape_field {
	SHAPE_TIME,       /* int: time_ns */
	SHAPE_END,        /* int: end_ns */
	SHAPE_MAYBE_TIME, /* int or nil: time_ns, has_time */
	SHAPE_MAYBE_END,  /* int or nil: end_ns, has_end */
	SHAPE_SOURCE,     /* str, a name: source */
	SHAPE_NAME,       /* str, a name: name */
	SHAPE_CATEGORY,   /* str, a name or empty: key */
	SHAPE_KEY,        /* str, a text or empty: key */
	SHAPE_UUID,       /* bin 16 or nil: key */
	SHAPE_ATTRIBUTES, /* map: attributes, pairs */
	SHAPE_VALUES,     /* array of numbers and nils: values, value_bytes */
	SHAPE_NUMBERS,    /* the same, or without values bin: value_bytes */
	SHAPE_COUNT,      /* uint: count */
	SHAPE_BYTES,      /* bin: value_bytes */
};

struct shape {
	uint8_t fields;
	uint8_t field[SHAPE_FIELDS_MAX]; /* enum shape_field */
	const char *kind;                /* "event" */
	const char *called[SHAPE_FIELDS_MAX];
};

/* By enum record_kind; a context has no fields here.  In the header so that
 * a compiler can take the loop over the fields of an event apart. */
static const struct shape shapes[RECORD_KINDS] = {
	[RECORD_CONTEXT] = { .kind = "context" },
	[RECORD_EVENT] = { 5,
	    { SHAPE_TIME, SHAPE_SOURCE, SHAPE_NAME, SHAPE_ATTRIBUTES,
		SHAPE_UUID },
	    "event", { "time", "source", "name", "attributes", "uuid" } },
	[RECORD_SAMPLE] = { 3, { SHAPE_TIME, SHAPE_SOURCE, SHAPE_VALUES },
	    "sample", { "time", "set", "values" } },
	[RECORD_SPAN] = { 6,
	    { SHAPE_TIME, SHAPE_END, SHAPE_SOURCE, SHAPE_NAME, SHAPE_CATEGORY,
		SHAPE_ATTRIBUTES },
	    "span",
	    { "begin", "end", "track", "name", "category", "attributes" } },
	[RECORD_ENTITY] = { 3, { SHAPE_SOURCE, SHAPE_NAME, SHAPE_ATTRIBUTES },
	    "entity", { "kind", "id", "properties" } },
	[RECORD_GAP] = { 5,
	    { SHAPE_TIME, SHAPE_END, SHAPE_SOURCE, SHAPE_NAME, SHAPE_COUNT },
	    "gap", { "from", "to", "class", "reason", "count" } },
	[RECORD_PHASE] = { 6,
	    { SHAPE_MAYBE_TIME, SHAPE_MAYBE_END, SHAPE_SOURCE, SHAPE_NAME,
		SHAPE_KEY, SHAPE_ATTRIBUTES },
	    "phase",
	    { "begin", "end", "model", "phase", "key", "attributes" } },
	[RECORD_DEAD] = { 5,
	    { SHAPE_TIME, SHAPE_NAME, SHAPE_COUNT, SHAPE_BYTES, SHAPE_KEY },
	    "dead", { "time", "reason", "bytes", "first bytes", "sha256" } },
	[RECORD_RUN] = { 6,
	    { SHAPE_MAYBE_TIME, SHAPE_SOURCE, SHAPE_NAME, SHAPE_KEY,
		SHAPE_COUNT, SHAPE_BYTES },
	    "run", { "first", "model", "id", "group", "flags", "events" } },
};

/* In pages a sample may be a bucket: what the samples of one metric were in a
 * step of time. */
static const struct shape shape_bucket = { 6,
	{ SHAPE_TIME, SHAPE_SOURCE, SHAPE_VALUES, SHAPE_NAME, SHAPE_END,
	    SHAPE_CATEGORY },
	"sample", { "time", "set", "values", "metric", "end", "tier" } };
/* Or a run of them, one behind the other; or samples as columns. */
static const struct shape shape_run = { 7,
	{ SHAPE_TIME, SHAPE_SOURCE, SHAPE_NUMBERS, SHAPE_NAME, SHAPE_END,
	    SHAPE_CATEGORY, SHAPE_COUNT },
	"sample",
	{ "time", "set", "values", "metric", "end", "tier", "count" } };

/* What a sample of a page is, whose array has so many elements. */
static inline const struct shape *
shape_of_sample(uint32_t elements)
{
	if (elements > shape_run.fields)
		return &shape_run;
	return elements > shape_bucket.fields ? &shape_bucket
					      : &shapes[RECORD_SAMPLE];
}

/* A sample with a name is a bucket, so many, or columns. */
static inline const struct shape *
shape_of(const struct record *r)
{
	if (r->kind != RECORD_SAMPLE || r->name.bytes == 0)
		return &shapes[r->kind];
	/* Bytes that are no values can only be cells. */
	return r->count > 0 || (r->values == 0 && r->value_bytes.bytes > 0)
		   ? &shape_run
		   : &shape_bucket;
}

/* For the loop over a shape: only unrolled into its caller it is worth it. */
#define SHAPE_INLINE __attribute__((always_inline)) static inline

/* Copy a view member by member.  A copy of all 16 bytes would wait until the
 * two stores that made the view have reached the cache. */
static inline void
shape_copy(struct text *to, const struct text *from)
{
	to->at = from->at;
	to->bytes = from->bytes;
}

/* Longest text among the attributes of a record of `kind`. */
static inline uint32_t
shape_text_bytes_max(enum record_kind kind)
{
	return kind == RECORD_ENTITY ? RECORD_ENTITY_TEXT_BYTES_MAX
				     : RECORD_TEXT_BYTES_MAX;
}

#endif

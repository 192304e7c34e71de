/*
 * schema - the fields of a record of each kind, in the order of the wire.
 *
 * Private to the modules of proto.  record_check, the check of received bytes,
 * the reader and the writer share this table, so that they cannot disagree.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_SCHEMA_H
#define PROTO_RECORD_SCHEMA_H

#include <stdint.h>

#include "proto/record/record.h"

enum { SCHEMA_FIELDS_MAX = 9 };

/* A field: its encoding on the wire and its member in struct record. */
enum schema_field {
	SCHEMA_TIME,       /* int: time_ns */
	SCHEMA_END,        /* int: end_ns */
	SCHEMA_MAYBE_TIME, /* int or nil: time_ns, has_time */
	SCHEMA_MAYBE_END,  /* int or nil: end_ns, has_end */
	SCHEMA_DURATION,   /* int or nil: duration_ns, has_duration */
	SCHEMA_SOURCE,     /* str, a name: source */
	SCHEMA_NAME,       /* str, a name: name */
	SCHEMA_CATEGORY,   /* str, a name or empty: key */
	SCHEMA_KEY,        /* str, a text or empty: key */
	SCHEMA_RUN,        /* str, a name or empty: run */
	SCHEMA_UUID,       /* bin 16 or nil: key */
	SCHEMA_ATTRIBUTES, /* map: attributes, pairs */
	SCHEMA_VALUES,     /* array of numbers and nils: values, value_bytes */
	SCHEMA_NUMBERS,    /* like SCHEMA_VALUES, or without values bin:
			      value_bytes */
	SCHEMA_COUNT,      /* uint: count */
	SCHEMA_BYTES,      /* bin: value_bytes */
};

struct schema {
	uint8_t fields;
	uint8_t field[SCHEMA_FIELDS_MAX]; /* enum schema_field */
	const char *kind;                 /* "event" */
	const char *called[SCHEMA_FIELDS_MAX];
};

/* By enum record_kind; a context has no entry.  In the header so that the
 * compiler can unroll the loop over the fields of an event. */
static const struct schema schemas[RECORD_KINDS] = {
	[RECORD_CONTEXT] = { .kind = "context" },
	[RECORD_EVENT] = { 5,
	    { SCHEMA_TIME, SCHEMA_SOURCE, SCHEMA_NAME, SCHEMA_ATTRIBUTES,
		SCHEMA_UUID },
	    "event", { "time", "source", "name", "attributes", "uuid" } },
	[RECORD_SAMPLE] = { 3, { SCHEMA_TIME, SCHEMA_SOURCE, SCHEMA_VALUES },
	    "sample", { "time", "set", "values" } },
	[RECORD_SPAN] = { 6,
	    { SCHEMA_TIME, SCHEMA_END, SCHEMA_SOURCE, SCHEMA_NAME,
		SCHEMA_CATEGORY, SCHEMA_ATTRIBUTES },
	    "span",
	    { "begin", "end", "track", "name", "category", "attributes" } },
	[RECORD_ENTITY] = { 3,
	    { SCHEMA_SOURCE, SCHEMA_NAME, SCHEMA_ATTRIBUTES }, "entity",
	    { "kind", "id", "properties" } },
	[RECORD_GAP] = { 5,
	    { SCHEMA_TIME, SCHEMA_END, SCHEMA_SOURCE, SCHEMA_NAME,
		SCHEMA_COUNT },
	    "gap", { "from", "to", "class", "reason", "count" } },
	[RECORD_PHASE] = { 9,
	    { SCHEMA_MAYBE_TIME, SCHEMA_MAYBE_END, SCHEMA_SOURCE, SCHEMA_NAME,
		SCHEMA_KEY, SCHEMA_ATTRIBUTES, SCHEMA_RUN, SCHEMA_COUNT,
		SCHEMA_DURATION },
	    "phase",
	    { "begin", "end", "model", "phase", "key", "attributes", "run",
		"flags", "duration" } },
	[RECORD_REJECTED] = { 5,
	    { SCHEMA_TIME, SCHEMA_NAME, SCHEMA_COUNT, SCHEMA_BYTES,
		SCHEMA_KEY },
	    "rejected",
	    { "time", "reason", "bytes", "first bytes", "sha256" } },
	[RECORD_RUN] = { 6,
	    { SCHEMA_MAYBE_TIME, SCHEMA_SOURCE, SCHEMA_NAME, SCHEMA_KEY,
		SCHEMA_COUNT, SCHEMA_BYTES },
	    "run", { "first", "model", "id", "group", "flags", "events" } },
};

/* In pages a sample may also be one bucket: a summary of the samples of a
 * metric in a time step ... */
static const struct schema schema_bucket = { 6,
	{ SCHEMA_TIME, SCHEMA_SOURCE, SCHEMA_VALUES, SCHEMA_NAME, SCHEMA_END,
	    SCHEMA_CATEGORY },
	"sample", { "time", "set", "values", "metric", "end", "rollup" } };
/* ... or several consecutive buckets, or samples as columns. */
static const struct schema schema_run = { 7,
	{ SCHEMA_TIME, SCHEMA_SOURCE, SCHEMA_NUMBERS, SCHEMA_NAME, SCHEMA_END,
	    SCHEMA_CATEGORY, SCHEMA_COUNT },
	"sample",
	{ "time", "set", "values", "metric", "end", "rollup", "count" } };

/* The shape of a sample of a page whose array has this number of elements. */
static inline const struct schema *
schema_of_sample(uint32_t elements)
{
	if (elements > schema_run.fields)
		return &schema_run;
	return elements > schema_bucket.fields ? &schema_bucket
					       : &schemas[RECORD_SAMPLE];
}

/* A sample with a name is one bucket, several buckets, or columns. */
static inline const struct schema *
schema_of(const struct record *r)
{
	if (r->kind != RECORD_SAMPLE || r->name.bytes == 0)
		return &schemas[r->kind];
	/* Bytes without values can only be cells. */
	return r->count > 0 || (r->values == 0 && r->value_bytes.bytes > 0)
		   ? &schema_run
		   : &schema_bucket;
}

/* For the loops over the fields, which must be unrolled into their callers to
 * be fast. */
#define SCHEMA_INLINE __attribute__((always_inline)) static inline

/* Copy a view member by member.  A copy of all 16 bytes at once would wait
 * until the two stores that made the view reach the cache. */
static inline void
schema_copy(struct text *to, const struct text *from)
{
	to->at = from->at;
	to->bytes = from->bytes;
}

/* Length of the longest text attribute of a record of `kind`. */
static inline uint32_t
schema_text_bytes_max(enum record_kind kind)
{
	return kind == RECORD_ENTITY ? RECORD_ENTITY_TEXT_BYTES_MAX
				     : RECORD_TEXT_BYTES_MAX;
}

#endif

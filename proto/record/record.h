/*
 * record - what travels and what is kept.
 *
 * A struct record is a view: its texts point into the buffer it was decoded
 * from.  Attributes and values stay MessagePack until someone asks for them
 * (record_next_attribute), so that passing a record on costs nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_RECORD_H
#define PROTO_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	RECORD_ATTRIBUTES_MAX = 64,
	RECORD_TEXT_BYTES_MAX = 32 << 10,       /* a text attribute */
	RECORD_ENTITY_TEXT_BYTES_MAX = 1 << 20, /* a text property */
	RECORD_VALUES_MAX = 4096,               /* values of a sample */
	RECORD_ID_BYTES = 16,
};

/* The numbers are on the wire and at rest: never change one. */
enum record_kind {
	RECORD_CONTEXT = 0, /* whose records follow; never seen by readers */
	RECORD_EVENT = 1,
	RECORD_SAMPLE = 2,
	RECORD_SPAN = 3,
	RECORD_ENTITY = 4,
	RECORD_GAP = 5,      /* records that were lost, and says so */
	RECORD_PHASE = 6,    /* a pair of events; only in answers to readers */
	RECORD_REJECTED = 7, /* a batch that could not be read; same */
	RECORD_RUN = 8,      /* the events of a run together; same */
	RECORD_KINDS
};

/* 128 random bits, made with a spool; or derived from content by imports. */
struct session_id {
	unsigned char bytes[16];
};

/* Who a record is: unique in the world, assigned by its session. */
struct record_id {
	struct session_id session;
	uint64_t seq;   /* batch number in the stream, from 1 */
	uint32_t index; /* position in the batch, from 0 */
};

struct record {
	enum record_kind kind;
	struct text node;    /* from the batch or the last context record */
	struct record_id id; /* filled by readers of batches and pages */
	int64_t receive_ns;  /* aggregator's clock; 0 before it got there */

	int64_t time_ns; /* event: emitted; sample: taken; span, phase: begin;
			    gap: from; dead: received; run: first event */
	int64_t end_ns;  /* span, phase: end; gap: to */
	bool has_time, has_end; /* false: phase whose start / end is missing,
				   run without events */

	/*         event   sample  span      entity  phase  gap     dead    run
	 * source  source  set     track     kind    model  class   - model name
	 * name    -       name      id      phase  reason  reason  id key uuid
	 * -       category  -       key    -       -       group A sample of a
	 * page may be buckets (wire/buckets.h): name metric, key rollup; or
	 * columns (wire/columns.h).
	 */
	struct text source, name, key;

	/* gap: records lost (0: unknown).  dead: bytes of the batch.  sample
	 * of a page: how many buckets or samples it is (0: one).  run: what is
	 * known of it (enum run_flag of run_events.h). */
	uint64_t count;

	uint32_t attributes; /* in pairs */
	struct text pairs;   /* MessagePack: key, value, key, value ... */
	uint32_t values;     /* sample: numbers in value_bytes */
	struct text
	    value_bytes; /* sample: MessagePack; dead: the batch's
			    first bytes; run: its events (run_events.h) */
};

enum value_type {
	VALUE_NIL,
	VALUE_BOOL,
	VALUE_INT,  /* i */
	VALUE_UINT, /* u: only for what does not fit int64 */
	VALUE_FLOAT,
	VALUE_TEXT
};

struct value {
	enum value_type type;
	union {
		bool boolean;
		int64_t i;
		uint64_t u;
		double f;
		struct text text;
	} is;
};

struct attribute {
	struct text key;
	struct value value;
};

/* Take the next pair / value off the front of `rest`.  False at the end.
 * `rest` must come from a checked record. */
bool record_next_attribute(struct text *rest, struct attribute *attribute);
bool record_next_value(struct text *rest, struct value *value);

/* The first `count` values of a sample as doubles: NaN for one that is nil, or
 * behind the last.  `value_bytes` must come from a checked record. */
void record_get_numbers(
    const struct record *record, double *to, uint32_t count);

/* The attribute called `key`, or false. */
bool record_find_attribute(
    const struct record *record, struct text key, struct value *value);
/* The same where it is text; else false, and `text` stays as it is. */
bool record_find_text(
    const struct record *record, const char *key, struct text *text);

/* Does the record keep to the limits (names, text, counts, time range)?  -1
 * and a sentence that names the field and the limit. */
int record_check(const struct record *record, struct err *err);

const char *record_kind_name(enum record_kind kind); /* "event" ... */
int record_kind_parse(struct text word, enum record_kind *kind);

bool session_equal(const struct session_id *a, const struct session_id *b);
/* 32 hexadecimal digits and NUL. */
const char *session_text(char to[static 33], const struct session_id *id);
void session_random(struct session_id *id);

#endif

/*
 * record - the unit that is sent and stored.
 *
 * A struct record is a view: its texts point into the buffer from which it was
 * decoded.  Attributes and values remain MessagePack until a caller reads them
 * (record_next_attribute), so that forwarding a record costs nothing.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_RECORD_H
#define PROTO_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/record/session.h"
#include "proto/record/value.h"

enum {
	RECORD_ATTRIBUTES_MAX = 64,
	RECORD_TEXT_BYTES_MAX = 32 << 10,       /* a text attribute */
	RECORD_ENTITY_TEXT_BYTES_MAX = 1 << 20, /* a text property */
	RECORD_VALUES_MAX = 4096,               /* values of a sample */
	RECORD_ID_BYTES = 16,
};

/* The attribute with the uid of the user whose record an agent accepted. */
#define RECORD_SUBMITTER_KEY "submitter.uid"

/* These numbers are on the wire and on disk: never change one. */
enum record_kind {
	RECORD_CONTEXT = 0, /* node of the records that follow */
	RECORD_EVENT = 1,
	RECORD_SAMPLE = 2,
	RECORD_SPAN = 3,
	RECORD_ENTITY = 4,
	RECORD_GAP = 5,      /* reports lost records */
	RECORD_PHASE = 6,    /* a pair of events; only in answers to queries */
	RECORD_REJECTED = 7, /* a rejected batch; only in answers to queries */
	RECORD_RUN = 8, /* all events of a run id; only in answers to queries */
	RECORD_KINDS
};

enum record_phase_flag {
	RECORD_PHASE_FIFO = 1,     /* with `run`: the first start ends first */
	RECORD_PHASE_MEASURED = 2, /* the end event gave the duration */
};

/* Identity of a record: globally unique, assigned by its session. */
struct record_id {
	struct session_id session;
	uint64_t seq;   /* batch number in the stream, from 1 */
	uint32_t index; /* position in the batch, from 0 */
};

struct record {
	enum record_kind kind;
	struct text node; /* from the batch header or the last context record */
	struct record_id id; /* set by readers of batches and pages */
	int64_t receive_ns;  /* aggregator's clock; 0: not received yet */

	int64_t time_ns; /* event: emitted; sample: taken; span, phase: begin;
			    gap: from; rejected: received; run: first event */
	int64_t end_ns;  /* span, phase: end; gap: to */
	bool has_time, has_end; /* false: phase without its start / end event,
				   run without events */

	/*
	 *             source  name    key
	 *   event     source  name    uuid
	 *   sample    group   -       -
	 *   span      track   name    category
	 *   entity    kind    id      -
	 *   phase     model   phase   key
	 *   gap       class   reason  -
	 *   rejected  -       reason  sha256
	 *   run       model   id      group
	 *
	 * A sample of a page may be buckets (wire/buckets.h): its name is the
	 * metric, its key the rollup; or columns (wire/columns.h).
	 */
	struct text source, name, key;

	/* phase: how long it took, by the rule of poolscope-model(5), computed
	 * by who made the pair.  An end alone has one if it measured it. */
	int64_t duration_ns;
	bool has_duration;

	/* phase whose events pair wherever they come from: the run that they
	 * share, in answers that do not pair them (WIRE_FLAG_UNPAIRED). */
	struct text run;

	/* gap: records lost (0: unknown).  rejected: bytes of the batch.
	 * sample of a page: number of buckets or samples in it (0: one).  run:
	 * what is known of it (enum run_flag of run.h).  phase: enum
	 * record_phase_flag. */
	uint64_t count;

	uint32_t attributes; /* in pairs */
	struct text pairs;   /* MessagePack: key, value, key, value ... */
	uint32_t values;     /* sample: numbers in value_bytes */
	/* sample: MessagePack; rejected: the first bytes of the batch; run: its
	 * events (run.h) */
	struct text value_bytes;
};

/* The source of phases that no model defines (poolscope-model(5)), and what
 * spans are asked for by as if they were phases; no model has these names. */
#define RECORD_NO_MODEL   "none"
#define RECORD_SPAN_MODEL "span"

struct record_attribute {
	struct text key;
	struct value value;
};

/* Take the next pair / value from the front of `rest`.  False at the end.
 * `rest` must come from a checked record. */
bool record_next_attribute(
    struct text *rest, struct record_attribute *attribute);
bool record_next_value(struct text *rest, struct value *value);

/* The first `count` values of a sample as doubles: NaN for nil and for values
 * beyond the end.  `value_bytes` must come from a checked record. */
void record_get_numbers(
    const struct record *record, double *to, uint32_t count);

/* Find the attribute `key`; false if there is none. */
bool record_find_attribute(
    const struct record *record, struct text key, struct value *value);
/* Find it if it is text; otherwise return false and leave `text` unchanged. */
bool record_find_text(
    const struct record *record, const char *key, struct text *text);
/* The attribute `key` as a count: a number from 0 on, or 1 for true; 0 when it
 * is anything else, or not there. */
int64_t record_count(const struct record *record, const char *key);

/* Write "source:name", of a phase "model:phase", to `to`, and return it. */
struct text record_whole_name(
    char to[static 2 * NAME_BYTES_MAX + 1], const struct record *record);

/* -1: the record exceeds a limit (names, text, counts, time range); `err` names
 * the field and the limit. */
int record_check(const struct record *record, struct err *err);

const char *record_kind_name(enum record_kind kind); /* "event" ... */
int record_kind_parse(struct text word, enum record_kind *kind);

#endif

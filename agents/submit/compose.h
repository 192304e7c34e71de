/*
 * compose - makes a record from the event or span of a command.
 *
 * Source and event name are converted to lower case, as Batch Shipyard's
 * recorder did.  Each record gets a random uuid, so that a repeated submission
 * is stored once.  After compose_event the steps may come in any order;
 * compose_end checks the limits and returns the record.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SUBMIT_COMPOSE_H
#define AGENTS_SUBMIT_COMPOSE_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/record/record.h"
#include "proto/wire/wire.h"

enum {
	/* The maximum frame of the local listener minus the maximum header. */
	COMPOSE_BYTES_MAX =
	    WIRE_PUT_BYTES_MAX - WIRE_FIXED_BYTES - WIRE_HEADER_BYTES_MAX,
};

/* One event under construction: 64 KiB, so not for a stack.  The texts of
 * `record` point into it. */
struct compose {
	char partition[NAME_BYTES_MAX + 1]; /* "": the agent's own */
	char node[NAME_BYTES_MAX + 1];
	char source[NAME_BYTES_MAX + 1], name[NAME_BYTES_MAX + 1];
	unsigned char uuid[RECORD_ID_BYTES];
	struct record record;
	struct wire_writer writer;
	unsigned char pairs[COMPOSE_BYTES_MAX];
};

/* Begin an event with the current time, without attributes. */
int compose_event(struct compose *compose, struct text source, struct text name,
    struct err *err);

/* Begin a span instead, without attributes.  The names must be valid and
 * outlive the compose. */
void compose_span(struct compose *compose, struct text track, struct text name,
    struct text category, int64_t begin_ns, int64_t end_ns);

/* Take a complete record instead, which must outlive the compose. */
void compose_record(struct compose *compose, const struct record *record);

/* Decimal seconds since the epoch, precise to the nanosecond. */
int compose_time(struct compose *compose, struct text seconds, struct err *err);
int compose_partition(
    struct compose *compose, struct text partition, struct err *err);
int compose_node(struct compose *compose, struct text node, struct err *err);

/* An attribute given twice is an error. */
int compose_attribute(struct compose *compose, struct text key,
    const struct value *value, struct err *err);
/* "key=value", the value as text. */
int compose_pair(struct compose *compose, struct text pair, struct err *err);
/* Attribute "run": the id of the event's test run. */
int compose_run(struct compose *compose, struct text run, struct err *err);
/* Attribute "receive_ns": the original receive time of an imported event.  As
 * compose_time. */
int compose_received(
    struct compose *compose, struct text seconds, struct err *err);
/* Attribute "message", unless the message is empty. */
int compose_message(
    struct compose *compose, struct text message, struct err *err);

int compose_end(struct compose *compose, struct err *err);

/* Convert UTF-8 text to lower case, character by character.  -1 when the
 * result does not fit in a name or is invalid. */
int compose_lower(char to[static NAME_BYTES_MAX + 1], struct text t,
    const char *what, struct err *err);

#endif

/*
 * record_json - a record as a line of JSON, and its parts for other formats.
 *
 * Every line has kind, partition, node, session, seq, index (these identify the
 * record), receive_ns, and the fields of the kind.  A time is written twice, as
 * integer nanoseconds (_ns) and as text.  JSON is strict: a value of a sample
 * that is not a finite number is null.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_DECODE_RECORD_JSON_H
#define PROTO_DECODE_RECORD_JSON_H

#include <stdio.h>

#include "proto/json/json.h"
#include "proto/record/record.h"

enum { RECORD_JSON_DECIMALS = 9 }; /* of a second */

/* What was done to the times of a record. */
struct record_json_clock {
	bool corrected;
	int64_t time_ns, end_ns;     /* before the correction */
	int64_t offset_ns, error_ns; /* the correction, and its error */
};

/* Write an object; `clock` NULL: the times are as recorded, and the object has
 * no members about clocks. */
void record_json_object(struct json *json, struct text partition,
    const struct record *record, const struct record_json_clock *clock);
/* The same object on a line of its own. */
void record_json_line(FILE *file, struct text partition,
    const struct record *record, const struct record_json_clock *clock);

/* With the labels of its metric group, a JSON object; empty: none. */
void record_json_sample_line(FILE *file, struct text partition,
    const struct record *record, struct text labels,
    const struct record_json_clock *clock);

/* The names of the fields of struct record for each kind; NULL: the kind does
 * not have the field. */
struct record_json_fields {
	const char *time, *end;
	const char *source, *name, *key;
	const char *pairs;
	bool count, values, bytes, run, duration;
};
extern const struct record_json_fields record_json_fields[RECORD_KINDS];

/* Only a phase may lack one of its times, and a run may have no events. */
bool record_json_has_time(const struct record *record, bool end);

/* The values of a sample as an array; the state of a run as members of an
 * object. */
void record_json_values(struct json *json, struct text values);
void record_json_run(struct json *json, const struct record *record);

#endif

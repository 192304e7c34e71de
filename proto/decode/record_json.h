/*
 * record_json - one record as a line of JSON, and its parts for other forms.
 *
 * Every line has kind, partition, node, session, seq and index (who the record
 * is), receive_ns, and its own fields; each time as integer nanoseconds (_ns)
 * and as text.  JSON is strict: a sample that is not a number is null.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_DECODE_RECORD_JSON_H
#define PROTO_DECODE_RECORD_JSON_H

#include <stdio.h>

#include "proto/format/json.h"
#include "proto/record/record.h"

enum { RECORD_JSON_DECIMALS = 9 }; /* of a second */

/* On which clock the times of a record are; when they were corrected, its raw
 * times, what was added, and the error of that. */
struct record_json_clock {
	bool corrected;
	int64_t time_ns, end_ns;
	int64_t offset_ns, error_ns;
};

/* An object; `clock` NULL: the times are raw and the object does not say it. */
void record_json_object(struct json *json, struct text partition,
    const struct record *record, const struct record_json_clock *clock);
/* The same on a line of its own. */
void record_json_line(FILE *file, struct text partition,
    const struct record *record, const struct record_json_clock *clock);

/* What the fields of struct record are called in each kind; NULL: the kind
 * does not have it. */
struct record_json_fields {
	const char *time, *end;
	const char *source, *name, *key;
	const char *pairs;
	bool count, values, bytes, run;
};
extern const struct record_json_fields record_json_fields[RECORD_KINDS];

/* Only a phase may lack one of its times, and a run may have no events. */
bool record_json_has_time(const struct record *record, bool end);

/* Values of a sample, as an array; what a run is, as members of an object. */
void record_json_values(struct json *json, struct text values);
void record_json_run(struct json *json, const struct record *record);

#endif

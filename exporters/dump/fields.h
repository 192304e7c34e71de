/*
 * dump_fields - what the two forms of a dumped record (record_json.h) share.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_DUMP_FIELDS_H
#define EXPORTERS_DUMP_FIELDS_H

#include "proto/format/json.h"

enum { DUMP_DECIMALS = 9 }; /* of a second */

/* What the fields of struct record are called in each kind; NULL: not there. */
struct dump_fields {
	const char *time, *end;
	const char *source, *name, *key;
	const char *pairs;
	bool count, values, bytes, run;
};
extern const struct dump_fields dump_fields[RECORD_KINDS];

/* Only of a phase half may be missing, and a run may have no events. */
bool dump_has_time(const struct record *record, bool end);

/* Values of a sample, as an array; what a run is, as members of an object. */
void dump_put_values(struct json *json, struct text values);
void dump_put_run(struct json *json, const struct record *record);

#endif

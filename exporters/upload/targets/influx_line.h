/*
 * influx_line - the pieces of InfluxDB's line protocol:
 *
 *	measurement,tag=value field=1,other=2.5 1795334400000000000
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_TARGETS_INFLUX_LINE_H
#define EXPORTERS_UPLOAD_TARGETS_INFLUX_LINE_H

#include <stddef.h>

#include "proto/base/number.h"
#include "proto/record/record.h"

enum influx_part {
	INFLUX_MEASUREMENT,
	INFLUX_KEY, /* keys of tags and fields, values of tags */
};

/* Write a name so that it can stand there; `to` has room for twice its bytes.
 * A backslash before a character with a meaning cannot be said, nor a '#' at
 * the beginning of a line: '/' and '_' stand for them.  Returns the length. */
size_t influx_escape(char *to, struct text name, enum influx_part part);

/* A number as a field: "1", "2.5", "true".  Without an "i" behind it a whole
 * number is a float there, like others of its column: InfluxDB refuses a field
 * that is an integer once and a float the next time.  NULL: it is no number, or
 * not finite.  Writes at most NUMBER_BYTES; returns what is behind it. */
unsigned char *influx_put_number(unsigned char *to, const struct value *value);

#endif

/*
 * target_influx - upload samples as line protocol to InfluxDB, VictoriaMetrics
 * and compatible services.  The measurement is the metric group, the tags are
 * node and partition, the fields are the columns.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_TARGETS_INFLUX_H
#define EXPORTERS_UPLOAD_TARGETS_INFLUX_H

#include <stddef.h>

#include "proto/base/number.h"
#include "proto/record/record.h"

/*
 * Format the parts of InfluxDB's line protocol:
 *
 * 	measurement,tag=value field=1,other=2.5 1795334400000000000
 *
 */

enum influx_part {
	INFLUX_MEASUREMENT,
	INFLUX_KEY, /* keys of tags and fields, values of tags */
};

/* Escape a name; `to` has room for twice its bytes.  The format cannot express
 * a backslash before a special character, nor a '#' at the beginning of a
 * line, nor control characters: they become '/', '_' and '_'.  Returns the
 * length. */
size_t influx_escape(char *to, struct text name, enum influx_part part);

/* Format a number as a field: "1", "2.5", "true".  Whole numbers get no suffix
 * "i", so that they are floats like the other values of the column: InfluxDB
 * rejects a field whose type changes.  Writes at most NUMBER_BYTES and returns
 * the end; NULL if it is not a finite number. */
unsigned char *influx_put_number(unsigned char *to, const struct value *value);

#endif

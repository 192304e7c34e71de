/*
 * unit - readable units: seconds and bytes, whatever unit was counted, and what
 * the rate of a counter is.
 *
 * A rate of seconds is no unit for people.  Of the processors of a node it is
 * per cent of them, of jobs and processes a number of processors, of pressure
 * and of disks per cent of the time, else a number.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_UNIT_H
#define EXPORTERS_SAMPLES_UNIT_H

#include "exporters/samples/cpus.h"
#include "exporters/samples/series.h"
#include "proto/base/text.h"
#include "proto/record/record.h"

/* Returns the factor that converts a number from `unit`, and the readable unit
 * (1 and the same unit where there is nothing to convert).  `shown` may be the
 * buffer of `unit`. */
double unit_scale(struct text unit, struct text *shown);

enum { UNIT_SHOWN_BYTES = NAME_BYTES_MAX + 8 };

/* Read how many processors the nodes of the query have, if it asks for the
 * times of processors; `cpus` is initialized, and read once. */
int unit_read_cpus(struct cpus *cpus, struct series *series,
    const struct series_query *query, struct err *err);

/* Returns the factor for the numbers of a point, which for a counter are its
 * rates, and writes their unit into `shown` of UNIT_SHOWN_BYTES, unless it is
 * NULL, whole: "By/s", "%", "{cpu}".
 * `cpus` may be NULL, or have no node: then times of processors are processors,
 * too. NaN: the node's number of processors is not known. */
double unit_of_point(
    const struct series_point *point, const struct cpus *cpus, char *shown);

#endif

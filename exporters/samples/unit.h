/*
 * unit - readable units: seconds and bytes, whatever unit was counted.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_UNIT_H
#define EXPORTERS_SAMPLES_UNIT_H

#include "proto/base/text.h"

/* Returns the factor that converts a number from `unit`, and the readable unit
 * (1 and the same unit where there is nothing to convert).  `shown` may be the
 * buffer of `unit`. */
double unit_scale(struct text unit, struct text *shown);

#endif

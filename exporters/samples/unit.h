/*
 * unit - units for people: seconds and bytes, whatever was counted in.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SAMPLES_UNIT_H
#define EXPORTERS_SAMPLES_UNIT_H

#include "proto/base/text.h"

/* What to multiply a number in `unit` with, and the unit that it is in then
 * (1 and the same where there is nothing to do).  `shown` may be where `unit`
 * is from. */
double unit_scale(struct text unit, struct text *shown);

#endif

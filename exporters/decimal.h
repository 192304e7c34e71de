/*
 * decimal - number_repr, faster for what exporters mostly print: times in
 * seconds with at most six decimals.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_DECIMAL_H
#define EXPORTERS_DECIMAL_H

#include "proto/number.h"

/* Exactly as number_repr. */
size_t decimal_repr(char to[static NUMBER_BYTES], double value);

#endif

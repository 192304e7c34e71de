/*
 * number - convert numbers to and from text; doubles as Python writes them.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_NUMBER_H
#define PROTO_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

enum { NUMBER_BYTES = 32 };

/* The shortest decimal that reads back to the same double, laid out as
 * Python's str(float): fixed for decimal exponents -4..15 with at least one
 * digit after the point ("30.0"), else "1e-06", "1.5e+22"; "inf", "-inf",
 * "nan", "-0.0".  Returns the length; `to` is NUL-terminated. */
size_t number_repr(char to[static NUMBER_BYTES], double value);

/* Parse a complete text as a number (no blanks around it, "C" locale). */
int number_parse_u64(struct text t, uint64_t *value, struct err *err);
int number_parse_double(struct text t, double *value, struct err *err);

/* A size option: "64k", "256KiB", "1.5GB", "4096": suffixes K M G T P, alone
 * or with iB, are binary, with B decimal.  Truncated toward zero. */
int number_parse_bytes(struct text t, uint64_t *bytes, struct err *err);

#endif

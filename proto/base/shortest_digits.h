/*
 * shortest_digits - the shortest digits of a double, by double-conversion.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_SHORTEST_DIGITS_H
#define PROTO_BASE_SHORTEST_DIGITS_H

/* 17 digits and a NUL. */
enum { SHORTEST_DIGITS_BYTES = 18 };

#ifdef __cplusplus
extern "C" {
#endif

/* The fewest digits that read back to `value`, which is finite and above 0;
 * among several such numbers the nearest.  Returns the number of digits; the
 * decimal point is before digit `*point`. */
int shortest_digits(char *digits, double value, int *point);

#ifdef __cplusplus
}
#endif

#endif

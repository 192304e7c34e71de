/*
 * quantity - a number with the unit that suits its size, for people.
 *
 * Sizes are in powers of 1024 with the units of IEC 80000-13, in tables as in
 * pictures; counts (table_count) in powers of 1000.  A unit is taken from 1000
 * of the one below, so that no number has more than three digits in front.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_FORMAT_QUANTITY_H
#define PROTO_FORMAT_QUANTITY_H

#include "proto/base/text.h"

enum {
	QUANTITY_TEXT_BYTES = 48,
	QUANTITY_SHORT_WIDTH = 6, /* characters of quantity_bytes_short */
};

/* "999 B", "1.5 KiB": up to EiB. */
const char *quantity_bytes(char to[static QUANTITY_TEXT_BYTES], double bytes);
/* The same for narrow columns: "999B", "1.5KiB", "12KiB". */
const char *quantity_bytes_short(
    char to[static QUANTITY_TEXT_BYTES], double bytes);
/* The unit for sizes up to `greatest`, and how many bytes it has. */
const char *quantity_bytes_unit(double greatest, double *scale);

/* "0 s", "-29.6 us", "8.00 s", "80.7 s", "12.3 min": three digits or four.
 * Seconds are up to 10 minutes, in which starts and phases are compared,
 * minutes up to 2 hours, hours up to 2 days.  `duration` of the page does the
 * same. */
const char *quantity_time(char to[static QUANTITY_TEXT_BYTES], double ns);

/* What numbers of a unit (UCUM) are shown as. */
enum quantity_kind {
	QUANTITY_NUMBER, /* as they are */
	QUANTITY_SECONDS,
	QUANTITY_BYTES,
	QUANTITY_BYTES_PER_SECOND,
};
enum quantity_kind quantity_kind_of(struct text unit);
/* One that is no QUANTITY_NUMBER: "64.0 GiB", "1.5 KiB/s", "300.0 s"; of
 * seconds that are a time since 1970 "2026-11-30", the day. */
const char *quantity_shown(char to[static QUANTITY_TEXT_BYTES],
    enum quantity_kind kind, double number);

#endif

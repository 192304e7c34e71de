/*
 * clock - wall and monotonic time, and times as people write them.
 *
 * Times are int64 nanoseconds: wall times since 1970-01-01T00:00:00Z without
 * leap seconds, monotonic times since an arbitrary point.  Timers use the
 * monotonic clock only.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_CLOCK_H
#define PROTO_OS_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

#define NS_PER_SECOND INT64_C(1000000000)

enum { CLOCK_TEXT_BYTES = 40 };

int64_t clock_wall_ns(void);
int64_t clock_monotonic_ns(void);
/* Monotonic too, but it also counts the time that the machine was suspended. */
int64_t clock_boot_ns(void);

/* A timestamp is in range, for every input, if TIME_MIN_NS <= t <=
 * TIME_MAX_NS: 1900-01-01 to 2200-01-01. */
#define TIME_MIN_NS (INT64_C(-2208988800) * NS_PER_SECOND)
#define TIME_MAX_NS (INT64_C(7258118400) * NS_PER_SECOND)

/* Converts decimal seconds since the epoch ("1508000063.695798", "-1",
 * "1.5e9") to nanoseconds, exactly: digits after the ninth round half to even.
 * Returns -1 when the text is not a number or outside
 * TIME_MIN_NS..TIME_MAX_NS. */
int clock_parse_seconds(struct text t, int64_t *ns, struct err *err);

/* The zone of days, of times without a zone, and of clock_text: "UTC" (the
 * default), "local", "+01:00", or a name of the time zone database, such as
 * "Europe/Berlin".  Later the process needs no file for it. */
int clock_set_zone(const char *zone, struct err *err);
/* Is it a zone?  As clock_set_zone, without setting it. */
int clock_check_zone(const char *zone, struct err *err);
/* For people: "UTC", "Europe/Berlin", "local time", "+01:00". */
const char *clock_zone_name(void);
/* Nanoseconds that the zone is ahead of UTC at a wall time. */
int64_t clock_zone_ahead_ns(int64_t wall_ns);
/* The wall time at which clocks of the zone show `shown_ns` (counted as if it
 * were UTC): the first one if there are two; if there is none because they were
 * put forward, the time that they would have shown. */
int64_t clock_zone_wall_ns(int64_t shown_ns);

/* Parses a time option: "now", "-1h", "-90s", "-2d" (before now; units ns us
 * ms s m h d w), "2026-11-20T10:00:00Z", "...10:00:00.5+02:00", "2026-11-20",
 * epoch seconds, or as people write it (clock_parse_words); within
 * TIME_MIN_NS..TIME_MAX_NS. */
int clock_parse_time(
    struct text t, int64_t now_ns, int64_t *ns, struct err *err);

/* "today" and "yesterday" (their begin), "yesterday 04:00", "04:00" (the last
 * one before now), "3h", "2 days ago", "2.days.ago"; days are those of the
 * zone.
 * False: it is no such time. */
bool clock_parse_words(struct text t, int64_t now_ns, int64_t *ns);

/* Parses a duration option: "250ms", "5s", "10m", "90d"; a bare number is
 * seconds. */
int clock_parse_duration(struct text t, int64_t *ns, struct err *err);

/* "2017-10-14T16:54:23.695798Z" with 0, 3, 6 or 9 decimals; in another zone
 * than UTC "2017-10-14T18:54:23+02:00". */
const char *clock_text(
    char to[static CLOCK_TEXT_BYTES], int64_t wall_ns, int decimals);
/* The same in UTC, whatever the zone is: for programs. */
const char *clock_utc_text(
    char to[static CLOCK_TEXT_BYTES], int64_t wall_ns, int decimals);

#endif

/*
 * clock - wall and monotonic time, and times as people write them.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t
now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * NS_PER_SECOND + t.tv_nsec;
}

int64_t
clock_wall_ns(void)
{
	return now_ns(CLOCK_REALTIME);
}

int64_t
clock_monotonic_ns(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

int64_t
clock_boot_ns(void)
{
	return now_ns(CLOCK_BOOTTIME);
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A decimal as digits and the position of its point, without loss. */
struct decimal {
	bool negative;
	char digits[64];
	int count; /* in digits */
	int point; /* digits before the decimal point; may be negative or beyond
		      the digits */
	bool more; /* a digit that did not fit was not zero */
};

static int
take_exponent(struct text *t, int *exponent)
{
	bool negative = false;
	int value = 0;
	uint32_t digits = 0;

	t->at++; /* the 'e' */
	t->bytes--;
	if (t->bytes > 0 && (t->at[0] == '-' || t->at[0] == '+')) {
		negative = t->at[0] == '-';
		t->at++;
		t->bytes--;
	}
	for (; t->bytes > 0 && is_digit(t->at[0]); t->at++, t->bytes--) {
		if (value < 10000)
			value = value * 10 + (t->at[0] - '0');
		digits++;
	}
	*exponent = negative ? -value : value;
	return digits > 0 && t->bytes == 0 ? 0 : -1;
}

static int
parse_decimal(struct text t, struct decimal *d)
{
	bool dot = false;
	int seen = 0, exponent = 0;

	*d = (struct decimal){ .negative = false };
	if (t.bytes > 0 && (t.at[0] == '-' || t.at[0] == '+')) {
		d->negative = t.at[0] == '-';
		t.at++;
		t.bytes--;
	}
	for (; t.bytes > 0; t.at++, t.bytes--) {
		if (t.at[0] == '.' && !dot) {
			dot = true;
			continue;
		}
		if (!is_digit(t.at[0]))
			break;
		seen++;
		if (!dot)
			d->point++;
		if (d->count == 0 && t.at[0] == '0') {
			d->point--; /* leading zero */
			continue;
		}
		if (d->count < (int)sizeof(d->digits))
			d->digits[d->count++] = t.at[0];
		else if (t.at[0] != '0')
			d->more = true;
	}
	if (seen == 0)
		return -1;
	if (t.bytes > 0 &&
	    ((t.at[0] | 0x20) != 'e' || take_exponent(&t, &exponent) != 0))
		return -1;
	d->point += exponent;
	return 0;
}

/* Round a decimal of seconds half to even to nanoseconds; -1 when it does not
 * fit 63 bits. */
static int
decimal_ns(const struct decimal *d, int64_t *ns)
{
	int wanted = d->point + 9; /* significant digits */
	uint64_t value = 0;
	bool half, beyond = d->more;

	if (d->count > 0 && wanted > 19)
		return -1;
	for (int i = 0; i < wanted; i++) {
		uint64_t digit =
		    i < d->count ? (uint64_t)(d->digits[i] - '0') : 0;

		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return -1;
	}
	half = wanted >= 0 && wanted < d->count && d->digits[wanted] >= '5';
	if (half) {
		bool exact = d->digits[wanted] == '5';

		for (int i = wanted + 1; i < d->count; i++)
			beyond = beyond || d->digits[i] != '0';
		if (!exact || beyond || (value & 1))
			value++;
	}
	if (value > INT64_MAX)
		return -1;
	*ns = d->negative ? -(int64_t)value : (int64_t)value;
	return 0;
}

int
clock_parse_seconds(struct text t, int64_t *ns, struct err *err)
{
	char shown[64];
	struct decimal d;

	if (parse_decimal(t, &d) != 0)
		return err_set(err, "'%s' is not a number of seconds",
		    text_quote(shown, sizeof(shown), t));
	if (decimal_ns(&d, ns) != 0 || *ns < TIME_MIN_NS || *ns > TIME_MAX_NS)
		return err_set(err,
		    "time '%s' is not between the years 1900 and 2200",
		    text_quote(shown, sizeof(shown), t));
	return 0;
}

int
clock_parse_duration(struct text t, int64_t *ns, struct err *err)
{
	static const struct {
		const char *unit;
		int point; /* the exponent moves the decimal point by this many
			      digits */
		int64_t seconds;
	} units[] = {
		{ "ns", -9, 1 },
		{ "us", -6, 1 },
		{ "ms", -3, 1 },
		{ "s", 0, 1 },
		{ "m", 0, 60 },
		{ "h", 0, 3600 },
		{ "d", 0, 86400 },
		{ "w", 0, 7 * 86400 },
		{ "", 0, 1 },
	};
	char shown[64];
	uint32_t number = t.bytes;
	struct decimal d;

	while (number > 0 && t.at[number - 1] >= 'a' && t.at[number - 1] <= 'z')
		number--;
	for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++) {
		struct text suffix = { t.at + number, t.bytes - number };

		if (!text_equal(suffix, text_of(units[i].unit)))
			continue;
		if (parse_decimal((struct text){ t.at, number }, &d) != 0)
			break;
		d.point += units[i].point;
		if (decimal_ns(&d, ns) != 0 ||
		    __builtin_mul_overflow(*ns, units[i].seconds, ns))
			break;
		return 0;
	}
	return err_set(err, "'%s' is not a duration (like 250ms, 90s, 10m, 7d)",
	    text_quote(shown, sizeof(shown), t));
}

/* Days since the epoch of a Gregorian date, counting years from March so that
 * the leap day comes last. */
static int64_t
days_of(int64_t year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = y / 400, of_era = y - era * 400;
	int64_t of_year =
	    (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 +
	       of_year - 719468;
}

/* Parse exactly `count` digits. */
static bool
take_number(struct text *t, uint32_t count, int *value)
{
	*value = 0;
	if (t->bytes < count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!is_digit(t->at[i]))
			return false;
		*value = *value * 10 + (t->at[i] - '0');
	}
	t->at += count;
	t->bytes -= count;
	return true;
}

static bool
take_char(struct text *t, const char *set)
{
	if (t->bytes == 0 || t->at[0] == '\0' || strchr(set, t->at[0]) == NULL)
		return false;
	t->at++;
	t->bytes--;
	return true;
}

/* "Z", "+02:00", "+0200"; `*given` is false when nothing is left. */
static bool
take_zone(struct text *t, int64_t *offset_s, bool *given)
{
	bool west;
	int hours, minutes;

	*offset_s = 0;
	*given = t->bytes > 0;
	if (t->bytes == 0 || take_char(t, "Zz"))
		return t->bytes == 0;
	west = t->at[0] == '-';
	if (!take_char(t, "+-") || !take_number(t, 2, &hours))
		return false;
	take_char(t, ":");
	if (!take_number(t, 2, &minutes) || hours > 14 || minutes > 59)
		return false;
	*offset_s = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
	return t->bytes == 0;
}

/* RFC 3339, also with a date alone or without a zone. */
static bool
parse_calendar(struct text t, int64_t *ns)
{
	static const int lengths[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31,
		30, 31 };
	int year, month, day, hour = 0, minute = 0, second = 0;
	int64_t nanos = 0, offset = 0, step = NS_PER_SECOND / 10;
	bool has_zone = false;

	if (!take_number(&t, 4, &year) || !take_char(&t, "-") ||
	    !take_number(&t, 2, &month) || !take_char(&t, "-") ||
	    !take_number(&t, 2, &day))
		return false;
	if (month < 1 || month > 12 || day < 1 || day > lengths[month - 1] ||
	    (month == 2 && day == 29 &&
		(year % 4 != 0 || (year % 100 == 0 && year % 400 != 0))))
		return false;
	if (take_char(&t, "Tt ")) {
		if (!take_number(&t, 2, &hour) || !take_char(&t, ":") ||
		    !take_number(&t, 2, &minute))
			return false;
		if (take_char(&t, ":") && !take_number(&t, 2, &second))
			return false;
		if (take_char(&t, "."))
			for (; t.bytes > 0 && is_digit(t.at[0]);
			     t.at++, t.bytes--, step /= 10)
				nanos += (t.at[0] - '0') * step;
		if (hour > 23 || minute > 59 || second > 60 ||
		    !take_zone(&t, &offset, &has_zone))
			return false;
	}
	*ns = ((days_of(year, month, day) * 24 + hour) * 3600 + minute * 60 +
		  second - offset) *
		  NS_PER_SECOND +
	      nanos;
	if (!has_zone)
		*ns = clock_zone_wall_ns(*ns);
	return t.bytes == 0;
}

int
clock_parse_time(struct text t, int64_t wall_ns, int64_t *ns, struct err *err)
{
	char shown[64];
	int64_t ago;

	if (text_equal(t, text_of("now"))) {
		*ns = wall_ns;
		return 0;
	}
	if (t.bytes > 1 && t.at[0] == '-' && t.at[t.bytes - 1] >= 'a' &&
	    clock_parse_duration(
		(struct text){ t.at + 1, t.bytes - 1 }, &ago, NULL) == 0) {
		if (ago < 0 || ago > wall_ns - TIME_MIN_NS)
			return err_set(err, "'%s' is before the year 1900",
			    text_quote(shown, sizeof(shown), t));
		*ns = wall_ns - ago;
		return 0;
	}
	if (clock_parse_words(t, wall_ns, ns))
		return 0;
	if (t.bytes > 4 && t.at[4] == '-') {
		/* Nanoseconds of the years 0..9999 overflow: check the range
		 * first. */
		int year;
		struct text front = t;

		if (take_number(&front, 4, &year) && year >= 1899 &&
		    year <= 2200 && parse_calendar(t, ns) &&
		    *ns >= TIME_MIN_NS && *ns <= TIME_MAX_NS)
			return 0;
	} else if (clock_parse_seconds(t, ns, NULL) == 0) {
		return 0;
	}
	return err_set(err,
	    "'%s' is not a time (like -1h, yesterday, 04:00, "
	    "2026-11-20T10:00:00Z, 1508000000)",
	    text_quote(shown, sizeof(shown), t));
}

static const char *
text_ahead(char to[static CLOCK_TEXT_BYTES], int64_t wall_ns, int decimals,
    int64_t ahead_s)
{
	static const int divisors[] = { 1000000000, 0, 0, 1000000, 0, 0, 1000,
		0, 0, 1 };
	int64_t seconds = wall_ns / NS_PER_SECOND + ahead_s;
	int64_t nanos = wall_ns % NS_PER_SECOND;
	int minutes = (int)(ahead_s < 0 ? -ahead_s : ahead_s) / 60;
	time_t when;
	struct tm tm;
	size_t used;

	if (nanos < 0) {
		nanos += NS_PER_SECOND;
		seconds--;
	}
	when = (time_t)seconds;
	gmtime_r(&when, &tm);
	used = strftime(to, CLOCK_TEXT_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	if (decimals > 0)
		used += (size_t)snprintf(to + used, CLOCK_TEXT_BYTES - used,
		    ".%0*d", decimals, (int)nanos / divisors[decimals]);
	if (minutes == 0)
		snprintf(to + used, CLOCK_TEXT_BYTES - used, "Z");
	else
		snprintf(to + used, CLOCK_TEXT_BYTES - used, "%c%02d:%02d",
		    ahead_s < 0 ? '-' : '+', minutes / 60 % 100, minutes % 60);
	return to;
}

const char *
clock_text(char to[static CLOCK_TEXT_BYTES], int64_t wall_ns, int decimals)
{
	/* Whole minutes: local mean times of old were not. */
	return text_ahead(to, wall_ns, decimals,
	    clock_zone_ahead_ns(wall_ns) / (60 * NS_PER_SECOND) * 60);
}

const char *
clock_utc_text(char to[static CLOCK_TEXT_BYTES], int64_t wall_ns, int decimals)
{
	return text_ahead(to, wall_ns, decimals, 0);
}

/*
 * quantity - a number with the unit that suits its size, for people.
 * SPDX-License-Identifier: MIT
 */
#include "proto/format/quantity.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "proto/os/clock.h"

enum { UNITS = 7 };

const char *
quantity_bytes_unit(double greatest, double *scale)
{
	static const char *const units[UNITS] = { "B", "KiB", "MiB", "GiB",
		"TiB", "PiB", "EiB" };
	int i = 0;

	/* What one decimal makes 1000.0 of is in the next unit, too. */
	for (*scale = 1; i + 1 < UNITS && fabs(greatest) >= 999.95 * *scale;
	     i++)
		*scale *= 1024;
	return units[i];
}

const char *
quantity_bytes(char to[static QUANTITY_TEXT_BYTES], double bytes)
{
	double scale;
	const char *unit = quantity_bytes_unit(bytes, &scale);

	snprintf(
	    to, QUANTITY_TEXT_BYTES, "%.*f %s", scale > 1, bytes / scale, unit);
	return to;
}

const char *
quantity_bytes_short(char to[static QUANTITY_TEXT_BYTES], double bytes)
{
	double scale;
	const char *unit = quantity_bytes_unit(bytes, &scale);

	if (fabs(bytes / scale) >= 999.5) /* without decimals 1000 */
		unit = quantity_bytes_unit(1000 * scale, &scale);
	snprintf(to, QUANTITY_TEXT_BYTES, "%.*f%s",
	    scale > 1 && fabs(bytes / scale) < 9.95, bytes / scale, unit);
	return to;
}

const char *
quantity_time(char to[static QUANTITY_TEXT_BYTES], double ns)
{
	static const struct {
		double from, ns; /* from: what is not rounded to the next */
		const char *unit;
	} units[] = { { 172620e9, 86400e9, "d" }, { 7197e9, 3600e9, "h" },
		{ 599.95e9, 60e9, "min" }, { 0.99995e9, 1e9, "s" },
		{ 0.99995e6, 1e6, "ms" }, { 0.99995e3, 1e3, "us" },
		{ 0, 1, "ns" } };
	size_t i = 0;

	if (ns == 0)
		return "0 s";
	while (fabs(ns) < units[i].from)
		i++;
	ns /= units[i].ns;
	snprintf(to, QUANTITY_TEXT_BYTES, "%.*f %s", fabs(ns) < 9.995 ? 2 : 1,
	    ns, units[i].unit);
	return to;
}

enum quantity_kind
quantity_kind_of(struct text unit)
{
	return text_equal(unit, text_of("s"))      ? QUANTITY_SECONDS
	       : text_equal(unit, text_of("By"))   ? QUANTITY_BYTES
	       : text_equal(unit, text_of("By/s")) ? QUANTITY_BYTES_PER_SECOND
						   : QUANTITY_NUMBER;
}

/* More seconds are not how long something took, but a time since 1970. */
static const double EPOCH_S = 8e8, TIME_MAX_S = 9e9;

/* Only the day: a column of metrics has no room for more. */
static const char *
day_of(char to[static QUANTITY_TEXT_BYTES], double seconds)
{
	clock_text(to, (int64_t)seconds * NS_PER_SECOND, 0);
	to[sizeof("1970-01-01") - 1] = '\0';
	return to;
}

const char *
quantity_shown(
    char to[static QUANTITY_TEXT_BYTES], enum quantity_kind kind, double number)
{
	if (kind == QUANTITY_SECONDS && number > EPOCH_S && number < TIME_MAX_S)
		return day_of(to, number);
	if (kind == QUANTITY_SECONDS)
		return quantity_time(to, number * 1e9);
	quantity_bytes(to, number);
	if (kind == QUANTITY_BYTES_PER_SECOND)
		strcat(to, "/s");
	return to;
}

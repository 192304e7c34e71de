/*
 * quantity - a number with the unit that suits its size, for tables.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/quantity.h"

#include <math.h>
#include <stdio.h>

const char *
quantity_bytes(char to[static QUANTITY_TEXT_BYTES], double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB",
		"PB" };
	size_t i = 0;

	for (; bytes >= 1000 && i + 1 < sizeof(units) / sizeof(*units); i++)
		bytes /= 1000;
	snprintf(to, QUANTITY_TEXT_BYTES, "%.*f %s", i > 0, bytes, units[i]);
	return to;
}

const char *
quantity_time(char to[static QUANTITY_TEXT_BYTES], double ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 86400e9, "d" }, { 3600e9, "h" }, { 60e9, "min" },
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t i = 0;

	if (ns == 0)
		return "0.0 s";
	while (fabs(ns) < units[i].ns && units[i].ns > 1)
		i++;
	snprintf(to, QUANTITY_TEXT_BYTES, "%.1f %s", ns / units[i].ns,
	    units[i].unit);
	return to;
}

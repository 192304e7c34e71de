/*
 * unit - readable units.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/unit.h"

static const struct scale {
	const char *unit, *shown;
	double factor;
} scales[] = {
	{ "cs", "s", 1e-2 },
	{ "ms", "s", 1e-3 },
	{ "us", "s", 1e-6 },
	{ "ns", "s", 1e-9 },
	{ "kBy", "By", 1e3 },
	{ "KiBy", "By", 1024 },
	{ "MiBy", "By", 1048576 },
};

double
unit_scale(struct text unit, struct text *shown)
{
	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++)
		if (text_equal(unit, text_of(scales[i].unit))) {
			*shown = text_of(scales[i].shown);
			return scales[i].factor;
		}
	*shown = unit;
	return 1;
}

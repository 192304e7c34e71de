/*
 * counter_rate - the increase of a counter between two consecutive samples.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/counter_rate.h"

#include <math.h>
#include <string.h>

#include "proto/base/text.h"

#define WRAP INT64_C(0x100000000)

/* A number, exact as long as it is whole. */
struct number {
	bool whole;
	uint64_t n;
	double f;
};

static struct number
number_of(const struct value *value)
{
	struct number number = { .f = counter_rate_number(value) };

	if (value->type == VALUE_UINT) {
		number.whole = true;
		number.n = value->is.u;
	} else if (value->type == VALUE_INT && value->is.i >= 0) {
		number.whole = true;
		number.n = (uint64_t)value->is.i;
	}
	return number;
}

bool
counter_rate_is_number(const struct value *value)
{
	return value->type == VALUE_INT || value->type == VALUE_UINT ||
	       (value->type == VALUE_FLOAT && !isnan(value->is.f));
}

double
counter_rate_number(const struct value *value)
{
	switch (value->type) {
	case VALUE_INT: return (double)value->is.i;
	case VALUE_UINT: return (double)value->is.u;
	case VALUE_FLOAT: return value->is.f;
	default: return NAN;
	}
}

/* u - v, never below 0; exact for integers. */
static double
difference(const struct number *u, const struct number *v)
{
	if (u->whole && v->whole)
		return (double)(u->n - v->n);
	return u->f - v->f;
}

static bool
is_below(const struct number *v, const struct number *u)
{
	if (u->whole && v->whole)
		return v->n < u->n;
	return v->f < u->f;
}

struct counter_rate_column
counter_rate_column_of(struct text metric, struct text unit)
{
	static const char disk[] = "system.disk.";
	static const struct {
		const char *unit;
		double ticks;
	} units[] = { { "s", 0.1 }, { "cs", 10 }, { "ms", 100 }, { "us", 1e5 },
		{ "ns", 1e8 } };
	struct counter_rate_column column = { false, 0 };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (text_equal(unit, text_of(units[i].unit)))
			column.ticks = units[i].ticks;
	column.is_32_bits = text_equal(unit, text_of("ms")) &&
			    metric.bytes >= sizeof(disk) - 1 &&
			    memcmp(metric.at, disk, sizeof(disk) - 1) == 0;
	return column;
}

/* v is below u, and nothing shows that they are from different boots. */
static double
went_back(const struct counter_rate_column *column, const struct number *u,
    const struct number *v, bool same_boot, bool *wrapped)
{
	double fall = difference(u, v);

	*wrapped = column->is_32_bits && same_boot && u->whole && v->whole &&
		   u->n < (uint64_t)WRAP && u->n - v->n > (uint64_t)WRAP / 2;
	if (*wrapped)
		return (double)(v->n + (uint64_t)WRAP - u->n);
	if (fall <= u->f / 100 || fall <= column->ticks)
		return 0;
	return v->f;
}

struct counter_rate
counter_rate_between(const struct counter_rate_column *column,
    const struct counter_rate_sample *u, const struct counter_rate_sample *v)
{
	struct number a = number_of(&u->value), b = number_of(&v->value);
	struct counter_rate counter_rate = { 0, 0 };
	bool rebooted = u->boot != v->boot && u->boot != 0 && v->boot != 0;
	bool known = true;

	if (!counter_rate_is_number(&u->value) ||
	    !counter_rate_is_number(&v->value))
		return counter_rate;
	if (rebooted) {
		counter_rate.increase = b.f;
		known = false;
	} else if (is_below(&b, &a)) {
		counter_rate.increase =
		    went_back(column, &a, &b, u->boot == v->boot, &known);
	} else {
		counter_rate.increase = difference(&b, &a);
	}
	/* Infinite, or a negative value. */
	if (!(counter_rate.increase >= 0) || isinf(counter_rate.increase)) {
		counter_rate.increase = 0;
		known = false;
	}
	if (known && v->time_ns > u->time_ns)
		counter_rate.seconds =
		    (double)((uint64_t)v->time_ns - (uint64_t)u->time_ns) / 1e9;
	return counter_rate;
}

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

static bool
begins(struct text text, const char *with)
{
	size_t bytes = strlen(with);

	return text.bytes >= bytes && memcmp(text.at, with, bytes) == 0;
}

struct counter_rate_column
counter_rate_column_of(struct text group, struct text metric, struct text unit)
{
	static const struct {
		const char *unit;
		double ticks;
	} units[] = { { "s", 0.1 }, { "cs", 10 }, { "ms", 100 }, { "us", 1e5 },
		{ "ns", 1e8 } };
	struct counter_rate_column column = { .ticks = 0 };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (text_equal(unit, text_of(units[i].unit)))
			column.ticks = units[i].ticks;
	column.is_32_bits =
	    text_equal(unit, text_of("ms")) && begins(metric, "system.disk.");
	column.is_sum =
	    begins(metric, "system.cpu.time.") ||
	    text_equal(metric, text_of("system.linux.scheduler.run_time"));
	if (column.is_sum || begins(metric, "container.cpu.time"))
		column.processors =
		    begins(group, "cpu/") ? 1 : COUNTER_RATE_PROCESSORS_MAX;
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
	if (column->is_sum || fall <= u->f / 100 || fall <= column->ticks)
		return 0;
	return v->f;
}

/* Could processors use so much between the two samples? */
static bool
is_possible(
    const struct counter_rate_column *column, double increase, double seconds)
{
	return column->processors == 0 || increase <= column->processors *
							  column->ticks *
							  (10 * seconds + 1);
}

bool
counter_rate_booted(
    const struct counter_rate_sample *u, const struct counter_rate_sample *v)
{
	const uint64_t mask = (UINT64_C(1) << COUNTER_RATE_BOOT_BITS) - 1;
	uint64_t boot = u->boot & mask, now = v->boot & mask;

	return boot != now && boot != 0 && now != 0;
}

struct counter_rate
counter_rate_between(const struct counter_rate_column *column,
    const struct counter_rate_sample *u, const struct counter_rate_sample *v)
{
	struct number a = number_of(&u->value), b = number_of(&v->value);
	struct counter_rate counter_rate = { 0, 0 };
	bool rebooted = counter_rate_booted(u, v);
	double seconds =
	    v->time_ns > u->time_ns
		? (double)((uint64_t)v->time_ns - (uint64_t)u->time_ns) / 1e9
		: 0;
	bool known = true;

	if (!counter_rate_is_number(&u->value) ||
	    !counter_rate_is_number(&v->value))
		return counter_rate;
	if (!rebooted && (u->boot ^ v->boot) >> COUNTER_RATE_BOOT_BITS != 0)
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
	if (!(counter_rate.increase >= 0) || isinf(counter_rate.increase) ||
	    !is_possible(column, counter_rate.increase, seconds)) {
		counter_rate.increase = 0;
		known = false;
	}
	if (known)
		counter_rate.seconds = seconds;
	return counter_rate;
}

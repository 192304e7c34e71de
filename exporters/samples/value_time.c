/*
 * value_time - for how long the values of a gauge count in a mean by time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/value_time.h"

static int64_t
gap_between(int64_t from_ns, int64_t to_ns)
{
	int64_t gap_ns;

	/* Times may be 299 years apart. */
	if (__builtin_sub_overflow(to_ns, from_ns, &gap_ns))
		gap_ns = to_ns > from_ns ? INT64_MAX : 0;
	return gap_ns > 0 ? gap_ns : 0;
}

/* The time of the first pending value; `after_ns` is the gap behind the second
 * one, 0: none. */
static struct value_time_part
first_part(const struct value_time *value_time, int64_t after_ns)
{
	int64_t gap_ns =
	    gap_between(value_time->time_ns[0], value_time->time_ns[1]);
	int64_t most_ns =
	    value_time->before_ns > after_ns ? value_time->before_ns : after_ns;

	if (!value_time->holds && most_ns > 0 && gap_ns - most_ns > most_ns)
		gap_ns = most_ns;
	return (
	    struct value_time_part){ value_time->value[0], (uint64_t)gap_ns };
}

bool
value_time_put(struct value_time *value_time, int64_t time_ns, double value,
    struct value_time_part *part)
{
	bool known = value_time->pending == 2;

	if (known) {
		*part = first_part(
		    value_time, gap_between(value_time->time_ns[1], time_ns));
		value_time->before_ns =
		    gap_between(value_time->time_ns[0], value_time->time_ns[1]);
		value_time->time_ns[0] = value_time->time_ns[1];
		value_time->value[0] = value_time->value[1];
		value_time->pending = 1;
	}
	value_time->time_ns[value_time->pending] = time_ns;
	value_time->value[value_time->pending++] = value;
	return known;
}

unsigned
value_time_end(
    struct value_time *value_time, struct value_time_part parts[static 2])
{
	if (value_time->pending != 2)
		return 0;
	parts[0] = first_part(value_time, 0);
	parts[1] = parts[0];
	parts[1].value = value_time->value[1];
	value_time->pending = 0;
	return 2;
}

/*
 * generate_cause - what slows a node of a generated pool, on purpose.
 * SPDX-License-Identifier: MIT
 */
#include "agents/generate/cause.h"

#include <math.h>
#include <string.h>

#include "proto/base/number.h"

const char *const generate_cause_names[GENERATE_CAUSE_KINDS] = {
	[GENERATE_CAUSE_NONE] = "none",
	[GENERATE_CAUSE_CLOCK] = "clock",
	[GENERATE_CAUSE_LATE] = "late",
	[GENERATE_CAUSE_PLACES] = "places",
	[GENERATE_CAUSE_SIZE] = "size",
	[GENERATE_CAUSE_MEMORY] = "memory",
	[GENERATE_CAUSE_STEAL] = "steal",
	[GENERATE_CAUSE_CPU] = "cpu",
	[GENERATE_CAUSE_DISK] = "disk",
	[GENERATE_CAUSE_ERRORS] = "errors",
	[GENERATE_CAUSE_NETWORK] = "network",
	[GENERATE_CAUSE_HIDDEN] = "hidden",
};

/* The part of `rest` before the next colon, or all of it. */
static struct text
take_part(struct text *rest)
{
	struct text part = *rest;
	const char *colon = memchr(rest->at, ':', rest->bytes);

	if (colon != NULL)
		part.bytes = (uint32_t)(colon - rest->at);
	rest->at += part.bytes + (colon != NULL);
	rest->bytes -= part.bytes + (colon != NULL);
	return part;
}

static int
read_factor(int64_t *factor, struct text from, struct err *err)
{
	double value;

	if (from.bytes > 0 && *from.at == 'x') {
		from.at++;
		from.bytes--;
	}
	if (number_parse_double(from, &value, err) != 0)
		return -1;
	if (!(value * GENERATE_CAUSE_ONE >= GENERATE_CAUSE_LEAST &&
		value * GENERATE_CAUSE_ONE <= GENERATE_CAUSE_MOST))
		return err_set(err, "the factor must be from 1.1 to 100");
	*factor = llround(value * GENERATE_CAUSE_ONE);
	return 0;
}

static int
find_kind(enum generate_cause_kind *kind, struct text name, struct err *err)
{
	for (int i = 0; i < GENERATE_CAUSE_KINDS; i++)
		if (text_equal(name, text_of(generate_cause_names[i]))) {
			*kind = (enum generate_cause_kind)i;
			return 0;
		}
	return err_set(err,
	    "'%.*s' is not one of clock, late, places, size, memory, steal, "
	    "cpu, disk, errors, network, hidden, none",
	    (int)name.bytes, name.at);
}

int
generate_cause_parse(
    struct generate_cause *cause, struct text from, struct err *err)
{
	struct text rest = from, kind = take_part(&rest);

	*cause = (struct generate_cause){ 0 };
	if (find_kind(&cause->kind, kind, err) != 0)
		return -1;
	if (cause->kind == GENERATE_CAUSE_NONE)
		return rest.bytes == 0
			   ? 0
			   : err_set(err, "none has no node and no factor");
	if (number_parse_u64(take_part(&rest), &cause->node, err) != 0 ||
	    read_factor(&cause->factor, rest, err) != 0)
		return err_prefix(err, "KIND:NODE:FACTOR is expected");
	return 0;
}

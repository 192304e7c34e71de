/*
 * counter - what the services count: the one table of it.
 * SPDX-License-Identifier: MIT
 */
#include "proto/counter/counter.h"

#include <stddef.h>

/* The ids of the records. */
#define OF(entity, id) static const char entity[] = id;
#define COUNTER(entity, name, kind, help)
#define JUDGED(entity, name, kind, help, metric, verdict, why)
#define FAMILY(entity, name, pattern, kind, help)
#include "proto/counter/counters.def"
#undef OF
#undef COUNTER
#undef JUDGED
#undef FAMILY

const struct counter counters[COUNTERS] = {
#define OF(entity, id)
#define COUNTER(entity, name, kind, help)                                      \
	{ entity, #name, COUNTER_##kind, help, NULL, VERDICT_OK, NULL },
#define JUDGED(entity, name, kind, help, metric, verdict, why)                 \
	{ entity, #name, COUNTER_##kind, help, metric, VERDICT_##verdict, why },
#define FAMILY(entity, name, pattern, kind, help)                              \
	{ entity, pattern, COUNTER_##kind, help, NULL, VERDICT_OK, NULL },
#include "proto/counter/counters.def"
};

enum counter_number
counter_find(struct text of, struct text name)
{
	for (int i = 0; i < COUNTERS; i++)
		if (text_match(text_of(counters[i].name), name) &&
		    text_match(text_of(counters[i].of), of))
			return (enum counter_number)i;
	return COUNTERS;
}

const char *
counter_kind_name(enum counter_kind kind)
{
	static const char *const names[] = { "count", "total", "lost", "bytes",
		"rate", "flag", "time", "duration", "number", "text" };

	return names[kind];
}

const char *
counter_unit(enum counter_kind kind)
{
	return kind == COUNTER_BYTES      ? "By"
	       : kind == COUNTER_RATE     ? "By/s"
	       : kind == COUNTER_DURATION ? "ns"
					  : NULL;
}

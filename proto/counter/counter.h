/*
 * counter - what the services count: the one table of it.
 *
 * counters.def has the rows.  A service gives the value of a counter by its
 * number, COUNTER_AGGREGATOR_batches, and the name is that of the row; who
 * reads a status finds the row by entity and name.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_COUNTER_COUNTER_H
#define PROTO_COUNTER_COUNTER_H

#include "proto/base/text.h"

enum counter_kind {
	COUNTER_COUNT,
	COUNTER_TOTAL,    /* of the store: it never falls */
	COUNTER_LOST,     /* what did not become a row, or not as sent */
	COUNTER_BYTES,    /* By */
	COUNTER_RATE,     /* By/s */
	COUNTER_FLAG,     /* bool, or 0 and 1 */
	COUNTER_TIME,     /* ns since the epoch; 0: none */
	COUNTER_DURATION, /* ns */
	COUNTER_NUMBER,   /* any 64 bits */
	COUNTER_TEXT,
};

/* What a value above 0 means. */
enum verdict { VERDICT_OK, VERDICT_WARNING, VERDICT_CRITICAL };

struct counter {
	const char *of;   /* id of the record, or a pattern of it */
	const char *name; /* or a pattern of names */
	enum counter_kind kind;
	const char *help;   /* one sentence */
	const char *metric; /* its name for Prometheus, of TOTAL without
			       "_total"; NULL: it is none there */
	enum verdict verdict;
	const char *why; /* NULL: VERDICT_OK */
};

enum counter_number {
#define OF(entity, id)
#define COUNTER(entity, name, kind, help) COUNTER_##entity##_##name,
#define JUDGED(entity, name, kind, help, metric, v, w)                         \
	COUNTER_##entity##_##name,
#define FAMILY(entity, name, pattern, kind, help) COUNTER_##entity##_##name,
#include "proto/counter/counters.def"
#undef OF
#undef COUNTER
#undef JUDGED
#undef FAMILY
	COUNTERS
};

extern const struct counter counters[COUNTERS];

/* The number of the counter of the record `of`; COUNTERS: it is not in the
 * table. */
enum counter_number counter_find(struct text of, struct text name);
/* "count", "bytes", "time" ... */
const char *counter_kind_name(enum counter_kind kind);
/* UCUM; NULL: it has none. */
const char *counter_unit(enum counter_kind kind);

#endif

/*
 * straggler - a phase of a node that took too long, and its causes.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_STRAGGLER_H
#define EXPORTERS_STRAGGLERS_STRAGGLER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

/* In the order in which they are looked for.  The words are those of answers
 * (straggler_cause_words). */
enum straggler_kind {
	STRAGGLER_CLOCK,     /* clock: its clock was set in this time */
	STRAGGLER_BEGAN,     /* began: the node began late */
	STRAGGLER_PLACE,     /* place: it waited for a place that others had */
	STRAGGLER_BYTES,     /* bytes: it had more to fetch */
	STRAGGLER_MEMORY,    /* memory: tasks waited for memory */
	STRAGGLER_STOLEN,    /* stolen: its host took its processors */
	STRAGGLER_THROTTLED, /* throttled: a cgroup was over its limit */
	STRAGGLER_CPU,       /* cpu: tasks waited for a processor */
	STRAGGLER_DISK,      /* disk: tasks waited for a disk */
	STRAGGLER_ERRORS,    /* errors: of the network */
	STRAGGLER_DATA,      /* data: came slowly, and nothing here explains it
			      */
	STRAGGLER_UNKNOWN,   /* unknown: nothing that is measured differs */
	STRAGGLER_UNMEASURED /* unmeasured: there are too few samples */
};
enum { STRAGGLER_KINDS = STRAGGLER_UNMEASURED + 1 };
extern const char *const straggler_cause_words[];

#define STRAGGLER_NO_NS INT64_MIN

struct straggler_cause {
	enum straggler_kind kind;
	double share; /* of the lost time that it explains; NaN: not known */
	int64_t explained_ns; /* the same; STRAGGLER_NO_NS */
	struct text metric;   /* that proves it; `at` NULL: none */
	struct text unit;     /* of both numbers; "1" is a share of the time */
	double value, peers;  /* of the node, the median of others; NaN */
	struct text clause;   /* "tasks waited for a disk 71 % of the time" */
};

/* A phase of a node that took too long, or the begin of a node. */
struct straggler {
	struct text node, phase; /* "model:phase"; of a begin that it begins
				    with */
	struct text key;         /* `at` NULL: it has none */
	int64_t begin_ns, end_ns;
	int64_t time_ns;  /* how long it took; of a begin: after the start */
	int64_t usual_ns; /* the median of those that it is compared with */
	int64_t lost_ns;  /* time less usual */
	int64_t drag_ns;  /* how much earlier the pool had been ready without
			     it; STRAGGLER_NO_NS: not known */
	uint32_t of;      /* how many times usual is of */
	bool is_of_node;  /* earlier times of the same node, not its peers */
	bool is_open;     /* it has no end: so long so far */
	/* Those that explain 25 % at least, most first, or UNKNOWN or
	 * UNMEASURED alone. */
	struct straggler_cause cause[STRAGGLER_KINDS];
	uint32_t causes; /* one at least */
};

struct straggler_bounds {
	double z;        /* spreads above the median of ln(duration) */
	double ratio;    /* times the median */
	int64_t lost_ns; /* above the median */
};
#define STRAGGLER_BOUNDS                                                       \
	{                                                                      \
		.z = 5, .ratio = 1.4, .lost_ns = INT64_C(8000000000)           \
	}

#endif

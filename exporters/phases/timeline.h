/*
 * phases_timeline - what each node did when: the segments of the bars of nodes.
 *
 * A phase without an end lasts until the last record of its node, until the
 * same phase (of the same key) begins again there, or until the node begins
 * again, with the first required phase of the model: what a node did before it
 * booted does not go on after it.  One that began in a job that was selected
 * ends with it: what came after it is not read.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PHASES_TIMELINE_H
#define EXPORTERS_PHASES_TIMELINE_H

#include "exporters/phases/read.h"
#include "exporters/samples/job_intervals.h"

/* In which phase a node was at each moment.
 *
 * Every moment belongs to one phase: of several the one that began last, which
 * for phases inside others is the innermost; of phases that began at once the
 * shortest, then the one that is later in the model. */

/* The items of the node of items[first], in their order: the end of them. */
uint32_t phases_share_end(const struct phases_read *phases, uint32_t first);
/* Does this node hang: is it in a phase without an end when its items end?  One
 * that begins again, or a boot, ends the phase before. */
bool phases_share_hangs(
    const struct phases_read *phases, uint32_t first, uint32_t end);

/* The pieces of the items [first, end) of a node, by time and without gaps
 * between them: `item` is that of the phase, NULL between phases.  `stack` has
 * room for each item.  Returns the end of the last piece. */
int64_t phases_sweep(const struct phases_read *phases, uint32_t first,
    uint32_t end, const struct phases_item **stack,
    void (*on_piece)(void *arg, const struct phases_item *item, int64_t from_ns,
	int64_t to_ns),
    void *arg);

/* Lanes of a node; what finds none has UINT32_MAX. */
enum { PHASES_LANES_MAX = 256 };

struct phases_timeline {
	struct phases_names names;
	struct phases_read phases;
	struct text model;
	int64_t first_ns, last_ns; /* the first begin, the last end */
	uint64_t open;             /* phases without an end */
};

/* `query` has the nodes and the window in which the phases begin; `jobs`
 * NULL: all; `model` NULL: the first one that has phases.  -1 also when there
 * are none.  Clear it in any case. */
int phases_timeline_read(struct phases_timeline *timeline,
    struct source *source, struct text partition,
    const struct wire_query *query, const struct job_intervals *jobs,
    const char *model, struct err *err);
void phases_timeline_clear(struct phases_timeline *timeline);

struct phases_segment {
	int64_t begin_ns, end_ns;
	const struct phases_item *item; /* the phase, whole */
	uint32_t node, phase, key;      /* numbers in the timeline's tables */
	uint32_t lane;
	bool is_open; /* its end is not that of the phase, which has none */
};

/* Cut: every moment of a node is in one phase (sweep.h), and phases without
 * length are not there.  Lanes: each phase is one segment, in the first lane
 * that is free; a lane of spans is of one track. */
enum phases_form { PHASES_CUT, PHASES_LANES };

/* Nodes that hang come first in each order; equal ones by name, in natural
 * order. */
enum phases_order { PHASES_BY_BEGIN, PHASES_BY_NAME, PHASES_LONGEST };

/* The segments: nodes in the order of their first begin, of their names, or of
 * their time from first to last, the longest first; and of each its segments by
 * begin. */
void phases_timeline_each(const struct phases_timeline *timeline,
    enum phases_form form, enum phases_order order,
    void (*on_segment)(void *arg, const struct phases_segment *segment),
    void *arg);

#endif

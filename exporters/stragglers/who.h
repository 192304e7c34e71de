/*
 * stragglers_who - which phases of which nodes took too long.
 *
 * The times of one phase with one key in a start are compared as logarithms,
 * because twice as long is as odd for a short phase as for a long one.  Too
 * long is more than `z` upper spreads (robust.h) above their median, more than
 * `ratio` times the median, and `lost_ns` more than it: 5, 1.4 and 8 s by
 * default, so that in a pool of 60 nodes where nothing is wrong one in ten
 * starts has one.  The spread counts as 0.03 at least: of phases that are
 * equally long a small difference is nothing.  A phase without an end counts
 * with what it has lasted, among the times if that is more than their median.
 *
 * Of fewer than WHO_TIMES_MIN the node is compared with itself: with the times
 * of the same phase and key in the last 20 starts (usual.h).  Of fewer of these
 * nothing is known.
 *
 * What a phase lost is not counted again for one around it: there it must have
 * lost as much besides.
 *
 * A node begins late if that is above Tukey's upper bound (robust.h) and 20 s
 * later than the median.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STRAGGLERS_WHO_H
#define EXPORTERS_STRAGGLERS_WHO_H

#include "exporters/stragglers/earlier.h"
#include "exporters/stragglers/straggler.h"

enum { WHO_TIMES_MIN = 12, WHO_LATE_SECONDS = 20 };
#define WHO_SPREAD_MIN 0.03
#define WHO_NO_ITEM    UINT32_MAX

/* What a phase with a key usually takes. */
struct who_usual {
	double median_ln, spread_ln;
	uint32_t count; /* 0: nothing is known */
};
/* Of times in seconds, in any order, which it changes. */
struct who_usual who_usual_of(double *seconds, uint32_t count);
/* Is it too long? */
bool who_is_long(const struct who_usual *usual, double seconds,
    const struct straggler_bounds *bounds);

/* The times of one phase with one key: order[first] to order[end]. */
struct who_group {
	uint32_t first, end;
	struct who_usual usual;
};

struct who_suspect {
	uint32_t item;  /* of the timeline; WHO_NO_ITEM: a late begin */
	uint32_t node;  /* its number */
	uint32_t group; /* of a begin: that of the phase that it begins with */
	int64_t time_ns, usual_ns;
	uint32_t of;
	bool is_of_node;
};

struct who {
	const struct phases_timeline *timeline;
	uint32_t *order; /* items by phase and key */
	struct who_group *groups;
	uint32_t group_count, group_room;
	struct who_suspect *at;
	uint32_t count, room;
	uint64_t not_judged; /* phases */
};

/* The groups of a timeline, and what is long among them.  Returns whether some
 * can only be judged by earlier starts. */
bool who_find(struct who *who, const struct phases_timeline *timeline,
    const struct straggler_bounds *bounds);
/* These; `earlier` is sorted. */
void who_find_by_history(struct who *who, const struct earlier *earlier,
    const struct straggler_bounds *bounds);
/* Nodes that began late, after `start_ns`. */
void who_find_late(struct who *who, int64_t start_ns);
/* Leave out what is around others, once all are found. */
void who_drop_outer(struct who *who, const struct straggler_bounds *bounds);
void who_clear(struct who *who);

#endif

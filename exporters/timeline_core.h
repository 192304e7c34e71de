/*
 * timeline - inside: what the parts of a timeline share.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TIMELINE_CORE_H
#define EXPORTERS_TIMELINE_CORE_H

#include "exporters/bag.h"
#include "exporters/rows.h"
#include "exporters/trace.h"
#include "exporters/trace_sink.h"
#include "exporters/window.h"
#include "proto/opt.h"

struct timeline {
	struct source *source;
	struct text partition;
	const struct opt_list *metrics; /* patterns; none: all */
	struct window window;
	int64_t from_ns; /* 0 in the trace */
	int64_t end_ns;  /* what has no end ends here */
	int64_t cut_ns;  /* what ends later is cut here */
	struct rows rows;
	struct trace_sink sink;
	uint64_t written; /* intervals, points, values */
	uint64_t crowded; /* left out for want of room */
	uint64_t rowless; /* left out: too many tracks */
};

/* Does it belong into the trace? */
bool timeline_wants(const struct timeline *timeline, struct text node,
    int64_t begin_ns, int64_t end_ns);

/* Cut it to the trace's time and add it to the bag. */
void timeline_gather(const struct timeline *timeline, struct bag *bag,
    const struct bag_item *item);
/* Write what is in the bag, and empty it. */
void timeline_flush(struct timeline *timeline, struct bag *bag);
void timeline_point(struct timeline *timeline, const struct bag_item *item);
enum { TIMELINE_POINT = 1 }; /* a flag of items */

int timeline_phases(struct timeline *timeline, struct err *err);
int timeline_spans(struct timeline *timeline, struct err *err);
int timeline_events(struct timeline *timeline, struct err *err);
int timeline_samples(struct timeline *timeline, struct err *err);

#endif

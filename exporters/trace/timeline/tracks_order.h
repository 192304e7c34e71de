/*
 * rows - inside: what tracks.c builds and tracks_order.c sorts.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_TRACKS_ORDER_H
#define EXPORTERS_TRACE_TIMELINE_TRACKS_ORDER_H

#include "exporters/trace/timeline/tracks.h"

struct tracks_process {
	struct text node, group; /* group: empty, or what an entity says */
	int64_t id;
};

struct tracks_row {
	struct text node, track, name;
	uint32_t process;
	enum tracks_section section;
	int64_t sort;
	int64_t begin_ns; /* jobs and phases: of the first */
	struct lanes lanes;
	int64_t *tids; /* by lane */
	uint32_t threads, tid_room;
};

struct tracks_track {
	struct text name, process;
	int64_t sort;
};

/* As people sort: node2 before node10.  Only equal texts are equal. */
int tracks_compare_names(struct text a, struct text b);

#endif

/*
 * tracks_order - shared by tracks.c (building) and tracks_order.c (sorting).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_TRACKS_ORDER_H
#define EXPORTERS_TRACE_TIMELINE_TRACKS_ORDER_H

#include "exporters/trace/timeline/tracks.h"

struct tracks_process {
	struct text node, group; /* group: empty, or from an entity */
	int64_t id;
};

struct tracks_row {
	struct text node, track, name;
	uint32_t process;
	enum tracks_section section;
	int64_t sort;
	int64_t begin_ns; /* jobs and phases: begin of the first interval */
	struct lanes lanes;
	int64_t *tids; /* one for each lane */
	uint32_t threads, tid_room;
};

struct tracks_track {
	struct text name, process;
	int64_t sort;
};

#endif

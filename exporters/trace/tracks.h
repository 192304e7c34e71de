/*
 * tracks - the processes and threads of a timeline: nodes are processes,
 * tracks are threads; their names and their order in viewers.
 *
 * Processes and threads have numbers of one sequence: a thread with the number
 * of a process would be its main thread in viewers.  A track has one thread
 * for each of its lanes.  Entities of kind `track` (name, sort, process)
 * override the track's own text.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TRACKS_H
#define EXPORTERS_TRACE_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

/* Assign the intervals of one track to lanes: two intervals of a lane
 * are disjoint, or one contains the other, so that a viewer can draw them.
 *
 * Intervals arrive sorted by begin, and for equal begins the longest first;
 * one that arrives late (a clock was set back) goes to a lane whose last begin
 * is not after it.  Each goes to the lane whose innermost open interval ends
 * soonest after it, the tightest place in which it nests.  A new lane is
 * opened only when the interval would partly overlap the innermost one of
 * every lane.  If all intervals have a moment in common no method needs fewer
 * lanes (it is the greedy division of their ends into decreasing sequences);
 * in general, the minimum is the colouring of a circle graph, which is
 * NP-hard. */
enum {
	LANES_LANES_MAX = 256,
	LANES_DEPTH_MAX = 512, /* viewers drop deeper nesting */
};

/* Initialize it with zeros. */
struct lanes {
	struct lanes_lane {
		int64_t
		    *ends; /* ends of the open intervals, the innermost last */
		uint32_t depth, room;
		int64_t latest_ns; /* begin of the last interval */
	} * at;
	uint32_t count;
};

/* The number of the lane, from 0; false: all lanes are in use. */
bool lanes_place(
    struct lanes *lanes, int64_t begin_ns, int64_t end_ns, uint32_t *lane);
void lanes_clear(struct lanes *lanes);

/* From top to bottom in a process. */
enum tracks_section { TRACKS_JOBS, TRACKS_PHASES, TRACKS_SPANS, TRACKS_EVENTS };

enum {
	TRACKS_MAX = 1 << 20, /* processes, tracks */
	/* The name of a track in the viewer, with the number of a lane: "
	 * (256)". */
	TRACKS_NAME_BYTES = NAME_BYTES_MAX + 16,
};

struct tracks {
	struct string_table texts, process_keys, row_keys, track_keys;
	struct tracks_process *processes;
	struct tracks_row *rows;
	struct tracks_track *tracks; /* values from entities */
	uint32_t process_room, row_room, track_room;
	uint32_t
	    last; /* last row found: records of one track follow each other */
	int64_t last_id;
	uint64_t crowded; /* intervals without a free lane */
};

void tracks_init(struct tracks *tracks);
void tracks_clear(struct tracks *tracks);

/* Read the entities of kind `track` of a partition. */
int tracks_read(struct tracks *tracks, struct source *source,
    struct text partition, struct err *err);

/* The row of a track; UINT32_MAX: the limit TRACKS_MAX is reached. */
uint32_t tracks_find(struct tracks *tracks, struct text node,
    enum tracks_section section, struct text track);
/* The process for a node's counters; -1: the limit is reached. */
int64_t tracks_process(struct tracks *tracks, struct text node);
struct text tracks_node(const struct tracks *tracks, uint32_t row);
/* The first interval drawn in a row of TRACKS_JOBS or TRACKS_PHASES sets the
 * position of the row. */
void tracks_begin(struct tracks *tracks, uint32_t row, int64_t begin_ns);

/* The thread of an interval.  False: no lane is free. */
bool tracks_place(struct tracks *tracks, uint32_t row, int64_t begin_ns,
    int64_t end_ns, int64_t *pid, int64_t *tid);
/* The thread of a point: the first lane. */
void tracks_point(
    struct tracks *tracks, uint32_t row, int64_t *pid, int64_t *tid);

/* Names and positions for the viewer, in display order; positions start at
 * 1. */
struct tracks_names {
	void *arg;
	void (*on_process)(void *arg, struct text node, int64_t pid,
	    struct text name, int64_t position);
	void (*on_thread)(void *arg, int64_t pid, int64_t tid, struct text name,
	    int64_t position);
};
/* `first`: nodes that precede all others, in this order (NULL: none). */
void tracks_describe(const struct tracks *tracks,
    const struct string_table *first, const struct tracks_names *names);

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

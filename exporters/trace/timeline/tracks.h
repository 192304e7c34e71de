/*
 * tracks - where a timeline draws: nodes as processes, tracks as threads, and
 * the names and the order that viewers show.
 *
 * Processes and threads have numbers out of one sequence, so that no thread
 * has the number of a process (viewers take that for a main thread).  A track
 * is as many threads as it needs lanes.  What the entities of kind `track` say
 * (name, sort, process) goes before the track's own text.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_TIMELINE_TRACKS_H
#define EXPORTERS_TRACE_TIMELINE_TRACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "exporters/trace/timeline/lanes.h"
#include "proto/hash/string_table.h"

/* From top to bottom in a process. */
enum tracks_section { TRACKS_JOBS, TRACKS_PHASES, TRACKS_SPANS, TRACKS_EVENTS };

enum {
	TRACKS_MAX = 1 << 20, /* processes, tracks */
	/* A track, " (256)", as the viewer shows it. */
	TRACKS_NAME_BYTES = NAME_BYTES_MAX + 16,
};

struct tracks {
	struct string_table texts, process_keys, row_keys, track_keys;
	struct tracks_process *processes;
	struct tracks_row *rows;
	struct tracks_track *tracks; /* what entities say */
	uint32_t process_room, row_room, track_room;
	uint32_t last; /* row: records of one track come together */
	int64_t last_id;
	uint64_t crowded; /* intervals for which there was no lane */
};

void tracks_init(struct tracks *tracks);
void tracks_clear(struct tracks *tracks);

/* Take in the entities of kind `track`. */
int tracks_read(struct tracks *tracks, struct source *source,
    struct text partition, struct err *err);

/* The row of a track; UINT32_MAX: there are TRACKS_MAX already. */
uint32_t tracks_find(struct tracks *tracks, struct text node,
    enum tracks_section section, struct text track);
/* The process of a node's counters; -1: as above. */
int64_t tracks_process(struct tracks *tracks, struct text node);
struct text tracks_node(const struct tracks *tracks, uint32_t row);
/* The first that is drawn on it, in time, decides where a row of TRACKS_JOBS
 * and TRACKS_PHASES stands. */
void tracks_begin(struct tracks *tracks, uint32_t row, int64_t begin_ns);

/* Where an interval goes.  False: there is no lane left. */
bool tracks_place(struct tracks *tracks, uint32_t row, int64_t begin_ns,
    int64_t end_ns, int64_t *pid, int64_t *tid);
/* Where a point goes: the first lane. */
void tracks_point(
    struct tracks *tracks, uint32_t row, int64_t *pid, int64_t *tid);

/* What to tell the viewer, in the order that it is to show; the places are
 * from 1. */
struct tracks_names {
	void *arg;
	void (*on_process)(
	    void *arg, int64_t pid, struct text name, int64_t place);
	void (*on_thread)(void *arg, int64_t pid, int64_t tid, struct text name,
	    int64_t place);
};
/* `first`: nodes in an order of their own, before all others (NULL: none). */
void tracks_describe(const struct tracks *tracks,
    const struct string_table *first, const struct tracks_names *names);

#endif

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
#include "proto/base/string_table.h"

/* From top to bottom in a process. */
enum row_section { ROW_JOBS, ROW_PHASES, ROW_SPANS, ROW_EVENTS };

enum {
	ROWS_MAX = 1 << 20, /* processes, tracks */
	/* A track, " (256)", as the viewer shows it. */
	ROW_NAME_BYTES = NAME_BYTES_MAX + 16,
};

struct rows {
	struct intern texts, process_keys, row_keys, track_keys;
	struct row_process *processes;
	struct row *rows;
	struct row_track *tracks; /* what entities say */
	uint32_t process_room, row_room, track_room;
	uint32_t last; /* row: records of one track come together */
	int64_t last_id;
	uint64_t crowded; /* intervals for which there was no lane */
};

void rows_init(struct rows *rows);
void rows_clear(struct rows *rows);

/* Take in the entities of kind `track`. */
int rows_read(struct rows *rows, struct source *source, struct text partition,
    struct err *err);

/* The row of a track; UINT32_MAX: there are ROWS_MAX already. */
uint32_t rows_find(struct rows *rows, struct text node,
    enum row_section section, struct text track);
/* The process of a node's counters; -1: as above. */
int64_t rows_process(struct rows *rows, struct text node);
struct text rows_node(const struct rows *rows, uint32_t row);
/* The first that is drawn on it, in time, decides where a row of ROW_JOBS and
 * ROW_PHASES stands. */
void rows_begin(struct rows *rows, uint32_t row, int64_t begin_ns);

/* Where an interval goes.  False: there is no lane left. */
bool rows_place(struct rows *rows, uint32_t row, int64_t begin_ns,
    int64_t end_ns, int64_t *pid, int64_t *tid);
/* Where a point goes: the first lane. */
void rows_point(struct rows *rows, uint32_t row, int64_t *pid, int64_t *tid);

/* What to tell the viewer, in the order that it is to show; the places are
 * from 1. */
struct row_names {
	void *arg;
	void (*on_process)(
	    void *arg, int64_t pid, struct text name, int64_t place);
	void (*on_thread)(void *arg, int64_t pid, int64_t tid, struct text name,
	    int64_t place);
};
/* `first`: nodes in an order of their own, before all others (NULL: none). */
void rows_describe(const struct rows *rows, const struct intern *first,
    const struct row_names *names);

#endif

/*
 * view - reads the directory of a spool without changing it.
 *
 * It takes no lock and writes nothing, so it works with a running agent, and
 * on a copy.  Concurrent changes of the agent may be seen or not: the segment
 * that the agent appends to ends, in this view, with the last complete frame.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_VIEW_VIEW_H
#define AGENTS_SPOOL_VIEW_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/spool/entries.h"
#include "proto/base/err.h"
#include "proto/base/text.h"

const char *view_state_name(enum spool_entry_state state);

struct view; /* opaque */

/* -1: the directory cannot be read, or is not a spool. */
int view_open(struct view **view, const char *dir, struct err *err);
void view_close(struct view **view);

/* The directory has an intact ACKED. */
bool view_has_acked(const struct view *view);
/* How often an agent was started with the spool, by ACKED. */
uint64_t view_start_count(const struct view *view);

/* The streams of all sessions in the directory, as the segments name them. */
uint32_t view_streams(const struct view *view);
/* "#5" for a stream that no segment names. */
struct text view_partition(const struct view *view, uint32_t stream);
const struct session_id *view_session(const struct view *view, uint32_t stream);
uint64_t view_acked(const struct view *view, uint32_t stream);
/* The stream ends before this number, as a later session says; 0: not known. */
uint64_t view_end(const struct view *view, uint32_t stream);

/* Ordered by number. */
uint32_t view_segments(const struct view *view);
const struct spool_entry *view_segment(const struct view *view, uint32_t i);

/* Calls back for each valid frame of segment `i` that counts, and for each
 * invalid place before its end (from .. to; may be NULL).  Its `stream` is that
 * of the view.  The body is a view, valid in the call.  Segments without a
 * header, or that were renamed, have no frames. */
struct view_visitor {
	void (*frame)(void *arg, const struct spool_entry *segment,
	    uint32_t offset, const struct spool_frame *frame, struct text body);
	void (*bad)(void *arg, const struct spool_entry *segment, uint32_t from,
	    uint32_t to);
	void *arg;
};
/* -1: the segment can no longer be read.  A segment that the agent has deleted
 * since has no frames. */
int view_walk(struct view *view, uint32_t i, const struct view_visitor *visitor,
    struct err *err);

#endif

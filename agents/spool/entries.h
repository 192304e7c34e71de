/*
 * spool_entry - a file with the name of a segment, as recovery and
 * poolscope-spool find it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_ENTRIES_H
#define AGENTS_SPOOL_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/spool/scan.h"

struct spool;
struct spool_ends;

enum spool_entry_state {
	SPOOL_ENTRY_OPEN,    /* the last of its session, without a seal */
	SPOOL_ENTRY_SEALED,  /* ended by its own seal, or by a later one's */
	SPOOL_ENTRY_UNUSED,  /* created ahead, without frames */
	SPOOL_ENTRY_DAMAGED, /* a part of it has no valid frame */
	SPOOL_ENTRY_FRAMES = SPOOL_ENTRY_DAMAGED, /* those above have frames */
	SPOOL_ENTRY_EMPTY,      /* no header yet: the agent is creating it, or
				   crashed */
	SPOOL_ENTRY_UNREADABLE, /* no header */
	SPOOL_ENTRY_FOREIGN,    /* renamed, or of another format */
	SPOOL_ENTRY_STATES
};

struct spool_entry {
	struct spool_head head;
	uint64_t number, bytes;
	enum spool_entry_state state;
	uint32_t format; /* 0: no header */
	uint32_t limit; /* frames end here by a later segment's seal; 0: no such
			   seal */
	struct spool_extent extent; /* set by the caller */
	bool half; /* one of the copies of the header is damaged */
	int why;   /* unreadable: errno, 0 for a bad header */
};

static inline bool
spool_entry_has_frames(const struct spool_entry *e)
{
	return e->state <= SPOOL_ENTRY_FRAMES;
}

/* Read the header.  It says that the segment is one of this spool
 * (SPOOL_ENTRY_SEALED), or why not; whether it is open, unused or damaged is in
 * its frames, which the caller reads.  Extent and limit are 0.  -1 and errno:
 * the file cannot be opened. */
int spool_entry_read(
    const struct spool *spool, uint64_t number, struct spool_entry *e);

/* Open the file, and the window of the spool on it: -1 and errno. */
int spool_entry_open(struct spool *spool, const struct spool_entry *e,
    int flags, struct spool_scan *scan);
void spool_entry_close(struct spool *spool, int fd);

/* The seals at the start of segments set the limits of older ones. */
void spool_entries_take_seals(
    struct spool *spool, struct spool_entry *entries, uint32_t count);
/* Does no later segment of the session of entry `i` have frames? */
bool spool_entries_is_last(
    const struct spool_entry *entries, uint32_t count, uint32_t i);
/* Add the streams that the segment names; `all`: also those of its batches that
 * nobody names, as "#5". */
void spool_entry_take_names(
    struct spool *spool, const struct spool_entry *e, bool all);
void spool_entries_take_ends(struct spool *spool,
    const struct spool_entry *entries, uint32_t count, struct spool_ends *ends);

#endif

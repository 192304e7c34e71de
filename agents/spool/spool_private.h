/*
 * spool_private - shared by the files of the spool.
 *
 *   spool.c       opening, positions, counters
 *   streams.c     streams and sessions
 *   write.c       adding batches
 *   commit.c      the commit buffer
 *   segments.c    creating and deleting segments, the bound
 *   read.c        finding and reading batches, and gaps
 *   ends.c        where the streams of earlier sessions end
 *   move.c        continuing batches under another session
 *   acked.c       ACKED
 *   entries.c     the files of the directory (entries.h)
 *   recover.c     opening after a crash
 *   quarantine.c  quarantine/ and refused/
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SPOOL_SPOOL_PRIVATE_H
#define AGENTS_SPOOL_SPOOL_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agents/spool/index.h"
#include "agents/spool/scan.h"
#include "agents/spool/spool.h"
#include "agents/spool/window.h"
#include "proto/os/file_io.h"

/* No spool creates this number of segments: a name with a higher number is
 * foreign, and numbering does not continue after it. */
#define SPOOL_NUMBER_FOREIGN (UINT64_C(1) << 40)

enum {
	SPOOL_PARTS = 2, /* segments that one commit may write to */
	SPOOL_NAME_BYTES = 32,
	SPOOL_SLOTS = 2, /* of ACKED */
};

struct spool_stream {
	struct session_id session;
	uint32_t local; /* number in its session */
	char *partition;
	bool current;   /* of the current session */
	bool held;      /* the caller has its number */
	bool forbidden; /* nobody takes what it has */
	bool settled;   /* ... and has asked the store about it */
	uint64_t next;  /* number of the next append ... */
	uint64_t chain; /* ... and the running hash before it */
	uint64_t
	    committed; /* next number and running hash as of the last commit */
	uint64_t committed_chain;
	uint64_t acked;
	uint64_t peak; /* the highest number that was ever acknowledged */
	/* Other content has the numbers from moved_from on (0: none): those up
	 * to moved_upto were moved to another session, those up to `rest` - 1
	 * are to be moved; committed is moved_from. */
	uint64_t moved_from, moved_upto, rest;
	uint64_t generation;
	uint32_t ended;    /* how many segments say where it ends ... */
	uint64_t ended_in; /* ... and the last one of them */
	struct spool_position positions[SPOOL_POSITIONS];
};

/* The part of the commit buffer for one segment. */
struct spool_part {
	struct spool_segment *segment;
	uint32_t from;  /* offset in the buffer */
	uint32_t start; /* offset in the file */
	uint32_t used;
	uint32_t frames, crcs; /* of the segment after this part */
};

struct spool_writer {
	unsigned char *at;
	uint32_t room, used;
	uint32_t parts_count;
	struct spool_part parts[SPOOL_PARTS];
};

/* A segment that is no longer written and has no seal: the next one begins
 * with its seal. */
struct spool_cut {
	uint64_t number;
	uint32_t end, frames, crcs;
};

struct spool {
	int dir, lock;
	struct held_file *held; /* the directory */
	struct spool_options options;
	struct session_id session; /* the current one */
	struct session_id origin;  /* of the batches that are moved into it */
	uint64_t starts;
	uint32_t locals; /* streams of the current session */
	uint32_t streams_count, streams_room;
	struct spool_stream **streams; /* NULL: free */
	uint32_t segments_count, segments_room;
	struct spool_segment **segments; /* ordered by number */
	struct spool_segment *active;    /* being appended to, or NULL */
	struct spool_segment *spare;     /* created, without frames, or NULL */
	uint64_t next_number;
	uint32_t cuts_count;
	struct spool_cut cuts[SPOOL_PARTS];
	bool ends_due; /* the session has not begun: ends.c */
	struct spool_gaps gaps;
	struct spool_writer writer;
	struct spool_window window;
	int read_fd; /* read by the window when it is not being written */
	uint64_t acked_counter; /* of the last slot of ACKED */
	uint32_t acked_stale; /* slots of ACKED that are behind the positions in
				 memory */
	uint32_t failures;    /* failed commits in a row */
	bool broken;          /* for good */
	struct spool_counters *counters;
};

/* ---- files.c ---- */

/* Open a regular file of `dir`, nothing else: -1 and errno (ELOOP, ENXIO or
 * EINVAL for links and special files). */
int spool_open_file(int dir, const char *name, int flags);
/* Read up to `max` bytes of a file: their number, or -1 and errno. */
ssize_t spool_read_file(
    int dir, const char *name, unsigned char *to, uint32_t max);
/* Allocate the file's blocks: 0 or an errno. */
int spool_allocate(int fd, uint64_t bytes);
/* Read both copies of a segment's head; what cannot be read, or is behind the
 * end of the file, is zeros.  -1 and errno: neither can be read. */
int spool_read_head(
    int fd, uint32_t size, unsigned char to[static SPOOL_HEAD_BYTES]);
/* Is there nothing but zeros in a segment, except its two heads? */
bool spool_file_is_unused(int fd, uint32_t size);
const char *spool_segment_name(
    char to[static SPOOL_NAME_BYTES], uint64_t number);
/* The number in a segment's name; false when it is not such a name. */
bool spool_parse_name(const char *name, uint64_t *number);

/* ---- acked.c ---- */

/* The valid slot that counts, malloc'd; NULL: there is none. */
unsigned char *spool_acked_read(const struct spool *spool);
/* Does the slot list the stream?  `*acked` gets its position. */
bool spool_acked_lists(const unsigned char *slot,
    const struct session_id *session, uint32_t stream, uint64_t *acked);
/* Read the positions of the streams, and the count of starts.  Without a valid
 * slot nothing is acknowledged. */
void spool_acked_load(struct spool *spool);
/* Write the next slot. */
int spool_acked_save(struct spool *spool, struct err *err);

/* ---- streams.c ---- */

/* Add a stream of an earlier session, unless it is there.  The second of two
 * streams that name the same partition is not of an honest writer: it is left
 * out, so that nothing else takes the one for the other. */
void spool_add_stream(struct spool *spool, const struct session_id *session,
    uint32_t local, struct text partition);
/* The number of a session's stream; UINT32_MAX: it has none such. */
uint32_t spool_find_stream(const struct spool *spool,
    const struct session_id *session, uint32_t local);
/* Forget the streams of earlier sessions that no segment has any more. */
void spool_drop_streams(struct spool *spool);
/* One behind the last number that segments may have. */
uint64_t spool_end_of(const struct spool_stream *s);
/* Is the stream done with this number: acknowledged, or moved? */
bool spool_is_done_with(const struct spool_stream *s, uint64_t seq);

/* Put gaps in the place of a segment's unacknowledged batches, all of which are
 * forbidden.  False: there are too many gaps. */
bool spool_give_up(struct spool *spool, const struct spool_segment *segment);

/* A batch of `stream` is on disk: if it was moved, the stream that it comes
 * from ends before it. */
void spool_note_moved(struct spool *spool, const struct spool_segment *segment,
    uint32_t stream, const struct spool_frame *frame);

/* ---- segments.c ---- */

struct spool_segment *spool_segment_new(
    struct spool *spool, const struct spool_head *head, uint32_t size);
struct spool_segment *spool_find_segment(
    const struct spool *spool, uint64_t number);
/* Create the spare with room for `span` after the seals of the cuts; deletes
 * acknowledged segments when the disk has no room. */
enum spool_result spool_make_spare(
    struct spool *spool, uint32_t span, struct err *err);
/* Delete the spare: it is too small, or of another session. */
void spool_discard_spare(struct spool *spool);
/* Bytes in use, without the unused rest of the newest segments. */
uint64_t spool_used_bytes(const struct spool *spool);
/* Delete acknowledged segments until `bytes` more are within the bound. */
int spool_reclaim(struct spool *spool, uint64_t bytes, struct err *err);

/* ---- commit.c ---- */

/* The segment that frames are written to now; NULL while the buffer is
 * empty. */
struct spool_part *spool_current(struct spool *spool);
void spool_put(
    struct spool *spool, struct spool_frame *frame, const void *body);
/* The seal of segment `number`, whose frames end at `end`. */
void spool_put_seal(struct spool *spool, uint64_t number, uint32_t end,
    uint32_t frames, uint32_t crcs);
/* Discard the buffer, and end the session.  Seals in the next segment will cut
 * off what was written of it in the segments of `parts`. */
void spool_fail(struct spool *spool, uint32_t parts);

/* ---- ends.c ---- */

struct spool_end {
	struct session_id session;
	uint32_t stream; /* in its session */
	uint64_t seq;    /* the stream ends before it */
	uint64_t number; /* of the segment that says so */
	char *partition;
};

struct spool_ends {
	struct spool_end *at;
	uint32_t count, room;
};

/* The size of the end frames that a new session begins with, and adding them
 * to the commit buffer. */
uint32_t spool_ends_bytes(const struct spool *spool);
void spool_put_ends(struct spool *spool);
/* They are on disk, in segment `number`. */
void spool_note_ends(struct spool *spool, uint64_t number);

/* Add those of the segment. */
void spool_ends_read(struct spool_ends *ends, struct spool_scan *scan);
/* NULL: not known. */
const struct spool_end *spool_ends_find(const struct spool_ends *ends,
    const struct session_id *session, uint32_t stream);
/* Add the streams that were not done, as ACKED says, to those of the spool: no
 * other segment may name them any more. */
void spool_ends_name(const struct spool_ends *ends, struct spool *spool);
void spool_ends_clear(struct spool_ends *ends);

/* ---- write.c ---- */

/* Append a batch or a moved batch (`origin_seq` > 0: its number in
 * spool->origin). */
enum spool_result spool_append_batch(struct spool *spool, uint32_t stream,
    const struct spool_batch *batch, uint64_t origin_seq, uint64_t *seq,
    struct err *err);

/* ---- read.c ---- */

/* As spool_read, also of numbers that are to be moved. */
int spool_read_any(struct spool *spool, uint32_t stream, uint64_t seq,
    struct spool_batch *batch, struct err *err);

/* The position of a batch; `body` is a view, valid until the window moves. */
struct spool_spot {
	struct spool_segment *segment;
	uint32_t offset;
	struct spool_frame frame;
	const unsigned char *body;
};

/* ---- recover.c ---- */

/* Read the directory's segments.  -1: the disk fails, or a segment has another
 * format. */
int spool_recover(struct spool *spool, struct err *err);

/* ---- quarantine.c ---- */

/* Best effort: no error here may prevent the agent from starting. */
void spool_quarantine_copy(
    struct spool *spool, int fd, uint64_t number, uint32_t bytes);
void spool_quarantine_move(struct spool *spool, uint64_t number);
/* Numbers of the segments of a directory, ordered; *numbers is malloc'd, also
 * when -1 and errno report that the list is incomplete. */
int spool_list(int dir, uint64_t **numbers, uint32_t *count);
/* The highest number of ours in quarantine/, or 0. */
uint64_t spool_quarantine_highest(const struct spool *spool);
int spool_refused_put(struct spool *spool, const struct session_id *session,
    const struct spool_frame *frame, const void *body, struct text partition,
    struct err *err);

/* ---- spool.c ---- */

struct spool *spool_new(int dir, const struct spool_options *options);
/* Free everything except the descriptors of directory and lock. */
void spool_clear(struct spool *spool);

#endif

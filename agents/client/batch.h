/*
 * client_batch - the current submission: what the library's thread sends next.
 *
 * Counters, gaps, then the records of the rings, thread by thread; each
 * preceded by the description of its thread or metric group, if the agent does
 * not have it.  The agent may refuse a metric group, so a number whose metric
 * group is described has a submission of its own.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLIENT_BATCH_H
#define AGENTS_CLIENT_BATCH_H

#include "agents/client/client_private.h"

enum {
	CLIENT_BATCH_BYTES =
	    WIRE_PUT_BYTES_MAX - WIRE_FIXED_BYTES - WIRE_HEADER_BYTES_MAX,
};

enum {
	CLIENT_TRACKS = 256,  /* that spans name */
	CLIENT_GROUPS = 1024, /* of samples, whose definitions are remembered */
};

struct client_batch {
	struct fast_clock ticks;
	int64_t counted_ns; /* when counters were last read, monotonic */
	uint32_t turn;      /* thread to begin with */
	/* Gaps: the reported numbers of dropped and refused records. */
	int64_t reported_ns;
	uint64_t reported[CLIENT_KINDS], refused[CLIENT_KINDS];
	uint64_t records[CLIENT_KINDS]; /* current submission */
	/* Of spans with a track of their own; beyond them there is no entity
	 * for a track. */
	struct client_track track[CLIENT_TRACKS];
	uint32_t tracks;
	struct client_group group[CLIENT_GROUPS];
	struct client_group *defined; /* by the current submission, or NULL */
	struct client_sample sample;
	bool more; /* counters wait for the next submission */
	struct wire_writer body;
	unsigned char bytes[CLIENT_BATCH_BYTES];
};

/* A sender thread starts.  Losses that were reported are not reported again. */
void client_batch_begin(struct client_batch *batch);

/* Take as many records from the rings as fit.  `node`: the node of their
 * tracks. False: there is nothing to send. */
bool client_batch_fill(struct client_batch *batch, struct text node);
/* Begin a submission without records. */
void client_batch_empty(struct client_batch *batch);

/* Records of the rings in the submission. */
uint64_t client_batch_records(const struct client_batch *batch);

/* The agent refused the submission: its records are lost, and the next
 * submission reports that.  `description`: because of that of a metric
 * group. */
void client_batch_refuse(struct client_batch *batch, bool description);
/* Put the counters in the next submission even if they are not due. */
void client_batch_hurry(struct client_batch *batch);
/* The peer is a new one: describe threads and counters again. */
void client_batch_announce_again(struct client_batch *batch);

#endif

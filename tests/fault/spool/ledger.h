/*
 * ledger - what a spool promised, and when: the judge of spool_states.
 *
 * A batch is known by an id, from which its body follows; a place is a number
 * of a stream.  A batch has one place, and one more for each time that it was
 * moved.  Promises carry the position in the recording (states_position) at
 * which they were made; at a crash before that position they do not count yet.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_SPOOL_LEDGER_H
#define TESTS_FAULT_SPOOL_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/spool/spool.h"

#define NEVER UINT64_MAX

enum { LEDGER_STREAMS = 5, LEDGER_SESSIONS = 512, LEDGER_BODY_MAX = 24 << 10 };

/* What has a place. */
struct fact {
	uint32_t session; /* in the order of their beginning */
	uint32_t stream;  /* its partition is "pool$" and this number */
	uint64_t seq;
	uint64_t id;        /* 0: a gap */
	uint64_t chain;     /* before it; 0: not known */
	uint64_t submitted; /* it may be there from here on ... */
	uint64_t accepted;  /* ... and must be from here on */
	bool refused;       /* it may become a gap when it is moved */
};

/* What the aggregator has. */
struct ack {
	uint32_t session, stream;
	uint64_t upto, at;
};

struct ledger {
	struct fact *facts;
	uint32_t facts_count, facts_room;
	struct ack *acks;
	uint32_t acks_count, acks_room;
	struct session_id sessions[LEDGER_SESSIONS];
	uint32_t sessions_count;
	/* 1 + the operation from which on batches may be moved; 0: none. */
	uint64_t moves[LEDGER_STREAMS];
	uint64_t runs[256], runs_at[256]; /* each higher than the last */
	uint32_t runs_count;
	uint64_t ids; /* given so far */
};

void ledger_clear(struct ledger *ledger);
/* The session's number; a new one is added. */
uint32_t ledger_session(
    struct ledger *ledger, const struct session_id *session);
/* The place of a number of a stream of the spool. */
struct fact ledger_place(
    struct ledger *ledger, const struct spool *spool, uint32_t stream);
struct fact *ledger_add(struct ledger *ledger, const struct fact *fact);
/* What is at the place, at a crash before `at`; NULL: nothing. */
struct fact *ledger_find(
    const struct ledger *ledger, const struct fact *place, uint64_t at);
void ledger_ack(struct ledger *ledger, const struct ack *ack);
/* The highest acknowledged at a crash before `at`. */
uint64_t ledger_acked(const struct ledger *ledger, uint32_t session,
    uint32_t stream, uint64_t at);
/* The last run at a crash before `at`; 0: none. */
uint64_t ledger_run(const struct ledger *ledger, uint64_t at);
/* Only what holds at a crash before `at` remains, as if promised at 0. */
void ledger_cut(struct ledger *ledger, uint64_t at);

/* The body of a batch: its length, written to `to`. */
uint32_t ledger_body(uint64_t id, unsigned char to[static LEDGER_BODY_MAX]);
/* The id of a body; 0 when it is none of ours. */
uint64_t ledger_id(struct text body);

/* Does an opened spool keep what was promised at a crash before `at`?  False
 * and a sentence on standard error. */
bool ledger_judge(struct ledger *ledger, struct spool *spool, uint64_t at);

#endif

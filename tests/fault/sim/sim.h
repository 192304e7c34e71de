/*
 * sim - a world in which the delivery protocol runs.
 *
 * Everything that happens follows from one seed: machines with a spool and
 * the real agents/delivery/sender.c, a broker that is the real
 * broker/relay/relay.c, an aggregator written from the rules of
 * proto/delivery.md next to the real aggregator/ingest/receiver.c, and a
 * network that loses, repeats, delays and reorders.  Time is a number.  What
 * was accepted is recorded separately, so that the end can be judged: nothing
 * lost, nothing twice, nothing made up.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_SIM_SIM_H
#define TESTS_FAULT_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/sender.h"
#include "aggregator/ingest/receiver.h"
#include "proto/wire/wire.h"

enum {
	SIM_CONTENTS = 448, /* batches that are ever accepted */
	SIM_STREAMS = 2,
	SIM_ITEMS = 256,   /* of one stream of a spool */
	SIM_SESSIONS = 64, /* of one spool */
	SIM_MACHINES = 3,
	SIM_FLIGHTS = 1024, /* frames on their way */
	SIM_FLIGHT_BYTES = 1024,
	SIM_ENTRIES = 2048,
	SIM_AGGREGATOR_STREAMS = 256,
	SIM_ANSWERS = 512,
	SIM_NUMBERS = 4096,
};

/* What may go wrong in a world besides lost frames and crashes. */
enum sim_kind {
	SIM_PLAIN,
	SIM_AGGREGATOR_RESTORED, /* its store comes back from a backup */
	SIM_CLONED,              /* a machine is copied while it runs */
	SIM_SPOOL_RESTORED,      /* a machine's disk comes back from a backup */
	SIM_KINDS,
	SIM_MIXED = SIM_KINDS, /* all of these, when asked for */
	/* ... and the aggregator's disk is lost, with all that only it knew. */
	SIM_LOST
};

/* Wrong protocols, which must be detected. */
enum sim_mutant {
	SIM_RIGHT,
	SIM_SEND_BEFORE_SYNC,
	SIM_ACK_BEFORE_COMMIT,
	SIM_ACCEPT_GAPS,
	SIM_SPLIT_TRANSACTION,
	SIM_NO_COMPARISON,   /* every repetition is acknowledged */
	SIM_NO_CHAIN,        /* any content may continue a stream */
	SIM_SAME_SESSION,    /* a start continues the session before */
	SIM_TRUST_WELCOME,   /* what the store has counts as acknowledged */
	SIM_FORGET_ORIGIN,   /* moved batches do not say where from */
	SIM_FORGET_RETAINED, /* a new store is not asked about what it had */
	SIM_MUTANTS
};

/* What the judge knows of a batch that was accepted. */
struct sim_content {
	bool accepted;   /* a commit of a spool covered it */
	bool destroyed;  /* every holder is gone */
	bool refused;    /* the sender was refused three times */
	bool quarantine; /* the aggregator will never take it */
	bool doubled; /* two copies held it, and a third machine was faster */
	uint32_t bytes;
};

/* Number `dropped` + index + 1 of its stream. */
struct sim_item {
	uint64_t chain, chain_after; /* running hash before and after it */
	struct session_id origin;    /* of a moved one ... */
	uint64_t origin_seq;         /* ... with this number there; 0: none */
	int content;                 /* -1: a gap that was moved */
	bool gap;                    /* in memory: it was refused */
};

struct sim_spool_stream {
	struct sim_item item[SIM_ITEMS];
	int items;                  /* appended */
	int synced;                 /* of them: on disk */
	uint64_t dropped;           /* numbers that were deleted */
	uint64_t first, first_disk; /* unacknowledged; on disk: lags */
	uint64_t generation, generation_disk; /* that acknowledged them */
	bool settled;                         /* this store was asked */
	/* The numbers from moved_from on (0: none) belong to another session;
	 * those up to moved_upto are there. */
	uint64_t moved_from, moved_upto;
};

struct sim_session {
	struct session_id id;
	struct sim_spool_stream stream[SIM_STREAMS];
};

/* The disk of a machine, and what is in the page cache above it.  The last
 * session is the current one. */
struct sim_spool {
	int sessions;
	struct sim_session session[SIM_SESSIONS];
};

struct sim_machine {
	struct sim *sim;
	int number;
	bool there, up;
	int64_t up_ns;   /* when a crashed one comes back */
	uint32_t retain; /* acknowledged batches that the spool retains */
	struct sim_spool spool;
	struct sender *sender;
	struct session_id earlier; /* the session that is sent besides */
	bool has_earlier;
};

struct sim_entry {
	struct session_id session;
	int stream;
	uint64_t seq, last;
	int content; /* -1: a gap */
};

struct sim_aggregator_stream {
	struct session_id session;
	int stream;
	uint64_t last_seq;
	uint64_t forgotten; /* numbers up to this one: of a collected row */
	uint64_t hash[SIM_ITEMS + 1]; /* after each number; 0: not known */
};

struct sim_store {
	uint64_t generation;
	struct sim_aggregator_stream stream[SIM_AGGREGATOR_STREAMS];
	int streams;
	struct sim_entry entry[SIM_ENTRIES];
	int entries;
};

struct sim_answer {
	int to;
	struct wire_header header;
	char partition[8];
};

struct sim_aggregator {
	bool up;
	int64_t up_ns, commit_ns; /* commit_ns 0: nothing to commit */
	struct sim_store disk, work, backup;
	bool has_backup;
	struct sim_answer answer[SIM_ANSWERS]; /* leave after the commit */
	int answers;
	uint32_t credit;
	uint32_t busy_percent, refuse_percent;
};

struct sim_broker {
	bool up;
	int64_t up_ns,
	    line_ns; /* when the aggregator takes the next; 0: nothing */
};

struct sim_flight {
	int64_t at_ns;
	int to;   /* machine, or -1: the broker */
	int from; /* machine */
	uint32_t bytes;
	unsigned char frame[SIM_FLIGHT_BYTES];
};

/* Which content a number was given to, for what a gap hides. */
struct sim_number {
	struct session_id session;
	int stream;
	uint64_t seq;
	int content;
};

struct sim {
	uint64_t random;
	enum sim_kind kind;
	enum sim_mutant mutant;
	bool calm;       /* no more faults: everything must come to rest ... */
	int64_t calm_ns; /* ... since */
	int64_t now_ns, wall_offset_ns;
	int64_t cut_ns; /* the network is down until then */
	uint32_t loss_percent, repeat_percent, slow_percent;
	struct sim_content content[SIM_CONTENTS];
	int contents;
	struct sim_number number[SIM_NUMBERS];
	int numbers;
	bool copied[SIM_NUMBERS]; /* sessions */
	uint64_t sessions;        /* ever */
	struct sim_machine machine[SIM_MACHINES];
	struct sim_spool backup;
	int backup_of; /* machine, or -1 */
	struct sim_broker broker;
	struct sim_aggregator aggregator;
	struct sim_flight flight[SIM_FLIGHTS];
	int flights;
	uint64_t frames, forks, resends, refusals, busies;
	bool trace;
	char wrong[256]; /* "" while nothing is */
};

extern const char sim_partitions[SIM_STREAMS][8]; /* of each stream */
int sim_stream_of(struct text partition);

static inline bool
sim_is_mixed(const struct sim *sim)
{
	return sim->kind >= SIM_MIXED;
}

void sim_wrong(struct sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Prints what happens, with --trace. */
void sim_trace(const struct sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void sim_trace_frame(
    const struct sim *sim, const char *what, int machine, struct text frame);
uint64_t sim_random(struct sim *sim);
bool sim_chance(struct sim *sim, uint32_t percent);
uint32_t sim_below(struct sim *sim, uint32_t bound);

/* network.c: a frame goes between machine `machine` and the broker. */
void sim_post(struct sim *sim, int machine, bool to_broker, struct text frame);

/* spool.c */
struct text sim_body(const struct sim *sim, int content); /* valid until next */
struct sim_session *sim_current(struct sim_spool *spool);
struct sim_session *sim_find_session(
    struct sim_spool *spool, const struct session_id *id);
void sim_begin_session(struct sim_machine *m);
/* One behind the last number that the stream sends, and that it has. */
uint64_t sim_end_of(const struct sim_spool_stream *s, int items);
uint64_t sim_last_of(const struct sim_spool_stream *s, int items);
bool sim_is_done(const struct sim_spool_stream *s);
/* Batches are still to be moved. */
bool sim_is_to_move(const struct sim_spool_stream *s);
/* Move some of them into the current session. */
void sim_move(
    struct sim_machine *m, const struct session_id *session, int stream);
void sim_lose_page_cache(struct sim *sim, struct sim_spool *spool);
void sim_machine_append(struct sim *sim, int number, int stream);
void sim_machine_commit(struct sim *sim, int number);
void sim_machine_tidy(struct sim *sim, int number);

/* machine.c */
void sim_machine_start(struct sim *sim, int number);
void sim_machine_crash(struct sim *sim, int number);
void sim_machine_stop(struct sim *sim, int number); /* frees its sender */
void sim_machine_run(struct sim *sim, int number);  /* let it send */
int64_t sim_machine_deadline_ns(const struct sim_machine *m); /* 0: never */
void sim_machine_receive(struct sim_machine *m, struct text frame);
/* Has it sent all that it has, and asked about what it retains? */
bool sim_machine_is_at_rest(struct sim_machine *m);
void sim_machine_clone(struct sim *sim, int from, int to);
void sim_machine_backup(struct sim *sim, int number);
void sim_machine_restore(struct sim *sim);
void sim_machine_new(struct sim *sim, int number);
/* Was this session ever copied with its machine? */
bool *sim_was_copied(struct sim *sim, const struct session_id *id);

/* broker/broker.c: one broker; a world ends with sim_broker_end. */
void sim_broker_init(struct sim *sim);
void sim_broker_end(struct sim *sim);
void sim_broker_crash(struct sim *sim);
void sim_broker_run(struct sim *sim);                  /* what is due */
int64_t sim_broker_deadline_ns(const struct sim *sim); /* 0: nothing is due */
/* From a machine; false: no room now, try again. */
bool sim_broker_receive(struct sim *sim, int from, struct text frame);
/* From the aggregator. */
void sim_broker_answer(struct sim *sim, int to, struct text frame);
bool sim_broker_is_idle(const struct sim *sim);
/* Frames of this machine that it has now. */
void sim_broker_note(struct sim *sim, int machine,
    void (*note)(struct sim *sim, struct text frame));

/* aggregator.c */
void sim_aggregator_receive(struct sim *sim, int from, struct text frame);
/* The stream of its work, made when it is new. */
struct sim_aggregator_stream *sim_aggregator_get(
    struct sim *sim, const struct session_id *session, int stream);
void sim_aggregator_post(struct sim *sim, const struct sim_answer *answer);

/* aggregator_life.c */
void sim_aggregator_init(struct sim *sim);
void sim_aggregator_commit(struct sim *sim);
void sim_aggregator_crash(struct sim *sim);
/* From its backup.  `lost`: from nothing, when there is no backup. */
void sim_aggregator_restore(struct sim *sim, bool lost);

/* twin.c: the real aggregator/ingest/receiver.c on a store in memory, in
 * parallel.  Only for the right protocol; any difference is wrong. */
void sim_twin_load(struct sim *sim); /* the streams of the aggregator's disk */
void sim_twin_take(struct sim *sim, struct text frame, enum receiver_room room,
    const struct wire_header *answer);
/* The row of a stream was collected. */
void sim_twin_remove(
    struct sim *sim, const struct session_id *session, int stream);
void sim_twin_commit(
    struct sim *sim); /* before the aggregator's work is its disk */
void sim_twin_crash(struct sim *sim);
void sim_twin_judge(struct sim *sim); /* what is in its journal */

/* judge.c */
int sim_copies(
    const struct sim *sim, int content); /* on the aggregator's disk */
/* Does a gap on the aggregator's disk stand where this content had a number? */
bool sim_is_reported_lost(const struct sim *sim, int content);
void sim_judge(struct sim *sim);

#endif

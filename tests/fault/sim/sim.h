/*
 * sim - a world in which the delivery protocol runs.
 *
 * Everything that happens follows from one seed: machines with a spool and
 * the real agents/delivery/sender.c and agents/delivery/past_sessions.c, a
 * broker that is the real broker/relay/relay.c, an aggregator written from the
 * rules of proto/delivery.md next to the real aggregator/ingest/receiver.c,
 * and a network that loses, repeats, delays and reorders.  Time is a
 * number. What was accepted is recorded separately, so that the end can
 * be judged: nothing lost, nothing twice, nothing made up.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_SIM_SIM_H
#define TESTS_FAULT_SIM_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/past_sessions.h"
#include "agents/delivery/sender.h"
#include "aggregator/ingest/receiver.h"
#include "proto/wire/wire.h"

enum {
	SIM_CONTENTS = 448, /* batches that are ever accepted */
	SIM_STREAMS = 2,
	SIM_ITEMS = 512, /* of one spool stream */
	SIM_MACHINES = 3,
	SIM_FLIGHTS = 1024, /* frames on their way */
	SIM_FLIGHT_BYTES = 1024,
	SIM_ENTRIES = 2048,
	SIM_AGGREGATOR_STREAMS = 128,
	SIM_RING = 32,
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
	SIM_NO_HASHES,
	SIM_SESSION_PER_START,
	SIM_FORGET_MISSING,
	SIM_OLD_GENERATIONS,
	SIM_SUPERSEDE_HELLOS,
	SIM_NO_PAST_SESSIONS,
	SIM_MUTANTS
};

/* What the judge knows of a batch that was accepted. */
struct sim_content {
	bool accepted;   /* a commit of a spool covered it */
	bool destroyed;  /* every holder, or all that knew of it, is gone */
	bool refused;    /* the sender was refused three times */
	bool quarantine; /* the aggregator will never take it */
	bool safe;     /* before what is lost now: stored, reported, or known */
	bool findable; /* sim_loss_find */
	bool hidden;   /* ... and by others' batches, before that */
	bool doubled;  /* two spools held it unacknowledged */
	uint32_t bytes;
};

struct sim_item {
	uint64_t seq, last, chain;
	uint64_t chain_after; /* the running hash after it */
	uint32_t reason;      /* != 0: a gap */
	int content;          /* -1: a gap */
};

/* Sessions that were given up. */
struct sim_sessions {
	uint32_t count;
	struct spool_past_session at[SPOOL_PAST_SESSIONS_MAX];
};

/* The disk of a machine, and what is in the page cache above it. */
struct sim_spool {
	struct session_id session;
	uint64_t start_count;
	struct sim_sessions past_sessions;
	struct sim_spool_stream {
		struct sim_item item[SIM_ITEMS];
		int items;           /* appended */
		int synced;          /* of them: on disk */
		uint64_t first;      /* unacknowledged, as far as is known */
		uint64_t first_disk; /* the same on disk: lags */
		uint64_t next;       /* number of the next batch */
		uint64_t chain;      /* before it */
	} stream[SIM_STREAMS];
};

struct sim_machine {
	struct sim *sim;
	int number;
	bool there, up;
	int64_t up_ns;   /* when a crashed one comes back */
	uint32_t retain; /* acknowledged batches that the spool retains */
	struct sim_spool spool;
	struct sender *sender;
	bool restart[SIM_STREAMS]; /* sender_restart is due */
	struct past_sessions past_sessions;
	struct sim_sessions unsaved; /* of spool.past_sessions */
	struct wire_header
	    answer; /* ... that agents/delivery/past_sessions.c is at */
};

struct sim_entry {
	struct session_id session;
	int stream;
	uint64_t seq, last;
	int content; /* -1: a gap */
	bool closed; /* ... that the aggregator made of what was missing */
};

struct sim_aggregator_stream {
	struct session_id session;
	int stream;
	uint64_t last_seq, chain, start_count;
	uint64_t ring[SIM_RING]; /* running hash after n at n % SIM_RING */
	uint64_t ring_from;      /* the first number that it knows */
	uint64_t missing, missing_hash; /* what the store before had */
	uint64_t boundary; /* unverified: another life may follow it */
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
	uint64_t sessions;
	struct sim_machine machine[SIM_MACHINES];
	struct sim_spool backup;
	int backup_of; /* machine, or -1 */
	struct sim_broker broker;
	struct sim_aggregator aggregator;
	struct sim_flight flight[SIM_FLIGHTS];
	int flights;
	uint64_t frames, forks, resends, refusals, busies;
	uint64_t blind_resends; /* not behind a batch that was refused */
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

/* agents/spool/spool.c */
struct text sim_body(const struct sim *sim, int content); /* valid until next */
struct sim_item *sim_find_item(
    struct sim_spool_stream *s, uint64_t seq, int items);
void sim_lose_page_cache(struct sim_spool *spool);
void sim_new_session(struct sim_machine *m, int cause, uint64_t from_seq);
void sim_machine_append(struct sim *sim, int number, int stream);
void sim_machine_commit(struct sim *sim, int number);
void sim_machine_tidy(struct sim *sim, int number);
/* `count` numbers of the session `of`, from `from` on, are reported as a gap.
 */
void sim_machine_report(struct sim_machine *m, int stream,
    const struct session_id *of, uint64_t from, uint64_t count);

/* machine.c */
bool sim_machine_send(void *machine, struct text frame); /* for its owner */
void sim_machine_start(struct sim *sim, int number);
void sim_machine_crash(struct sim *sim, int number);
void sim_machine_stop(struct sim *sim, int number); /* frees its sender */
void sim_machine_run(struct sim *sim, int number);  /* let it send */
int64_t sim_machine_deadline_ns(const struct sim_machine *m); /* 0: never */
void sim_machine_receive(struct sim_machine *m, struct text frame);
void sim_machine_clone(struct sim *sim, int from, int to);
void sim_machine_backup(struct sim *sim, int number);
void sim_machine_restore(struct sim *sim);
void sim_machine_new(struct sim *sim, int number);

/* agents/delivery/past_sessions.c: in worlds in which an aggregator's disk is
 * lost
 */
void sim_previous_start(struct sim_machine *m);
void sim_previous_give_up(struct sim_machine *m); /* this session, on disk */
void sim_previous_receive(
    struct sim_machine *m, struct text frame, int64_t wall_ns);
bool sim_previous_is_settled(const struct sim_machine *m);

/* loss.c: in these worlds, too.  Around something that takes knowledge away. */
void sim_loss_begin(struct sim *sim);
void sim_loss_end(struct sim *sim);
/* A double's batches stand under numbers that were acknowledged to this one,
 * since the store was lost meanwhile.  Found is what is compared: what is here
 * still, of the stream that learns of the double. */
void sim_loss_find(struct sim_machine *m, int cause);
bool sim_loss_is_hidden(const struct sim *sim, int content);
/* Does the aggregator have it under this number, although the ways part at
 * `from`? Another life of the spool may have continued there with a gap, which
 * no running hash crosses, and with this after it. */
bool sim_loss_is_behind_gap(
    const struct sim *sim, const struct sim_number *n, uint64_t from);

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
/* From its backup.  `lost`: without the store of before, or any at all. */
void sim_aggregator_restore(struct sim *sim, bool lost);
/* Reports what is still missing: gaps, in addition to the streams, since a late
 * sender may bring it after all. */
void sim_aggregator_close_missing(struct sim *sim);

/* twin.c: the real aggregator/ingest/receiver.c on a store in memory, in
 * parallel. Only for the right protocol; any difference is
 * wrong. */
void sim_twin_load(struct sim *sim); /* the streams of the aggregator's disk */
void sim_twin_put(struct sim *sim, const struct sim_aggregator_stream *stream);
void sim_twin_take(struct sim *sim, struct text frame, enum receiver_room room,
    const struct wire_header *answer);
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

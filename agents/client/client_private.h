/*
 * client_private - shared by the parts of libpoolscope.
 *
 *     state       the state of process and thread
 *     lifecycle   open, close, fork, the slots of threads
 *     options     options of the program and its environment
 *     record      the calls of a measured program: into the ring
 *     counters    counters
 *     samples     numbers of one moment
 *     encode      from rings to records of the wire
 *     batch       the current submission
 *     send        the library's thread: batches to the agent
 *
 * Not for programs: they include agents/client/poolscope.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_CLIENT_CLIENT_PRIVATE_H
#define AGENTS_CLIENT_CLIENT_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "agents/client/clean_name.h"
#include "agents/client/fast_clock.h"
#include "agents/client/poolscope.h"
#include "agents/client/ring.h"
#include "agents/client/trace_context.h"
#include "agents/submit/local_socket.h"
#include "proto/metric/dynamic_group.h"
#include "proto/record/record.h"
#include "proto/wire/wire.h"

enum { CLIENT_SOCKET_BYTES = 108 };

/* ---- the content of a ring ---- */

enum client_kind {
	CLIENT_SPAN,
	CLIENT_EVENT,
	CLIENT_SAMPLE,
	CLIENT_KINDS,
	CLIENT_NAME = CLIENT_KINDS
};

/* What a record has that most do not have. */
enum client_parts {
	CLIENT_HAS_TRACE = 1, /* it is not the program's */
	CLIENT_HAS_TRACK = 2, /* it is not the thread's */
	CLIENT_HAS_WALL = 4,  /* begin and end are ns since the epoch */
};

/* Followed by: the trace, the track with its length in a byte in front (enum
 * client_parts), source (of a span: category), name, attributes as MessagePack.
 * Short, so that most spans are one cache line. */
struct client_record {
	uint64_t begin, end; /* ticks */
	uint64_t id, parent; /* of an event: the id of its span; of a sample:
				how many numbers are behind its labels */
	uint16_t pair_bytes;
	uint16_t cut;      /* omitted attributes */
	uint8_t count;     /* stored ones */
	uint8_t kind : 4;  /* enum client_kind */
	uint8_t parts : 4; /* enum client_parts */
	uint8_t source_bytes, name_bytes;
};

/* ---- a track: that of a thread, or one that spans name ---- */

struct client_track {
	char name[CLIENT_PART_BYTES_MAX + 1]; /* "": its number is its name */
	uint32_t number;
	bool announced;
};

/* ---- a thread's slot: reused after the thread has ended ---- */

enum client_slot { CLIENT_FREE, CLIENT_USED, CLIENT_ENDED };

struct client_thread {
	struct client_ring ring;
	_Atomic uint32_t slot; /* enum client_slot */
	/* Only ever grow; written by the producer. */
	_Atomic uint64_t written, cut; /* records, omitted attributes */
	_Atomic uint64_t dropped[CLIENT_KINDS];
	/* The sender's. */
	uint64_t goal; /* a flush waits until the ring is read up to here */
	struct client_track track;
};

/* Thread-local state. */
enum { CLIENT_OVERS = 4 };

/* A span that ended before one that began within it. */
struct client_over {
	uint64_t span, outer;
	unsigned char outer_trace[TRACE_CONTEXT_BYTES];
};

struct client_self {
	struct client_thread *thread;
	uint64_t span; /* current span; 0: none */
	unsigned char trace[TRACE_CONTEXT_BYTES];
	uint64_t seed;
	uint32_t life, opening;
	uint32_t overs; /* how many there were; the last ones are kept */
	struct client_over over[CLIENT_OVERS];
};
extern _Thread_local struct client_self client_self;

/* ---- counters ---- */

/* A metric group that the agent knows, or refuses, by the hash of its name;
 * 0: none. */
struct client_group {
	uint64_t hash;
	bool refused;
};

struct poolscope_counter {
	_Atomic uint64_t bits; /* of a double */
	_Atomic bool changed;
	bool gauge;
	/* A counter begins with 0 in this process. */
	bool begun;
	int64_t begin_ns;
	struct client_group group;
	char name[CLIENT_PART_BYTES_MAX + 1], unit[CLIENT_PART_BYTES_MAX + 1];
};

/* ---- the one library of a process ---- */

enum client_sleep { CLIENT_AWAKE, CLIENT_NAPPING, CLIENT_IDLE };

struct client {
	/* 0: not open; changes with each open and fork. */
	_Alignas(64) _Atomic uint32_t life;
	_Atomic uint32_t sleep; /* enum client_sleep, of the sender */

	_Alignas(64) pthread_mutex_t
	    lock; /* protects every member below that is not atomic */
	pthread_cond_t changed; /* flushed, ended */
	uint32_t lives, opening, opens;
	uint64_t boot;             /* what counters of samples count from */
	struct trace_context root; /* the trace of this program */
	uint64_t own; /* span id in traceparent outside of all spans */

	char program[CLIENT_PART_BYTES_MAX + 1];
	char socket[CLIENT_SOCKET_BYTES];
	char partition[NAME_BYTES_MAX + 1], node[NAME_BYTES_MAX + 1];
	uint32_t ring_bytes;
	uint64_t total_bytes, used_bytes;
	int64_t period_ns, counters_ns;
	bool quiet;
	int64_t pid;
	unsigned process;    /* client_process_number */
	int process_fd;      /* -1: not asked for yet */
	int64_t process_ns;  /* since when it has the number; 0: unknown */
	_Atomic bool counts; /* it has asked for one */

	struct client_thread *_Atomic thread[POOLSCOPE_THREADS];
	_Atomic uint32_t threads;
	struct client_thread nowhere; /* counts for threads without a ring */
	struct poolscope_counter counter[POOLSCOPE_COUNTERS];
	_Atomic uint32_t counters;

	/* The sender's thread. */
	pthread_t sender;
	_Atomic bool running; /* written with the lock */
	int wake;             /* eventfd, -1: none */
	_Atomic bool stopping;
	int64_t deadline_ns; /* monotonic; a close waits until then */
	_Atomic uint64_t asked, flushed; /* numbers of flushes */
	_Atomic uint64_t sent, refused, lost;
	_Atomic bool connected;
};
extern struct client client;

/* ---- options ---- */

/* Call with the lock, before using the options.  -1 and EINVAL: a name or a
 * path in them is invalid. */
int client_configure(const struct poolscope_options *options);
/* The trace of this program, or a new one. */
void client_take_trace(void);

/* ---- threads ---- */

/* The slot of this thread since the last open or fork; creates it if
 * necessary. */
void client_enter(uint32_t life);
/* There is something to send, which is in no ring. */
void client_need_sender(void);
/* Wake the sender, unless it is awake. */
void client_wake(void);

static inline struct client_self *
client_me(uint32_t life)
{
	if (__builtin_expect(client_self.life != life, 0))
		client_enter(life);
	return &client_self;
}

/* All slots ever created; they remain. */
static inline uint32_t
client_threads(void)
{
	return atomic_load_explicit(&client.threads, memory_order_acquire);
}

static inline struct client_thread *
client_thread_at(uint32_t i)
{
	return atomic_load_explicit(&client.thread[i], memory_order_relaxed);
}

/* ---- encode ---- */

/* Write an attribute of a program as a pair; false when there is no room. */
bool client_put_attribute(
    struct wire_writer *w, const struct poolscope_attribute *attribute);

/* The name in a record that has a track of its own, else "". */
struct text client_track_name(const struct client_record *record);
/* A record from a ring as a record of the wire, a span on `track`; false when
 * it does not fit. */
bool client_encode(struct wire_writer *w, const struct fast_clock *ticks,
    const struct client_track *track, const struct client_record *record);
/* The entity that says how `track` is shown. */
bool client_encode_track(
    struct wire_writer *w, const struct client_track *track, struct text node);

/* ---- counters ---- */

double client_counter_value(const struct poolscope_counter *counter);
/* Of the processes of this program that count at once the how many-eth this
 * one is, from 0: two that count into one series would disturb each other.
 * Takes the lock; holds the number, which it has at least since then, until
 * client_forget_process, which is called with the lock. */
unsigned client_process_number(int64_t *since_ns);
void client_forget_process(void);

/* ---- samples ---- */

/* The numbers and labels of a record from a ring, in a form that is valid. */
struct client_sample {
	struct dynamic_group group;
	struct dynamic_label label[POOLSCOPE_LABELS];
	struct dynamic_number number[POOLSCOPE_NUMBERS];
	char origin[NAME_BYTES_MAX];
	/* Repaired texts, and values of labels that were numbers. */
	char text[POOLSCOPE_EVENT_BYTES + POOLSCOPE_LABELS * 32];
	uint32_t text_bytes;
	char room[8 * POOLSCOPE_EVENT_BYTES];
};

/* As client_put_attribute. */
bool client_put_number(
    struct wire_writer *w, const struct poolscope_number *number);
/* Its definition and sample are in `sample->group`; false when there can be
 * none. */
bool client_make_sample(struct client_sample *sample,
    const struct fast_clock *ticks, const struct client_record *record);
/* As client_make_sample, of a counter that had this value then. */
bool client_make_count(struct client_sample *sample,
    const struct poolscope_counter *counter, double value, int64_t time_ns);

/* ---- send ---- */

/* Call with the lock held, and without a running sender.  -1 with errno. */
int client_start_sender(void);
/* In the child of a fork: close the parent's descriptors and begin again. */
void client_forget_sender(void);

#endif

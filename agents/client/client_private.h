/*
 * client_private - what the parts of libpoolscope know of each other.
 *
 *     lib_life    open, close, fork, the slots of threads
 *     lib_options what a program and its environment say
 *     lib_record  the calls of a measured program: into the ring
 *     lib_count   counters
 *     lib_encode  from rings to records of the wire
 *     lib_batch   the put in hand: what is said next
 *     lib_send    the library's thread: batches to the agent
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
#include "proto/record/record.h"
#include "proto/wire/wire.h"

enum { LIB_SOCKET_BYTES = 108 };

/* ---- what lies in a ring ---- */

enum lib_kind { LIB_SPAN, LIB_EVENT, LIB_KINDS, LIB_NAME = LIB_KINDS };

/* Behind it: the trace when it is another one than the program's, source (of a
 * span: category), name, attributes as MessagePack.  Short, so that most spans
 * are one cache line. */
struct lib_record {
	uint64_t begin, end; /* ticks */
	uint64_t id, parent; /* an event: id is that of the span it is in */
	uint16_t pair_bytes;
	uint8_t kind;        /* enum lib_kind */
	uint8_t trace_bytes; /* 0 or TRACE_BYTES */
	uint8_t source_bytes, name_bytes;
	uint8_t count, cut; /* attributes: there, left out */
};

/* ---- a thread's slot: used again when the thread has ended ---- */

enum lib_slot { LIB_FREE, LIB_USED, LIB_ENDED };

struct lib_thread {
	struct lib_ring ring;
	_Atomic uint32_t slot; /* enum lib_slot */
	/* Only ever grow; written by the producer. */
	_Atomic uint64_t written, cut; /* records, attributes left out */
	_Atomic uint64_t dropped[LIB_KINDS];
	uint32_t number;
	/* The sender's. */
	uint64_t goal; /* of a flush */
	bool announced;
	char name[LIB_PART_BYTES_MAX + 1];
};

/* What a thread keeps for itself. */
struct lib_self {
	struct lib_thread *thread;
	uint64_t span; /* that it is in; 0: none */
	unsigned char trace[TRACE_BYTES];
	uint64_t seed;
	uint32_t life, opening;
};
extern _Thread_local struct lib_self lib_self;

/* ---- counters ---- */

struct poolscope_counter {
	_Atomic uint64_t bits; /* of a double */
	_Atomic bool changed;
	bool announced;
	char name[LIB_PART_BYTES_MAX + 1], unit[LIB_PART_BYTES_MAX + 1];
};

/* ---- the one library of a process ---- */

enum lib_sleep { LIB_AWAKE, LIB_NAPPING, LIB_IDLE };

struct lib {
	/* 0: not open; other than before after an open or a fork. */
	_Alignas(64) _Atomic uint32_t life;
	_Atomic uint32_t sleep; /* enum lib_sleep, of the sender */

	_Alignas(64) pthread_mutex_t lock; /* of all below that is not atomic */
	pthread_cond_t changed;            /* flushed, ended */
	uint32_t lives, opening, opens;
	struct trace root; /* what this program is part of */
	uint64_t own;      /* stands for its span towards others */

	char program[LIB_PART_BYTES_MAX + 1];
	char socket[LIB_SOCKET_BYTES];
	char partition[NAME_BYTES_MAX + 1], node[NAME_BYTES_MAX + 1];
	uint32_t ring_bytes;
	uint64_t total_bytes, used_bytes;
	int64_t period_ns, counters_ns;
	bool quiet;
	int64_t pid;

	struct lib_thread *_Atomic thread[POOLSCOPE_THREADS];
	_Atomic uint32_t threads;
	struct lib_thread nowhere; /* whose ring could not be made */
	struct poolscope_counter counter[POOLSCOPE_COUNTERS];
	_Atomic uint32_t counters;

	/* The sender's thread. */
	pthread_t sender;
	bool running;
	int wake; /* eventfd, -1: none */
	_Atomic bool stopping;
	int64_t deadline_ns;             /* monotonic, of the end */
	_Atomic uint64_t asked, flushed; /* flushes */
	_Atomic uint64_t sent, refused, lost;
	_Atomic bool connected;
};
extern struct lib lib;

/* ---- options ---- */

/* Under the lock, before anything is made of it.  -1 and EINVAL: a name or a
 * path in it is none. */
int lib_configure(const struct poolscope_options *options);
/* The trace that this program is part of, or a new one. */
void lib_take_trace(void);

/* ---- threads ---- */

/* The slot of this thread, in this life; makes it where there is none. */
void lib_enter(uint32_t life);
/* Wake the sender, if nobody has. */
void lib_wake(void);

static inline struct lib_self *
lib_me(uint32_t life)
{
	if (__builtin_expect(lib_self.life != life, 0))
		lib_enter(life);
	return &lib_self;
}

/* Slots that were ever made; they stay. */
static inline uint32_t
lib_threads(void)
{
	return atomic_load_explicit(&lib.threads, memory_order_acquire);
}

static inline struct lib_thread *
lib_thread_at(uint32_t i)
{
	return atomic_load_explicit(&lib.thread[i], memory_order_relaxed);
}

/* ---- encode ---- */

/* How an attribute of a program becomes a pair; false when there is no room. */
bool lib_put_attribute(
    struct wire_writer *w, const struct poolscope_attribute *attribute);

/* A record of the ring of `thread` as one of the wire; false when it does not
 * fit. */
bool lib_encode(struct wire_writer *w, const struct lib_ticks *ticks,
    const struct lib_thread *thread, const struct lib_record *record);
/* Who the tracks of `thread` are. */
bool lib_encode_track(
    struct wire_writer *w, const struct lib_thread *thread, struct text node);
bool lib_encode_set(
    struct wire_writer *w, const struct poolscope_counter *counter);
bool lib_encode_sample(struct wire_writer *w,
    const struct poolscope_counter *counter, int64_t now_ns);

/* ---- send ---- */

/* Under the lock, where none runs.  -1 and errno. */
int lib_start_sender(void);
/* In the child of a fork: close what the parent's had open, begin anew. */
void lib_forget_sender(void);

#endif

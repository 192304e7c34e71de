/*
 * lib_send - the library's thread: batches to the agent.
 *
 * Takes from the rings what fits a put, hands it over and keeps it until the
 * agent has it on disk: under one session and number, so that a put whose
 * answer was lost is kept once (proto/README.md, "Local door").  While there
 * is no agent the rings hold what they can.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agents/lib_private.h"
#include "proto/clock.h"
#include "proto/hash.h"

enum {
	BODY_BYTES =
	    WIRE_PUT_BYTES_MAX - WIRE_FIXED_BYTES - WIRE_HEADER_BYTES_MAX,
	PAUSE_MS = 100, /* before a put is tried again, doubling to */
	PAUSE_MS_MAX = 1000,
	IDLE_MS = 1000,
};

#define TRY_NS (2 * NS_PER_SECOND)

static const char *const kind_names[LIB_KINDS] = { "span", "event" };

static struct sender {
	struct local local;
	struct session_id session;
	uint64_t seq;
	uint32_t connects; /* that tracks and sets were told to */
	bool said_absent, said_refused;
	struct lib_ticks ticks;
	int64_t counted_ns; /* monotonic, when counters were looked at */
	uint64_t noticed;   /* flush */
	uint32_t turn;      /* thread that comes first */
	/* Gaps: of the records dropped or refused, so many were told. */
	int64_t told_ns;
	uint64_t told[LIB_KINDS], refused[LIB_KINDS];
	/* The put in hand. */
	uint64_t records[LIB_KINDS];
	struct wire_writer body;
	unsigned char bytes[BODY_BYTES], frame[WIRE_PUT_BYTES_MAX];
} sender = { .local = { .fd = -1 } };

static struct lib_thread *
thread_at(uint32_t i)
{
	return atomic_load_explicit(&lib.thread[i], memory_order_relaxed);
}

static uint32_t
threads(void)
{
	return atomic_load_explicit(&lib.threads, memory_order_acquire);
}

/* ---- the put in hand ---- */

static bool
put_gap(enum lib_kind kind, const char *reason, uint64_t count, int64_t now_ns)
{
	struct record record = {
		.kind = RECORD_GAP,
		.time_ns = sender.told_ns < now_ns ? sender.told_ns : now_ns,
		.end_ns = now_ns,
		.has_time = true,
		.has_end = true,
		.source = text_of(kind_names[kind]),
		.name = text_of(reason),
		.count = count,
	};

	return wire_put_record(&sender.body, &record);
}

static uint64_t
dropped(enum lib_kind kind)
{
	uint64_t sum = atomic_load(&lib.nowhere.dropped[kind]);

	for (uint32_t i = 0; i < threads(); i++)
		sum += atomic_load(&thread_at(i)->dropped[kind]);
	return sum;
}

/* What was lost since it was last told. */
static void
put_gaps(void)
{
	int64_t now_ns = clock_wall_ns();
	bool told = false;

	for (int kind = 0; kind < LIB_KINDS; kind++) {
		uint64_t sum = dropped(kind);

		if (sum > sender.told[kind] &&
		    put_gap(kind, "full", sum - sender.told[kind], now_ns)) {
			sender.told[kind] = sum;
			told = true;
		}
		if (sender.refused[kind] > 0 &&
		    put_gap(kind, "refused", sender.refused[kind], now_ns)) {
			sender.refused[kind] = 0;
			told = true;
		}
	}
	if (told)
		sender.told_ns = now_ns;
}

static void
put_counters(void)
{
	uint32_t counters =
	    atomic_load_explicit(&lib.counters, memory_order_acquire);
	int64_t now_ns = clock_wall_ns();

	for (uint32_t i = 0; i < counters; i++) {
		struct poolscope_counter *counter = &lib.counter[i];

		if (!atomic_exchange(&counter->changed, false))
			continue;
		if (!counter->announced)
			counter->announced =
			    lib_encode_set(&sender.body, counter);
		if (!lib_encode_sample(&sender.body, counter, now_ns)) {
			atomic_store(&counter->changed, true);
			return;
		}
	}
}

/* The records of one thread; false when the put is full. */
static bool
put_thread(struct lib_thread *thread, struct text node)
{
	const struct lib_record *record;
	uint32_t bytes;

	while ((record = lib_ring_peek(&thread->ring, &bytes)) != NULL) {
		if (record->kind == LIB_NAME) {
			lib_take_part(thread->name,
			    (struct text){ (const char *)(record + 1),
				record->name_bytes });
			thread->announced = false;
			lib_ring_take(&thread->ring);
			continue;
		}
		if (!thread->announced &&
		    !lib_encode_track(&sender.body, thread, node))
			return false;
		thread->announced = true;
		if (!lib_encode(&sender.body, &sender.ticks, thread, record))
			return false;
		sender.records[record->kind]++;
		lib_ring_take(&thread->ring);
	}
	return true;
}

/* A thread that has ended and said all: its slot is free. */
static void
recycle(struct lib_thread *thread)
{
	if (atomic_load_explicit(&thread->slot, memory_order_acquire) !=
		LIB_ENDED ||
	    !lib_ring_is_empty(&thread->ring))
		return;
	thread->name[0] = '\0';
	thread->announced = false;
	atomic_store_explicit(&thread->slot, LIB_FREE, memory_order_release);
}

/* Fill the put in hand.  False: there is nothing to say. */
static bool
compose(void)
{
	int64_t now_ns = clock_monotonic_ns();
	struct text node =
	    text_of(lib.node[0] != '\0' ? lib.node : sender.local.node);
	uint32_t count = threads();

	wire_writer_init(&sender.body, sender.bytes, sizeof(sender.bytes));
	memset(sender.records, 0, sizeof(sender.records));
	put_gaps();
	if (now_ns - sender.counted_ns >= lib.counters_ns) {
		put_counters();
		sender.counted_ns = now_ns;
	}
	lib_ticks_mark(&sender.ticks);
	for (uint32_t i = 0; i < count; i++) {
		struct lib_thread *thread =
		    thread_at((sender.turn + i) % count);

		if (!put_thread(thread, node)) {
			sender.turn += i; /* it comes first next time */
			break;
		}
		recycle(thread);
	}
	return sender.body.records > 0;
}

/* Whoever hears us from now on was told nothing yet. */
static void
announce_again(void)
{
	for (uint32_t i = 0; i < threads(); i++)
		thread_at(i)->announced = false;
	for (uint32_t i = 0; i < atomic_load(&lib.counters); i++)
		lib.counter[i].announced = false;
}

static uint64_t
in_hand(void)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < LIB_KINDS; kind++)
		sum += sender.records[kind];
	return sum;
}

/* ---- to the agent ---- */

static bool
is_over(void)
{
	return atomic_load(&lib.stopping) &&
	       clock_monotonic_ns() >= lib.deadline_ns;
}

/* Until somebody pokes, or the time is over. */
static void
wait_ms(int ms)
{
	struct pollfd pollfd = { .fd = lib.wake, .events = POLLIN };
	uint64_t pokes;

	if (poll(&pollfd, 1, ms) > 0 &&
	    read(lib.wake, &pokes, sizeof(pokes)) < 0) {
		/* Somebody else's descriptor by now: a pause at least. */
		poll(NULL, 0, ms > 0 && ms < PAUSE_MS ? ms : PAUSE_MS);
	}
}

static void
say_absent(const char *why)
{
	if (!lib.quiet && !sender.said_absent)
		fprintf(stderr,
		    "poolscope: %s: %s; up to %u KiB a thread wait for it\n",
		    lib.socket, why, lib.ring_bytes >> 10);
	sender.said_absent = true;
}

/* Not wanted, and will not be: its records are lost, and that is told. */
static void
drop_refused(enum wire_reason reason)
{
	if (!lib.quiet && !sender.said_refused)
		fprintf(stderr, "poolscope: refused by the agent at %s: %s\n",
		    lib.socket, wire_reason_name(reason));
	sender.said_refused = true;
	for (int kind = 0; kind < LIB_KINDS; kind++)
		sender.refused[kind] += sender.records[kind];
	atomic_fetch_add(&lib.refused, in_hand());
	announce_again();
}

static bool
is_worth_another_try(enum wire_reason reason)
{
	return reason == WIRE_NACK_FULL || reason == WIRE_NACK_IO ||
	       reason == WIRE_NACK_BUSY;
}

enum outcome { TAKEN, REFUSED, LATER, ABSENT };

static enum outcome
try_put(struct text frame)
{
	int64_t deadline_ns = clock_monotonic_ns() + TRY_NS;
	enum wire_reason reason = WIRE_REASON_NONE;
	struct err err = { "" };

	if (atomic_load(&lib.stopping) && lib.deadline_ns < deadline_ns)
		deadline_ns = lib.deadline_ns;
	switch (local_put(
	    &sender.local, frame, sender.seq, deadline_ns, &reason, &err)) {
	case LOCAL_DONE: return TAKEN;
	case LOCAL_REFUSED:
		if (is_worth_another_try(reason))
			return LATER;
		drop_refused(reason);
		return REFUSED;
	case LOCAL_ABSENT: say_absent("no agent"); return ABSENT;
	case LOCAL_ERROR: say_absent(err.text); return LATER;
	default: say_absent("the agent does not answer"); return LATER;
	}
}

/* Hand over what is in hand.  False: the library is closed, and there is no
 * agent or it was not well to the end. */
static bool
deliver(void)
{
	struct wire_header header = {
		.type = WIRE_PUT,
		.partition = text_of(lib.partition),
		.node = text_of(lib.node),
		.session = sender.session,
		.seq = ++sender.seq,
		.records = sender.body.records,
		.sent_ns = clock_wall_ns(),
	};
	struct text body = { (const char *)sender.bytes,
		(uint32_t)sender.body.bytes };
	struct text frame = { (const char *)sender.frame,
		(uint32_t)wire_frame(
		    sender.frame, sizeof(sender.frame), &header, body) };
	int ms = PAUSE_MS;
	enum outcome outcome;

	while ((outcome = try_put(frame)) >= LATER) {
		atomic_store(&lib.connected, false);
		if (outcome == ABSENT ? atomic_load(&lib.stopping) : is_over())
			return false;
		wait_ms(ms);
		/* A close wants to know soon. */
		ms = atomic_load(&lib.stopping) ? PAUSE_MS
		     : 2 * ms < PAUSE_MS_MAX    ? 2 * ms
						: PAUSE_MS_MAX;
	}
	atomic_store(&lib.connected, true);
	if (outcome == TAKEN)
		atomic_fetch_add(&lib.sent, in_hand());
	if (sender.connects != sender.local.connects) {
		sender.connects = sender.local.connects;
		announce_again();
	}
	return true;
}

/* ---- flushes ---- */

static void
notice_flush(void)
{
	uint64_t asked = atomic_load(&lib.asked);

	if (asked == sender.noticed)
		return;
	sender.noticed = asked;
	sender.counted_ns = INT64_MIN / 2;
	for (uint32_t i = 0; i < threads(); i++)
		thread_at(i)->goal = atomic_load(&thread_at(i)->ring.head);
}

/* Nothing is in hand. */
static void
answer_flush(void)
{
	if (atomic_load(&lib.flushed) == sender.noticed)
		return;
	for (uint32_t i = 0; i < threads(); i++)
		if (atomic_load(&thread_at(i)->ring.tail) < thread_at(i)->goal)
			return;
	pthread_mutex_lock(&lib.lock);
	atomic_store(&lib.flushed, sender.noticed);
	pthread_cond_broadcast(&lib.changed);
	pthread_mutex_unlock(&lib.lock);
}

/* ---- the thread ---- */

/* Say all there is to say.  False: given up. */
static bool
send_all(bool *sent)
{
	*sent = false;
	/* An empty put first: the answer says which node this is. */
	if (sender.seq == 0) {
		wire_writer_init(&sender.body, sender.bytes, 0);
		memset(sender.records, 0, sizeof(sender.records));
		if (!deliver())
			return false;
	}
	for (;;) {
		notice_flush();
		if (!compose())
			break;
		if (!deliver())
			return false;
		*sent = true;
		answer_flush();
	}
	answer_flush();
	return true;
}

static void
give_up(void)
{
	uint64_t lost = in_hand();
	const struct lib_record *record;
	uint32_t bytes;

	for (uint32_t i = 0; i < threads(); i++) {
		struct lib_ring *ring = &thread_at(i)->ring;

		while ((record = lib_ring_peek(ring, &bytes)) != NULL) {
			lost += record->kind < LIB_KINDS;
			lib_ring_take(ring);
		}
	}
	atomic_fetch_add(&lib.lost, lost);
	if (lost > 0 && !lib.quiet)
		fprintf(stderr, "poolscope: %s: %llu records given up\n",
		    lib.socket, (unsigned long long)lost);
}

static void *
run(void *arg)
{
	bool sent;

	(void)arg;
	for (;;) {
		bool stopping = atomic_load(&lib.stopping);

		if (stopping)
			sender.counted_ns = INT64_MIN / 2;
		if (!send_all(&sent)) {
			give_up();
			break;
		}
		if (stopping)
			break;
		/* A record between our last look and this may wake nobody; it
		 * waits for the end of this pause, which is bounded. */
		atomic_store(&lib.sleep, sent ? LIB_NAPPING : LIB_IDLE);
		wait_ms(sent ? (int)(lib.period_ns / 1000000) : IDLE_MS);
		atomic_store(&lib.sleep, LIB_AWAKE);
	}
	local_clear(&sender.local);
	atomic_store(&lib.connected, false);
	return NULL;
}

static void
begin(void)
{
	local_init(&sender.local, lib.socket);
	session_random(&sender.session);
	sender.seq = 0;
	sender.connects = 0;
	sender.told_ns = clock_wall_ns();
	sender.counted_ns = clock_monotonic_ns();
	lib_ticks_init(&sender.ticks);
	announce_again();
}

void
lib_forget_sender(void)
{
	bool said = sender.said_absent;

	local_clear(&sender.local);
	memset(&sender, 0, sizeof(sender));
	sender.local.fd = -1;
	sender.said_absent = said;
}

int
lib_start_sender(void)
{
	sigset_t all, before;
	int rc;

	if (lib.wake < 0)
		lib.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (lib.wake < 0)
		return -1;
	begin();
	/* The program's signals are the program's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&lib.sender, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0) {
		errno = rc;
		return -1;
	}
	pthread_setname_np(lib.sender, "poolscope");
	lib.running = true;
	return 0;
}

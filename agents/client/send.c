/*
 * client_send - the library's thread: batches to the agent.
 *
 * Hands over what lib_batch takes from the rings and keeps it until the agent
 * has it on disk: under one session and number, so that a put whose answer was
 * lost is kept once (proto/README.md, "Local door").  While there is no agent
 * the rings hold what they can.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agents/client/batch.h"
#include "agents/client/client_private.h"
#include "proto/base/hash.h"
#include "proto/os/clock.h"

enum {
	PAUSE_MS = 100, /* before a put is tried again, doubling to */
	PAUSE_MS_MAX = 1000,
	IDLE_MS = 1000,
};

#define TRY_NS (2 * NS_PER_SECOND)

static struct sender {
	struct local local;
	struct session_id session;
	uint64_t seq;
	uint32_t connects; /* that tracks and sets were told to */
	bool said_absent, said_refused;
	uint64_t noticed; /* flush */
	struct lib_batch batch;
	unsigned char frame[WIRE_PUT_BYTES_MAX];
} sender = { .local = { .fd = -1 } };

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
	lib_batch_refuse(&sender.batch);
	atomic_fetch_add(&lib.refused, lib_batch_records(&sender.batch));
	lib_batch_announce_again();
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
		.records = sender.batch.body.records,
		.sent_ns = clock_wall_ns(),
	};
	struct text body = { (const char *)sender.batch.bytes,
		(uint32_t)sender.batch.body.bytes };
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
		atomic_fetch_add(&lib.sent, lib_batch_records(&sender.batch));
	if (sender.connects != sender.local.connects) {
		sender.connects = sender.local.connects;
		lib_batch_announce_again();
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
	lib_batch_hurry(&sender.batch);
	for (uint32_t i = 0; i < lib_threads(); i++)
		lib_thread_at(i)->goal =
		    atomic_load(&lib_thread_at(i)->ring.head);
}

/* Nothing is in hand. */
static void
answer_flush(void)
{
	if (atomic_load(&lib.flushed) == sender.noticed)
		return;
	for (uint32_t i = 0; i < lib_threads(); i++)
		if (atomic_load(&lib_thread_at(i)->ring.tail) <
		    lib_thread_at(i)->goal)
			return;
	pthread_mutex_lock(&lib.lock);
	atomic_store(&lib.flushed, sender.noticed);
	pthread_cond_broadcast(&lib.changed);
	pthread_mutex_unlock(&lib.lock);
}

/* ---- the thread ---- */

/* As the program says; else whose agent it is. */
static struct text
node(void)
{
	return text_of(lib.node[0] != '\0' ? lib.node : sender.local.node);
}

/* Say all there is to say.  False: given up. */
static bool
send_all(bool *sent)
{
	*sent = false;
	/* An empty put first: the answer says which node this is. */
	if (sender.seq == 0) {
		lib_batch_empty(&sender.batch);
		if (!deliver())
			return false;
	}
	for (;;) {
		notice_flush();
		if (!lib_batch_fill(&sender.batch, node()))
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
	uint64_t lost = lib_batch_records(&sender.batch);
	const struct lib_record *record;
	uint32_t bytes;

	for (uint32_t i = 0; i < lib_threads(); i++) {
		struct lib_ring *ring = &lib_thread_at(i)->ring;

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
			lib_batch_hurry(&sender.batch);
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
	lib_batch_begin(&sender.batch);
	lib_batch_announce_again();
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

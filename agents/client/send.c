/*
 * client_send - the library's thread: batches to the agent.
 *
 * It submits the records that client_batch takes from the rings, and keeps a
 * submission until the agent has it on disk: under one session and number, so
 * that a submission whose answer was lost is stored once (proto/wire.md,
 * "Local socket").  Without an agent the rings store what fits.
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
#include "proto/hash/hash.h"
#include "proto/os/clock.h"

enum {
	PAUSE_MS = 100, /* before a submission is repeated; doubles up to */
	PAUSE_MS_MAX = 1000,
	IDLE_MS = 1000,
};

#define TRY_NS (2 * NS_PER_SECOND)

static struct sender {
	struct local_socket local_socket;
	struct session_id session;
	uint64_t seq;
	uint32_t
	    connects; /* the connection that has the tracks and metric groups */
	bool logged_absent, logged_refused;
	uint64_t noticed; /* last flush that was noticed */
	struct client_batch batch;
	unsigned char frame[WIRE_PUT_BYTES_MAX];
} sender = { .local_socket = { .fd = -1 } };

/* ---- to the agent ---- */

static bool
is_over(void)
{
	return atomic_load(&client.stopping) &&
	       clock_monotonic_ns() >= client.deadline_ns;
}

/* Wait until woken, at most this long. */
static void
wait_ms(int ms)
{
	struct pollfd pollfd = { .fd = client.wake, .events = POLLIN };
	uint64_t wakes;

	if (poll(&pollfd, 1, ms) > 0 &&
	    read(client.wake, &wakes, sizeof(wakes)) < 0) {
		/* The program has closed our descriptor: at least pause. */
		poll(NULL, 0, ms > 0 && ms < PAUSE_MS ? ms : PAUSE_MS);
	}
}

static void
log_absent(const char *why)
{
	if (!client.quiet && !sender.logged_absent)
		fprintf(stderr,
		    "poolscope: %s: %s; buffering up to %u KiB per thread\n",
		    client.socket, why, client.ring_bytes >> 10);
	sender.logged_absent = true;
}

/* Refused for good: the records are lost.  Report it once, and publish a
 * gap. */
static void
drop_refused(enum wire_reason reason, const struct err *err)
{
	if (!client.quiet && !sender.logged_refused)
		fprintf(stderr, "poolscope: refused by the agent at %s: %s\n",
		    client.socket,
		    err->text[0] != '\0' ? err->text
					 : wire_reason_name(reason));
	sender.logged_refused = true;
	client_batch_refuse(&sender.batch, err->text[0] != '\0');
	atomic_fetch_add(&client.refused, client_batch_records(&sender.batch));
	client_batch_announce_again(&sender.batch);
}

static bool
is_temporary(enum wire_reason reason)
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
	struct err err = { 0 };

	if (atomic_load(&client.stopping) && client.deadline_ns < deadline_ns)
		deadline_ns = client.deadline_ns;
	switch (local_socket_put(&sender.local_socket, frame, sender.seq,
	    deadline_ns, &reason, &err)) {
	case LOCAL_SOCKET_DONE: return TAKEN;
	case LOCAL_SOCKET_REFUSED:
		if (is_temporary(reason)) {
			if (err.text[0] != '\0')
				log_absent(err.text);
			return LATER;
		}
		drop_refused(reason, &err);
		return REFUSED;
	case LOCAL_SOCKET_ABSENT: log_absent("no agent"); return ABSENT;
	case LOCAL_SOCKET_ERROR: log_absent(err.text); return LATER;
	default: log_absent("the agent does not answer"); return LATER;
	}
}

/* Submit the current records.  False: the library is being closed, and there
 * is no agent, or it failed until the deadline. */
static bool
deliver(void)
{
	struct wire_header header = {
		.type = WIRE_PUT,
		.partition = text_of(client.partition),
		.node = text_of(client.node),
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
		atomic_store(&client.connected, false);
		if (outcome == ABSENT ? atomic_load(&client.stopping)
				      : is_over())
			return false;
		wait_ms(ms);
		/* A close waits for the result: retry soon. */
		ms = atomic_load(&client.stopping) ? PAUSE_MS
		     : 2 * ms < PAUSE_MS_MAX       ? 2 * ms
						   : PAUSE_MS_MAX;
	}
	atomic_store(&client.connected, true);
	if (outcome == TAKEN)
		atomic_fetch_add(
		    &client.sent, client_batch_records(&sender.batch));
	if (sender.connects != sender.local_socket.connects) {
		sender.connects = sender.local_socket.connects;
		client_batch_announce_again(&sender.batch);
	}
	return true;
}

/* ---- flushes ---- */

static void
notice_flush(void)
{
	uint64_t asked = atomic_load(&client.asked);

	if (asked == sender.noticed)
		return;
	sender.noticed = asked;
	client_batch_hurry(&sender.batch);
	for (uint32_t i = 0; i < client_threads(); i++)
		client_thread_at(i)->goal =
		    atomic_load(&client_thread_at(i)->ring.head);
}

/* Complete the flushes that were noticed, if the rings are read that far. */
static void
answer_flush(void)
{
	if (sender.batch.more || atomic_load(&client.flushed) == sender.noticed)
		return;
	for (uint32_t i = 0; i < client_threads(); i++)
		if (atomic_load(&client_thread_at(i)->ring.tail) <
		    client_thread_at(i)->goal)
			return;
	pthread_mutex_lock(&client.lock);
	atomic_store(&client.flushed, sender.noticed);
	pthread_cond_broadcast(&client.changed);
	pthread_mutex_unlock(&client.lock);
}

/* ---- the thread ---- */

/* The program's node, else the agent's. */
static struct text
node(void)
{
	return text_of(
	    client.node[0] != '\0' ? client.node : sender.local_socket.node);
}

/* Send everything.  False: the library is being closed, and records remain. */
static bool
send_all(bool *sent)
{
	*sent = false;
	/* Begin with an empty submission: the answer has the name of the
	 * node. */
	if (sender.seq == 0) {
		client_batch_empty(&sender.batch);
		if (!deliver())
			return false;
	}
	for (;;) {
		notice_flush();
		if (!client_batch_fill(&sender.batch, node()))
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
	uint64_t lost = client_batch_records(&sender.batch);
	const struct client_record *record;
	uint32_t bytes;

	for (uint32_t i = 0; i < client_threads(); i++) {
		struct client_ring *ring = &client_thread_at(i)->ring;

		while ((record = client_ring_peek(ring, &bytes)) != NULL) {
			lost += record->kind < CLIENT_KINDS;
			client_ring_take(ring);
		}
	}
	atomic_fetch_add(&client.lost, lost);
	if (lost > 0 && !client.quiet)
		fprintf(stderr, "poolscope: %s: %llu record%s discarded\n",
		    client.socket, (unsigned long long)lost,
		    lost == 1 ? "" : "s");
}

static void *
run(void *arg)
{
	bool sent;

	(void)arg;
	for (;;) {
		bool stopping = atomic_load(&client.stopping);

		if (stopping)
			client_batch_hurry(&sender.batch);
		if (!send_all(&sent)) {
			give_up();
			break;
		}
		if (stopping)
			break;
		/* A record between the last check and this may wake nobody; it
		 * waits for the end of this pause, which is bounded. */
		atomic_store(
		    &client.sleep, sent ? CLIENT_NAPPING : CLIENT_IDLE);
		wait_ms(sent ? (int)(client.period_ns / 1000000) : IDLE_MS);
		atomic_store(&client.sleep, CLIENT_AWAKE);
	}
	local_socket_clear(&sender.local_socket);
	atomic_store(&client.connected, false);
	return NULL;
}

static void
begin(void)
{
	local_socket_init(&sender.local_socket, client.socket);
	session_random(&sender.session);
	sender.seq = 0;
	sender.connects = 0;
	client_batch_begin(&sender.batch);
	client_batch_announce_again(&sender.batch);
}

void
client_forget_sender(void)
{
	bool logged = sender.logged_absent;

	local_socket_clear(&sender.local_socket);
	memset(&sender, 0, sizeof(sender));
	sender.local_socket.fd = -1;
	sender.logged_absent = logged;
}

int
client_start_sender(void)
{
	sigset_t all, before;
	int rc;

	if (client.wake < 0)
		client.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (client.wake < 0)
		return -1;
	begin();
	/* Signals are handled by the program's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&client.sender, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0) {
		errno = rc;
		return -1;
	}
	pthread_setname_np(client.sender, "poolscope");
	client.running = true;
	return 0;
}

/*
 * ingest - receive batches: group commit, then the answers.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/ingest.h"

#include <stdlib.h>

#include "aggregator/ingest/authorize.h"
#include "aggregator/ingest/board.h"
#include "aggregator/ingest/outbox.h"
#include "aggregator/ingest/ended_sessions.h"
#include "proto/auth/forwarded_peer.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	GROUP_BYTES = 4 << 20,
	TICKS_BETWEEN_READER_CHECKS = 5,
	TICKS_BETWEEN_COLLECTIONS = 10, /* of ended sessions */
	PURGE_AT_ONCE = 256,
};
#define GROUP_NS (20 * NS_PER_SECOND / 1000)
#define TICK_NS  NS_PER_SECOND

struct ingest {
	struct loop *loop;
	struct zsock *zsock;
	struct journal *journal;
	struct receiver *receiver;
	struct ingest_options options;
	struct backpressure backpressure;
	struct authorize authorize;
	struct ended_sessions ended_sessions;
	struct zsock_message message;
	struct outbox outbox;

	/* The current group. */
	bool open;
	uint32_t messages;
	uint64_t bytes;
	int64_t since_ns;
	enum receiver_room room; /* when it began */

	bool broken, stopped;
	uint32_t ticks;
	int64_t version_ns; /* of the warning of another version */
	struct loop_timer tick;
	struct ingest_board board;
};

/* ---- a group ---- */

static void
publish(struct ingest *ingest)
{
	ingest->board.now.answers_late = ingest->outbox.delayed;
	ingest->board.now.answers_dropped = ingest->outbox.dropped;
	ingest->board.now.rate_limited = ingest->authorize.limited;
	ingest_board_publish(&ingest->board, ingest->receiver,
	    &ingest->backpressure, ingest->zsock);
}

/* Acknowledge nothing more.  The state on disk is consistent, so a restart can
 * continue. */
static void
broken(struct ingest *ingest, const struct err *err)
{
	log_error("the journal failed; exiting (the store is consistent, "
		  "restart the aggregator): %s",
	    err->text);
	ingest->broken = true;
	loop_quit(ingest->loop, EXIT_FAILURE);
}

static bool
group_begin(struct ingest *ingest, int64_t now_ns)
{
	struct err err = { 0 };

	if (ingest->broken)
		return false;
	if (journal_begin(ingest->journal, &err) != 0) {
		broken(ingest, &err);
		return false;
	}
	ingest->open = true;
	ingest->messages = 0;
	ingest->bytes = 0;
	ingest->since_ns = now_ns;
	return true;
}

static void
group_failed(struct ingest *ingest, enum db_result result, struct err *err)
{
	struct replies *replies = &ingest->outbox.replies;

	receiver_failed(ingest->receiver);
	if (result != DB_FULL) {
		/* Send no answer: the outcome of the group is not known. */
		replies_clear(replies);
		broken(ingest, err);
		return;
	}
	backpressure_set_full(&ingest->backpressure, clock_monotonic_ns(), err);
	for (uint32_t i = 0; i < replies->count; i++)
		receiver_withdraw(ingest->receiver, &replies->at[i].header);
}

static void
group_commit(struct ingest *ingest)
{
	struct err err = { 0 };
	bool dirty = receiver_is_dirty(ingest->receiver);
	int64_t start_ns;
	enum db_result result;
	uint32_t purged = 0;

	if (!ingest->open)
		return;
	ingest->open = false;
	if (dirty)
		purged = backpressure_purge(
		    &ingest->backpressure, ingest->messages + 16);
	start_ns = clock_monotonic_ns();
	result = journal_commit(ingest->journal, &err);
	if (result != DB_OK) {
		group_failed(ingest, result, &err);
	} else {
		receiver_committed(ingest->receiver);
		ingest->backpressure.purged += purged;
	}
	if (result == DB_OK && dirty) {
		backpressure_set_room(&ingest->backpressure);
		ingest->board.now.commits++;
		ingest->board.now.commit_ns =
		    (uint64_t)(clock_monotonic_ns() - start_ns);
		ingest->backpressure.follower.wake(
		    ingest->backpressure.follower.arg);
	}
	/* Publish before the answers: whoever has an answer and asks for the
	 * status must find the batch counted. */
	publish(ingest);
	outbox_send(&ingest->outbox, ingest->zsock);
}

static void
warn_version(struct ingest *ingest)
{
	unsigned version = wire_version(ingest->message.frame);

	if (version != WIRE_VERSION && log_is_due(&ingest->version_ns))
		log_warn("a sender speaks version %u of the wire protocol, "
			 "this program supports version %d: install the same "
			 "version on both; its records wait there",
		    version, WIRE_VERSION);
}

/* The brokers that status looks for are those of this host, which come through
 * a Unix socket. */
static void
note_broker(struct ingest *ingest, int64_t received_ns)
{
	const struct zsock_message *message = &ingest->message;
	struct zsock_peer peer;
	bool forwarded;

	(void)forwarded_peer_get(&message->route, &peer, &forwarded);
	if (forwarded && message->peer.has_uid && !message->peer.keyed)
		ingest->board.now.broker_ns = received_ns;
}

static bool
answer_message(struct ingest *ingest, int64_t received_ns, int64_t now_ns,
    struct wire_header *answer)
{
	struct zsock_message *message = &ingest->message;
	bool answered;

	answer->generation = journal_generation(ingest->journal);
	answer->received_ns = received_ns;
	if (!authorize_check(&ingest->authorize, message, now_ns, answer))
		return true;
	answered = receiver_take(ingest->receiver, message->frame,
	    auth_sender(ingest->options.auth, message), received_ns,
	    ingest->room, answer);
	if ((answer->flags & WIRE_FLAG_TAKEN) != 0 &&
	    (answer->flags & WIRE_FLAG_DROPPED) == 0)
		auth_refuse_session(ingest->options.auth, message,
		    answer->partition, answer->node);
	authorize_note(&ingest->authorize, message, now_ns, answer);
	if (answer->type == WIRE_ACK)
		note_broker(ingest, received_ns);
	if (answered && answer->type == WIRE_NACK &&
	    answer->reason == WIRE_NACK_UNSUPPORTED)
		warn_version(ingest);
	return answered;
}

static void
take(struct ingest *ingest, int64_t now_ns)
{
	/* Take the time first: senders measure the clock offset with it, and
	 * processing must not count as transit time. */
	int64_t received_ns = clock_wall_ns();
	struct wire_header answer = { .type = WIRE_NACK };

	if (!ingest->open) {
		ingest->room =
		    backpressure_check(&ingest->backpressure, now_ns);
		if (!group_begin(ingest, now_ns))
			return;
	}
	ingest->messages++;
	ingest->bytes += ingest->message.frame.bytes;
	if (answer_message(ingest, received_ns, now_ns, &answer))
		replies_add(
		    &ingest->outbox.replies, &ingest->message.route, &answer);
}

static bool
group_is_big(const struct ingest *ingest, int64_t now_ns)
{
	return ingest->open && (ingest->bytes >= GROUP_BYTES ||
				   ingest->messages >= OUTBOX_GROUP ||
				   now_ns - ingest->since_ns >= GROUP_NS);
}

static void
on_zsock(void *arg, struct zsock *zsock)
{
	struct ingest *ingest = arg;
	int64_t now_ns = clock_monotonic_ns();

	while (!ingest->broken && !ingest->stopped &&
	       !group_is_big(ingest, now_ns) &&
	       zsock_recv(zsock, &ingest->message) == ZSOCK_DONE) {
		take(ingest, now_ns);
		now_ns = clock_monotonic_ns();
	}
	zsock_message_clear(&ingest->message);
}

static void
on_idle(void *arg)
{
	group_commit(arg);
}

/* ---- timers ---- */

/* Timers run between a group's messages and its commit, and the queue may hold
 * answers of that group: they must not be sent before the commit. */
static void
on_late(void *arg, struct loop_timer *timer)
{
	struct ingest *ingest = arg;

	(void)timer;
	if (ingest->open)
		group_commit(ingest);
	else
		outbox_send(&ingest->outbox, ingest->zsock);
}

static void
purge(struct ingest *ingest)
{
	struct err err = { 0 };

	if (backpressure_purge_alone(
		&ingest->backpressure, PURGE_AT_ONCE, &err) > DB_FULL)
		broken(ingest, &err);
}

static void
collect_sessions(struct ingest *ingest)
{
	const struct ingest_options *options = &ingest->options;

	if (ingest->ticks % TICKS_BETWEEN_COLLECTIONS != 0 ||
	    options->is_clock_right == NULL ||
	    !options->is_clock_right(options->arg) ||
	    !group_begin(ingest, clock_monotonic_ns()))
		return;
	ingest->board.now.sessions_collected += ended_sessions_collect(
	    &ingest->ended_sessions, ingest->journal, clock_wall_ns());
	group_commit(ingest);
}

static void
on_tick(void *arg, struct loop_timer *timer)
{
	struct ingest *ingest = arg;

	(void)timer;
	group_commit(ingest);
	if (ingest->stopped || ingest->broken)
		return;
	if (++ingest->ticks % TICKS_BETWEEN_READER_CHECKS == 0)
		db_clear_stale_readers(journal_db(ingest->journal));
	purge(ingest);
	collect_sessions(ingest);
	backpressure_check(&ingest->backpressure, clock_monotonic_ns());
	publish(ingest);
}

/* ---- open and close ---- */

static int
open_listener(struct ingest *ingest, struct err *err)
{
	const struct opt_list *listen = ingest->options.listen;
	const struct zsock_options how = {
		.kind = ZSOCK_LISTENER,
		.queue_messages = ingest->options.queue_messages,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
		.insecure = ingest->options.insecure,
		.connects_per_second = ingest->options.connects_per_second,
		.server_secret = auth_secret(ingest->options.auth),
	};

	if (zsock_open(&ingest->zsock, &how, err) != 0)
		return -1;
	for (uint32_t i = 0; i < listen->count; i++)
		if (zsock_bind(ingest->zsock, listen->at[i], err) != 0)
			return -1;
	return loop_add_zsock(
	    ingest->loop, ingest->zsock, on_zsock, ingest, err);
}

int
ingest_open(struct ingest **ingest, struct loop *loop, struct journal *journal,
    const struct ingest_options *options,
    const struct backpressure_follower *follower, struct err *err)
{
	struct ingest *made = memory_zero(1, sizeof(*made));

	made->loop = loop;
	made->journal = journal;
	made->options = *options;
	authorize_init(
	    &made->authorize, options->auth, options->key_bytes_per_second);
	made->backpressure = (struct backpressure){
		.journal = journal,
		.follower = *follower,
		.journal_bytes = options->journal_bytes,
		.keep_ns = options->journal_keep_ns,
	};
	made->ended_sessions.retain_ns = options->retain_ns;
	ingest_board_init(&made->board);
	zsock_message_init(&made->message);
	outbox_init(&made->outbox, loop, on_late, made);
	made->receiver = receiver_new(journal, options->sessions_per_hour);
	receiver_accept(made->receiver, options->accept);
	receiver_set_pace(made->receiver, &made->backpressure.pace);
	if (open_listener(made, err) != 0) {
		ingest_close(&made);
		return -1;
	}
	made->tick = (struct loop_timer){ .on_timer = on_tick, .arg = made };
	loop_set_timer(
	    loop, &made->tick, clock_monotonic_ns() + TICK_NS, TICK_NS);
	loop_set_idle(loop, on_idle, made);
	backpressure_check(&made->backpressure, clock_monotonic_ns());
	publish(made);
	*ingest = made;
	return 0;
}

int
ingest_rekey(struct ingest *ingest, struct err *err)
{
	return zsock_rekey(
	    ingest->zsock, auth_secret(ingest->options.auth), err);
}

void
ingest_change(struct ingest *ingest, const struct ingest_options *options)
{
	ingest->backpressure.journal_bytes = options->journal_bytes;
	ingest->backpressure.keep_ns = options->journal_keep_ns;
	receiver_change(ingest->receiver, options->sessions_per_hour);
	rate_limit_change(
	    ingest->authorize.rate_limit, options->key_bytes_per_second);
	ingest->ended_sessions.retain_ns = options->retain_ns;
}

void
ingest_stop(struct ingest *ingest)
{
	if (ingest->stopped)
		return;
	group_commit(ingest);
	ingest->stopped = true;
	loop_stop_timer(ingest->loop, &ingest->tick);
	outbox_stop(&ingest->outbox);
	loop_remove_zsock(ingest->loop, ingest->zsock);
}

void
ingest_close(struct ingest **ingest)
{
	struct ingest *old = *ingest;

	if (old == NULL)
		return;
	/* After a failure of the loop: nothing of the open group was
	 * acknowledged. */
	if (old->open)
		journal_abort(old->journal);
	if (old->zsock != NULL && !old->stopped)
		loop_remove_zsock(old->loop, old->zsock);
	if (old->tick.on_timer != NULL && !old->stopped) {
		loop_stop_timer(old->loop, &old->tick);
		outbox_stop(&old->outbox);
	}
	loop_set_idle(old->loop, NULL, NULL);
	zsock_message_clear(&old->message);
	zsock_close(&old->zsock);
	receiver_free(&old->receiver);
	authorize_clear(&old->authorize);
	ingest_board_clear(&old->board);
	free(old);
	*ingest = NULL;
}

uint64_t
ingest_newest(const struct ingest *ingest, struct text partition)
{
	return receiver_newest(ingest->receiver, partition);
}

void
ingest_status(struct ingest *ingest, struct ingest_status *status)
{
	ingest_board_get(&ingest->board, status);
}

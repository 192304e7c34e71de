/*
 * spool_uplink - sends the batches of the spool to the aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/spool_uplink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/auth/reconnect.h"
#include "proto/hash/hash.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	LINE_QUEUE = 4, /* messages: the sender bounds the window, not ZeroMQ */
	FRAMES_A_ROUND = 64,
};

#define FORBIDDEN_NS (60 * NS_PER_SECOND) /* between two warnings */

/* Acknowledged batches are released this long afterwards, all at once. */
#define TIDY_NS (5 * NS_PER_SECOND)

struct spool_uplink {
	struct spool_uplink_options options;
	struct zsock *zsock;
	struct reconnect *reconnect;
	struct sender *sender;
	struct past_sessions past_sessions;
	struct zsock_message message;
	struct loop_timer push_timer, tidy_timer;
	uint32_t streams; /* streams that the sender knows */
	bool restart[SPOOL_STREAMS_MAX];
	bool restarts; /* any of them */
	bool held;
	struct loop_timer poll_timer; /* checks the connection to the brokers */
	uint64_t forbidden;   /* answers "forbidden" up to the last warning */
	uint64_t told;        /* ... and up to the last call of on_forbidden */
	int64_t forbidden_ns; /* time of that warning; 0: none yet */
};

static bool
send_frame(void *arg, struct text frame)
{
	static const struct route no_route; /* a connection has one peer */
	struct spool_uplink *spool_uplink = arg;

	return zsock_send(spool_uplink->zsock, &no_route, frame) == ZSOCK_DONE;
}

static int
read_batch(void *arg, uint32_t stream, uint64_t seq, struct sender_batch *batch)
{
	struct spool_uplink *spool_uplink = arg;
	struct spool_batch from;
	struct err err = { 0 };
	int there =
	    spool_read(spool_uplink->options.spool, stream, seq, &from, &err);

	if (there == 1)
		*batch = (struct sender_batch){
			.seq = from.seq,
			.last_seq = from.last_seq,
			.reason = from.reason,
			.records = from.records,
			.codec = from.codec,
			.body_bytes = from.body_bytes,
			.chain = from.chain,
			.chain_after = from.chain_after,
			.body = from.body,
		};
	return there;
}

static void
on_acked(void *arg, uint32_t stream, uint64_t upto)
{
	struct spool_uplink *spool_uplink = arg;
	const struct spool_uplink_options *options = &spool_uplink->options;

	spool_acked(options->spool, stream, upto);
	if (spool_uplink->tidy_timer.at_ns == 0)
		loop_set_timer(options->loop, &spool_uplink->tidy_timer,
		    clock_monotonic_ns() + TIDY_NS, 0);
	options->on_acked(options->arg, stream, upto);
}

static bool
on_probed(void *arg, const struct clock_offset_probe *probe)
{
	struct spool_uplink *spool_uplink = arg;

	return spool_uplink->options.on_probed(
	    spool_uplink->options.arg, probe);
}

static int64_t
read_clock(void *arg)
{
	(void)arg;
	return clock_monotonic_ns();
}

static void
ask_restart(struct spool_uplink *spool_uplink, uint32_t stream)
{
	spool_uplink->restart[stream] = spool_uplink->restarts = true;
}

static void
on_refused(void *arg, uint32_t stream, uint64_t seq, enum wire_reason reason)
{
	struct spool_uplink *spool_uplink = arg;
	const struct spool_uplink_options *options = &spool_uplink->options;
	struct err err = { 0 };

	log_warn("the aggregator refused batch seq=%llu for good: %s; moving "
		 "it to refused/ in the spool",
	    (unsigned long long)seq, wire_reason_name(reason));
	options->commit(options->arg);
	if (spool_refuse(options->spool, stream, seq, WIRE_GAP_REFUSED, &err) !=
	    0)
		log_error("%s", err.text);
	options->on_refused(options->arg, stream, seq, reason);
}

static void
on_resend_from(void *arg, uint32_t stream, uint64_t seq)
{
	struct spool_uplink *spool_uplink = arg;
	const struct spool_uplink_options *options = &spool_uplink->options;
	struct err err = { 0 };

	log_warn("the aggregator lost acknowledged data (restored from a "
		 "backup?); resending from seq=%llu",
	    (unsigned long long)seq);
	options->commit(options->arg);
	if (spool_resend_from(options->spool, stream, seq, &err) != 0)
		log_error("%s", err.text);
	ask_restart(spool_uplink, stream);
}

static void
on_diverged(void *arg, uint32_t stream, uint64_t seq)
{
	struct spool_uplink *spool_uplink = arg;
	const struct spool_uplink_options *options = &spool_uplink->options;
	struct err err = { 0 };

	log_warn("this spool was copied or restored to an older state; "
		 "starting a new session");
	options->commit(options->arg);
	if (spool_new_session(options->spool, stream, seq, &err) != 0)
		log_error("%s", err.text);
	for (uint32_t i = 0; i < spool_uplink->streams; i++)
		ask_restart(spool_uplink, i);
	options->on_renumbered(options->arg);
}

static void
settle(void *arg)
{
	const struct spool_uplink *spool_uplink = arg;

	spool_uplink->options.commit(spool_uplink->options.arg);
}

static void
restart(struct spool_uplink *spool_uplink, uint32_t stream, int64_t now_ns)
{
	struct spool *spool = spool_uplink->options.spool;
	uint64_t first = spool_first_unacked(spool, stream);

	spool_uplink->restart[stream] = false;
	sender_restart(spool_uplink->sender, stream,
	    spool_partition(spool, stream), spool_session(spool), first,
	    spool_chain(spool, stream, first), now_ns);
}

/* Start the streams that are new or must send a hello again. */
static void
restart_streams(struct spool_uplink *spool_uplink, int64_t now_ns)
{
	uint32_t streams = spool_streams(spool_uplink->options.spool);

	for (; spool_uplink->streams < streams; spool_uplink->streams++)
		ask_restart(spool_uplink, spool_uplink->streams);
	for (uint32_t i = 0;
	     spool_uplink->restarts && i < spool_uplink->streams; i++)
		if (spool_uplink->restart[i])
			restart(spool_uplink, i, now_ns);
	spool_uplink->restarts = false;
}

static void
set_timer(
    struct spool_uplink *spool_uplink, struct loop_timer *timer, int64_t at_ns)
{
	if (at_ns == 0)
		loop_stop_timer(spool_uplink->options.loop, timer);
	else
		loop_set_timer(spool_uplink->options.loop, timer, at_ns, 0);
}

static void
check_brokers(struct spool_uplink *spool_uplink, int64_t now_ns)
{
	set_timer(spool_uplink, &spool_uplink->poll_timer,
	    broker_link_poll(spool_uplink->options.broker_link,
		spool_uplink->zsock, spool_uplink->sender, now_ns));
}

/* 0 means never. */
static int64_t
sooner(int64_t a_ns, int64_t b_ns)
{
	if (a_ns == 0 || b_ns == 0)
		return a_ns + b_ns;
	return a_ns < b_ns ? a_ns : b_ns;
}

void
spool_uplink_push(struct spool_uplink *spool_uplink)
{
	int64_t now_ns = clock_monotonic_ns();

	if (spool_uplink->held)
		return;
	restart_streams(spool_uplink, now_ns);
	check_brokers(spool_uplink, now_ns);
	sender_push(spool_uplink->sender, now_ns, clock_wall_ns());
	if (spool_uplink->restarts)
		restart_streams(spool_uplink, now_ns);
	past_sessions_push(
	    &spool_uplink->past_sessions, now_ns, clock_wall_ns());
	set_timer(spool_uplink, &spool_uplink->push_timer,
	    sooner(sender_deadline_ns(spool_uplink->sender),
		past_sessions_deadline_ns(&spool_uplink->past_sessions)));
}

static void
on_push_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	spool_uplink_push(arg);
}

void
spool_uplink_tidy(struct spool_uplink *spool_uplink)
{
	struct err err = { 0 };

	loop_stop_timer(spool_uplink->options.loop, &spool_uplink->tidy_timer);
	if (spool_tidy(spool_uplink->options.spool, clock_wall_ns(), &err) != 0)
		log_warn("%s", err.text);
}

static void
on_tidy_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	spool_uplink_tidy(arg);
}

struct text
spool_uplink_forbids(const struct spool_uplink *spool_uplink, uint32_t stream,
    char to[static NAME_BYTES_MAX + 1])
{
	const char *may = sender_forbids(spool_uplink->sender, stream);
	struct text why = { to, 0 };

	if (may == NULL)
		return why;
	snprintf(to, NAME_BYTES_MAX + 1, "%s: %s",
	    zsock_endpoint(spool_uplink->zsock), may);
	/* It may be cut in the middle of a character. */
	why.bytes = (uint32_t)strlen(to);
	while (why.bytes > 0 && text_check_name(why) != TEXT_OK)
		why.bytes--;
	return why;
}

/* Report it to the owner, at each answer, for clients that wait. */
static void
tell_forbidden(struct spool_uplink *spool_uplink)
{
	uint64_t count =
	    sender_counters(spool_uplink->sender)->nacks[WIRE_NACK_FORBIDDEN];

	if (count == spool_uplink->told)
		return;
	spool_uplink->told = count;
	for (uint32_t i = 0; i < spool_uplink->streams; i++)
		if (sender_forbids(spool_uplink->sender, i) != NULL)
			spool_uplink->options.on_forbidden(
			    spool_uplink->options.arg, i);
}

/* At once, then once a minute: until its key may send again, the stream waits
 * with all that it has. */
static void
warn_forbidden(struct spool_uplink *spool_uplink)
{
	uint64_t count =
	    sender_counters(spool_uplink->sender)->nacks[WIRE_NACK_FORBIDDEN];
	int64_t now_ns = clock_monotonic_ns();

	if (count == spool_uplink->forbidden ||
	    (spool_uplink->forbidden_ns != 0 &&
		now_ns - spool_uplink->forbidden_ns < FORBIDDEN_NS))
		return;
	spool_uplink->forbidden = count;
	spool_uplink->forbidden_ns = now_ns;
	log_warn("%s: %s; records wait in the spool until the key may send "
		 "them (poolscope keys, on that host) or the agent has another "
		 "-p or -n",
	    zsock_endpoint(spool_uplink->zsock),
	    sender_forbidden(spool_uplink->sender));
}

static void
on_zsock(void *arg, struct zsock *zsock)
{
	struct spool_uplink *spool_uplink = arg;

	reconnect_check(spool_uplink->reconnect);
	for (int i = 0; i < FRAMES_A_ROUND; i++) {
		if (zsock_recv(zsock, &spool_uplink->message) != ZSOCK_DONE)
			break;
		if (sender_receive(spool_uplink->sender,
			spool_uplink->message.frame, clock_monotonic_ns(),
			clock_wall_ns()) ||
		    past_sessions_receive(&spool_uplink->past_sessions,
			spool_uplink->message.frame, clock_monotonic_ns(),
			clock_wall_ns()))
			broker_link_answered(spool_uplink->options.broker_link,
			    zsock, spool_uplink->sender);
	}
	warn_forbidden(spool_uplink);
	tell_forbidden(spool_uplink);
	spool_uplink_push(spool_uplink);
}

static const struct reconnect_peer broker = { "broker",
	"accepted records wait in the spool" };

static int
open_line(struct spool_uplink *spool_uplink, struct err *err)
{
	const struct zsock_options options = {
		.kind = ZSOCK_CONNECTION,
		.queue_messages = LINE_QUEUE,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
	};

	if (broker_link_connect(spool_uplink->options.broker_link,
		&spool_uplink->zsock, &options, err) != 0)
		return -1;
	spool_uplink->reconnect = reconnect_new(
	    spool_uplink->options.loop, spool_uplink->zsock, &broker);
	return loop_add_zsock(spool_uplink->options.loop, spool_uplink->zsock,
	    on_zsock, spool_uplink, err);
}

int
spool_uplink_open(struct spool_uplink **made,
    const struct spool_uplink_options *options, struct err *err)
{
	struct spool_uplink *spool_uplink =
	    memory_zero(1, sizeof(*spool_uplink));
	struct sender_owner owner = { spool_uplink, send_frame, read_batch,
		on_acked, on_refused, on_resend_from, on_diverged, on_probed,
		read_clock };
	struct sender_options sender = {
		.node = options->node,
		.start_count = spool_start_count(options->spool),
	};

	spool_uplink->options = *options;
	spool_uplink->past_sessions.options = (struct past_sessions_options){
		.spool = options->spool,
		.node = options->node,
		.wait_ns = options->restore_wait_ns,
		.arg = spool_uplink,
		.send = send_frame,
		.commit = settle,
	};
	spool_uplink->push_timer.on_timer = on_push_timer;
	spool_uplink->tidy_timer.on_timer = on_tidy_timer;
	spool_uplink->poll_timer.on_timer = on_push_timer;
	spool_uplink->push_timer.arg = spool_uplink->tidy_timer.arg =
	    spool_uplink;
	spool_uplink->poll_timer.arg = spool_uplink;
	zsock_message_init(&spool_uplink->message);
	hash_random_bytes(&sender.seed, sizeof(sender.seed));
	if (sender_new(&spool_uplink->sender, &sender, &owner, err) != 0 ||
	    open_line(spool_uplink, err) != 0) {
		spool_uplink_close(&spool_uplink);
		return -1;
	}
	*made = spool_uplink;
	return 0;
}

void
spool_uplink_close(struct spool_uplink **gone)
{
	struct spool_uplink *spool_uplink = *gone;

	*gone = NULL;
	if (spool_uplink == NULL)
		return;
	loop_stop_timer(spool_uplink->options.loop, &spool_uplink->push_timer);
	loop_stop_timer(spool_uplink->options.loop, &spool_uplink->tidy_timer);
	reconnect_free(&spool_uplink->reconnect);
	loop_stop_timer(spool_uplink->options.loop, &spool_uplink->poll_timer);
	zsock_message_clear(&spool_uplink->message);
	if (spool_uplink->zsock != NULL)
		loop_remove_zsock(
		    spool_uplink->options.loop, spool_uplink->zsock);
	zsock_close(&spool_uplink->zsock);
	sender_free(&spool_uplink->sender);
	free(spool_uplink);
}

void
spool_uplink_renew_key(struct spool_uplink *spool_uplink)
{
	if (broker_link_renew_key(spool_uplink->options.broker_link,
		spool_uplink->zsock, spool_uplink->sender,
		clock_monotonic_ns()))
		spool_uplink_push(spool_uplink);
}

void
spool_uplink_hold(struct spool_uplink *spool_uplink, bool hold)
{
	spool_uplink->held = hold;
}

bool
spool_uplink_is_done(const struct spool_uplink *spool_uplink)
{
	struct spool *spool = spool_uplink->options.spool;

	for (uint32_t i = 0; i < spool_streams(spool); i++)
		if (spool_first_unacked(spool, i) != spool_next_seq(spool, i))
			return false;
	return true;
}

const struct sender_counters *
spool_uplink_counters(const struct spool_uplink *spool_uplink)
{
	return sender_counters(spool_uplink->sender);
}

uint64_t
spool_uplink_moves(const struct spool_uplink *spool_uplink)
{
	return spool_uplink->options.broker_link->failover.moves;
}

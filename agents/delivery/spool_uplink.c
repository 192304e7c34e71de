/*
 * spool_uplink - sends the batches of the spool to the aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/spool_uplink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/auth/client_key.h"
#include "proto/auth/reconnect.h"
#include "proto/hash/hash.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	LINE_QUEUE = 4, /* messages: the sender bounds the window, not ZeroMQ */
	FRAMES_A_ROUND = 64,
};

#define MOVE_AGAIN_NS NS_PER_SECOND
#define BYE_AGAIN_NS  (NS_PER_SECOND / 4)

/* Acknowledged batches are released this long afterwards, all at once. */
#define TIDY_NS (5 * NS_PER_SECOND)

/* The sender's numbers of streams: those of the current session come first. */
enum { EARLIER = SPOOL_STREAMS_MAX };
_Static_assert(SENDER_STREAMS_MAX >= 2 * SPOOL_STREAMS_MAX,
    "the current session and one of the earlier ones");

struct spool_uplink {
	struct spool_uplink_options options;
	struct zsock *zsock;
	struct reconnect *reconnect;
	struct sender *sender;
	struct zsock_message message;
	struct loop_timer push_timer, tidy_timer;
	/* The spool's number of each of the sender's streams. */
	uint32_t stream[2 * SPOOL_STREAMS_MAX];
	struct session_id
	    session;      /* the current one, as far as is known here */
	uint32_t earlier; /* streams of an earlier session */
	int64_t move_ns;  /* there was no room to move batches: not before */
	bool held;
	struct loop_timer poll_timer; /* checks the connection to the brokers */
	uint64_t forbidden;   /* answers "forbidden" up to the last warning */
	uint64_t told;        /* ... and up to the last call of on_forbidden */
	uint64_t unwanted;    /* answers "forbidden" and "owner" so far */
	int64_t forbidden_ns; /* time of that warning; 0: none yet */
	int64_t key_ns;       /* the key is not read again before */
	/* The next stream to whose aggregator it says bye; one must answer, or
	 * hears it once more. */
	uint32_t bye;
	bool awaits_bye;
	struct loop_timer bye_timer;
};

/* ---- what the sender asks ---- */

static uint64_t
first_of(void *arg, uint32_t stream)
{
	const struct spool_uplink *spool_uplink = arg;

	return spool_first_unacked(
	    spool_uplink->options.spool, spool_uplink->stream[stream]);
}

static int
read_batch(void *arg, uint32_t stream, uint64_t seq, struct sender_batch *batch)
{
	struct spool_uplink *spool_uplink = arg;
	struct spool_batch from;
	struct err err = { 0 };
	int there = spool_read(spool_uplink->options.spool,
	    spool_uplink->stream[stream], seq, &from, &err);

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

/* ---- streams ---- */

static void
open_stream(struct spool_uplink *spool_uplink, uint32_t stream, uint32_t number)
{
	const struct spool *spool = spool_uplink->options.spool;

	spool_uplink->stream[number] = stream;
	sender_open(spool_uplink->sender, number,
	    spool_partition(spool, stream), spool_session_of(spool, stream),
	    spool_generation(spool, stream), clock_monotonic_ns());
}

/* The spool began another session: what the streams of the old one still have
 * is sent as that of every earlier session. */
static void
follow_session(struct spool_uplink *spool_uplink)
{
	const struct session_id *session =
	    spool_session(spool_uplink->options.spool);

	if (session_equal(&spool_uplink->session, session))
		return;
	for (uint32_t i = 0; i < SPOOL_STREAMS_MAX; i++)
		sender_close(spool_uplink->sender, i);
	spool_uplink->session = *session;
}

static void
open_current(struct spool_uplink *spool_uplink)
{
	const struct spool *spool = spool_uplink->options.spool;

	follow_session(spool_uplink);
	for (uint32_t i = 0; i < spool_streams(spool); i++) {
		uint32_t number;

		if (spool_partition(spool, i).at == NULL ||
		    !session_equal(
			spool_session_of(spool, i), &spool_uplink->session))
			continue;
		number = spool_local_number(spool, i);
		if (!sender_is_open(spool_uplink->sender, number))
			open_stream(spool_uplink, i, number);
	}
}

/* The aggregator has other content under these numbers: the batches go on
 * under the current session. */
static void
move_batches(struct spool_uplink *spool_uplink, uint32_t from)
{
	const struct spool_uplink_options *options = &spool_uplink->options;
	int64_t now_ns = clock_monotonic_ns();
	struct err err = { 0 };
	uint32_t to;

	if (now_ns < spool_uplink->move_ns)
		return;
	options->commit(options->arg);
	if (spool_move(options->spool, from, &to, &err) != SPOOL_OK) {
		log_warn("batches cannot continue under another session: %s; "
			 "trying again",
		    err.text);
		spool_uplink->move_ns = now_ns + MOVE_AGAIN_NS;
		return;
	}
	options->on_moved(options->arg, from, to);
}

static void
close_earlier(struct spool_uplink *spool_uplink, uint32_t number)
{
	sender_close(spool_uplink->sender, number);
	spool_release(
	    spool_uplink->options.spool, spool_uplink->stream[number]);
	spool_uplink->earlier--;
}

/* Close the streams of the earlier session that are done.  Returns the number
 * of the others that somebody takes. */
static uint32_t
close_settled(struct spool_uplink *spool_uplink)
{
	struct spool *spool = spool_uplink->options.spool;
	uint32_t wanted = 0;

	for (uint32_t i = EARLIER;
	     i < 2 * SPOOL_STREAMS_MAX && spool_uplink->earlier > 0; i++) {
		uint32_t stream = spool_uplink->stream[i];

		if (!sender_is_open(spool_uplink->sender, i))
			continue;
		while (spool_is_to_move(spool, stream) &&
		       clock_monotonic_ns() >= spool_uplink->move_ns)
			move_batches(spool_uplink, stream);
		if (spool_is_settled(spool, stream))
			close_earlier(spool_uplink, i);
		else if (!spool_is_forbidden(spool, stream))
			wanted++;
	}
	return wanted;
}

/* With the last stream that somebody takes begins the next session: no session
 * waits for what is forbidden in one before it. */
static void
open_earlier(struct spool_uplink *spool_uplink)
{
	struct spool *spool = spool_uplink->options.spool;
	uint32_t streams[SPOOL_STREAMS_MAX], count, number = EARLIER;

	if (close_settled(spool_uplink) > 0)
		return;
	for (uint32_t i = EARLIER;
	     spool_uplink->earlier > 0 && spool_has_session(spool) &&
	     i < 2 * SPOOL_STREAMS_MAX;
	     i++)
		if (sender_is_open(spool_uplink->sender, i))
			close_earlier(spool_uplink, i);
	count = spool_take_session(
	    spool, streams, SPOOL_STREAMS_MAX - spool_uplink->earlier);
	spool_uplink->earlier += count;
	for (uint32_t i = 0; i < count; i++) {
		while (sender_is_open(spool_uplink->sender, number))
			number++;
		open_stream(spool_uplink, streams[i], number);
	}
}

/* ---- what the sender decides ---- */

static void
on_acked(struct spool_uplink *spool_uplink, const struct sender_step *step)
{
	const struct spool_uplink_options *options = &spool_uplink->options;
	uint32_t stream = spool_uplink->stream[step->stream];

	spool_acked(options->spool, stream, step->seq);
	if (spool_uplink->tidy_timer.at_ns == 0)
		loop_set_timer(options->loop, &spool_uplink->tidy_timer,
		    clock_monotonic_ns() + TIDY_NS, 0);
	options->on_acked(options->arg);
}

static void
on_refused(struct spool_uplink *spool_uplink, const struct sender_step *step)
{
	const struct spool_uplink_options *options = &spool_uplink->options;
	uint32_t stream = spool_uplink->stream[step->stream];
	bool unreadable = step->reason == WIRE_GAP_DAMAGED;
	struct err err = { 0 };

	if (unreadable)
		log_error("batch seq=%llu of the spool cannot be read; "
			  "reporting it as lost",
		    (unsigned long long)step->seq);
	else
		log_warn("the aggregator refused batch seq=%llu for good: %s; "
			 "moving it to refused/ in the spool",
		    (unsigned long long)step->seq,
		    wire_reason_name(step->reason));
	if (spool_refuse(options->spool, stream, step->seq,
		unreadable ? WIRE_GAP_DAMAGED : WIRE_GAP_REFUSED, &err) != 0)
		log_error("%s", err.text);
	options->on_refused(options->arg, stream, step->seq, step->reason);
}

static void
on_rewind(struct spool_uplink *spool_uplink, const struct sender_step *step)
{
	struct spool *spool = spool_uplink->options.spool;
	uint32_t stream = spool_uplink->stream[step->stream];
	char partition[NAME_BYTES_MAX + 1];

	log_warn("the store of partition '%s' lacks batches that were "
		 "acknowledged (restored from a backup?); sending again what "
		 "the spool still has from seq=%llu on",
	    text_quote(
		partition, sizeof(partition), spool_partition(spool, stream)),
	    (unsigned long long)step->seq);
	spool_rewind(spool, stream, step->seq);
}

/* The machine was copied while it ran, and the copy was faster; or its key or
 * node has another name than when the session began. */
static void
on_diverged(struct spool_uplink *spool_uplink, const struct sender_step *step)
{
	const struct spool_uplink_options *options = &spool_uplink->options;

	if (step->stream < EARLIER) {
		log_warn("%s; starting a new session",
		    step->reason == WIRE_NACK_FORBIDDEN
			? "another key or node began this session"
			: "this machine was copied while its agent ran");
		options->commit(options->arg);
		spool_new_session(options->spool);
		follow_session(spool_uplink);
	} else {
		move_batches(spool_uplink, spool_uplink->stream[step->stream]);
	}
}

static void
act(struct spool_uplink *spool_uplink, const struct sender_step *step)
{
	static const struct route no_route; /* a connection has one peer */

	switch (step->action) {
	case SENDER_WAIT: break;
	case SENDER_SEND:
		sender_sent(spool_uplink->sender,
		    zsock_send(spool_uplink->zsock, &no_route, step->frame) ==
			ZSOCK_DONE,
		    clock_monotonic_ns());
		break;
	case SENDER_WELCOMED:
		spool_forbid(spool_uplink->options.spool,
		    spool_uplink->stream[step->stream], false);
		spool_welcomed(spool_uplink->options.spool,
		    spool_uplink->stream[step->stream], step->generation);
		break;
	case SENDER_ACKED: on_acked(spool_uplink, step); break;
	case SENDER_REWIND: on_rewind(spool_uplink, step); break;
	case SENDER_REFUSED: on_refused(spool_uplink, step); break;
	case SENDER_DIVERGED: on_diverged(spool_uplink, step); break;
	}
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
	struct sender_step step = { .action = SENDER_WELCOMED };

	if (spool_uplink->held)
		return;
	check_brokers(spool_uplink, now_ns);
	while (step.action != SENDER_WAIT) {
		if (step.action != SENDER_SEND) {
			open_current(spool_uplink);
			open_earlier(spool_uplink);
		}
		step =
		    sender_step(spool_uplink->sender, now_ns, clock_wall_ns());
		act(spool_uplink, &step);
	}
	set_timer(spool_uplink, &spool_uplink->push_timer,
	    sooner(sender_deadline_ns(spool_uplink->sender),
		spool_uplink->move_ns > now_ns ? spool_uplink->move_ns : 0));
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
	const char *may = NULL;
	struct text why = { to, 0 };

	for (uint32_t i = 0; i < 2 * SPOOL_STREAMS_MAX && may == NULL; i++)
		if (spool_uplink->stream[i] == stream)
			may = sender_forbids(spool_uplink->sender, i);
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
	for (uint32_t i = 0; i < 2 * SPOOL_STREAMS_MAX; i++)
		if (sender_forbids(spool_uplink->sender, i) != NULL)
			spool_uplink->options.on_forbidden(
			    spool_uplink->options.arg, spool_uplink->stream[i]);
}

/* The spool keeps less of what nobody takes.  The agent's own partition may
 * fill it: that is what it is for. */
static void
note_unwanted(struct spool_uplink *spool_uplink)
{
	const struct sender_counters *c = sender_counters(spool_uplink->sender);
	uint64_t count =
	    c->nacks[WIRE_NACK_FORBIDDEN] + c->nacks[WIRE_NACK_OWNER];
	struct spool *spool = spool_uplink->options.spool;

	if (count == spool_uplink->unwanted)
		return;
	spool_uplink->unwanted = count;
	for (uint32_t i = 0; i < 2 * SPOOL_STREAMS_MAX; i++) {
		uint32_t stream = spool_uplink->stream[i];

		if (sender_is_unwanted(spool_uplink->sender, i) &&
		    !text_equal(spool_partition(spool, stream),
			spool_uplink->options.partition))
			spool_forbid(spool, stream, true);
	}
}

/* Its key may have been rotated, and this process goes on with the old one. */
static void
try_new_key(struct spool_uplink *spool_uplink)
{
	uint64_t count =
	    sender_counters(spool_uplink->sender)->nacks[WIRE_NACK_FORBIDDEN];

	if (count != spool_uplink->told &&
	    client_key_forbidden(&spool_uplink->key_ns))
		broker_link_renew_key(spool_uplink->options.broker_link,
		    spool_uplink->zsock, spool_uplink->sender);
}

/* At once, then once a minute: until its key may send again, the stream waits
 * with all that it has. */
static void
warn_forbidden(struct spool_uplink *spool_uplink)
{
	uint64_t count =
	    sender_counters(spool_uplink->sender)->nacks[WIRE_NACK_FORBIDDEN];

	if (count == spool_uplink->forbidden ||
	    !log_is_due(&spool_uplink->forbidden_ns))
		return;
	spool_uplink->forbidden = count;
	log_warn("%s: %s; records wait in the spool until the key may send "
		 "them (poolscope keys, on that host) or the agent has another "
		 "-p or -n",
	    zsock_endpoint(spool_uplink->zsock),
	    sender_forbidden(spool_uplink->sender));
}

/* Who is busy hears it once more, until the owner gives up. */
static void
on_bye_timer(void *arg, struct loop_timer *timer)
{
	struct spool_uplink *spool_uplink = arg;

	loop_stop_timer(spool_uplink->options.loop, timer);
	spool_uplink->bye--;
	spool_uplink->awaits_bye = false;
}

/* Only a bye has no number.  False: the frame is no answer to one. */
static bool
take_bye_answer(struct spool_uplink *spool_uplink, struct text frame)
{
	struct wire_header header;

	if (!spool_uplink->awaits_bye || wire_peek(frame, &header) != WIRE_OK ||
	    header.seq != 0)
		return false;
	if (header.type == WIRE_NACK && header.reason == WIRE_NACK_BUSY)
		loop_set_timer(spool_uplink->options.loop,
		    &spool_uplink->bye_timer,
		    clock_monotonic_ns() + BYE_AGAIN_NS, 0);
	else if (header.type == WIRE_ACK || header.type == WIRE_NACK)
		spool_uplink->awaits_bye = false;
	return true;
}

static void
on_zsock(void *arg, struct zsock *zsock)
{
	struct spool_uplink *spool_uplink = arg;

	reconnect_check(spool_uplink->reconnect);
	for (int i = 0; i < FRAMES_A_ROUND; i++) {
		if (zsock_recv(zsock, &spool_uplink->message) != ZSOCK_DONE)
			break;
		if (take_bye_answer(spool_uplink, spool_uplink->message.frame))
			continue;
		if (sender_receive(spool_uplink->sender,
			spool_uplink->message.frame, clock_monotonic_ns()))
			broker_link_answered(spool_uplink->options.broker_link,
			    zsock, spool_uplink->sender);
		else
			broker_link_unread(spool_uplink->options.broker_link,
			    zsock, spool_uplink->message.frame);
	}
	try_new_key(spool_uplink);
	warn_forbidden(spool_uplink);
	note_unwanted(spool_uplink);
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
	const struct sender_owner owner = { spool_uplink, first_of, read_batch,
		on_probed, read_clock };
	struct sender_options sender = { .node = options->node };

	spool_uplink->options = *options;
	spool_uplink->session = *spool_session(options->spool);
	spool_uplink->push_timer.on_timer = on_push_timer;
	spool_uplink->tidy_timer.on_timer = on_tidy_timer;
	spool_uplink->poll_timer.on_timer = on_push_timer;
	spool_uplink->bye_timer = (struct loop_timer){ .on_timer = on_bye_timer,
		.arg = spool_uplink };
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
	loop_stop_timer(spool_uplink->options.loop, &spool_uplink->bye_timer);
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
		spool_uplink->zsock, spool_uplink->sender))
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
		if (spool_partition(spool, i).at != NULL &&
		    spool_first_unacked(spool, i) != spool_next_seq(spool, i))
			return false;
	return true;
}

static bool
send_bye(struct spool_uplink *spool_uplink, struct text partition)
{
	static const struct route no_route;
	const struct wire_header header = { .type = WIRE_BYE,
		.partition = partition,
		.node = spool_uplink->options.node,
		.session = spool_uplink->session,
		.sent_ns = clock_wall_ns() };
	unsigned char frame[WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX];
	size_t bytes =
	    wire_frame(frame, sizeof(frame), &header, (struct text){ NULL, 0 });

	return zsock_send(spool_uplink->zsock, &no_route,
		   (struct text){ (const char *)frame, (uint32_t)bytes }) ==
	       ZSOCK_DONE;
}

bool
spool_uplink_say_bye(struct spool_uplink *spool_uplink)
{
	const struct spool *spool = spool_uplink->options.spool;

	while (!spool_uplink->awaits_bye &&
	       spool_uplink->bye < spool_streams(spool)) {
		uint32_t stream = spool_uplink->bye++;
		struct text partition = spool_partition(spool, stream);

		if (partition.at == NULL ||
		    !session_equal(spool_session_of(spool, stream),
			&spool_uplink->session))
			continue;
		if (zsock_counters(spool_uplink->zsock)->peers == 0 ||
		    !send_bye(spool_uplink, partition)) {
			log_info("no broker is connected that could hear that "
				 "this node stops: it will count as silent");
			return true;
		}
		spool_uplink->awaits_bye = true;
	}
	return !spool_uplink->awaits_bye;
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

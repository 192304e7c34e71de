/*
 * direct_uplink - a sender on a connection to a broker.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/direct_uplink.h"

#include <inttypes.h>

#include "proto/auth/client_key.h"
#include "proto/auth/refusal.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

enum {
	FRAMES_A_ROUND = 64,
	REFUSALS = 2, /* refusals in a row before the program fails */
};

#define POLL_NS                                                                \
	(NS_PER_SECOND / 10) /* between calls of the progress callback */
#define POLL_SELDOM_NS NS_PER_SECOND
#define GRACE_NS       NS_PER_SECOND /* answers may still be for the previous key */
#define SILENCE_NS     (2 * NS_PER_SECOND) /* silence before it is reported */

void
direct_uplink_receive(struct direct_uplink *d)
{
	for (int i = 0; i < FRAMES_A_ROUND && d->status == 0; i++) {
		if (zsock_recv(d->zsock, &d->message) != ZSOCK_DONE)
			break;
		if (!sender_receive(
			d->sender, d->message.frame, clock_monotonic_ns()))
			broker_link_unread(
			    d->broker_link, d->zsock, d->message.frame);
		broker_link_answered(d->broker_link, d->zsock, d->sender);
	}
}

static void
send_frame(struct direct_uplink *d, const struct sender_step *step)
{
	static const struct route no_route; /* a connection has one peer */
	bool taken = zsock_send(d->zsock, &no_route, step->frame) == ZSOCK_DONE;

	sender_sent(d->sender, taken, clock_monotonic_ns());
	if (taken && step->seq > 0)
		d->options.act(d->options.arg, step);
}

void
direct_uplink_push(struct direct_uplink *d)
{
	struct sender_step step = { .action = SENDER_WELCOMED };

	while (d->status == 0 && step.action != SENDER_WAIT) {
		step = sender_step(
		    d->sender, clock_monotonic_ns(), clock_wall_ns());
		if (step.action == SENDER_SEND)
			send_frame(d, &step);
		else if (step.action != SENDER_WAIT &&
			 step.action != SENDER_WELCOMED)
			d->options.act(d->options.arg, &step);
	}
}

void
direct_uplink_pump_at(struct direct_uplink *d, int64_t at_ns)
{
	if (at_ns == 0)
		at_ns = sender_deadline_ns(d->sender);
	if (at_ns == 0)
		loop_stop_timer(d->loop, &d->push_timer);
	else
		loop_set_timer(d->loop, &d->push_timer, at_ns, 0);
}

void
direct_uplink_progressed(struct direct_uplink *d)
{
	d->progress_ns = clock_monotonic_ns();
	d->busy = sender_counters(d->sender)->nacks[WIRE_NACK_BUSY];
}

/* ---- the end ---- */

void
direct_uplink_fail(struct direct_uplink *d)
{
	d->status = -1;
	loop_quit(d->loop, 0);
}

void
direct_uplink_fail_refused(
    struct direct_uplink *d, struct text partition, enum wire_reason reason)
{
	char quoted[300];

	err_set(d->err, "the aggregator refuses partition %s: %s",
	    text_quote(quoted, sizeof(quoted), partition),
	    wire_reason_name(reason));
	direct_uplink_fail(d);
}

static void
give_up(struct direct_uplink *d, int64_t seconds)
{
	const struct sender_counters *counters = sender_counters(d->sender);

	if (counters->nacks[WIRE_NACK_BUSY] > d->busy)
		err_set(d->err,
		    "busy for %" PRId64 " s at %s (poolscope status shows "
		    "the cause); %s",
		    seconds, zsock_endpoint(d->zsock), d->options.advice);
	else
		err_set(d->err,
		    "no answer from %s%s for %" PRId64
		    " s: is the broker running? (poolscope up starts one)",
		    d->broker_link->list.count > 1
			? "any broker, the last one was "
			: "",
		    zsock_endpoint(d->zsock), seconds);
	direct_uplink_fail(d);
}

/* ---- the loop ---- */

/* Keys may have been rotated since the program started. */
static bool
try_new_key(struct direct_uplink *d)
{
	struct err err = { 0 };

	if (client_key_renew(&err) != 0)
		log_warn("%s", err.text);
	if (!broker_link_renew_key(d->broker_link, d->zsock, d->sender))
		return false;
	d->grace_ns = clock_monotonic_ns() + GRACE_NS;
	return true;
}

/* A broker may be started soon. */
static void
report_absence(struct direct_uplink *d)
{
	struct err err = { 0 };

	if (d->waiting_reported || !zsock_is_absent(d->zsock, &err))
		return;
	d->waiting_reported = true;
	if (d->options.progress)
		progress_clear();
	log_warn("%s: %s; trying again for %" PRId64 " s",
	    zsock_endpoint(d->zsock), err.text,
	    d->options.timeout_ns / NS_PER_SECOND);
}

/* A listener that refuses the key will refuse it again: do not wait. */
static void
check_listener(struct direct_uplink *d)
{
	struct err err = { 0 };

	switch (refusal_get(d->zsock, &err)) {
	case ZSOCK_FINE: report_absence(d); return;
	case ZSOCK_TRY_NEXT:
		if (zsock_reconnect(d->zsock, &err) == 0)
			return;
		break;
	default:
		if (try_new_key(d))
			return;
		if (broker_link_skip(d->broker_link, d->zsock, d->sender)) {
			log_warn("%s", err.text);
			return;
		}
		break;
	}
	*d->err = err;
	direct_uplink_fail(d);
}

/* A broker may answer "forbidden" by mistake for a moment: fail after
 * several. */
static void
check_answers(struct direct_uplink *d)
{
	uint64_t nacks = sender_counters(d->sender)->nacks[WIRE_NACK_FORBIDDEN];

	/* An answer that arrives now may refer to the previous key. */
	if (clock_monotonic_ns() < d->grace_ns)
		d->forbidden = nacks;
	if (nacks < d->forbidden + REFUSALS || try_new_key(d))
		return;
	err_set(d->err, "%s: %s (see poolscope keys list on its host)",
	    zsock_endpoint(d->zsock), sender_forbidden(d->sender));
	direct_uplink_fail(d);
}

static void
on_zsock(void *arg, struct zsock *zsock)
{
	struct direct_uplink *d = arg;

	(void)zsock;
	check_listener(d);
	direct_uplink_receive(d);
	if (d->status == 0)
		check_answers(d);
	if (d->status == 0)
		d->options.pump(d->options.arg);
}

static void
on_push_timer(void *arg, struct loop_timer *timer)
{
	struct direct_uplink *d = arg;

	(void)timer;
	if (d->status == 0)
		d->options.pump(d->options.arg);
}

static void
on_poll_timer(void *arg, struct loop_timer *timer)
{
	struct direct_uplink *d = arg;
	int64_t now_ns = clock_monotonic_ns();
	int64_t idle_ns = now_ns - d->progress_ns;

	(void)timer;
	if (d->options.poll != NULL)
		d->options.poll(d->options.arg, now_ns);
	if (idle_ns > SILENCE_NS && !d->waiting_reported) {
		d->waiting_reported = true;
		if (d->options.progress)
			progress_clear();
		log_info("waiting for %s", zsock_endpoint(d->zsock));
	}
	broker_link_poll(d->broker_link, d->zsock, d->sender, now_ns);
	if (d->status == 0 && idle_ns > d->options.timeout_ns)
		give_up(d, idle_ns / NS_PER_SECOND);
	if (d->status == 0)
		d->options.pump(d->options.arg);
}

int
direct_uplink_start(struct direct_uplink *d,
    const struct direct_uplink_options *options,
    const struct sender_owner *owner, struct uplink_loop *uplink,
    struct err *err)
{
	int64_t poll_ns = options->progress ? POLL_NS : POLL_SELDOM_NS;

	*d = (struct direct_uplink){ .options = *options,
		.loop = uplink->loop,
		.zsock = uplink->zsock,
		.broker_link = &uplink->broker_link,
		.err = err };
	hash_random_bytes(
	    &d->options.sender.seed, sizeof(d->options.sender.seed));
	zsock_message_init(&d->message);
	if (sender_new(&d->sender, &d->options.sender, owner, err) != 0 ||
	    loop_add_zsock(d->loop, d->zsock, on_zsock, d, err) != 0)
		return -1;
	d->added = true;
	d->progress_ns = clock_monotonic_ns();
	d->push_timer.on_timer = on_push_timer;
	d->poll_timer.on_timer = on_poll_timer;
	d->push_timer.arg = d->poll_timer.arg = d;
	loop_set_timer(d->loop, &d->push_timer, d->progress_ns, 0);
	loop_set_timer(
	    d->loop, &d->poll_timer, d->progress_ns + poll_ns, poll_ns);
	return 0;
}

void
direct_uplink_stop(struct direct_uplink *d)
{
	if (d->added) {
		loop_stop_timer(d->loop, &d->push_timer);
		loop_stop_timer(d->loop, &d->poll_timer);
		loop_remove_zsock(d->loop, d->zsock);
	}
	zsock_message_clear(&d->message);
	sender_free(&d->sender);
}

/*
 * direct_uplink - a ship on a line to a broker.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/direct_uplink.h"

#include <inttypes.h>

#include "proto/auth/client_key.h"
#include "proto/base/hash.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

enum {
	FRAMES_A_ROUND = 64,
	REFUSALS = 2, /* answers before they are believed */
};

#define LOOK_NS      (NS_PER_SECOND / 10) /* at the clock, for the bar */
#define LOOK_RARE_NS NS_PER_SECOND
#define GRACE_NS     NS_PER_SECOND       /* after another key was shown */
#define PATIENCE_NS  (2 * NS_PER_SECOND) /* before saying who is waited for */

bool
deliver_send(struct deliver *d, struct text frame)
{
	static const struct route no_route; /* a line has one peer */

	return port_send(d->port, &no_route, frame) == PORT_DONE;
}

void
deliver_receive(struct deliver *d)
{
	for (int i = 0; i < FRAMES_A_ROUND && d->status == 0; i++) {
		if (port_recv(d->port, &d->message) != PORT_DONE)
			break;
		ship_receive(d->ship, d->message.frame, clock_monotonic_ns(),
		    clock_wall_ns());
		brokers_answered(d->brokers, d->port, d->ship);
	}
}

void
deliver_push(struct deliver *d)
{
	ship_push(d->ship, clock_monotonic_ns(), clock_wall_ns());
}

void
deliver_pump_at(struct deliver *d, int64_t at_ns)
{
	if (at_ns == 0)
		at_ns = ship_deadline_ns(d->ship);
	if (at_ns == 0)
		loop_stop_timer(d->loop, &d->push_timer);
	else
		loop_set_timer(d->loop, &d->push_timer, at_ns, 0);
}

void
deliver_progressed(struct deliver *d)
{
	d->progress_ns = clock_monotonic_ns();
	d->busy = ship_counters(d->ship)->nacks[WIRE_NACK_BUSY];
}

/* ---- the end ------------------------------------------------------------ */

void
deliver_fail(struct deliver *d)
{
	d->status = -1;
	loop_quit(d->loop, 0);
}

void
deliver_fail_refused(
    struct deliver *d, struct text partition, enum wire_reason reason)
{
	char quoted[300];

	err_set(d->err, "the aggregator refuses partition %s: %s",
	    text_quote(quoted, sizeof(quoted), partition),
	    wire_reason_name(reason));
	deliver_fail(d);
}

static void
give_up(struct deliver *d, int64_t seconds)
{
	const struct ship_counters *counters = ship_counters(d->ship);

	if (counters->nacks[WIRE_NACK_BUSY] > d->busy)
		err_set(d->err,
		    "busy for %" PRId64 " s, says %s: poolscope status tells "
		    "what it waits for; %s",
		    seconds, port_endpoint(d->port), d->options.advice);
	else
		err_set(d->err,
		    "no answer from %s%s for %" PRId64
		    " s: is the broker up? (poolscope up starts one)",
		    d->brokers->list.count > 1 ? "any broker, the last was "
					       : "",
		    port_endpoint(d->port), seconds);
	deliver_fail(d);
}

/* ---- the loop ----------------------------------------------------------- */

/* Who rotates keys may have been here since we began. */
static bool
try_new_key(struct deliver *d)
{
	struct err err = { "" };

	if (pass_renew(&err) != 0)
		log_warn("%s", err.text);
	if (!brokers_show_key(
		d->brokers, d->port, d->ship, clock_monotonic_ns()))
		return false;
	d->grace_ns = clock_monotonic_ns() + GRACE_NS;
	return true;
}

/* A door that does not let us in: nobody would come to change that. */
static void
look_at_door(struct deliver *d)
{
	struct err err = { "" };

	switch (port_trouble(d->port, &err)) {
	case PORT_FINE: return;
	case PORT_TRY_NEXT:
		if (port_reconnect(d->port, &err) == 0)
			return;
		break;
	default:
		if (try_new_key(d))
			return;
		if (brokers_pass_by(
			d->brokers, d->port, d->ship, clock_monotonic_ns())) {
			log_warn("%s", err.text);
			return;
		}
		break;
	}
	*d->err = err;
	deliver_fail(d);
}

/* One in between may be confused for a moment, so it is asked again. */
static void
look_at_answers(struct deliver *d)
{
	uint64_t nacks = ship_counters(d->ship)->nacks[WIRE_NACK_FORBIDDEN];

	/* What comes now may have been said to the key before. */
	if (clock_monotonic_ns() < d->grace_ns)
		d->forbidden = nacks;
	if (nacks < d->forbidden + REFUSALS || try_new_key(d))
		return;
	err_set(d->err,
	    "%s says forbidden: the key may not publish in this partition or "
	    "as this node (poolscope keys list, on the other side, says what "
	    "it may)",
	    port_endpoint(d->port));
	deliver_fail(d);
}

static void
on_port(void *arg, struct port *port)
{
	struct deliver *d = arg;

	(void)port;
	look_at_door(d);
	deliver_receive(d);
	if (d->status == 0)
		look_at_answers(d);
	if (d->status == 0)
		d->options.pump(d->options.arg);
}

static void
on_push_timer(void *arg, struct loop_timer *timer)
{
	struct deliver *d = arg;

	(void)timer;
	if (d->status == 0)
		d->options.pump(d->options.arg);
}

static void
on_look_timer(void *arg, struct loop_timer *timer)
{
	struct deliver *d = arg;
	int64_t now_ns = clock_monotonic_ns();
	int64_t idle_ns = now_ns - d->progress_ns;

	(void)timer;
	if (d->options.look != NULL)
		d->options.look(d->options.arg, now_ns);
	if (idle_ns > PATIENCE_NS && !d->waiting_told) {
		d->waiting_told = true;
		if (d->options.progress)
			progress_clear();
		log_info("waiting for %s", port_endpoint(d->port));
	}
	brokers_look(d->brokers, d->port, d->ship, now_ns);
	if (d->status == 0 && idle_ns > d->options.timeout_ns)
		give_up(d, idle_ns / NS_PER_SECOND);
	if (d->status == 0)
		d->options.pump(d->options.arg);
}

int
deliver_start(struct deliver *d, const struct deliver_options *options,
    const struct ship_owner *owner, struct import_line *line, struct err *err)
{
	int64_t look_ns = options->progress ? LOOK_NS : LOOK_RARE_NS;

	*d = (struct deliver){ .options = *options,
		.loop = line->loop,
		.port = line->port,
		.brokers = &line->brokers,
		.err = err };
	random_bytes(&d->options.ship.seed, sizeof(d->options.ship.seed));
	message_init(&d->message);
	if (ship_new(&d->ship, &d->options.ship, owner, err) != 0 ||
	    loop_add_port(d->loop, d->port, on_port, d, err) != 0)
		return -1;
	d->added = true;
	d->progress_ns = clock_monotonic_ns();
	d->push_timer.on_timer = on_push_timer;
	d->look_timer.on_timer = on_look_timer;
	d->push_timer.arg = d->look_timer.arg = d;
	loop_set_timer(d->loop, &d->push_timer, d->progress_ns, 0);
	loop_set_timer(
	    d->loop, &d->look_timer, d->progress_ns + look_ns, look_ns);
	return 0;
}

void
deliver_stop(struct deliver *d)
{
	if (d->added) {
		loop_stop_timer(d->loop, &d->push_timer);
		loop_stop_timer(d->loop, &d->look_timer);
		loop_remove_port(d->loop, d->port);
	}
	message_clear(&d->message);
	ship_free(&d->ship);
}

/*
 * broker - the real broker/relay/relay.c between the machines and the
 * aggregator.
 *
 * From the line the aggregator takes one message after the other, and stops for
 * a while now and then, so that the line is full, the listener is shut and
 * senders are reported to wait.  A broker that dies takes with it what was in
 * its queues.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "proto/auth/forwarded_peer.h"
#include "tests/fault/sim/ports.h"
#include "tests/fault/sim/sim.h"

static struct relay relay;
static struct routes routes;

static void
start(struct sim *sim)
{
	const struct relay_options how = { .queue_messages = PORTS_QUEUE,
		.memory_bytes_max = UINT64_C(1) << 40,
		.ingest_rate = 0 }; /* nobody here has one */
	struct err err = { 0 };

	memset(&relay, 0, sizeof(relay));
	memset(ports.timer, 0, sizeof(ports.timer));
	ports.up.first = ports.up.count = 0;
	sim->broker.up = true;
	sim->broker.line_ns = 0;
	if (relay_start(&relay, NULL, &routes, &how, &err) != 0)
		sim_wrong(sim, "the broker: %s", err.text);
}

static void
stop(struct sim *sim)
{
	sim->busies += relay.counters.busy;
	relay_clear(&relay);
	sim->broker.up = false;
}

void
sim_broker_init(struct sim *sim)
{
	struct err err = { 0 };

	ports.sim = sim;
	routes.count = routes.targets = 0;
	if (routes_add(&routes, text_of("*"), "ipc:///keeper", &err) != 0)
		sim_wrong(sim, "the broker's routes: %s", err.text);
	start(sim);
}

void
sim_broker_end(struct sim *sim)
{
	if (sim->broker.up)
		stop(sim);
}

void
sim_broker_crash(struct sim *sim)
{
	if (!sim->broker.up)
		return;
	sim_trace(sim, "broker crashes");
	stop(sim);
	sim->broker.up_ns = sim->now_ns + 1 + sim_below(sim, 1000000000);
}

/* Everybody looks whether there is something for him. */
static void
turn(void)
{
	for (int i = 0; i < 2; i++) {
		struct zsock *p = i == 0 ? &ports.line : &ports.listener;
		bool room = p->was_full && ports.up.count < PORTS_LINE;

		if (room)
			p->was_full = false;
		if (p->on_zsock != NULL && (p->count > 0 || room))
			p->on_zsock(p->arg, p);
	}
}

/* As a socket would: what finds no room waits at the sender's. */
bool
sim_broker_receive(struct sim *sim, int from, struct text frame)
{
	struct route route = ports_route(from);

	if (!sim->broker.up)
		return true;
	if (!ports_put(&ports.listener, PORTS_QUEUE / 2, &route, frame))
		return false;
	turn();
	if (ports.up.count > 0 && sim->broker.line_ns == 0)
		sim->broker.line_ns = sim->now_ns + 1 + sim_below(sim, 100000);
	return true;
}

void
sim_broker_answer(struct sim *sim, int to, struct text frame)
{
	const struct zsock_peer nobody = { .keyed = false };
	struct route route = ports_route(to);

	if (!sim->broker.up)
		return;
	forwarded_peer_add(&route, &nobody);
	ports_put(&ports.line, PORTS_QUEUE / 2, &route, frame);
	turn();
}

int64_t
sim_broker_deadline_ns(const struct sim *sim)
{
	int64_t at_ns =
	    sim->broker.up ? sim->broker.line_ns : sim->broker.up_ns;

	for (int i = 0; sim->broker.up && i < PORTS_TIMERS; i++)
		if (ports.timer[i] != NULL &&
		    (at_ns == 0 || ports.timer[i]->at_ns < at_ns))
			at_ns = ports.timer[i]->at_ns;
	return at_ns;
}

/* The aggregator takes the next of the line. */
static void
take(struct sim *sim)
{
	const struct ports_queued *q;
	struct zsock_peer peer;
	struct route route;
	bool forwarded;

	sim->broker.line_ns = 0;
	if (!sim->aggregator
		 .up) { /* its end of the line is gone, with what was in it */
		ports.up.count = 0;
		return;
	}
	q = ports_get(&ports.up);
	if (q == NULL)
		return;
	route = q->route;
	if (forwarded_peer_get(&route, &peer, &forwarded) != 1 || !forwarded)
		sim_wrong(sim, "the broker does not forward the identity");
	forwarded_peer_take(&route);
	sim_aggregator_receive(sim, ports_machine(&route),
	    (struct text){ (const char *)q->frame, q->bytes });
	if (!sim->calm && sim_chance(sim, 1)) /* it stops for a while */
		sim->broker.line_ns =
		    sim->now_ns + 1 + sim_below(sim, 200) * INT64_C(1000000);
	else if (ports.up.count > 0)
		sim->broker.line_ns = sim->now_ns + 1 + sim_below(sim, 100000);
}

void
sim_broker_run(struct sim *sim)
{
	if (!sim->broker.up) {
		if (sim->broker.up_ns <= sim->now_ns)
			start(sim);
		return;
	}
	for (int i = 0; i < PORTS_TIMERS; i++) {
		struct loop_timer *t = ports.timer[i];

		if (t == NULL || t->at_ns > sim->now_ns)
			continue;
		ports.timer[i] = NULL;
		t->at_ns = 0;
		t->on_timer(t->arg, t);
	}
	if (sim->broker.line_ns != 0 && sim->broker.line_ns <= sim->now_ns)
		take(sim);
	turn();
	if (ports.up.count > 0 && sim->broker.line_ns == 0)
		sim->broker.line_ns = sim->now_ns + 1 + sim_below(sim, 100000);
}

bool
sim_broker_is_idle(const struct sim *sim)
{
	return sim->broker.up && ports.up.count == 0 &&
	       ports.listener.count == 0 && ports.line.count == 0 &&
	       relay.waiting < 0;
}

static void
note_queue(struct sim *sim, int machine, const struct zsock *p,
    void (*note)(struct sim *sim, struct text frame))
{
	const struct route route = ports_route(machine);

	for (uint32_t i = 0; i < p->count; i++) {
		const struct ports_queued *q =
		    &p->queue[(p->first + i) % PORTS_QUEUE];

		if (memcmp(q->route.at, route.at, route.bytes) == 0)
			note(sim,
			    (struct text){ (const char *)q->frame, q->bytes });
	}
}

void
sim_broker_note(struct sim *sim, int machine,
    void (*note)(struct sim *sim, struct text frame))
{
	if (!sim->broker.up)
		return;
	note_queue(sim, machine, &ports.listener, note);
	note_queue(sim, machine, &ports.up, note);
	if (relay.waiting >= 0) /* whosever it is */
		note(sim, relay.message.frame);
}

/*
 * broker - the real relay.c between the machines and the keeper, with ports,
 * a loop, a clock and random numbers of this world.
 *
 * A port is a queue with a bound.  From the line the keeper takes one message
 * after the other, and stops for a while now and then, so that the line is
 * full, the door is shut and senders are told to wait.  A broker that dies
 * takes with it what was in its queues.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/relay.h"
#include "proto/knock.h"
#include "proto/log.h"
#include "proto/route.h"
#include "proto/vouch.h"
#include "tests/fault/sim/sim.h"

enum { QUEUE = 64, LINE_MESSAGES = 4, TIMERS = 4 };

struct port {
	struct port_counters counters;
	struct sim_queued {
		struct route route;
		uint32_t bytes;
		unsigned char frame[SIM_FLIGHT_BYTES];
	} queue[QUEUE];
	uint32_t first, count;
	void (*on_port)(void *arg, struct port *port);
	void *arg;
	bool was_full; /* said PORT_AGAIN */
};

/* What is up (door, keeper's side of the line) and what is down (line). */
static struct {
	struct sim *sim;
	struct relay relay;
	struct routes routes;
	struct port door, line, up;
	struct loop_timer *timer[TIMERS];
} here;

/* ---- queues ------------------------------------------------------------- */

static bool
put(struct port *p, uint32_t bound, const struct route *route,
    struct text frame)
{
	struct sim_queued *q = &p->queue[(p->first + p->count) % QUEUE];

	if (p->count >= bound)
		return false;
	q->route = *route;
	q->bytes = frame.bytes;
	memcpy(q->frame, frame.at, frame.bytes);
	p->count++;
	return true;
}

static const struct sim_queued *
get(struct port *p)
{
	const struct sim_queued *q = &p->queue[p->first];

	if (p->count == 0)
		return NULL;
	p->first = (p->first + 1) % QUEUE;
	p->count--;
	return q;
}

/* The one frame of a route from a machine. */
static struct route
route_of(int machine)
{
	unsigned char name[2] = { 'm', (unsigned char)machine };
	struct route route = { .bytes = 0 };

	route_add(&route, name, sizeof(name));
	return route;
}

/* ... and back; another route than that is the relay's fault. */
static int
machine_of(const struct route *route)
{
	for (int i = 0; i < SIM_MACHINES; i++) {
		struct route r = route_of(i);

		if (r.bytes == route->bytes &&
		    memcmp(r.at, route->at, r.bytes) == 0)
			return i;
	}
	sim_wrong(here.sim, "the broker made up a route");
	return 0;
}

/* ---- what the relay calls ----------------------------------------------- */

void
message_init(struct message *message)
{
	memset(message, 0, sizeof(*message));
}

void
message_clear(struct message *message)
{
	message->held = false;
}

int
port_open(
    struct port **port, const struct port_options *options, struct err *err)
{
	(void)err;
	*port = options->kind == PORT_DOOR ? &here.door : &here.line;
	(*port)->counters = (struct port_counters){ 0 };
	(*port)->first = (*port)->count = 0;
	(*port)->on_port = NULL;
	(*port)->was_full = false;
	return 0;
}

int
port_connect(struct port *port, const char *endpoint, struct err *err)
{
	(void)port;
	(void)endpoint;
	(void)err;
	return 0;
}

void
port_close(struct port **port)
{
	*port = NULL;
}

void
port_finish(struct port **port, int64_t limit_ns)
{
	(void)limit_ns;
	*port = NULL;
}

bool
port_has_other_key(const struct port *port)
{
	(void)port;
	return false;
}

int
port_show_key(struct port *port, struct err *err)
{
	(void)port;
	(void)err;
	return 0;
}

int
port_rekey(
    struct port *port, const unsigned char *server_secret, struct err *err)
{
	(void)port;
	(void)server_secret;
	(void)err;
	return 0;
}

const char *
port_endpoint(const struct port *port)
{
	(void)port;
	return "ipc:///keeper";
}

const struct port_counters *
port_counters(const struct port *port)
{
	if (port == &here.line)
		here.line.counters.peers = here.sim->keeper.up;
	return &port->counters;
}

/* The frame is a view into the queue: good until more than its bound came. */
enum port_result
port_recv(struct port *port, struct message *message)
{
	const struct sim_queued *q = get(port);

	if (q == NULL)
		return PORT_AGAIN;
	message->route = q->route;
	message->peer = (struct port_peer){ .keyed = false };
	message->frame = (struct text){ (const char *)q->frame, q->bytes };
	message->held = true;
	return PORT_DONE;
}

enum port_result
port_send(struct port *port, const struct route *route, struct text frame)
{
	if (port == &here.door)
		sim_post(here.sim, machine_of(route), false, frame);
	else
		sim_wrong(here.sim, "the broker has something to say itself");
	return PORT_DONE;
}

enum port_result
port_pass(struct port *port, struct message *message)
{
	if (port == &here.door)
		return port_send(port, &message->route, message->frame);
	if (put(&here.up, LINE_MESSAGES, &message->route, message->frame)) {
		message->held = false;
		return PORT_DONE;
	}
	port->was_full = true;
	return PORT_AGAIN;
}

int
loop_add_port(struct loop *loop, struct port *port,
    void (*on_port)(void *arg, struct port *port), void *arg, struct err *err)
{
	(void)loop;
	(void)err;
	port->on_port = on_port;
	port->arg = arg;
	return 0;
}

void
loop_remove_port(struct loop *loop, struct port *port)
{
	(void)loop;
	port->on_port = NULL;
}

void
loop_set_timer(struct loop *loop, struct loop_timer *timer, int64_t at_ns,
    int64_t period_ns)
{
	int i = 0;

	loop_stop_timer(loop, timer);
	while (here.timer[i] != NULL)
		if (++i == TIMERS)
			abort();
	here.timer[i] = timer;
	timer->at_ns = at_ns;
	timer->period_ns = period_ns;
}

void
loop_stop_timer(struct loop *loop, struct loop_timer *timer)
{
	(void)loop;
	for (int i = 0; i < TIMERS; i++)
		if (here.timer[i] == timer)
			here.timer[i] = NULL;
	timer->at_ns = 0;
}

struct knock *
knock_new(struct loop *loop, struct port *port, const struct knock_peer *peer)
{
	(void)loop;
	(void)port;
	(void)peer;
	return NULL;
}

void
knock_free(struct knock **knock)
{
	*knock = NULL;
}

void
knock_look(struct knock *knock)
{
	(void)knock;
}

int64_t __wrap_clock_monotonic_ns(void);
int64_t __wrap_clock_wall_ns(void);
void __wrap_random_bytes(void *to, size_t bytes);
void __wrap_log_write(enum log_level level, const char *format, ...);

int64_t
__wrap_clock_monotonic_ns(void)
{
	return here.sim->now_ns;
}

int64_t
__wrap_clock_wall_ns(void)
{
	return here.sim->now_ns + here.sim->wall_offset_ns;
}

void
__wrap_random_bytes(void *to, size_t bytes)
{
	unsigned char *at = to;

	while (bytes-- > 0)
		*at++ = (unsigned char)sim_random(here.sim);
}

void
__wrap_log_write(enum log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
}

/* ---- its life ----------------------------------------------------------- */

static void
start(struct sim *sim)
{
	const struct relay_options how = { .queue_messages = QUEUE,
		.memory_bytes_max = UINT64_C(1) << 40,
		.key_bytes = 0 }; /* nobody here has one */
	struct err err = { "" };

	memset(&here.relay, 0, sizeof(here.relay));
	memset(here.timer, 0, sizeof(here.timer));
	here.up.first = here.up.count = 0;
	sim->broker.up = true;
	sim->broker.line_ns = 0;
	if (relay_start(&here.relay, NULL, &here.routes, &how, &err) != 0)
		sim_wrong(sim, "the broker: %s", err.text);
}

static void
stop(struct sim *sim)
{
	sim->busies += here.relay.counters.busy;
	relay_clear(&here.relay);
	sim->broker.up = false;
}

void
sim_broker_init(struct sim *sim)
{
	struct err err = { "" };

	here.sim = sim;
	here.routes.count = here.routes.targets = 0;
	if (routes_add(&here.routes, text_of("*"), "ipc:///keeper", &err) != 0)
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
		struct port *p = i == 0 ? &here.line : &here.door;
		bool room = p->was_full && here.up.count < LINE_MESSAGES;

		if (room)
			p->was_full = false;
		if (p->on_port != NULL && (p->count > 0 || room))
			p->on_port(p->arg, p);
	}
}

/* As a socket would: what finds no room waits at the sender's. */
bool
sim_broker_receive(struct sim *sim, int from, struct text frame)
{
	struct route route = route_of(from);

	if (!sim->broker.up)
		return true;
	if (!put(&here.door, QUEUE / 2, &route, frame))
		return false;
	turn();
	if (here.up.count > 0 && sim->broker.line_ns == 0)
		sim->broker.line_ns = sim->now_ns + 1 + sim_below(sim, 100000);
	return true;
}

void
sim_broker_answer(struct sim *sim, int to, struct text frame)
{
	const struct port_peer nobody = { .keyed = false };
	struct route route = route_of(to);

	if (!sim->broker.up)
		return;
	vouch_add(&route, &nobody);
	put(&here.line, QUEUE / 2, &route, frame);
	turn();
}

int64_t
sim_broker_deadline_ns(const struct sim *sim)
{
	int64_t at_ns =
	    sim->broker.up ? sim->broker.line_ns : sim->broker.up_ns;

	for (int i = 0; sim->broker.up && i < TIMERS; i++)
		if (here.timer[i] != NULL &&
		    (at_ns == 0 || here.timer[i]->at_ns < at_ns))
			at_ns = here.timer[i]->at_ns;
	return at_ns;
}

/* The keeper takes the next of the line. */
static void
take(struct sim *sim)
{
	const struct sim_queued *q;
	struct port_peer peer;
	struct route route;
	bool vouched;

	sim->broker.line_ns = 0;
	if (!sim->keeper
		 .up) { /* its end of the line is gone, with what was in it */
		here.up.count = 0;
		return;
	}
	q = get(&here.up);
	if (q == NULL)
		return;
	route = q->route;
	if (vouch_get(&route, &peer, &vouched) != 1 || !vouched)
		sim_wrong(sim, "the broker does not vouch");
	vouch_take(&route);
	sim_keeper_receive(sim, machine_of(&route),
	    (struct text){ (const char *)q->frame, q->bytes });
	if (!sim->calm && sim_chance(sim, 1)) /* it stops for a while */
		sim->broker.line_ns =
		    sim->now_ns + 1 + sim_below(sim, 200) * INT64_C(1000000);
	else if (here.up.count > 0)
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
	for (int i = 0; i < TIMERS; i++) {
		struct loop_timer *t = here.timer[i];

		if (t == NULL || t->at_ns > sim->now_ns)
			continue;
		here.timer[i] = NULL;
		t->at_ns = 0;
		t->on_timer(t->arg, t);
	}
	if (sim->broker.line_ns != 0 && sim->broker.line_ns <= sim->now_ns)
		take(sim);
	turn();
	if (here.up.count > 0 && sim->broker.line_ns == 0)
		sim->broker.line_ns = sim->now_ns + 1 + sim_below(sim, 100000);
}

bool
sim_broker_is_idle(const struct sim *sim)
{
	return sim->broker.up && here.up.count == 0 && here.door.count == 0 &&
	       here.line.count == 0 && here.relay.waiting < 0;
}

static void
note_queue(struct sim *sim, int machine, const struct port *p,
    void (*note)(struct sim *sim, struct text frame))
{
	const struct route route = route_of(machine);

	for (uint32_t i = 0; i < p->count; i++) {
		const struct sim_queued *q = &p->queue[(p->first + i) % QUEUE];

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
	note_queue(sim, machine, &here.door, note);
	note_queue(sim, machine, &here.up, note);
	if (here.relay.waiting >= 0) /* whosever it is */
		note(sim, here.relay.message.frame);
}

/*
 * ports - see ports.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fault/sim/ports.h"

#include <stdlib.h>
#include <string.h>

#include "proto/auth/reconnect.h"
#include "proto/net/route.h"
#include "proto/os/log.h"

struct ports ports;

/* ---- queues ------------------------------------------------------------- */

bool
ports_put(struct port *p, uint32_t bound, const struct route *route,
    struct text frame)
{
	struct ports_queued *q = &p->queue[(p->first + p->count) % PORTS_QUEUE];

	if (p->count >= bound)
		return false;
	q->route = *route;
	q->bytes = frame.bytes;
	memcpy(q->frame, frame.at, frame.bytes);
	p->count++;
	return true;
}

const struct ports_queued *
ports_get(struct port *p)
{
	const struct ports_queued *q = &p->queue[p->first];

	if (p->count == 0)
		return NULL;
	p->first = (p->first + 1) % PORTS_QUEUE;
	p->count--;
	return q;
}

struct route
ports_route(int machine)
{
	unsigned char name[2] = { 'm', (unsigned char)machine };
	struct route route = { .bytes = 0 };

	route_add(&route, name, sizeof(name));
	return route;
}

/* Another route than that is the relay's fault. */
int
ports_machine(const struct route *route)
{
	for (int i = 0; i < SIM_MACHINES; i++) {
		struct route r = ports_route(i);

		if (r.bytes == route->bytes &&
		    memcmp(r.at, route->at, r.bytes) == 0)
			return i;
	}
	sim_wrong(ports.sim, "the broker made up a route");
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
	*port = options->kind == PORT_DOOR ? &ports.door : &ports.line;
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
	if (port == &ports.line)
		ports.line.counters.peers = ports.sim->keeper.up;
	return &port->counters;
}

/* The frame is a view into the queue: good until more than its bound came. */
enum port_result
port_recv(struct port *port, struct message *message)
{
	const struct ports_queued *q = ports_get(port);

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
	if (port == &ports.door)
		sim_post(ports.sim, ports_machine(route), false, frame);
	else
		sim_wrong(ports.sim, "the broker has something to say itself");
	return PORT_DONE;
}

enum port_result
port_pass(struct port *port, struct message *message)
{
	if (port == &ports.door)
		return port_send(port, &message->route, message->frame);
	if (ports_put(&ports.up, PORTS_LINE, &message->route, message->frame)) {
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
	while (ports.timer[i] != NULL)
		if (++i == PORTS_TIMERS)
			abort();
	ports.timer[i] = timer;
	timer->at_ns = at_ns;
	timer->period_ns = period_ns;
}

void
loop_stop_timer(struct loop *loop, struct loop_timer *timer)
{
	(void)loop;
	for (int i = 0; i < PORTS_TIMERS; i++)
		if (ports.timer[i] == timer)
			ports.timer[i] = NULL;
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
	return ports.sim->now_ns;
}

int64_t
__wrap_clock_wall_ns(void)
{
	return ports.sim->now_ns + ports.sim->wall_offset_ns;
}

void
__wrap_random_bytes(void *to, size_t bytes)
{
	unsigned char *at = to;

	while (bytes-- > 0)
		*at++ = (unsigned char)sim_random(ports.sim);
}

void
__wrap_log_write(enum log_level level, const char *format, ...)
{
	(void)level;
	(void)format;
}

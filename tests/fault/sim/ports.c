/*
 * ports - see ports.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fault/sim/ports.h"

#include <stdlib.h>
#include <string.h>

#include "proto/auth/reconnect.h"
#include "proto/net/zsock.h"
#include "proto/os/log.h"

struct ports ports;

/* ---- queues ------------------------------------------------------------- */

bool
ports_put(struct zsock *p, uint32_t bound, const struct route *route,
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
ports_get(struct zsock *p)
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
zsock_message_init(struct zsock_message *message)
{
	memset(message, 0, sizeof(*message));
}

void
zsock_message_clear(struct zsock_message *message)
{
	message->held = false;
}

int
zsock_open(
    struct zsock **zsock, const struct zsock_options *options, struct err *err)
{
	(void)err;
	*zsock =
	    options->kind == ZSOCK_LISTENER ? &ports.listener : &ports.line;
	(*zsock)->counters = (struct zsock_counters){ 0 };
	(*zsock)->first = (*zsock)->count = 0;
	(*zsock)->on_zsock = NULL;
	(*zsock)->was_full = false;
	return 0;
}

int
zsock_connect(struct zsock *zsock, const char *endpoint, struct err *err)
{
	(void)zsock;
	(void)endpoint;
	(void)err;
	return 0;
}

void
zsock_close(struct zsock **zsock)
{
	*zsock = NULL;
}

void
zsock_finish(struct zsock **zsock, int64_t limit_ns)
{
	(void)limit_ns;
	*zsock = NULL;
}

bool
zsock_key_has_changed(const struct zsock *zsock)
{
	(void)zsock;
	return false;
}

int
zsock_use_key(struct zsock *zsock, struct err *err)
{
	(void)zsock;
	(void)err;
	return 0;
}

int
zsock_rekey(
    struct zsock *zsock, const unsigned char *server_secret, struct err *err)
{
	(void)zsock;
	(void)server_secret;
	(void)err;
	return 0;
}

const char *
zsock_endpoint(const struct zsock *zsock)
{
	(void)zsock;
	return "ipc:///keeper";
}

const struct zsock_counters *
zsock_counters(const struct zsock *zsock)
{
	if (zsock == &ports.line)
		ports.line.counters.peers = ports.sim->aggregator.up;
	return &zsock->counters;
}

/* The frame is a view into the queue: good until more than its bound came. */
enum zsock_result
zsock_recv(struct zsock *zsock, struct zsock_message *message)
{
	const struct ports_queued *q = ports_get(zsock);

	if (q == NULL)
		return ZSOCK_AGAIN;
	message->route = q->route;
	message->peer = (struct zsock_peer){ .keyed = false };
	message->frame = (struct text){ (const char *)q->frame, q->bytes };
	message->held = true;
	return ZSOCK_DONE;
}

enum zsock_result
zsock_send(struct zsock *zsock, const struct route *route, struct text frame)
{
	if (zsock == &ports.listener)
		sim_post(ports.sim, ports_machine(route), false, frame);
	else
		sim_wrong(ports.sim, "the broker has something to say itself");
	return ZSOCK_DONE;
}

enum zsock_result
zsock_forward(struct zsock *zsock, struct zsock_message *message)
{
	if (zsock == &ports.listener)
		return zsock_send(zsock, &message->route, message->frame);
	if (ports_put(&ports.up, PORTS_LINE, &message->route, message->frame)) {
		message->held = false;
		return ZSOCK_DONE;
	}
	zsock->was_full = true;
	return ZSOCK_AGAIN;
}

int
loop_add_zsock(struct loop *loop, struct zsock *zsock,
    void (*on_zsock)(void *arg, struct zsock *zsock), void *arg,
    struct err *err)
{
	(void)loop;
	(void)err;
	zsock->on_zsock = on_zsock;
	zsock->arg = arg;
	return 0;
}

void
loop_remove_zsock(struct loop *loop, struct zsock *zsock)
{
	(void)loop;
	zsock->on_zsock = NULL;
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

struct reconnect *
reconnect_new(
    struct loop *loop, struct zsock *zsock, const struct reconnect_peer *peer)
{
	(void)loop;
	(void)zsock;
	(void)peer;
	return NULL;
}

void
reconnect_free(struct reconnect **reconnect)
{
	*reconnect = NULL;
}

void
reconnect_check(struct reconnect *reconnect)
{
	(void)reconnect;
}

int64_t __wrap_clock_monotonic_ns(void);
int64_t __wrap_clock_wall_ns(void);
void __wrap_hash_random_bytes(void *to, size_t bytes);
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
__wrap_hash_random_bytes(void *to, size_t bytes)
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

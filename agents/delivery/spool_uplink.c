/*
 * spool_uplink - carries the batches of the spool to the keeper.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/spool_uplink.h"

#include <stdlib.h>

#include "proto/auth/reconnect.h"
#include "proto/base/hash.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	LINE_QUEUE = 4, /* messages: the window is ship's, not ZeroMQ's */
	FRAMES_A_ROUND = 64,
};

/* What is acknowledged is given up this long afterwards, in one go. */
#define TIDY_NS (5 * NS_PER_SECOND)

struct courier {
	struct courier_options options;
	struct port *port;
	struct knock *knock;
	struct ship *ship;
	struct former former;
	struct message message;
	struct loop_timer push_timer, tidy_timer;
	uint32_t streams; /* that ship knows */
	bool restart[SPOOL_STREAMS_MAX];
	bool restarts; /* any of them */
	bool held;
	struct loop_timer look_timer; /* at the brokers */
};

static bool
send_frame(void *arg, struct text frame)
{
	static const struct route no_route; /* a line has one peer */
	struct courier *courier = arg;

	return port_send(courier->port, &no_route, frame) == PORT_DONE;
}

static int
read_batch(void *arg, uint32_t stream, uint64_t seq, struct ship_batch *batch)
{
	struct courier *courier = arg;
	struct spool_batch from;
	struct err err = { "" };
	int there =
	    spool_read(courier->options.spool, stream, seq, &from, &err);

	if (there == 1)
		*batch = (struct ship_batch){
			.seq = from.seq,
			.last_seq = from.last_seq,
			.reason = from.reason,
			.records = from.records,
			.codec = from.codec,
			.body_bytes = from.body_bytes,
			.chain = from.chain,
			.after = from.after,
			.body = from.body,
		};
	return there;
}

static void
on_acked(void *arg, uint32_t stream, uint64_t upto)
{
	struct courier *courier = arg;
	const struct courier_options *options = &courier->options;

	spool_acked(options->spool, stream, upto);
	if (courier->tidy_timer.at_ns == 0)
		loop_set_timer(options->loop, &courier->tidy_timer,
		    clock_monotonic_ns() + TIDY_NS, 0);
	options->on_acked(options->arg, stream, upto);
}

static bool
on_probed(void *arg, const struct offset_probe *probe)
{
	struct courier *courier = arg;

	return courier->options.on_probed(courier->options.arg, probe);
}

static int64_t
read_clock(void *arg)
{
	(void)arg;
	return clock_monotonic_ns();
}

static void
ask_restart(struct courier *courier, uint32_t stream)
{
	courier->restart[stream] = courier->restarts = true;
}

static void
on_refused(void *arg, uint32_t stream, uint64_t seq, enum wire_reason reason)
{
	struct courier *courier = arg;
	const struct courier_options *options = &courier->options;
	struct err err = { "" };

	log_warn("batch refused: %s seq=%llu, set aside in the spool",
	    wire_reason_name(reason), (unsigned long long)seq);
	options->commit(options->arg);
	if (spool_refuse(options->spool, stream, seq, WIRE_GAP_REFUSED, &err) !=
	    0)
		log_error("%s", err.text);
	options->on_refused(options->arg, stream, seq, reason);
}

static void
on_rewind(void *arg, uint32_t stream, uint64_t seq)
{
	struct courier *courier = arg;
	const struct courier_options *options = &courier->options;
	struct err err = { "" };

	log_warn("the aggregator is behind what it acknowledged: sending "
		 "again from seq=%llu",
	    (unsigned long long)seq);
	options->commit(options->arg);
	if (spool_rewind(options->spool, stream, seq, &err) != 0)
		log_error("%s", err.text);
	ask_restart(courier, stream);
}

static void
on_forked(void *arg, uint32_t stream, uint64_t seq)
{
	struct courier *courier = arg;
	const struct courier_options *options = &courier->options;
	struct err err = { "" };

	log_warn("this spool has a double, or went back in time: it goes on "
		 "as a new session");
	options->commit(options->arg);
	if (spool_new_session(options->spool, stream, seq, &err) != 0)
		log_error("%s", err.text);
	for (uint32_t i = 0; i < courier->streams; i++)
		ask_restart(courier, i);
	options->on_renumbered(options->arg);
}

static void
settle(void *arg)
{
	const struct courier *courier = arg;

	courier->options.commit(courier->options.arg);
}

static void
restart(struct courier *courier, uint32_t stream, int64_t now_ns)
{
	struct spool *spool = courier->options.spool;
	uint64_t first = spool_first_unacked(spool, stream);

	courier->restart[stream] = false;
	ship_restart(courier->ship, stream, spool_partition(spool, stream),
	    spool_session(spool), first, spool_chain(spool, stream, first),
	    now_ns);
}

/* Streams that are new, or must say hello again. */
static void
restart_streams(struct courier *courier, int64_t now_ns)
{
	uint32_t streams = spool_streams(courier->options.spool);

	for (; courier->streams < streams; courier->streams++)
		ask_restart(courier, courier->streams);
	for (uint32_t i = 0; courier->restarts && i < courier->streams; i++)
		if (courier->restart[i])
			restart(courier, i, now_ns);
	courier->restarts = false;
}

static void
set_timer(struct courier *courier, struct loop_timer *timer, int64_t at_ns)
{
	if (at_ns == 0)
		loop_stop_timer(courier->options.loop, timer);
	else
		loop_set_timer(courier->options.loop, timer, at_ns, 0);
}

static void
look_at_brokers(struct courier *courier, int64_t now_ns)
{
	set_timer(courier, &courier->look_timer,
	    brokers_look(courier->options.brokers, courier->port, courier->ship,
		now_ns));
}

/* 0: never. */
static int64_t
sooner(int64_t a_ns, int64_t b_ns)
{
	if (a_ns == 0 || b_ns == 0)
		return a_ns + b_ns;
	return a_ns < b_ns ? a_ns : b_ns;
}

void
courier_push(struct courier *courier)
{
	int64_t now_ns = clock_monotonic_ns();

	if (courier->held)
		return;
	restart_streams(courier, now_ns);
	look_at_brokers(courier, now_ns);
	ship_push(courier->ship, now_ns, clock_wall_ns());
	if (courier->restarts)
		restart_streams(courier, now_ns);
	former_push(&courier->former, now_ns, clock_wall_ns());
	set_timer(courier, &courier->push_timer,
	    sooner(ship_deadline_ns(courier->ship),
		former_deadline_ns(&courier->former)));
}

static void
on_push_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	courier_push(arg);
}

void
courier_tidy(struct courier *courier)
{
	struct err err = { "" };

	loop_stop_timer(courier->options.loop, &courier->tidy_timer);
	if (spool_tidy(courier->options.spool, clock_wall_ns(), &err) != 0)
		log_warn("%s", err.text);
}

static void
on_tidy_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	courier_tidy(arg);
}

static void
on_port(void *arg, struct port *port)
{
	struct courier *courier = arg;

	knock_look(courier->knock);
	for (int i = 0; i < FRAMES_A_ROUND; i++) {
		if (port_recv(port, &courier->message) != PORT_DONE)
			break;
		if (ship_receive(courier->ship, courier->message.frame,
			clock_monotonic_ns(), clock_wall_ns()) ||
		    former_receive(&courier->former, courier->message.frame,
			clock_monotonic_ns(), clock_wall_ns()))
			brokers_answered(
			    courier->options.brokers, port, courier->ship);
	}
	courier_push(courier);
}

static const struct knock_peer broker = { "broker",
	"what is accepted waits in the spool" };

static int
open_line(struct courier *courier, struct err *err)
{
	const struct port_options options = {
		.kind = PORT_LINE,
		.queue_messages = LINE_QUEUE,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
	};

	if (brokers_connect(
		courier->options.brokers, &courier->port, &options, err) != 0)
		return -1;
	courier->knock =
	    knock_new(courier->options.loop, courier->port, &broker);
	return loop_add_port(
	    courier->options.loop, courier->port, on_port, courier, err);
}

int
courier_open(struct courier **made, const struct courier_options *options,
    struct err *err)
{
	struct courier *courier = calloc(1, sizeof(*courier));
	struct ship_owner owner = { courier, send_frame, read_batch, on_acked,
		on_refused, on_rewind, on_forked, on_probed, read_clock };
	struct ship_options ship = {
		.node = options->node,
		.run = spool_run(options->spool),
	};

	if (courier == NULL)
		abort();
	courier->options = *options;
	courier->former.options = (struct former_options){
		.spool = options->spool,
		.node = options->node,
		.wait_ns = options->owed_wait_ns,
		.arg = courier,
		.send = send_frame,
		.commit = settle,
	};
	courier->push_timer.on_timer = on_push_timer;
	courier->tidy_timer.on_timer = on_tidy_timer;
	courier->look_timer.on_timer = on_push_timer;
	courier->push_timer.arg = courier->tidy_timer.arg = courier;
	courier->look_timer.arg = courier;
	message_init(&courier->message);
	random_bytes(&ship.seed, sizeof(ship.seed));
	if (ship_new(&courier->ship, &ship, &owner, err) != 0 ||
	    open_line(courier, err) != 0) {
		courier_close(&courier);
		return -1;
	}
	*made = courier;
	return 0;
}

void
courier_close(struct courier **gone)
{
	struct courier *courier = *gone;

	*gone = NULL;
	if (courier == NULL)
		return;
	loop_stop_timer(courier->options.loop, &courier->push_timer);
	loop_stop_timer(courier->options.loop, &courier->tidy_timer);
	knock_free(&courier->knock);
	loop_stop_timer(courier->options.loop, &courier->look_timer);
	message_clear(&courier->message);
	if (courier->port != NULL)
		loop_remove_port(courier->options.loop, courier->port);
	port_close(&courier->port);
	ship_free(&courier->ship);
	free(courier);
}

void
courier_show_key(struct courier *courier)
{
	if (brokers_show_key(courier->options.brokers, courier->port,
		courier->ship, clock_monotonic_ns()))
		courier_push(courier);
}

void
courier_hold(struct courier *courier, bool hold)
{
	courier->held = hold;
}

bool
courier_is_done(const struct courier *courier)
{
	struct spool *spool = courier->options.spool;

	for (uint32_t i = 0; i < spool_streams(spool); i++)
		if (spool_first_unacked(spool, i) != spool_next_seq(spool, i))
			return false;
	return true;
}

const struct ship_counters *
courier_counters(const struct courier *courier)
{
	return ship_counters(courier->ship);
}

uint64_t
courier_moves(const struct courier *courier)
{
	return courier->options.brokers->failover.moves;
}

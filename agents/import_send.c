/*
 * import_send - brings rows to the aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import_send.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "proto/progress.h"
#include "agents/ship.h"
#include "proto/clock.h"
#include "proto/hash.h"
#include "proto/log.h"

enum {
	BAD_LINES_SHOWN = 50,
	FRAMES_A_ROUND = 64,
	ROWS_A_ROUND = 4096, /* then a look at the line, and at signals */
	SILENCES = 3,        /* time-outs before the line is made anew */
};

#define LOOK_NS      (NS_PER_SECOND / 10) /* at the clock, for the bar */
#define LOOK_RARE_NS NS_PER_SECOND
#define PATIENCE_NS  (2 * NS_PER_SECOND) /* before saying who is waited for */

struct sending {
	const struct import_options *options;
	const struct import_source *source;
	struct import_pack *pack;
	struct import_row row;
	struct ship *ship;
	struct loop *loop;
	struct port *port;
	struct message message;
	struct loop_timer push_timer, look_timer;
	uint32_t streams;     /* that ship knows */
	uint32_t read_stream; /* whose batch was read last */
	bool end;             /* of the file */
	bool again;           /* the file is to be read once more */
	bool quiet;           /* bad lines were told before */
	bool waiting_told;
	uint64_t bad, timeouts;
	uint64_t busy; /* answers before the last progress */
	int64_t began_ns, progress_ns;
	struct err *err;
	int status;
};

static void
fail(struct sending *s)
{
	s->status = -1;
	loop_quit(s->loop, 0);
}

/* ---- from the file ------------------------------------------------------ */

/* Where the last line was. */
static const char *
get_file(const struct import_source *source)
{
	return source->file != NULL ? source->file(source->arg) : source->name;
}

static void
complain(struct sending *s, const char *what)
{
	s->bad++;
	if (s->quiet || s->bad > BAD_LINES_SHOWN)
		return;
	if (s->options->progress)
		progress_clear();
	fprintf(stderr, "%s:%" PRIu64 ": %s\n", get_file(s->source),
	    s->source->line(s->source->arg), what);
	if (s->bad == BAD_LINES_SHOWN)
		fprintf(stderr, "%s: further bad lines are only counted\n",
		    s->source->name);
}

static bool
is_hungry(const struct sending *s)
{
	return !s->end && s->status == 0 && !import_pack_is_full(s->pack);
}

/* Read on until there is enough to send, or for a round: of a file that is
 * there already nothing is ever sent. */
static void
feed(struct sending *s)
{
	const struct import_source *source = s->source;

	if (is_hungry(s))
		s->progress_ns = clock_monotonic_ns();
	for (int i = 0; i < ROWS_A_ROUND && is_hungry(s); i++) {
		uint64_t from = source->offset(source->arg);
		struct err err;

		err.text[0] = '\0';
		switch (source->next(source->arg, &s->row, &err)) {
		case IMPORT_LINE:
			if (import_pack_add(s->pack, &s->row,
				source->offset(source->arg) - from, &err) != 0)
				complain(s, err.text);
			break;
		case IMPORT_TOO_LONG: complain(s, err.text); break;
		case IMPORT_END:
			s->end = true;
			import_pack_end(s->pack);
			break;
		case IMPORT_FAILED:
			*s->err = err;
			fail(s);
			break;
		}
	}
}

int
import_check(const struct import_source *source, struct err *err)
{
	struct import_row row = { .json = NULL };
	enum import_next next;

	do
		next = source->next(source->arg, &row, err);
	while (next == IMPORT_LINE);
	import_row_clear(&row);
	if (next == IMPORT_TOO_LONG)
		err_prefix(err, "%s:%" PRIu64, get_file(source),
		    source->line(source->arg));
	source->rewind(source->arg);
	return next == IMPORT_END ? 0 : -1;
}

/* ---- what ship asks of its owner ---------------------------------------- */

static bool
send_frame(void *arg, struct text frame)
{
	static const struct route no_route; /* a line has one peer */
	struct sending *s = arg;
	struct wire_header header;

	if (port_send(s->port, &no_route, frame) != PORT_DONE)
		return false;
	if (wire_peek(frame, &header) == WIRE_OK && header.type == WIRE_BATCH)
		import_pack_sent(s->pack, s->read_stream, header.seq);
	return true;
}

static int
read_batch(void *arg, uint32_t stream, uint64_t seq, struct ship_batch *batch)
{
	struct sending *s = arg;

	s->read_stream = stream;
	return s->again ? 0 : import_pack_read(s->pack, stream, seq, batch);
}

static void
on_acked(void *arg, uint32_t stream, uint64_t upto)
{
	struct sending *s = arg;

	import_pack_acked(s->pack, stream, upto);
	s->progress_ns = clock_monotonic_ns();
	s->busy = ship_counters(s->ship)->nacks[WIRE_NACK_BUSY];
}

static const char *
quoted_partition(const struct sending *s, uint32_t stream, char to[static 300])
{
	return text_quote(to, 300, import_pack_partition(s->pack, stream));
}

static void
on_refused(void *arg, uint32_t stream, uint64_t seq, enum wire_reason reason)
{
	struct sending *s = arg;
	char partition[300];

	(void)seq;
	err_set(s->err, "the aggregator refuses partition %s: %s",
	    quoted_partition(s, stream, partition), wire_reason_name(reason));
	fail(s);
}

/* Its store came back from a backup: everything once more from the first line;
 * what it still has is only packed. */
static void
on_rewind(void *arg, uint32_t stream, uint64_t seq)
{
	struct sending *s = arg;

	import_pack_rewind(s->pack, stream, seq);
	s->again = true;
}

static void
on_forked(void *arg, uint32_t stream, uint64_t seq)
{
	struct sending *s = arg;
	char partition[300];

	err_set(s->err,
	    "the aggregator has something else as batch %" PRIu64
	    " of this file in partition %s: was it imported by another "
	    "version?",
	    seq, quoted_partition(s, stream, partition));
	fail(s);
}

/* ---- the loop ----------------------------------------------------------- */

static void
read_again(struct sending *s)
{
	s->again = false;
	s->end = false;
	s->quiet = true;
	s->bad = 0;
	s->streams = 0; /* all say hello */
	s->source->rewind(s->source->arg);
}

static void
pump(struct sending *s)
{
	int64_t now_ns = clock_monotonic_ns(), at_ns;

	if (s->status != 0)
		return;
	if (s->again)
		read_again(s);
	feed(s);
	for (; s->streams < import_pack_streams(s->pack); s->streams++)
		ship_restart(s->ship, s->streams,
		    import_pack_partition(s->pack, s->streams),
		    import_pack_session(s->pack, s->streams),
		    import_pack_first(s->pack, s->streams), 0, now_ns);
	ship_push(s->ship, now_ns, clock_wall_ns());
	if (s->end && !s->again && ship_in_flight(s->ship) == 0) {
		loop_quit(s->loop, 0);
		return;
	}
	at_ns = s->again || is_hungry(s) ? now_ns : ship_deadline_ns(s->ship);
	if (at_ns == 0)
		loop_stop_timer(s->loop, &s->push_timer);
	else
		loop_set_timer(s->loop, &s->push_timer, at_ns, 0);
}

static void
on_push_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	pump(arg);
}

static void
on_port(void *arg, struct port *port)
{
	struct sending *s = arg;

	for (int i = 0; i < FRAMES_A_ROUND && s->status == 0; i++) {
		if (port_recv(port, &s->message) != PORT_DONE)
			break;
		ship_receive(s->ship, s->message.frame, clock_monotonic_ns(),
		    clock_wall_ns());
		s->timeouts = ship_counters(s->ship)->timeouts;
	}
	pump(s);
}

static void
show(const struct sending *s, int64_t now_ns)
{
	const struct import_pack_counters *c = import_pack_counters(s->pack);
	struct progress progress = { .total = s->source->bytes,
		.done = c->bytes_acked,
		.rows = c->events_acked,
		.began_ns = s->began_ns,
		.now_ns = now_ns };

	progress_show(s->source->name, &progress);
}

static void
give_up(struct sending *s, int64_t seconds)
{
	const struct ship_counters *counters = ship_counters(s->ship);

	if (counters->nacks[WIRE_NACK_BUSY] > s->busy)
		err_set(s->err,
		    "busy for %" PRId64 " s, says %s: poolscope status tells "
		    "what it waits for; the same import again goes on",
		    seconds, port_endpoint(s->port));
	else
		err_set(s->err,
		    "no answer from %s for %" PRId64
		    " s: is the broker up? (poolscope up starts one)",
		    port_endpoint(s->port), seconds);
	fail(s);
}

static void
on_look_timer(void *arg, struct loop_timer *timer)
{
	struct sending *s = arg;
	int64_t now_ns = clock_monotonic_ns();
	int64_t idle_ns = now_ns - s->progress_ns;

	(void)timer;
	if (s->options->progress)
		show(s, now_ns);
	if (idle_ns > PATIENCE_NS && !s->waiting_told) {
		s->waiting_told = true;
		if (s->options->progress)
			progress_clear();
		log_info("waiting for %s", port_endpoint(s->port));
	}
	if (ship_counters(s->ship)->timeouts >= s->timeouts + SILENCES) {
		struct err err = { "" };

		s->timeouts = ship_counters(s->ship)->timeouts;
		if (port_reconnect(s->port, &err) != 0)
			log_warn("%s", err.text);
		ship_reconnected(s->ship, now_ns);
		pump(s);
	}
	if (s->status == 0 && idle_ns > s->options->timeout_ns) {
		give_up(s, idle_ns / NS_PER_SECOND);
	}
}

static void
start_timers(struct sending *s)
{
	int64_t look_ns = s->options->progress ? LOOK_NS : LOOK_RARE_NS;

	s->began_ns = s->progress_ns = clock_monotonic_ns();
	s->push_timer.on_timer = on_push_timer;
	s->look_timer.on_timer = on_look_timer;
	s->push_timer.arg = s->look_timer.arg = s;
	loop_set_timer(s->loop, &s->push_timer, s->began_ns, 0);
	loop_set_timer(s->loop, &s->look_timer, s->began_ns + look_ns, look_ns);
}

int
import_send(const struct import_source *source,
    const struct import_options *options, struct loop *loop, struct port *port,
    struct import_result *result, struct err *err)
{
	struct sending s = { .options = options,
		.source = source,
		.loop = loop,
		.port = port,
		.err = err };
	struct ship_owner owner = { &s, send_frame, read_batch, on_acked,
		on_refused, on_rewind, on_forked, NULL, NULL };
	/* Every importer of this content is the same sender: one run. */
	struct ship_options ship = {
		.node = options->node, .run = 1, .derived = true
	};

	random_bytes(&ship.seed, sizeof(ship.seed));
	if (ship_new(&s.ship, &ship, &owner, err) != 0)
		return -1;
	s.pack =
	    import_pack_new(source->kind, options->partition, source->digest);
	message_init(&s.message);
	if (loop_add_port(loop, port, on_port, &s, err) == 0) {
		start_timers(&s);
		if (loop_run(loop) != 0 && s.status == 0)
			s.status = err_set(err,
			    "%s: interrupted; the same "
			    "import again goes on",
			    source->name);
		loop_stop_timer(loop, &s.push_timer);
		loop_stop_timer(loop, &s.look_timer);
		loop_remove_port(loop, port);
	} else {
		s.status = -1;
	}
	if (options->progress)
		progress_clear();
	result->events += import_pack_counters(s.pack)->events;
	result->already += import_pack_counters(s.pack)->already;
	result->bad += s.bad;
	message_clear(&s.message);
	import_row_clear(&s.row);
	import_pack_free(&s.pack);
	ship_free(&s.ship);
	return s.status;
}

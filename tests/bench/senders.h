/*
 * senders - many senders in one process, each with a session of its own, over
 * a few connections, with the delivery protocol that agents have
 * (agents/delivery/sender.h).
 *
 * Batches are made again when they are asked for again, from their number
 * alone, so that the generator needs no memory and no disk.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_BENCH_SENDERS_H
#define TESTS_BENCH_SENDERS_H

#include <stdio.h>
#include <stdlib.h>

#include "agents/delivery/sender.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/net/loop/loop.h"
#include "proto/os/clock.h"

/* Connections; each has a few batches on their way. */
#ifndef SENDERS_LINES
#define SENDERS_LINES 4
#endif

enum {
	SENDERS_MAX = 256, /* streams in all */
	SENDERS_RING = 64, /* numbers that are remembered of a stream */
};

struct sender {
	struct session_id session;
	uint64_t made; /* batches up to here may be sent */
	uint64_t acked;
	uint64_t chain[SENDERS_RING];   /* after number n, at n % RING */
	uint64_t records[SENDERS_RING]; /* up to and with number n */
	uint64_t cached;                /* number of the batch in `body` */
	uint32_t cached_records, body_bytes;
	unsigned char body[WIRE_BATCH_BYTES];
};

struct senders;

struct senders_line {
	struct senders *all;
	struct zsock *zsock;
	struct sender *sender;
	struct zsock_message message;
	struct loop_timer timer;
	unsigned index;
};

struct senders {
	struct loop *loop;
	/* Write batch `seq` of sender `index` into `w`. */
	void (*fill)(
	    void *arg, unsigned index, uint64_t seq, struct wire_writer *w);
	/* All up to `upto` are acknowledged (may be NULL). */
	void (*on_acked)(void *arg, unsigned index, uint64_t upto);
	void *arg;
	unsigned count;
	uint64_t records, batches; /* acknowledged */
	struct sender *sender;
	struct senders_line line[SENDERS_LINES];
};

static inline struct sender *
senders_of(struct senders_line *line, uint32_t stream)
{
	return &line->all->sender[stream * SENDERS_LINES + line->index];
}

static inline uint64_t
senders_first(void *arg, uint32_t stream)
{
	return senders_of(arg, stream)->acked + 1;
}

static inline int
senders_read(
    void *arg, uint32_t stream, uint64_t seq, struct sender_batch *batch)
{
	struct senders_line *line = arg;
	struct senders *all = line->all;
	struct sender *s = senders_of(line, stream);
	struct wire_writer w;
	unsigned at = seq % SENDERS_RING, before = (seq - 1) % SENDERS_RING;

	if (seq > s->made)
		return 0;
	if (s->cached != seq) {
		wire_writer_init(&w, s->body, sizeof(s->body));
		all->fill(all->arg, (unsigned)(s - all->sender), seq, &w);
		s->cached = seq;
		s->cached_records = w.records;
		s->body_bytes = (uint32_t)w.bytes;
		s->records[at] = s->records[before] + w.records;
		s->chain[at] = hash_chain(s->chain[before],
		    crc32c(0, s->body, w.bytes), s->body_bytes, w.records);
	}
	*batch = (struct sender_batch){
		.seq = seq,
		.last_seq = seq,
		.records = s->cached_records,
		.codec = WIRE_NONE,
		.body_bytes = s->body_bytes,
		.chain = s->chain[before],
		.body = { (const char *)s->body, s->body_bytes },
	};
	return 1;
}

static inline void
senders_acked(struct senders_line *line, uint32_t stream, uint64_t upto)
{
	struct senders *all = line->all;
	struct sender *s = senders_of(line, stream);

	all->records += s->records[upto % SENDERS_RING] -
			s->records[s->acked % SENDERS_RING];
	all->batches += upto - s->acked;
	s->acked = upto;
	if (all->on_acked != NULL)
		all->on_acked(all->arg, (unsigned)(s - all->sender), upto);
}

/* Refused, lost and other batches may not happen to an honest sender with a
 * sound aggregator. */
static inline void
senders_act(struct senders_line *line, const struct sender_step *step)
{
	static const struct route none;

	switch (step->action) {
	case SENDER_WAIT:
	case SENDER_WELCOMED: return;
	case SENDER_SEND:
		sender_sent(line->sender,
		    zsock_send(line->zsock, &none, step->frame) == ZSOCK_DONE,
		    clock_monotonic_ns());
		return;
	case SENDER_ACKED: senders_acked(line, step->stream, step->seq); return;
	case SENDER_REFUSED:
	case SENDER_REWIND:
	case SENDER_DIVERGED: break;
	}
	fprintf(stderr,
	    "stream %u: the aggregator does not take batch %llu (action %d, "
	    "reason %s)\n",
	    step->stream, (unsigned long long)step->seq, step->action,
	    step->reason != 0 ? wire_reason_name(step->reason) : "none");
	exit(1);
}

static inline void
senders_push(struct senders_line *line)
{
	struct sender_step step = { .action = SENDER_WELCOMED };
	int64_t now_ns = clock_monotonic_ns(), deadline_ns;

	while (step.action != SENDER_WAIT) {
		step = sender_step(line->sender, now_ns, clock_wall_ns());
		senders_act(line, &step);
	}
	deadline_ns = sender_deadline_ns(line->sender);
	if (deadline_ns != 0)
		loop_set_timer(line->all->loop, &line->timer, deadline_ns, 0);
}

static inline void
senders_on_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	senders_push(arg);
}

static inline void
senders_on_port(void *arg, struct zsock *zsock)
{
	struct senders_line *line = arg;

	for (unsigned i = 0;
	     i < 64 && zsock_recv(zsock, &line->message) == ZSOCK_DONE; i++)
		sender_receive(
		    line->sender, line->message.frame, clock_monotonic_ns());
	zsock_message_clear(&line->message);
	senders_push(line);
}

static inline void
senders_open_line(struct senders *all, unsigned index, const char *endpoint)
{
	const struct zsock_options how = {
		.insecure = true,
		.kind = ZSOCK_CONNECTION,
		.queue_messages = 8,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
	};
	struct senders_line *line = &all->line[index];
	const struct sender_owner owner = {
		.arg = line,
		.first = senders_first,
		.read = senders_read,
	};
	const struct sender_options options = {
		.node = text_of("bench"),
		.seed = index,
	};
	struct err err = { 0 };

	line->all = all;
	line->index = index;
	zsock_message_init(&line->message);
	line->timer = (struct loop_timer){
		.on_timer = senders_on_timer,
		.arg = line,
	};
	if (zsock_open(&line->zsock, &how, &err) != 0 ||
	    zsock_connect(line->zsock, endpoint, &err) != 0 ||
	    loop_add_zsock(
		all->loop, line->zsock, senders_on_port, line, &err) != 0 ||
	    sender_new(&line->sender, &options, &owner, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
}

/* `all` has loop, fill, arg and count (a multiple of SENDERS_LINES). */
static inline void
senders_open(struct senders *all, const char *endpoint, struct text partition)
{
	all->sender = calloc(all->count, sizeof(*all->sender));
	if (all->sender == NULL)
		abort();
	for (unsigned i = 0; i < SENDERS_LINES; i++)
		senders_open_line(all, i, endpoint);
	for (unsigned i = 0; i < all->count; i++) {
		struct senders_line *line = &all->line[i % SENDERS_LINES];

		session_random(&all->sender[i].session);
		sender_open(line->sender, i / SENDERS_LINES, partition,
		    &all->sender[i].session, 0, clock_monotonic_ns());
	}
	for (unsigned i = 0; i < SENDERS_LINES; i++)
		senders_push(&all->line[i]);
}

static inline void
senders_close(struct senders *all)
{
	for (unsigned i = 0; i < SENDERS_LINES; i++) {
		loop_stop_timer(all->loop, &all->line[i].timer);
		loop_remove_zsock(all->loop, all->line[i].zsock);
		zsock_message_clear(&all->line[i].message);
		zsock_close(&all->line[i].zsock);
		sender_free(&all->line[i].sender);
	}
	free(all->sender);
}

#endif

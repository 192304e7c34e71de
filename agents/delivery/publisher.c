/*
 * publisher - sends records to the aggregator without an agent.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/publisher.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "agents/delivery/direct_uplink.h"
#include "agents/delivery/unacked.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/base/memory.h"

enum {
	STREAM = 0, /* the only stream */
	/* As in sender.h. */
	FRAME_BODY_BYTES =
	    WIRE_FRAME_BYTES_MAX - WIRE_FIXED_BYTES - WIRE_HEADER_BYTES_MAX,
	BATCH_RECORDS = 32768,
};

struct publisher {
	struct uplink_loop uplink;
	struct direct_uplink direct_uplink;
	char partition[NAME_BYTES_MAX + 1], node[NAME_BYTES_MAX + 1];
	struct unacked unacked;
	uint64_t next, chain;  /* of the next batch */
	uint64_t first;        /* unacknowledged */
	uint64_t taken, acked; /* records */

	/* Conditions that end the loop: */
	uint64_t upto;      /* this many records are acknowledged, or ... */
	uint64_t in_memory; /* ... at most this many bytes are unacknowledged */
	bool stopped;       /* INT, TERM */

	struct wire_writer writer; /* the incomplete batch */
	unsigned char body[UNACKED_BODY_BYTES];
};

/* ---- callbacks of the sender ---- */

static uint64_t
first_of(void *arg, uint32_t stream)
{
	const struct publisher *p = arg;

	(void)stream;
	return p->first;
}

static int
read_batch(void *arg, uint32_t stream, uint64_t seq, struct sender_batch *batch)
{
	struct publisher *p = arg;

	(void)stream;
	return unacked_read(&p->unacked, p->first, seq, batch);
}

static void
on_acked(struct publisher *p, uint64_t upto)
{
	p->first = upto + 1;
	while (p->unacked.oldest != NULL && p->unacked.oldest->seq <= upto) {
		p->acked += p->unacked.oldest->records;
		unacked_drop_oldest(&p->unacked);
	}
	direct_uplink_progressed(&p->direct_uplink);
}

static void
act(void *arg, const struct sender_step *step)
{
	struct publisher *p = arg;
	struct direct_uplink *d = &p->direct_uplink;

	switch (step->action) {
	case SENDER_ACKED: on_acked(p, step->seq); return;
	case SENDER_REFUSED:
		direct_uplink_fail_refused(
		    d, text_of(p->partition), step->reason);
		return;
	/* Acknowledged records are no longer in memory, and the caller has
	 * released its own. */
	case SENDER_REWIND:
		err_set(d->err,
		    "the aggregator lost acknowledged data (restored from a "
		    "backup?); publish again what was published since then");
		break;
	case SENDER_DIVERGED:
		err_set(d->err, "the aggregator has other data of this "
				"session; start the program again");
		break;
	default: return;
	}
	direct_uplink_fail(d);
}

/* ---- the loop ---- */

static bool
is_done(const struct publisher *p)
{
	return p->acked >= p->upto && p->unacked.bytes <= p->in_memory;
}

static void
pump(void *arg)
{
	struct publisher *p = arg;

	direct_uplink_push(&p->direct_uplink);
	if (is_done(p))
		loop_quit(p->uplink.loop, 0);
	else
		direct_uplink_pump_at(&p->direct_uplink, 0);
}

/* Signals are handled by the loop, which may not run for long periods. */
static bool
is_interrupted(struct publisher *p)
{
	sigset_t pending;

	sigpending(&pending);
	p->stopped = p->stopped || sigismember(&pending, SIGINT) == 1 ||
		     sigismember(&pending, SIGTERM) == 1;
	return p->stopped;
}

/* Run the loop until is_done; it may hold already. */
static int
run(struct publisher *p, struct err *err)
{
	struct direct_uplink *d = &p->direct_uplink;

	if (d->status != 0)
		return err_set(err, "an earlier call failed");
	d->err = err;
	direct_uplink_receive(d);
	direct_uplink_push(d);
	if (d->status == 0 && !is_interrupted(p) && !is_done(p)) {
		direct_uplink_progressed(d);
		direct_uplink_pump_at(d, 0);
		p->stopped = loop_run(p->uplink.loop) != 0;
	}
	d->err = NULL; /* the caller's, no longer valid */
	if (d->status == 0 && p->stopped)
		return err_set_code(err, ERR_INTERRUPTED, "interrupted");
	return d->status;
}

/* ---- batches ---- */

static void
add_batch(struct publisher *p, struct text body, struct batch *batch)
{
	batch->seq = p->next++;
	batch->chain = p->chain;
	unacked_add(&p->unacked, batch, body);
	p->chain = hash_chain(p->chain, crc32c(0, body.at, body.bytes),
	    body.bytes, batch->records);
	p->taken += batch->records;
}

/* Close the incomplete batch. */
static void
close_batch(struct publisher *p)
{
	struct batch batch = { .records = p->writer.records,
		.body_bytes = (uint32_t)p->writer.bytes };

	if (batch.records == 0)
		return;
	add_batch(p, (struct text){ (const char *)p->body, batch.body_bytes },
	    &batch);
	wire_writer_init(&p->writer, p->body, sizeof(p->body));
}

/* A record larger than a batch gets its own, compressed if it must be. */
static bool
put_large(struct publisher *p, const struct record *record)
{
	struct batch batch = { .records = 1 };
	struct wire_writer w;
	unsigned char *plain = memory_alloc(WIRE_BODY_BYTES_MAX);
	unsigned char *packed = memory_alloc(FRAME_BODY_BYTES);
	struct text body;
	bool fits;

	wire_writer_init(&w, plain, WIRE_BODY_BYTES_MAX);
	fits = wire_put_record(&w, record);
	body = (struct text){ (const char *)plain, (uint32_t)w.bytes };
	batch.body_bytes = body.bytes;
	if (fits && body.bytes > FRAME_BODY_BYTES) {
		batch.codec = WIRE_ZSTD;
		body = (struct text){ (const char *)packed,
			(uint32_t)wire_compress(
			    packed, FRAME_BODY_BYTES, body) };
		fits = body.bytes > 0;
	}
	if (fits)
		add_batch(p, body, &batch);
	free(plain);
	free(packed);
	return fits;
}

/* 1: added, 0: added and a batch is full, -1: it fits no batch. */
static int
put(struct publisher *p, const struct record *record)
{
	if (p->writer.records < BATCH_RECORDS &&
	    wire_put_record(&p->writer, record))
		return 1;
	p->writer.full = false;
	close_batch(p);
	if (wire_put_record(&p->writer, record))
		return 0;
	p->writer.full = false;
	return put_large(p, record) ? 0 : -1;
}

/* ---- public functions ---- */

static void
copy_name(char to[static NAME_BYTES_MAX + 1], struct text name)
{
	assert(text_check_name(name) == TEXT_OK);
	memcpy(to, name.at, name.bytes);
	to[name.bytes] = '\0';
}

int
publisher_open(struct publisher **publisher, const struct opt_list *brokers,
    const struct client_key_values *key, struct text partition,
    struct text node, int64_t timeout_ns, struct err *err)
{
	struct publisher *p = memory_zero(1, sizeof(*p));
	const struct sender_owner owner = { p, first_of, read_batch, NULL,
		NULL };
	struct direct_uplink_options options = { .timeout_ns = timeout_ns,
		.advice = "run the same command again to resume",
		.arg = p,
		.pump = pump,
		.act = act };
	struct session_id session;

	*publisher = p;
	copy_name(p->partition, partition);
	copy_name(p->node, node);
	wire_writer_init(&p->writer, p->body, sizeof(p->body));
	p->first = p->next = 1;
	options.sender.node = text_of(p->node);
	if (uplink_loop_open(&p->uplink, brokers, key, err) != 0 ||
	    direct_uplink_start(
		&p->direct_uplink, &options, &owner, &p->uplink, err) != 0) {
		publisher_close(publisher);
		return -1;
	}
	session_random(&session);
	return sender_open(p->direct_uplink.sender, STREAM,
	    text_of(p->partition), &session, 0, p->direct_uplink.progress_ns);
}

void
publisher_close(struct publisher **publisher)
{
	struct publisher *p = *publisher;

	if (p == NULL)
		return;
	direct_uplink_stop(&p->direct_uplink);
	uplink_loop_close(&p->uplink);
	unacked_clear(&p->unacked);
	free(p);
	*publisher = NULL;
}

int
publisher_put(struct publisher *p, const struct record *record, bool *fits,
    struct err *err)
{
	char kind[300];
	int rc = put(p, record);

	*fits = rc >= 0;
	if (rc < 0)
		return err_set(err, "%s of %u bytes does not fit in a batch",
		    text_quote(kind, sizeof(kind), record->source),
		    record->pairs.bytes);
	if (rc > 0)
		return 0;
	p->upto = 0;
	p->in_memory = UNACKED_WINDOW_BYTES;
	return run(p, err);
}

uint64_t
publisher_taken(const struct publisher *p)
{
	return p->taken + p->writer.records;
}

uint64_t
publisher_acked(const struct publisher *p)
{
	return p->acked;
}

int
publisher_await(struct publisher *p, uint64_t upto, struct err *err)
{
	assert(upto <= publisher_taken(p));
	close_batch(p);
	p->upto = upto;
	p->in_memory = UINT64_MAX;
	return run(p, err);
}

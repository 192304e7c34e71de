/*
 * crowd - a thousand agents in one process.
 *
 *     crowd ENDPOINT PARTITION AGENTS RECORDS_PER_S SECONDS
 *
 * Each agent has a connection, a session and a node of its own, and the
 * delivery protocol that agents have (agents/delivery/sender.h).  All together
 * they make RECORDS_PER_S records, each agent a batch a second.  Batches are
 * made again when they are asked for again, from their number alone: the record
 * r of an agent has the attribute n = r, counted from 0 without a hole, so that
 * whoever reads them sees what is missing.
 *
 * When the time is over, or when standard input ends, nothing new is made; the
 * crowd ends when everything is acknowledged and prints, a line an agent, node,
 * session, batches and records, and then what it counted.
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#include "agents/delivery/sender.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/base/number.h"
#include "proto/base/text.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

enum {
	AGENTS_MAX = 10000,
	RECORDS_MAX = 200, /* of a batch */
	BODY_BYTES = 32 << 10,
	RING = 64, /* running hashes that are remembered; more than a window */
	TICK_MS = 10, /* how often every agent has its turn */
	TIMEOUT_S = 120,
};

struct agent {
	void *line;
	struct sender *sender;
	struct session_id session;
	char node[16];
	uint64_t made, acked; /* batches */
	uint64_t chain[RING]; /* after number n, at n % RING */
	int64_t first_ns;     /* of its first batch */
};

struct crowd {
	void *zmq;
	struct agent *agents;
	struct text partition;
	uint64_t count, rate, seconds;
	uint32_t records; /* of a batch */
	uint64_t batches, acked, rtt_max_ns;
	unsigned char body[BODY_BYTES];
};

static struct crowd crowd;

static void
fail(const char *what)
{
	fprintf(stderr, "crowd: %s\n", what);
	exit(1);
}

/* ---- what the sender asks ---- */

static uint64_t
first_of(void *arg, uint32_t stream)
{
	const struct agent *agent = arg;

	(void)stream;
	return agent->acked + 1;
}

/* Batch `seq` into crowd.body; returns its length. */
static uint32_t
fill(uint64_t seq)
{
	unsigned char pairs[32];
	struct wire_writer w, attributes;

	wire_writer_init(&w, crowd.body, sizeof(crowd.body));
	for (uint32_t i = 0; i < crowd.records; i++) {
		uint64_t n = (seq - 1) * crowd.records + i;
		const struct value value = { VALUE_INT, { .i = (int64_t)n } };
		struct record record = { .kind = RECORD_EVENT };

		wire_writer_init(&attributes, pairs, sizeof(pairs));
		wire_put_attribute(&attributes, text_of("n"), &value);
		record.time_ns = INT64_C(1700000000) * NS_PER_SECOND +
				 (int64_t)n * NS_PER_SECOND / 20;
		record.source = text_of("crowd");
		record.name = text_of("tick");
		record.attributes = 1;
		record.pairs = (struct text){ (const char *)pairs,
			(uint32_t)attributes.bytes };
		if (!wire_put_record(&w, &record))
			fail("a batch does not fit");
	}
	return (uint32_t)w.bytes;
}

static int
read_batch(void *arg, uint32_t stream, uint64_t seq, struct sender_batch *batch)
{
	struct agent *agent = arg;
	uint32_t bytes;

	(void)stream;
	if (seq > agent->made)
		return 0;
	if (seq <= agent->acked || seq > agent->acked + RING - 1)
		fail("a batch was asked for that is not due");
	bytes = fill(seq);
	agent->chain[seq % RING] = hash_chain(agent->chain[(seq - 1) % RING],
	    crc32c(0, crowd.body, bytes), bytes, crowd.records);
	*batch = (struct sender_batch){
		.seq = seq,
		.last_seq = seq,
		.records = crowd.records,
		.codec = WIRE_NONE,
		.body_bytes = bytes,
		.chain = agent->chain[(seq - 1) % RING],
		.body = { (const char *)crowd.body, bytes },
	};
	return 1;
}

/* ---- what the sender decides ---- */

static void
acked(struct agent *agent, uint64_t upto)
{
	uint64_t rtt_ns = sender_counters(agent->sender)->rtt_ns;

	crowd.acked += upto - agent->acked;
	agent->acked = upto;
	if (rtt_ns > crowd.rtt_max_ns)
		crowd.rtt_max_ns = rtt_ns;
}

/* Refused, lost and other batches may not happen to an honest agent with a
 * sound aggregator. */
static void
push(struct agent *agent, int64_t now_ns)
{
	for (;;) {
		const struct sender_step step =
		    sender_step(agent->sender, now_ns, clock_wall_ns());

		switch (step.action) {
		case SENDER_WAIT: return;
		case SENDER_SEND:
			sender_sent(agent->sender,
			    zmq_send(agent->line, step.frame.at,
				step.frame.bytes, ZMQ_DONTWAIT) >= 0,
			    clock_monotonic_ns());
			break;
		case SENDER_WELCOMED: break;
		case SENDER_ACKED: acked(agent, step.seq); break;
		case SENDER_REFUSED: fail(wire_reason_name(step.reason)); break;
		case SENDER_REWIND:
			fail("the aggregator wants old batches again");
			break;
		case SENDER_DIVERGED:
			fail("the aggregator has other content");
			break;
		}
	}
}

/* ---- agents ---- */

static void
open_agent(struct agent *agent, uint64_t index, const char *endpoint)
{
	const struct sender_owner owner = {
		.arg = agent,
		.first = first_of,
		.read = read_batch,
	};
	struct sender_options options = { .seed = index };
	struct err err = { 0 };
	int linger = 0, queue = 16;

	snprintf(agent->node, sizeof(agent->node), "c%05u", (unsigned)index);
	options.node = text_of(agent->node);
	agent->line = zmq_socket(crowd.zmq, ZMQ_DEALER);
	if (agent->line == NULL)
		fail(zmq_strerror(errno));
	zmq_setsockopt(agent->line, ZMQ_LINGER, &linger, sizeof(linger));
	zmq_setsockopt(agent->line, ZMQ_SNDHWM, &queue, sizeof(queue));
	if (zmq_connect(agent->line, endpoint) != 0)
		fail(zmq_strerror(errno));
	if (sender_new(&agent->sender, &options, &owner, &err) != 0)
		fail(err.text);
	session_random(&agent->session);
	agent->first_ns = clock_monotonic_ns() +
			  (int64_t)(index * NS_PER_SECOND / crowd.count);
	if (sender_open(agent->sender, 0, crowd.partition, &agent->session, 0,
		clock_monotonic_ns()) != 0)
		fail("no stream");
}

/* What came in, and what is due. */
static void
turn(struct agent *agent, int64_t now_ns, bool making)
{
	zmq_msg_t message;
	bool more = false;
	int64_t deadline_ns;

	zmq_msg_init(&message);
	while (zmq_msg_recv(&message, agent->line, ZMQ_DONTWAIT) >= 0) {
		const struct text frame = { zmq_msg_data(&message),
			(uint32_t)zmq_msg_size(&message) };

		sender_receive(agent->sender, frame, clock_monotonic_ns());
		more = true;
	}
	zmq_msg_close(&message);
	if (making && now_ns >= agent->first_ns) {
		uint64_t made =
		    (uint64_t)((now_ns - agent->first_ns) / NS_PER_SECOND + 1);

		if (made > agent->made) {
			crowd.batches += made - agent->made;
			agent->made = made;
			more = true;
		}
	}
	deadline_ns = sender_deadline_ns(agent->sender);
	if (more || (deadline_ns != 0 && deadline_ns <= now_ns))
		push(agent, now_ns);
}

static bool
input_has_ended(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&input, 1, TICK_MS) > 0;
}

static void
live(void)
{
	int64_t end_ns =
	    clock_monotonic_ns() + (int64_t)crowd.seconds * NS_PER_SECOND;
	bool making = true;

	while (making || crowd.acked < crowd.batches) {
		int64_t now_ns = clock_monotonic_ns();

		if (making && (now_ns >= end_ns || input_has_ended())) {
			making = false;
			end_ns = now_ns + TIMEOUT_S * NS_PER_SECOND;
		}
		if (!making && now_ns >= end_ns)
			return;
		for (uint64_t i = 0; i < crowd.count; i++)
			turn(&crowd.agents[i], now_ns, making);
		if (!making)
			poll(NULL, 0, TICK_MS);
	}
}

static void
report(void)
{
	uint64_t resent = 0, timeouts = 0, busy = 0, gaps = 0;

	for (uint64_t i = 0; i < crowd.count; i++) {
		const struct agent *agent = &crowd.agents[i];
		const struct sender_counters *n =
		    sender_counters(agent->sender);

		resent += n->resent;
		timeouts += n->timeouts;
		busy += n->nacks[WIRE_NACK_BUSY];
		gaps += n->nacks[WIRE_NACK_GAP];
		printf("%s ", agent->node);
		for (unsigned k = 0; k < sizeof(agent->session.bytes); k++)
			printf("%02x", agent->session.bytes[k]);
		printf(" %llu %llu\n", (unsigned long long)agent->acked,
		    (unsigned long long)agent->acked * crowd.records);
	}
	printf("agents=%llu batches=%llu acked=%llu records=%llu resent=%llu "
	       "timeouts=%llu busy=%llu gaps=%llu rtt_max_ms=%llu\n",
	    (unsigned long long)crowd.count, (unsigned long long)crowd.batches,
	    (unsigned long long)crowd.acked,
	    (unsigned long long)(crowd.acked * crowd.records),
	    (unsigned long long)resent, (unsigned long long)timeouts,
	    (unsigned long long)busy, (unsigned long long)gaps,
	    (unsigned long long)(crowd.rtt_max_ns / 1000000));
}

static uint64_t
number_of(const char *word, uint64_t least, uint64_t most)
{
	uint64_t number;
	struct err err = { 0 };

	if (number_parse_u64(text_of(word), &number, &err) != 0)
		fail(err.text);
	if (number < least || number > most)
		fail("a number is out of bounds");
	return number;
}

int
main(int argc, char **argv)
{
	if (argc != 6)
		fail("usage: crowd ENDPOINT PARTITION AGENTS RECORDS_PER_S "
		     "SECONDS");
	crowd.partition = text_of(argv[2]);
	crowd.count = number_of(argv[3], 1, AGENTS_MAX);
	crowd.rate = number_of(argv[4], crowd.count, crowd.count * RECORDS_MAX);
	crowd.seconds = number_of(argv[5], 1, 1000000);
	crowd.records = (uint32_t)(crowd.rate / crowd.count);
	crowd.agents = calloc(crowd.count, sizeof(*crowd.agents));
	crowd.zmq = zmq_ctx_new();
	if (crowd.agents == NULL || crowd.zmq == NULL)
		fail("no memory");
	zmq_ctx_set(crowd.zmq, ZMQ_MAX_SOCKETS, (int)crowd.count + 16);
	for (uint64_t i = 0; i < crowd.count; i++)
		open_agent(&crowd.agents[i], i, argv[1]);
	live();
	report();
	for (uint64_t i = 0; i < crowd.count; i++) {
		zmq_close(crowd.agents[i].line);
		sender_free(&crowd.agents[i].sender);
	}
	zmq_ctx_term(crowd.zmq);
	free(crowd.agents);
	return crowd.acked == crowd.batches ? EXIT_SUCCESS : EXIT_FAILURE;
}

/*
 * fallback_states - opens what crashes leave of a fallback queue and a
 * spool.
 *
 *     fallback_states [STATES [SEED]]
 *
 * A random life is recorded: events are left in the fallback queue, or sent to
 * the local socket, read, committed, sent whenever they may be, acknowledged
 * and forgotten.  Some hundred of the directories that a crash somewhere in it
 * could leave are opened by a new agent, each in a child.  What was accepted,
 * and what had been sent, must then be in exactly one batch.  The seed is
 * printed; with KEEP=DIR the first directory that fails is left there.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/accept/fallback_reader.h"
#include "agents/submit/fallback_queue.h"
#include "proto/os/log.h"
#include "tests/fault/states/states.h"

#define NEVER UINT64_MAX
enum { IDS_MAX = 400, STEPS_MAX = 160, PAD_BYTES = 2500, STREAMS_MAX = 256 };

static const struct spool_options options = { .bytes_max = 256 << 10,
	.segment_bytes = 8 << 10,
	.retain_bytes = 1,
	.free_bytes_min = 1 };

/* What was promised, and at which operation. */
struct fact {
	uint64_t submitted, accepted;
	uint64_t sent, seq; /* when, and in which batch */
	struct session_id session;
};

static struct life {
	struct fact fact[IDS_MAX];
	uint32_t ids;
	bool lives; /* not yet judged */
	bool wrong;

	char spool_dir[512], fallback_queue[512];
	struct loop *loop;
	struct spool *spool;
	struct batcher *batcher;
	struct fallback_reader *fallback_reader;
	bool held;
	uint64_t
	    next[STREAMS_MAX]; /* the first that was not sent; 0: unknown */
	/* The number of a stream that is gone is given again. */
	struct session_id session[STREAMS_MAX];
} self;

static void
say(const char *what, uint64_t got)
{
	fprintf(stderr, "%s: %" PRIu64 "\n", what, got);
	self.wrong = true;
}

/* ---- the agent ---- */

static void
commit(void *arg)
{
	struct err err = { 0 };

	(void)arg;
	if (batcher_commit(self.batcher, &err) != BATCHER_OK)
		say(err.text, 0);
}

static void
hold(void *arg, bool on)
{
	(void)arg;
	self.held = on;
}

static int
open_all(const char *dir)
{
	struct batcher_options batcher = {
		.partition = text_of("a$p"),
		.node = text_of("n"),
	};
	struct fallback_reader_options pickup = {
		.dir = self.fallback_queue, .commit = commit, .hold = hold
	};
	struct err err = { 0 };

	snprintf(self.spool_dir, sizeof(self.spool_dir), "%s/spool", dir);
	snprintf(self.fallback_queue, sizeof(self.fallback_queue),
	    "%s/fallback", dir);
	self.held = false;
	if (loop_new(&self.loop, &err) != 0 ||
	    spool_open(&self.spool, self.spool_dir, &options, &err) != 0) {
		say(err.text, 0);
		return -1;
	}
	batcher.spool = self.spool;
	batcher_new(&self.batcher, &batcher);
	batcher_load_dedup(self.batcher);
	pickup.loop = self.loop;
	pickup.batcher = self.batcher;
	if (fallback_reader_open(&self.fallback_reader, &pickup, &err) != 0) {
		say(err.text, 0);
		return -1;
	}
	memset(self.next, 0, sizeof(self.next));
	return 0;
}

static void
close_all(void)
{
	fallback_reader_close(&self.fallback_reader);
	batcher_free(&self.batcher);
	spool_close(&self.spool);
	loop_free(&self.loop);
}

/* The events of a batch are found by their names. */
static void
note_sent(const struct session_id *session, struct text body, uint64_t seq)
{
	const char *at = body.at, *end = body.at + body.bytes;
	unsigned id;

	while ((at = memmem(at, (size_t)(end - at), "event-", 6)) != NULL) {
		at += 6;
		if (sscanf(at, "%6u", &id) != 1 || id >= self.ids) {
			say("an event that nobody submitted", seq);
			return;
		}
		if (self.fact[id].seq != 0 &&
		    (self.fact[id].seq != seq ||
			!session_equal(&self.fact[id].session, session)))
			say("twice: event", id);
		if (self.fact[id].seq == 0)
			self.fact[id].sent = states_position();
		self.fact[id].seq = seq;
		self.fact[id].session = *session;
	}
}

static void
send_stream(uint32_t stream)
{
	const struct session_id *session = spool_session_of(self.spool, stream);
	uint64_t *next = &self.next[stream];
	struct spool_batch batch;
	struct err err = { 0 };

	if (*next == 0 || !session_equal(&self.session[stream], session))
		*next = spool_first_unacked(self.spool, stream);
	self.session[stream] = *session;
	while (spool_read(self.spool, stream, *next, &batch, &err) == 1) {
		if (batch.reason != 0)
			say("a gap", batch.seq);
		note_sent(session, batch.body, batch.seq);
		*next = batch.last_seq + 1;
	}
}

/* Everything that may be sent is, of every session. */
static void
send_all(void)
{
	uint32_t streams = spool_streams(self.spool);

	if (streams > STREAMS_MAX)
		abort();
	for (uint32_t i = 0; i < streams && !self.held; i++)
		if (spool_partition(self.spool, i).at != NULL)
			send_stream(i);
}

/* ---- who has something to say ---- */

static uint32_t
make_put(uint32_t id, unsigned char uuid[static RECORD_ID_BYTES],
    unsigned char *body, uint32_t room)
{
	unsigned char pairs[PAD_BYTES + 64];
	char name[32], pad[PAD_BYTES];
	struct wire_writer w, attributes;
	struct record record = { .kind = RECORD_EVENT,
		.time_ns = 1,
		.source = text_of("test"),
		.attributes = 1 };

	/* So much that segments fill up and go. */
	memset(pad, 'p', sizeof(pad));
	wire_writer_init(&attributes, pairs, sizeof(pairs));
	wire_put_text_attribute(
	    &attributes, text_of("pad"), (struct text){ pad, sizeof(pad) });
	record.pairs = (struct text){ (const char *)attributes.at,
		(uint32_t)attributes.bytes };
	memset(uuid, 7, RECORD_ID_BYTES);
	memcpy(uuid, &id, sizeof(id));
	snprintf(name, sizeof(name), "event-%06u", id);
	record.name = text_of(name);
	record.key = (struct text){ (const char *)uuid, RECORD_ID_BYTES };
	wire_writer_init(&w, body, room);
	wire_put_record(&w, &record);
	return (uint32_t)w.bytes;
}

static void
on_settled(
    const struct batcher_ticket *ticket, const struct batcher_outcome *outcome)
{
	if (outcome->result == BATCHER_OK)
		self.fact[ticket->number].accepted = states_position();
}

static void
submit(bool at_the_listener)
{
	unsigned char uuid[RECORD_ID_BYTES];
	unsigned char body[PAD_BYTES + 256], frame[PAD_BYTES + 1024];
	uint32_t id = self.ids;
	struct text plain = { (const char *)body,
		make_put(id, uuid, body, sizeof(body)) };
	struct wire_header header = {
		.type = WIRE_PUT, .records = 1, .body_bytes = plain.bytes
	};
	struct batcher_ticket ticket = { .on_settled = on_settled,
		.number = id };
	struct err err = { 0 };
	size_t bytes;

	if (id == IDS_MAX)
		return;
	self.ids++;
	self.fact[id] = (struct fact){
		.submitted = states_position(), .accepted = NEVER, .sent = NEVER
	};
	if (at_the_listener) {
		batcher_put(self.batcher, &ticket, &header, plain, &err);
		return;
	}
	bytes = wire_frame(frame, sizeof(frame), &header, plain);
	if (fallback_queue_leave(self.fallback_queue,
		(struct text){ (const char *)frame, (uint32_t)bytes }, 64 << 20,
		&err) == 0)
		self.fact[id].accepted = states_position();
}

/* All that is there is kept elsewhere, and forgotten. */
static void
forget(void)
{
	struct err err = { 0 };

	for (uint32_t i = 0; i < spool_streams(self.spool); i++)
		if (spool_partition(self.spool, i).at != NULL &&
		    self.next[i] > 1 &&
		    session_equal(
			&self.session[i], spool_session_of(self.spool, i)))
			spool_acked(self.spool, i, self.next[i] - 1);
	spool_tidy(self.spool, 1, &err);
}

/* So much at the local socket that segments go while nobody leaves anything. */
static void
rush(void)
{
	for (int i = 0; i < 6; i++) {
		submit(true);
		commit(NULL);
		send_all();
		forget();
	}
}

static void
live_a_step(const char *dir, uint64_t *random)
{
	switch (states_random(random) % 16) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4: submit(false); break;
	case 5:
	case 6: submit(true); break;
	case 7: commit(NULL); break;
	case 8:
	case 9:
	case 10:
	case 11: fallback_reader_round(self.fallback_reader); break;
	case 12: forget(); break;
	case 13: rush(); break;
	case 14: send_all(); break;
	default:
		commit(NULL);
		close_all();
		if (open_all(dir) != 0)
			abort();
	}
	send_all();
}

/* ---- the judge ---- */

static bool
judge(void *arg, const char *dir, uint64_t at)
{
	(void)arg;
	/* What happened later did not happen. */
	for (uint32_t i = 0; i < self.ids; i++) {
		if (self.fact[i].sent > at)
			self.fact[i].seq = 0;
		if (self.fact[i].submitted > at)
			self.fact[i].accepted = NEVER;
	}
	self.wrong = false;
	if (open_all(dir) != 0)
		return false;
	for (int round = 0; round < 8; round++)
		fallback_reader_round(self.fallback_reader);
	commit(NULL);
	if (self.held)
		say("held", 0);
	send_all();
	for (uint32_t i = 0; i < self.ids; i++)
		if (self.fact[i].accepted <= at && self.fact[i].seq == 0)
			say("lost: event", i);
	close_all();
	return !self.wrong;
}

/* One fallback queue from its creation on. */
static void
try_life(const char *base, uint64_t seed, struct states_tally *tally)
{
	const struct states_judge judging = { judge, NULL };
	char live[512], crash[512];
	uint64_t random = seed;
	uint32_t steps = 20 + (uint32_t)(states_random(&random) % STEPS_MAX);

	snprintf(live, sizeof(live), "%s/live", base);
	snprintf(crash, sizeof(crash), "%s/crash", base);
	memset(&self, 0, sizeof(self));
	states_clear();
	states_build(live, 0, &random); /* an empty directory */
	states_start(live);
	if (open_all(live) != 0)
		abort();
	while (steps-- > 0 && !self.wrong)
		live_a_step(live, &random);
	close_all();
	if (self.wrong) {
		fprintf(
		    stderr, "while it was running, seed %" PRIu64 "\n", seed);
		exit(1);
	}
	states_try(tally, &judging, crash, seed, &random);
}

int
main(int argc, char **argv)
{
	log_init("fallback_states", LOG_ERROR);
	return states_main(argc, argv, 5000, try_life);
}

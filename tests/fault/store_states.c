/*
 * store_states - opens the journal in the directories that crashes leave.
 *
 *     store_states [STATES [SEED]]
 *
 * A random life of a journal is recorded, from its making on: groups of
 * batches of some streams, repetitions, numbers that come too early, purges.
 * Some hundred of the directories that a crash somewhere in it could leave are
 * opened, each in a child.  There every stream must stand where the last
 * acknowledged group left it, or where the group under way would have; every
 * entry must have its content; each stream must go on behind it, and recognize
 * what it has from other content.  One of the crashed directories is where the
 * next life begins.  The seed is printed;
 * with KEEP=DIR the first directory that fails is left there.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/verify.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "tests/fault/states/states.h"

enum {
	STREAMS = 5,
	GROUPS_MAX = 64,
	LIVES_PER_STORE = 4,
	BODY_BYTES_MAX = 24000,
	NUMBERS_MAX = 8192,
};

/* Where everything stood when a group was on disk. */
struct stand {
	uint64_t begin, end; /* positions: before it, and when it was there */
	uint64_t last_seq[STREAMS];
};

struct life {
	struct stand stand[GROUPS_MAX];
	uint32_t stands; /* the first: what the life began with */
	uint64_t generation;
};

static struct journal *journal;
static struct receiver *receiver;

static int
wrong(const char *what, uint64_t got, uint64_t wanted)
{
	fprintf(
	    stderr, "%s: %" PRIu64 ", not %" PRIu64 "\n", what, got, wanted);
	return -1;
}

/* ---- the sender: content follows from stream and number alone ---- */

static uint32_t
body_of(unsigned stream, uint64_t seq, unsigned char *body)
{
	uint64_t random = seq * STREAMS + stream;
	uint32_t bytes = (uint32_t)(states_random(&random) % BODY_BYTES_MAX);

	bytes = states_random(&random) % 4 == 0 ? bytes : bytes % 200;
	for (uint32_t i = 0; i < bytes; i++)
		body[i] = (unsigned char)(i * 7 + seq + stream);
	return bytes;
}

/* The running hash before number `seq`. */
static uint64_t
chain_of(unsigned stream, uint64_t seq)
{
	static unsigned char body[BODY_BYTES_MAX];
	static uint64_t after[STREAMS][NUMBERS_MAX], known[STREAMS];

	if (seq > NUMBERS_MAX)
		abort();
	while (known[stream] + 1 < seq) {
		uint64_t n = ++known[stream];
		uint32_t bytes = body_of(stream, n, body);

		after[stream][n] = hash_chain(
		    after[stream][n - 1], crc32c(0, body, bytes), bytes, 1);
	}
	return after[stream][seq - 1];
}

static struct wire_header
header_of(unsigned stream, uint64_t seq)
{
	return (struct wire_header){
		.type = WIRE_BATCH,
		.partition = text_of("acct$pool"),
		.node = text_of("node"),
		.session.bytes = { (unsigned char)(stream + 1) },
		.seq = seq,
		.records = 1,
		.chain = chain_of(stream, seq),
	};
}

static struct wire_header
send_frame(const struct wire_header *header, struct text body)
{
	static unsigned char frame[WIRE_FRAME_BYTES_MAX];
	struct wire_header answer = { 0 };
	size_t bytes = wire_frame(frame, sizeof(frame), header, body);

	receiver_take(receiver,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, 1,
	    NS_PER_SECOND, RECEIVER_ROOM, &answer);
	return answer;
}

/* The aggregator's answer to batch `seq`. */
static struct wire_header
send_batch(unsigned stream, uint64_t seq)
{
	static unsigned char body[BODY_BYTES_MAX];
	const struct wire_header header = header_of(stream, seq);
	const struct text text = { (const char *)body,
		body_of(stream, seq, body) };

	return send_frame(&header, text);
}

/* ---- opening ---- */

static int
open_store(const char *dir)
{
	const struct journal_options how = { .map_bytes = 256 << 20 };
	struct err err = { 0 };

	if (journal_open(&journal, dir, &how, &err) != 0) {
		fprintf(stderr, "open: %s\n", err.text);
		return -1;
	}
	receiver = receiver_new(journal, 0);
	return 0;
}

static void
close_store(void)
{
	receiver_free(&receiver);
	journal_close(&journal);
}

static int
read_stand(struct stand *stand)
{
	struct journal_stream stream;
	struct wire_header h;
	struct err err = { 0 };

	if (journal_begin(journal, &err) != 0) {
		fprintf(stderr, "begin: %s\n", err.text);
		return -1;
	}
	for (unsigned s = 0; s < STREAMS; s++) {
		h = header_of(s, 1);
		if (journal_stream_get(journal, &h.session, h.partition,
			&stream) == JOURNAL_DAMAGED)
			return wrong("damaged stream", s, 0);
		stand->last_seq[s] = stream.last_seq;
	}
	journal_abort(journal);
	return 0;
}

/* ---- a life ---- */

static void
live_group(struct life *life, uint64_t *random)
{
	struct stand *before = &life->stand[life->stands - 1];
	struct stand *stand = &life->stand[life->stands];
	unsigned batches = 1 + (unsigned)(states_random(random) % 8), s;
	struct err err = { 0 };
	uint64_t seq;

	*stand = *before;
	stand->begin = states_position();
	if (journal_begin(journal, &err) != 0)
		abort();
	for (unsigned i = 0; i < batches; i++) {
		s = (unsigned)(states_random(random) % STREAMS);
		seq = stand->last_seq[s] + 1;
		/* Now and then a repetition, or one that comes too early. */
		if (states_random(random) % 8 == 0)
			seq = seq > 2 ? seq - 2 : seq + 1;
		if (send_batch(s, seq).type == WIRE_ACK &&
		    seq == stand->last_seq[s] + 1)
			stand->last_seq[s] = seq;
	}
	if (states_random(random) % 3 == 0)
		journal_purge(journal, journal_next(journal), INT64_MAX, 0,
		    (uint32_t)(states_random(random) % 8));
	if (journal_commit(journal, &err) != DB_OK) {
		fprintf(stderr, "commit: %s\n", err.text);
		abort();
	}
	receiver_committed(receiver);
	stand->end = states_position();
	life->stands++;
}

static void
live(struct life *life, const char *dir, uint64_t *random)
{
	unsigned groups =
	    5 + (unsigned)(states_random(random) % (GROUPS_MAX - 6));

	life->stands = 0;
	if (open_store(dir) != 0 || read_stand(&life->stand[0]) != 0)
		abort();
	life->stand[0].begin = 0;
	life->stand[0].end = states_position();
	life->stands = 1;
	life->generation = journal_generation(journal);
	while (life->stands <= groups)
		live_group(life, random);
	close_store();
}

/* ---- the judge ---- */

static int
check_content(void)
{
	static unsigned char body[BODY_BYTES_MAX];
	struct journal_walk *walk;
	struct journal_entry entry;
	struct err err = { 0 };
	uint32_t bytes;
	int rc;

	if (journal_walk_open(journal, &walk, &err) != 0 ||
	    journal_walk_seek(walk, 1, &err) != 0)
		return wrong("walk", 0, 1);
	while ((rc = journal_walk_next(walk, &entry)) == 1) {
		bytes = body_of(
		    entry.header.session.bytes[0] - 1u, entry.header.seq, body);
		if (entry.body.bytes != bytes ||
		    memcmp(entry.body.at, body, bytes) != 0)
			return wrong(
			    "content of entry", entry.number, entry.number);
	}
	journal_walk_close(&walk);
	return rc == 0 ? 0 : wrong("damaged entry", 1, 0);
}

static bool
same_stand(const struct stand *a, const struct stand *b)
{
	return memcmp(a->last_seq, b->last_seq, sizeof(a->last_seq)) == 0;
}

/* The last stand that was there before `at`, or the one that was in the
 * making. */
static int
check_stand(const struct life *life, uint64_t at)
{
	struct stand found = { 0 };
	uint32_t last = 0, i;

	if (read_stand(&found) != 0)
		return -1;
	for (i = 0; i < life->stands; i++)
		if (life->stand[i].end <= at)
			last = i;
	if (same_stand(&found, &life->stand[last]))
		return 0;
	if (last + 1 < life->stands && life->stand[last + 1].begin < at &&
	    same_stand(&found, &life->stand[last + 1]))
		return 0;
	for (i = 0; i < STREAMS; i++)
		fprintf(stderr,
		    "stream %u: %" PRIu64 ", acknowledged %" PRIu64 "\n", i,
		    found.last_seq[i], life->stand[last].last_seq[i]);
	return -1;
}

/* What the store has is acknowledged again, all before it included; other
 * content under its number is refused. */
static int
check_repetition(unsigned stream, uint64_t seq)
{
	const struct text other = text_of("other");
	struct wire_header header = header_of(stream, seq), answer;

	answer = send_batch(stream, seq);
	if (answer.type != WIRE_ACK || answer.seq != seq || answer.flags != 0)
		return wrong("repeated batch", answer.flags, 0);
	header.body_bytes = other.bytes;
	answer = send_frame(&header, other);
	if (answer.type != WIRE_NACK || answer.reason != WIRE_NACK_DIVERGED)
		return wrong(
		    "other content", answer.reason, WIRE_NACK_DIVERGED);
	return 0;
}

static int
go_on(void)
{
	struct stand stand = { 0 };
	struct wire_header answer;
	struct err err = { 0 };

	if (read_stand(&stand) != 0 || journal_begin(journal, &err) != 0)
		return -1;
	for (unsigned s = 0; s < STREAMS; s++) {
		answer = send_batch(s, stand.last_seq[s] + 1);
		if (answer.type != WIRE_ACK ||
		    answer.seq != stand.last_seq[s] + 1)
			return wrong(
			    "next batch", answer.seq, stand.last_seq[s] + 1);
		for (uint64_t seq = 1; seq <= stand.last_seq[s]; seq += 37)
			if (check_repetition(s, seq) != 0)
				return -1;
	}
	return journal_commit(journal, &err) == DB_OK ? 0 : -1;
}

static bool
judge(void *arg, const char *dir, uint64_t at)
{
	const struct life *life = arg;
	struct err err = { 0 };

	if (open_store(dir) != 0 || check_stand(life, at) != 0 ||
	    check_content() != 0)
		return false;
	if (life->stand[0].end <= at &&
	    journal_generation(journal) != life->generation)
		return wrong("generation", journal_generation(journal),
			   life->generation) == 0;
	if (journal_verify(journal, NULL, NULL, &err) != 0)
		return wrong("verify", 1, 0) == 0;
	if (go_on() != 0)
		return false;
	close_store();
	if (open_store(dir) != 0 || check_content() != 0 ||
	    journal_verify(journal, NULL, NULL, &err) != 0)
		return wrong("the second start", 1, 0) == 0;
	close_store();
	return true;
}

/* ---- the run ---- */

static void
try_store(const char *base, uint64_t seed, struct states_tally *tally)
{
	static struct life life;
	const struct states_judge of_life = { judge, &life };
	char dir[512], crash[512];
	uint64_t random = seed;

	snprintf(dir, sizeof(dir), "%s/live", base);
	snprintf(crash, sizeof(crash), "%s/crash", base);
	states_clear();
	states_build(dir, 0, &random); /* an empty directory */
	for (int i = 0; i < LIVES_PER_STORE && tally->left > 0; i++) {
		states_start(dir);
		live(&life, dir, &random);
		states_try(tally, &of_life, crash, seed, &random);
		states_build(dir,
		    states_random(&random) % (states_position() + 1), &random);
	}
}

int
main(int argc, char **argv)
{
	return states_main(argc, argv, 5000, try_store);
}

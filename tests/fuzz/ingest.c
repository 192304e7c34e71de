/*
 * ingest - any sequence of batches, gaps, hellos, failed commits, purges and
 * restarts, against a ledger in memory; the store is in memory as well.
 *
 * Every answer is the one that the rules of proto/delivery.md give to what the
 * ledger has; what is committed is in the journal, each number once, with the
 * content that was acknowledged.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/verify.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "tests/fault/memory/db.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STREAMS = 4, NUMBERS = 256, BODY_BYTES = 64 };

/* What a number holds, after which running hash (0: not known). */
struct kept {
	bool gap;
	uint32_t sum; /* of the body */
	uint64_t chain;
};

/* kept[0].chain is 0: nothing is before the first. */
struct ledger {
	struct kept kept[NUMBERS + 1];
	uint64_t last_seq;
	uint64_t begun; /* numbers up to here are of a row that was collected */
};

static struct {
	struct journal *journal;
	struct receiver *receiver;
	uint64_t life; /* a new one with each input */
	struct ledger now[STREAMS], committed[STREAMS];
	const uint8_t *at, *end; /* of the input */
} self;

static uint8_t
next(void)
{
	return self.at < self.end ? *self.at++ : 0;
}

/* ---- the store ---- */

static void
open_store(void)
{
	const struct journal_options how = { .map_bytes = 64 << 20 };
	struct err err;

	MUST(journal_open(&self.journal, "/", &how, &err) == 0);
	self.receiver = receiver_new(self.journal, 0);
	MUST(journal_begin(self.journal, &err) == 0);
}

static void
close_store(void)
{
	journal_abort(self.journal);
	receiver_free(&self.receiver);
	journal_close(&self.journal);
	memcpy(self.now, self.committed, sizeof(self.now));
}

/* ---- what is sent ---- */

static struct wire_header
header_of(unsigned stream, enum wire_type type)
{
	struct wire_header header = { .type = type,
		.partition = text_of("acct$pool"),
		.node = text_of("node"),
		.records = 1 };

	memcpy(header.session.bytes, &self.life, sizeof(self.life));
	header.session.bytes[15] = (unsigned char)stream;
	return header;
}

/* The next number, one that was, one that is early, any. */
static uint64_t
number_of(const struct ledger *ledger)
{
	switch (next() % 8) {
	case 0: return ledger->last_seq;
	case 1: return ledger->last_seq + 2;
	case 2: return next() % NUMBERS;
	default: return ledger->last_seq + 1;
	}
}

static uint64_t
chain_of(const struct ledger *ledger, uint64_t seq)
{
	bool known = seq > 0 && seq <= ledger->last_seq + 1;

	switch (next() % 8) {
	case 0: return 0;
	case 1: return next() * UINT64_C(0x9E3779B97F4A7C15);
	default: return known ? ledger->kept[seq - 1].chain : 0;
	}
}

static struct wire_header
take(const struct wire_header *header, struct text body)
{
	static unsigned char frame[WIRE_FRAME_BYTES_MAX];
	size_t bytes = wire_frame(frame, sizeof(frame), header, body);
	struct wire_header answer = { .seq = 0 };

	MUST(receiver_take(self.receiver,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, 1,
	    NS_PER_SECOND, RECEIVER_ROOM, &answer));
	MUST(answer.generation == journal_generation(self.journal));
	return answer;
}

/* ---- what the rules say ---- */

/* What of a running hash is remembered. */
static uint32_t
short_of(uint64_t chain)
{
	return (uint32_t)chain != 0 ? (uint32_t)chain : 1;
}

/* A batch or gap first .. last, the running hash `before` and `after` it. */
struct numbers {
	uint64_t first, last, before, after;
	bool is_batch;
};

/* Numbers that the store has: 0 or the reason of the nack. */
static enum wire_reason
expect_again(const struct ledger *ledger, const struct numbers *n, bool *alone)
{
	uint64_t ours = ledger->kept[n->last].chain;

	if (n->last <= ledger->begun) {
		*alone = true;
		return n->is_batch ? WIRE_NACK_DIVERGED : WIRE_REASON_NONE;
	}
	*alone = ours == 0 || (!n->is_batch && n->after == 0);
	if (*alone || short_of(ours) == short_of(n->after))
		return WIRE_REASON_NONE;
	return WIRE_NACK_DIVERGED;
}

static enum wire_reason
expect_new(const struct ledger *ledger, const struct numbers *n, bool *alone)
{
	uint64_t ours = ledger->kept[ledger->last_seq].chain;
	bool is_next = n->first == ledger->last_seq + 1;

	*alone = n->first != 1 && !(is_next && ours != 0 && ours == n->before);
	if (n->first > ledger->last_seq + 1)
		return WIRE_NACK_GAP;
	if (n->first == 1
		? n->before != 0
		: is_next && ours != 0 && n->before != 0 && ours != n->before)
		return WIRE_NACK_DIVERGED;
	return WIRE_REASON_NONE;
}

/* `kept` is what stands under the last number if it is taken. */
static void
judge(struct ledger *ledger, const struct numbers *n, struct kept kept,
    const struct wire_header *answer)
{
	enum wire_reason reason = WIRE_NACK_MALFORMED;
	bool alone = false;

	if (n->first > 0 && n->first <= n->last)
		reason = n->last <= ledger->last_seq
			     ? expect_again(ledger, n, &alone)
			     : expect_new(ledger, n, &alone);
	if (reason != WIRE_REASON_NONE) {
		MUST(answer->type == WIRE_NACK && answer->reason == reason);
		MUST(reason != WIRE_NACK_GAP ||
		     answer->expect == ledger->last_seq + 1);
		return;
	}
	MUST(answer->type == WIRE_ACK && answer->seq == n->last);
	MUST(((answer->flags & WIRE_FLAG_ALONE) != 0) == alone);
	if (n->last <= ledger->last_seq)
		return;
	while (ledger->last_seq < n->last)
		ledger->kept[++ledger->last_seq] = (struct kept){ .gap = true };
	ledger->kept[n->last] = kept;
}

static void
send_batch(unsigned stream)
{
	struct ledger *ledger = &self.now[stream];
	struct wire_header header = header_of(stream, WIRE_BATCH), answer;
	unsigned char body[BODY_BYTES];
	uint32_t bytes = next() % BODY_BYTES;
	struct kept kept = { .gap = false };
	struct numbers n = { .is_batch = true };

	/* Few different ones: repetitions and others under one number. */
	memset(body, next() % 4, sizeof(body));
	header.seq = n.first = n.last = number_of(ledger);
	header.chain = n.before = chain_of(ledger, header.seq);
	if (header.seq > NUMBERS)
		return;
	header.body_bytes = bytes;
	kept.sum = crc32c(0, body, bytes);
	if (n.before != 0 || n.first == 1)
		kept.chain =
		    hash_chain(n.before, kept.sum, bytes, header.records);
	n.after = kept.chain;
	answer = take(&header, (struct text){ (const char *)body, bytes });
	judge(ledger, &n, kept, &answer);
}

static void
send_gap(unsigned stream)
{
	struct ledger *ledger = &self.now[stream];
	struct wire_header header = header_of(stream, WIRE_GAP), answer;
	struct kept kept = { .gap = true };
	struct numbers n = { .is_batch = false };

	header.seq = n.first = number_of(ledger);
	header.last_seq = n.last = header.seq + next() % 80;
	header.chain = n.before = chain_of(ledger, header.seq);
	switch (next() % 3) {
	case 0: break;
	case 1: kept.chain = next() + UINT64_C(1); break;
	default:
		if (n.last <= ledger->last_seq)
			kept.chain = ledger->kept[n.last].chain;
	}
	header.chain_after = n.after = kept.chain;
	header.reason =
	    next() % 16 == 0 ? WIRE_GAP_SINCE_BACKUP : WIRE_GAP_REFUSED;
	header.records = 0;
	if (header.last_seq > NUMBERS)
		return;
	answer = take(&header, (struct text){ NULL, 0 });
	if (header.reason == WIRE_GAP_SINCE_BACKUP)
		MUST(answer.reason == WIRE_NACK_MALFORMED);
	else
		judge(ledger, &n, kept, &answer);
}

static void
send_hello(unsigned stream)
{
	struct ledger *ledger = &self.now[stream];
	struct wire_header header = header_of(stream, WIRE_HELLO), answer;

	header.seq = number_of(ledger);
	header.records = 0;
	if (next() % 4 == 0)
		header.generation = journal_generation(self.journal);
	answer = take(&header, (struct text){ NULL, 0 });
	if (header.seq == 0) {
		MUST(answer.reason == WIRE_NACK_MALFORMED);
		return;
	}
	/* The row of the stream was collected. */
	if (ledger->last_seq == 0 && header.generation != 0) {
		while (ledger->last_seq < header.seq - 1)
			ledger->kept[++ledger->last_seq] =
			    (struct kept){ .gap = true };
		ledger->begun = ledger->last_seq;
	}
	MUST(answer.type == WIRE_WELCOME);
	MUST(answer.expect == ledger->last_seq + 1);
	MUST(answer.chain == ledger->kept[ledger->last_seq].chain);
}

/* ---- commits ---- */

static void
look_at_streams(void)
{
	struct wire_header header;
	struct journal_stream stream;

	for (unsigned s = 0; s < STREAMS; s++) {
		header = header_of(s, WIRE_BATCH);
		if (journal_stream_get(self.journal, &header.session,
			header.partition, &stream) == JOURNAL_ABSENT)
			stream.last_seq = 0;
		MUST(stream.last_seq == self.now[s].last_seq);
	}
}

static void
commit(void)
{
	struct err err;

	MUST(journal_commit(self.journal, &err) == DB_OK);
	receiver_committed(self.receiver);
	memcpy(self.committed, self.now, sizeof(self.now));
	MUST(journal_begin(self.journal, &err) == 0);
	look_at_streams();
}

static void
fail(void)
{
	struct err err;

	journal_abort(self.journal);
	receiver_failed(self.receiver);
	memcpy(self.now, self.committed, sizeof(self.now));
	MUST(journal_begin(self.journal, &err) == 0);
	look_at_streams();
}

static void
restart(void)
{
	close_store();
	open_store();
	look_at_streams();
}

/* ---- what is in the journal ---- */

static void
look_at_entry(const struct journal_entry *e, uint64_t last[STREAMS])
{
	unsigned s = e->header.session.bytes[15];
	uint64_t to =
	    e->header.type == WIRE_GAP ? e->header.last_seq : e->header.seq;
	const struct kept *kept;

	MUST(s < STREAMS && to >= e->header.seq);
	MUST(to <= self.committed[s].last_seq);
	MUST(last[s] == 0 || e->header.seq == last[s] + 1);
	kept = &self.committed[s].kept[to];
	MUST(kept->gap == (e->header.type == WIRE_GAP));
	MUST(kept->gap || kept->sum == crc32c(0, e->body.at, e->body.bytes));
	last[s] = to;
}

static void
look_at_journal(uint64_t from, bool whole)
{
	struct journal_walk *walk;
	struct journal_entry entry;
	uint64_t last[STREAMS] = { 0 };
	struct err err;
	int rc;

	MUST(journal_walk_open(self.journal, &walk, &err) == 0);
	MUST(journal_walk_seek(walk, from, &err) == 0);
	while ((rc = journal_walk_next(walk, &entry)) == 1)
		if (memcmp(entry.header.session.bytes, &self.life,
			sizeof(self.life)) == 0)
			look_at_entry(&entry, last);
	MUST(rc == 0);
	journal_walk_close(&walk);
	for (unsigned s = 0; whole && s < STREAMS; s++)
		MUST(last[s] == self.committed[s].last_seq ||
		     (last[s] == 0 && self.committed[s].begun ==
					  self.committed[s].last_seq));
}

/* ---- one life ---- */

/* Purged: what the walk finds is then not all. */
static bool
step(void)
{
	uint8_t what = next();
	unsigned stream = what >> 4 & 3;

	switch (what & 15) {
	case 8:
	case 9: send_gap(stream); return false;
	case 10:
	case 11: send_hello(stream); return false;
	case 12: commit(); return false;
	case 13: fail(); return false;
	case 14: restart(); return false;
	case 15:
		journal_purge(self.journal, journal_next(self.journal),
		    INT64_MAX, 0, next() % 8);
		return true;
	default: send_batch(stream); return false;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool purged = false;
	uint64_t from;

	memory_db_reset();
	open_store();
	self.life++;
	self.at = data;
	self.end = data + size;
	memset(self.now, 0, sizeof(self.now));
	memcpy(self.committed, self.now, sizeof(self.now));
	from = journal_next(self.journal);
	while (self.at < self.end)
		purged |= step();
	commit();
	look_at_journal(from, !purged);
	close_store();
	return 0;
}

/*
 * ingest - any sequence of batches, gaps, greetings, failed commits, purges
 * and restarts, against a ledger in memory; the store is in memory as well.
 *
 * Whatever is sent: an acknowledgement never decreases, never skips a
 * number, and names only what was sent; what is committed is in the journal,
 * each number once, with the content that was acknowledged.  A sender that
 * goes on where it was is not refused; one that does not is reported where to.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/verify.h"
#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "tests/fault/memory/db.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                             \
	do {                                                                   \
		if (!(what))                                                   \
			abort();                                               \
	} while (0)

enum { STREAMS = 4, NUMBERS = 64, BODY_BYTES = 64 };

/* What a number holds, after which running hash. */
struct kept {
	bool gap;
	uint32_t sum; /* of the body */
	uint64_t chain;
};

/* kept[0].chain is 0: nothing is before the first. */
struct ledger {
	struct kept kept[NUMBERS + 1];
	uint64_t last_seq, start_count;
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
		.start_count = self.now[stream].start_count,
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
	case 2: return next() % (NUMBERS + 8);
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

static bool
take(const struct wire_header *header, struct text body,
    struct wire_header *answer)
{
	static unsigned char frame[WIRE_FRAME_BYTES_MAX];
	size_t bytes = wire_frame(frame, sizeof(frame), header, body);

	*answer = (struct wire_header){ .seq = 0 };
	return receiver_take(self.receiver,
	    (struct text){ (const char *)frame, (uint32_t)bytes },
	    NS_PER_SECOND, RECEIVER_ROOM, answer);
}

/* `kept` is what stands under the last number if it is taken. */
static void
judge(struct ledger *ledger, const struct wire_header *header, uint64_t last,
    struct kept kept, const struct wire_header *answer)
{
	uint64_t first = header->seq;

	/* Where the sender is to go on. */
	if (answer->type == WIRE_NACK &&
	    (answer->reason == WIRE_NACK_GAP ||
		answer->reason == WIRE_NACK_SUPERSEDED))
		MUST(answer->expect == ledger->last_seq + 1 &&
		     answer->chain == ledger->kept[ledger->last_seq].chain);
	if (answer->type != WIRE_ACK)
		return;
	MUST(answer->seq >= ledger->last_seq);
	if (answer->seq == ledger->last_seq)
		return;
	MUST(first > 0 && first <= ledger->last_seq + 1 && answer->seq == last);
	while (ledger->last_seq < last)
		ledger->kept[++ledger->last_seq] = (struct kept){ .gap = true };
	ledger->kept[last] = kept;
	if (header->start_count > ledger->start_count)
		ledger->start_count = header->start_count;
}

static void
send_batch(unsigned stream)
{
	struct ledger *ledger = &self.now[stream];
	struct wire_header header = header_of(stream, WIRE_BATCH), answer;
	unsigned char body[BODY_BYTES];
	uint32_t bytes = next() % BODY_BYTES;
	struct kept kept = { .gap = false };
	uint64_t last_seq = ledger->last_seq;
	bool goes_on;

	for (uint32_t i = 0; i < bytes; i++)
		body[i] = next();
	header.seq = number_of(ledger);
	header.chain = chain_of(ledger, header.seq);
	if (next() % 8 == 0)
		header.start_count = next() % 4;
	if (header.seq > NUMBERS)
		return;
	header.body_bytes = bytes;
	kept.sum = crc32c(0, body, bytes);
	kept.chain = hash_chain(header.chain, kept.sum, bytes, header.records);
	goes_on = header.seq == last_seq + 1 &&
		  header.chain == ledger->kept[last_seq].chain &&
		  header.start_count == ledger->start_count;
	MUST(take(&header, (struct text){ (const char *)body, bytes },
		 &answer) ||
	     !goes_on);
	judge(ledger, &header, header.seq, kept, &answer);
	MUST(!goes_on || ledger->last_seq == last_seq + 1);
}

static void
send_gap(unsigned stream)
{
	struct ledger *ledger = &self.now[stream];
	struct wire_header header = header_of(stream, WIRE_GAP), answer;
	struct kept kept = { .gap = true };

	header.seq = number_of(ledger);
	header.last_seq = header.seq + next() % 4;
	header.chain = chain_of(ledger, header.seq);
	header.chain_after = next() % 2 == 0 ? 0 : next() + UINT64_C(1);
	header.reason = WIRE_GAP_REFUSED;
	header.records = 0;
	if (header.last_seq > NUMBERS)
		return;
	kept.chain = header.chain_after;
	take(&header, (struct text){ NULL, 0 }, &answer);
	judge(ledger, &header, header.last_seq, kept, &answer);
}

static void
send_hello(unsigned stream)
{
	struct wire_header header = header_of(stream, WIRE_HELLO), answer;

	header.seq = number_of(&self.now[stream]);
	header.chain = chain_of(&self.now[stream], header.seq);
	header.start_count += next() % 4 == 0;
	header.records = 0;
	if (!take(&header, (struct text){ NULL, 0 }, &answer))
		return;
	if (answer.type != WIRE_WELCOME)
		return;
	MUST(answer.expect == self.now[stream].last_seq + 1);
	if (header.start_count > self.now[stream].start_count)
		self.now[stream].start_count = header.start_count;
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
		MUST(last[s] == self.committed[s].last_seq);
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
	for (unsigned s = 0; s < STREAMS; s++)
		self.now[s].start_count = 1;
	memcpy(self.committed, self.now, sizeof(self.now));
	from = journal_next(self.journal);
	while (self.at < self.end)
		purged |= step();
	commit();
	look_at_journal(from, !purged);
	close_store();
	return 0;
}

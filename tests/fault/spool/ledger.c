/*
 * ledger - what a spool promised, and when: the judge of spool_states.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fault/spool/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
grown(void *at, uint32_t count, uint32_t *room, size_t each)
{
	if (count < *room)
		return at;
	*room = *room > 0 ? 2 * *room : 256;
	at = realloc(at, *room * each);
	if (at == NULL)
		abort();
	return at;
}

void
ledger_clear(struct ledger *ledger)
{
	free(ledger->facts);
	free(ledger->acks);
	*ledger = (struct ledger){ 0 };
}

struct fact *
ledger_add(struct ledger *ledger, const struct fact *fact)
{
	ledger->facts = grown(ledger->facts, ledger->facts_count,
	    &ledger->facts_room, sizeof(*ledger->facts));
	ledger->facts[ledger->facts_count] = *fact;
	return &ledger->facts[ledger->facts_count++];
}

void
ledger_ack(struct ledger *ledger, const struct ack *ack)
{
	ledger->acks = grown(ledger->acks, ledger->acks_count,
	    &ledger->acks_room, sizeof(*ledger->acks));
	ledger->acks[ledger->acks_count++] = *ack;
}

uint64_t
ledger_acked(
    const struct ledger *ledger, uint32_t session, uint32_t stream, uint64_t at)
{
	uint64_t upto = 0;

	for (uint32_t i = 0; i < ledger->acks_count; i++) {
		const struct ack *a = &ledger->acks[i];

		if (a->session == session && a->stream == stream &&
		    a->at <= at && a->upto > upto)
			upto = a->upto;
	}
	return upto;
}

uint64_t
ledger_run(const struct ledger *ledger, uint64_t at)
{
	uint64_t run = 0;

	for (uint32_t i = 0; i < ledger->runs_count; i++) {
		if (ledger->runs_at[i] <= at)
			run = ledger->runs[i];
	}
	return run;
}

void
ledger_cut(struct ledger *ledger, uint64_t at)
{
	uint32_t count = 0;

	ledger->runs[0] = ledger_run(ledger, at);
	ledger->runs_at[0] = 0;
	ledger->runs_count = 1;
	for (uint32_t i = 0; i < ledger->facts_count; i++) {
		struct fact f = ledger->facts[i];

		if (f.submitted > at)
			continue;
		f.submitted = 0;
		f.accepted = f.accepted <= at ? 0 : NEVER;
		ledger->facts[count++] = f;
	}
	ledger->facts_count = count;
	count = 0;
	for (uint32_t i = 0; i < ledger->acks_count; i++) {
		struct ack a = ledger->acks[i];

		if (a.at > at)
			continue;
		a.at = 0;
		ledger->acks[count++] = a;
	}
	ledger->acks_count = count;
	for (uint32_t i = 0; i < ledger->sessions_count; i++) {
		struct session *s = &ledger->sessions[i];

		s->begun = s->begun <= at ? 0 : NEVER;
		s->done = s->done <= at ? 0 : NEVER;
	}
}

uint32_t
ledger_body(uint64_t id, unsigned char to[static LEDGER_BODY_MAX])
{
	uint64_t z = id * UINT64_C(0x9E3779B97F4A7C15);
	uint32_t bytes;

	z ^= z >> 29;
	bytes = 8 + (uint32_t)(z % (z % 31 == 0 ? LEDGER_BODY_MAX - 8 : 1500));
	for (uint32_t i = 0; i < bytes; i++) {
		z = z * UINT64_C(6364136223846793005) + 1442695040888963407u;
		to[i] = (unsigned char)(z >> 56);
	}
	memcpy(to, &id, 8);
	return bytes;
}

uint64_t
ledger_id(struct text body)
{
	unsigned char want[LEDGER_BODY_MAX];
	uint64_t id;

	if (body.bytes < 8)
		return 0;
	memcpy(&id, body.at, 8);
	if (ledger_body(id, want) != body.bytes ||
	    memcmp(want, body.at, body.bytes) != 0)
		return 0;
	return id;
}

/* ---- the judge ---- */

static bool
wrong(const char *what, uint32_t stream, uint64_t seq)
{
	fprintf(stderr, "stream %" PRIu32 " seq %" PRIu64 ": %s\n", stream, seq,
	    what);
	return false;
}

/* Which session the spool is in, and may be in; -1. */
static int
find_session(
    const struct ledger *ledger, const struct spool *spool, uint64_t at)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < ledger->sessions_count; i++) {
		if (ledger->sessions[i].done <= at)
			last = i;
	}
	for (uint32_t i = last; i < ledger->sessions_count; i++) {
		if (ledger->sessions[i].begun <= at &&
		    session_equal(
			&ledger->sessions[i].id, spool_session(spool)))
			return (int)i;
	}
	/* Before the first opening returned there is nothing to keep. */
	return ledger->sessions[0].done > at ? 0 : -1;
}

/* Is what was read one of the things that may be there? */
static const struct fact *
explain(const struct ledger *ledger, uint32_t session, uint32_t stream,
    uint64_t seq, const struct spool_batch *batch, uint64_t at)
{
	uint64_t id = batch->reason != 0 ? 0 : ledger_id(batch->body);

	for (uint32_t i = ledger->facts_count; i-- > 0;) {
		const struct fact *f = &ledger->facts[i];

		if (f->session == session && f->stream == stream &&
		    f->seq == seq && f->submitted <= at && f->id == id &&
		    (id != 0 || batch->reason != 0))
			return f;
	}
	return NULL;
}

static bool
judge_one(const struct ledger *ledger, struct spool *spool, uint32_t session,
    uint32_t stream, uint64_t seq, uint64_t at)
{
	uint64_t acked = ledger_acked(ledger, session, stream, at);
	const struct fact *found = NULL, *latest = NULL;
	struct spool_batch batch;
	struct err err = { 0 };
	int rc = spool_read(spool, stream, seq, &batch, &err);

	if (rc == 1) {
		found = explain(ledger, session, stream, seq, &batch, at);
		if (found == NULL)
			return wrong(batch.reason != 0
					 ? "a gap that nobody made"
					 : "a batch that nobody put there",
			    stream, seq);
		if (batch.reason == 0 && found->chain != 0 &&
		    batch.chain != found->chain)
			return wrong("another running hash", stream, seq);
	}
	for (uint32_t i = 0; i < ledger->facts_count; i++) {
		const struct fact *f = &ledger->facts[i];

		if (f->session == session && f->stream == stream &&
		    f->seq == seq && f->accepted <= at &&
		    (latest == NULL || f->id == 0 || latest->id != 0))
			latest = f;
	}
	if (latest == NULL || (rc != 1 && seq <= acked))
		return rc == 1 || seq <= acked ||
		       wrong("not accepted and not readable", stream, seq);
	if (rc != 1)
		return wrong(
		    rc == 0 ? "accepted, its number is free" : err.text, stream,
		    seq);
	/* A gap that is not sure yet may be there; one that is acknowledged
	 * may be gone, and the batch under it be seen again. */
	if (found != latest && found->id != 0 && seq > acked)
		return wrong("other content than accepted", stream, seq);
	return true;
}

static bool
judge_stream(const struct ledger *ledger, struct spool *spool, uint32_t session,
    uint32_t stream, uint64_t at)
{
	uint64_t next = spool_next_seq(spool, stream), highest = 0;

	if (spool_first_unacked(spool, stream) >
	    ledger_acked(ledger, session, stream, at) + 1)
		return wrong(
		    "ACKED leads", stream, spool_first_unacked(spool, stream));
	for (uint32_t i = 0; i < ledger->facts_count; i++) {
		const struct fact *f = &ledger->facts[i];

		if (f->session == session && f->stream == stream &&
		    f->accepted <= at && f->seq > highest)
			highest = f->seq;
	}
	if (next <= highest)
		return wrong("a number would be given again", stream, next);
	for (uint64_t seq = 1; seq < next; seq++) {
		if (!judge_one(ledger, spool, session, stream, seq, at))
			return false;
	}
	return true;
}

bool
ledger_judge(const struct ledger *ledger, struct spool *spool, uint64_t at)
{
	const struct spool_counters *c = spool_counters(spool);
	int session = find_session(ledger, spool, at);

	if (session < 0)
		return wrong("another session", 0, 0);
	if (spool_start_count(spool) <= ledger_run(ledger, at))
		return wrong(
		    "the run does not count up", 0, spool_start_count(spool));
	if (c->quarantined > 0 || c->gaps > 0)
		return wrong("taken for damaged", 0, c->quarantined);
	for (uint32_t i = 0; i < ledger->facts_count; i++) {
		const struct fact *f = &ledger->facts[i];

		if (f->session == (uint32_t)session && f->accepted <= at &&
		    f->stream >= spool_streams(spool))
			return wrong("the stream is gone", f->stream, f->seq);
	}
	for (uint32_t i = 0; i < spool_streams(spool); i++) {
		if (!judge_stream(ledger, spool, (uint32_t)session, i, at))
			return false;
	}
	return true;
}

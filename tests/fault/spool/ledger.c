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

uint32_t
ledger_session(struct ledger *ledger, const struct session_id *session)
{
	uint32_t i = 0;

	while (i < ledger->sessions_count &&
	       !session_equal(&ledger->sessions[i], session))
		i++;
	if (i == LEDGER_SESSIONS)
		abort();
	if (i == ledger->sessions_count)
		ledger->sessions[ledger->sessions_count++] = *session;
	return i;
}

struct fact
ledger_place(struct ledger *ledger, const struct spool *spool, uint32_t stream)
{
	return (struct fact){
		.session =
		    ledger_session(ledger, spool_session_of(spool, stream)),
		.stream =
		    (uint32_t)(spool_partition(spool, stream).at[5] - '0'),
	};
}

struct fact *
ledger_find(const struct ledger *ledger, const struct fact *place, uint64_t at)
{
	for (uint32_t i = ledger->facts_count; i-- > 0;) {
		struct fact *f = &ledger->facts[i];

		if (f->session == place->session &&
		    f->stream == place->stream && f->seq == place->seq &&
		    f->submitted <= at)
			return f;
	}
	return NULL;
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
	for (uint32_t i = 0; i < LEDGER_STREAMS; i++)
		ledger->moves[i] =
		    ledger->moves[i] != 0 && ledger->moves[i] - 1 <= at;
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

/* How each batch fares. */
struct verdict {
	uint32_t *offered; /* places at which it would be sent */
	bool *stored;      /* the aggregator has it */
	bool *refused;
};

static bool
is_moving(const struct ledger *ledger, uint32_t stream, uint64_t at)
{
	return ledger->moves[stream] > 0 && ledger->moves[stream] - 1 <= at;
}

/* A batch that was being moved may be under a number that nobody saw. */
static bool
may_be_moved(
    const struct ledger *ledger, uint32_t stream, uint64_t id, uint64_t at)
{
	if (!is_moving(ledger, stream, at))
		return false;
	for (uint32_t i = 0; i < ledger->facts_count; i++)
		if (ledger->facts[i].id == id &&
		    ledger->facts[i].stream == stream &&
		    ledger->facts[i].submitted <= at)
			return true;
	return false;
}

static bool
judge_one(const struct ledger *ledger, struct spool *spool, uint32_t stream,
    const struct fact *place, uint64_t at, struct verdict *verdict)
{
	uint64_t acked =
	    ledger_acked(ledger, place->session, place->stream, at);
	const struct fact *f = ledger_find(ledger, place, at);
	bool is_new = place->seq >= spool_first_unacked(spool, stream);
	struct spool_batch batch;
	struct err err = { 0 };
	uint64_t id;

	if (spool_read(spool, stream, place->seq, &batch, &err) != 1)
		return wrong(err.text, place->stream, place->seq);
	if (batch.reason != 0)
		return place->seq <= acked || (f != NULL && f->id == 0) ||
		       (f == NULL && is_moving(ledger, place->stream, at)) ||
		       wrong(
			   "a gap that nobody made", place->stream, place->seq);
	id = ledger_id(batch.body);
	if (id == 0 || id > ledger->ids)
		return wrong("strange content", place->stream, place->seq);
	if (f == NULL && !may_be_moved(ledger, place->stream, id, at))
		return wrong(
		    "a batch that nobody put there", place->stream, place->seq);
	if (f != NULL && f->id != 0 && f->id != id)
		return wrong("other content", place->stream, place->seq);
	if (f != NULL && f->chain != 0 && batch.chain != f->chain)
		return wrong("another running hash", place->stream, place->seq);
	verdict->offered[id] += is_new && place->seq > acked;
	return true;
}

static bool
judge_stream(struct ledger *ledger, struct spool *spool, uint32_t stream,
    uint64_t at, struct verdict *verdict)
{
	struct fact place = ledger_place(ledger, spool, stream);
	uint64_t first = spool_first_unacked(spool, stream);

	if (first > ledger_acked(ledger, place.session, place.stream, at) + 1)
		return wrong("ACKED leads", place.stream, first);
	for (place.seq = 1; place.seq < spool_next_seq(spool, stream);
	     place.seq++)
		if (!judge_one(ledger, spool, stream, &place, at, verdict))
			return false;
	return true;
}

/* Each batch that was accepted is stored, or offered at one place. */
static bool
judge_batches(const struct ledger *ledger, uint64_t at, struct verdict *verdict)
{
	for (uint32_t i = 0; i < ledger->facts_count; i++) {
		const struct fact *f = &ledger->facts[i];

		if (f->id != 0 && f->submitted <= at &&
		    f->seq <= ledger_acked(ledger, f->session, f->stream, at))
			verdict->stored[f->id] = true;
		verdict->refused[f->id] |= f->refused;
	}
	for (uint32_t i = 0; i < ledger->facts_count; i++) {
		const struct fact *f = &ledger->facts[i];
		uint32_t places = f->id != 0 ? verdict->offered[f->id] +
						   verdict->stored[f->id]
					     : 1;

		if (places > 1)
			return wrong("sent twice", f->stream, f->seq);
		if (f->accepted <= at && places == 0 &&
		    !verdict->refused[f->id])
			return wrong("accepted and gone", f->stream, f->seq);
	}
	return true;
}

bool
ledger_judge(struct ledger *ledger, struct spool *spool, uint64_t at)
{
	const struct spool_counters *c = spool_counters(spool);
	struct verdict verdict = {
		calloc(ledger->ids + 1, sizeof(*verdict.offered)),
		calloc(ledger->ids + 1, sizeof(*verdict.stored)),
		calloc(ledger->ids + 1, sizeof(*verdict.refused)),
	};
	uint32_t sessions = ledger->sessions_count;
	bool holds = true;

	if (verdict.offered == NULL || verdict.stored == NULL ||
	    verdict.refused == NULL)
		abort();
	if (spool_start_count(spool) <= ledger_run(ledger, at))
		holds = wrong(
		    "the run does not count up", 0, spool_start_count(spool));
	if (c->quarantined > 0)
		holds = wrong("taken for damaged", 0, c->quarantined);
	for (uint32_t i = 0; i < spool_streams(spool) && holds; i++)
		if (spool_partition(spool, i).at != NULL)
			holds = judge_stream(ledger, spool, i, at, &verdict);
	if (holds && ledger->sessions_count > sessions)
		holds = wrong("a session that nobody began", 0, sessions);
	holds = holds && judge_batches(ledger, at, &verdict);
	free(verdict.offered);
	free(verdict.stored);
	free(verdict.refused);
	return holds;
}

/*
 * work - a random life of a spool, with its ledger.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fault/spool/work.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/wire.h"
#include "tests/fault/spool/life.h"
#include "tests/fault/states/states.h"

static uint64_t
below(struct life *life, uint64_t bound)
{
	return states_random(life->random) % bound;
}

static enum spool_result
append(struct ledger *ledger, struct spool *spool, uint32_t session,
    uint32_t stream, uint64_t position, struct err *err)
{
	static unsigned char body[LEDGER_BODY_MAX];
	struct fact fact = { .session = session,
		.stream = stream,
		.id = ledger->ids + 1,
		.submitted = position,
		.accepted = NEVER };
	struct spool_batch batch = { .records = 1 };
	enum spool_result result;

	batch.body.at = (const char *)body;
	batch.body.bytes = ledger_body(fact.id, body);
	result = spool_append(spool, stream, &batch, true, &fact.seq, err);
	if (result != SPOOL_OK)
		return result;
	ledger->ids++;
	ledger_add(ledger, &fact);
	return SPOOL_OK;
}

/* ---- steps ---- */

static void
do_append(struct life *life)
{
	uint32_t streams = spool_streams(life->spool);
	struct err err = { 0 };
	enum spool_result result;
	uint32_t stream;

	if (streams == 0 || life->pending_count == 60)
		return;
	stream = (uint32_t)below(life, streams);
	result = append(life->ledger, life->spool, life->session, stream,
	    states_position(), &err);
	if (result == SPOOL_OK)
		life->pending[life->pending_count++] =
		    life->ledger->facts_count - 1;
	if (result == SPOOL_IO)
		life->pending_count = 0;
	if (result == SPOOL_IO && !life_is_excused())
		life_die("append", &err);
}

static void
do_commit(struct life *life)
{
	struct err err = { 0 };
	enum spool_result result = spool_commit(life->spool, &err);
	uint64_t at = states_position();

	if (result != SPOOL_OK && !life_is_excused())
		life_die("commit", &err);
	for (uint32_t i = 0; i < life->pending_count; i++) {
		struct fact *f = &life->ledger->facts[life->pending[i]];
		struct spool_batch b;

		if (result != SPOOL_OK)
			continue;
		f->accepted = at;
		if (spool_read(life->spool, f->stream, f->seq, &b, &err) != 1 ||
		    ledger_id(b.body) != f->id)
			life_die("what was committed cannot be read", &err);
		f->chain = b.chain;
	}
	life->pending_count = 0;
}

static void
do_ack(struct life *life)
{
	uint32_t streams = spool_streams(life->spool);
	struct ack ack = { .session = life->session, .at = states_position() };
	uint64_t first, next;

	if (streams == 0)
		return;
	ack.stream = (uint32_t)below(life, streams);
	first = spool_first_unacked(life->spool, ack.stream);
	next = spool_next_seq(life->spool, ack.stream);
	if (first == next)
		return;
	ack.upto = first + below(life, next - first);
	ledger_ack(life->ledger, &ack);
	spool_acked(life->spool, ack.stream, ack.upto);
}

static void
do_tidy(struct life *life)
{
	struct err err = { 0 };

	life->now_ns += 1000000000;
	if (spool_tidy(life->spool, life->now_ns, &err) != 0 &&
	    !life_is_excused())
		life_die("tidy", &err);
}

static void
do_stream(struct life *life)
{
	char name[] = "pool$0";
	struct err err = { 0 };
	uint32_t stream;

	name[5] = (char)('0' + spool_streams(life->spool));
	if (spool_streams(life->spool) < LEDGER_STREAMS &&
	    spool_stream(life->spool, text_of(name), &stream, &err) != 0 &&
	    !life_is_excused())
		life_die("stream", &err);
}

static void
do_reopen(struct life *life)
{
	spool_close(&life->spool);
	life_open(life);
}

static void
do_refuse(struct life *life)
{
	struct fact gap = { .session = life->session,
		.submitted = states_position(),
		.accepted = NEVER };
	struct err err = { 0 };
	uint64_t first, next;

	do_commit(life);
	if (spool_streams(life->spool) == 0)
		return;
	gap.stream = (uint32_t)below(life, spool_streams(life->spool));
	first = spool_first_unacked(life->spool, gap.stream);
	next = spool_next_seq(life->spool, gap.stream);
	if (first == next)
		return;
	gap.seq = first + below(life, next - first);
	if (spool_refuse(
		life->spool, gap.stream, gap.seq, WIRE_GAP_REFUSED, &err) == 0)
		gap.accepted = states_position();
	else if (!life_is_excused())
		return; /* no room */
	ledger_add(life->ledger, &gap);
}

/* Soon the disk fails once, or the process dies. */
static void
trouble(struct life *life)
{
	static const int errors[] = { EIO, ENOSPC };
	uint64_t soon;

	/* A spool whose disk failed twice needs a new process. */
	if (life_is_excused())
		do_reopen(life);
	soon = states_position() + below(life, 16);
	if (below(life, 2) == 0)
		states_kill_at(soon);
	else
		states_fail_at(soon, errors[below(life, 2)]);
}

/* What the new session must hold: the unacknowledged, renumbered. */
static void
copy_facts(struct life *life, uint32_t to, uint64_t begun)
{
	struct ledger *ledger = life->ledger;

	for (uint32_t i = 0; i < spool_streams(life->spool); i++) {
		uint64_t first = spool_first_unacked(life->spool, i), seq = 1;
		uint64_t next = spool_next_seq(life->spool, i);
		struct spool_batch b;
		struct err err = { 0 };

		for (uint64_t n = first; n < next; n++, seq++) {
			struct fact f = { .session = to,
				.stream = i,
				.seq = seq,
				.submitted = begun,
				.accepted = begun };

			if (spool_read(life->spool, i, n, &b, &err) != 1)
				life_die("cannot be read", &err);
			f.id = b.reason != 0 ? 0 : ledger_id(b.body);
			ledger_add(ledger, &f);
		}
	}
}

static void
do_session(struct life *life)
{
	struct ledger *ledger = life->ledger;
	struct err err = { 0 };
	uint64_t begun;
	uint32_t facts;

	do_commit(life);
	if (ledger->sessions_count == 60 || spool_streams(life->spool) == 0)
		return;
	begun = states_position();
	facts = ledger->facts_count;
	copy_facts(life, ledger->sessions_count, begun);
	if (!life_is_excused() && below(life, 2) == 0)
		trouble(life);
	if (spool_new_session(life->spool, 0,
		spool_first_unacked(life->spool, 0), &err) == 0) {
		life_begin_session(life, begun);
		life_accept_readable(life);
		return;
	}
	if (!life_is_excused())
		life_die("new session", &err);
	/* Done or not done: opening it again shows which. */
	spool_close(&life->spool);
	states_revive();
	life_open(life);
	if (life->session != ledger->sessions_count - 1 ||
	    ledger->sessions[life->session].begun < begun)
		ledger->facts_count = facts;
	else
		ledger->sessions[life->session].begun = begun;
}

static void (*const steps[])(struct life *life) = { do_append, do_append,
	do_append, do_append, do_append, do_append, do_append, do_append,
	do_append, do_append, do_append, do_append, do_append, do_commit,
	do_commit, do_commit, do_ack, do_ack, do_ack, do_tidy, do_tidy,
	do_stream, do_reopen, do_refuse };

void
work_run(
    struct ledger *ledger, const char *dir, uint32_t count, uint64_t *random)
{
	struct life life = {
		.ledger = ledger, .dir = dir, .random = random, .now_ns = 1
	};

	if (below(&life, 4) == 0)
		states_kill_at(below(&life, 20));
	life_open(&life);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t n = below(&life, 60 * sizeof(steps) / sizeof(*steps));

		if (below(&life, 40) == 0)
			trouble(&life);
		if (n == 0)
			do_session(&life);
		else
			steps[n % (sizeof(steps) / sizeof(*steps))](&life);
		if (states_killed()) {
			spool_close(&life.spool);
			states_revive();
			life_open(&life);
		}
	}
	do_commit(&life);
	spool_close(&life.spool);
	states_revive();
}

bool
work_append_one(struct ledger *ledger, struct spool *spool, uint64_t at)
{
	uint32_t session = 0;
	struct err err = { 0 };

	for (uint32_t i = 0; i < ledger->sessions_count; i++) {
		if (session_equal(
			&ledger->sessions[i].id, spool_session(spool)))
			session = i;
	}
	for (uint32_t i = 0; i < spool_streams(spool); i++) {
		if (append(ledger, spool, session, i, at, &err) != SPOOL_OK) {
			fprintf(stderr, "append: %s\n", err.text);
			return false;
		}
		ledger->facts[ledger->facts_count - 1].accepted = at;
	}
	if (spool_commit(spool, &err) == SPOOL_OK)
		return true;
	fprintf(stderr, "commit: %s\n", err.text);
	return false;
}

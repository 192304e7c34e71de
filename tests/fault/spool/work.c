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
append(struct ledger *ledger, struct spool *spool, uint32_t partition,
    uint64_t position, struct err *err)
{
	static unsigned char body[LEDGER_BODY_MAX];
	struct spool_batch batch = { .records = 1 };
	uint64_t id = ledger->ids + 1, seq;
	char name[] = "pool$0";
	enum spool_result result;
	struct fact fact;
	uint32_t stream;

	name[5] = (char)('0' + partition);
	if (spool_stream(spool, text_of(name), &stream, err) != 0)
		return SPOOL_FULL;
	fact = ledger_place(ledger, spool, stream);
	batch.body.at = (const char *)body;
	batch.body.bytes = ledger_body(id, body);
	result = spool_append(spool, stream, &batch, true, &seq, err);
	if (result != SPOOL_OK)
		return result;
	ledger->ids++;
	fact.seq = seq;
	fact.id = id;
	fact.submitted = position;
	fact.accepted = NEVER;
	ledger_add(ledger, &fact);
	return SPOOL_OK;
}

/* A stream of any session; false: there is none. */
static bool
choose(struct life *life, uint32_t *stream)
{
	uint32_t count = spool_streams(life->spool);

	if (count == 0)
		return false;
	*stream = (uint32_t)below(life, count);
	return spool_partition(life->spool, *stream).at != NULL;
}

static bool
is_current(const struct life *life, uint32_t stream)
{
	return session_equal(
	    spool_session_of(life->spool, stream), spool_session(life->spool));
}

/* ---- steps ---- */

static void
do_append(struct life *life)
{
	uint64_t begun = states_position();
	struct err err = { 0 };
	enum spool_result result;

	if (life->pending_count == 60)
		return;
	result = append(life->ledger, life->spool,
	    (uint32_t)below(life, LEDGER_STREAMS), begun, &err);
	if (result == SPOOL_OK)
		life->pending[life->pending_count++] =
		    life->ledger->facts_count - 1;
	if (result != SPOOL_IO)
		return;
	if (!life_is_excused())
		life_die("append", &err);
	/* A part of them may have been committed before. */
	life->pending_count = 0;
	life_accept_readable(life, begun);
}

static void
do_commit(struct life *life)
{
	struct err err = { 0 };
	enum spool_result result = spool_commit(life->spool, &err);

	if (result != SPOOL_OK && !life_is_excused())
		life_die("commit", &err);
	life_accept_readable(life, states_position());
	for (uint32_t i = 0; i < life->pending_count; i++)
		if (result == SPOOL_OK &&
		    life->ledger->facts[life->pending[i]].accepted == NEVER)
			life_die("what was committed cannot be read", &err);
	life->pending_count = 0;
}

static void
do_ack(struct life *life)
{
	struct fact place;
	struct ack ack = { .at = states_position() };
	uint64_t first, next;
	uint32_t stream;

	if (!choose(life, &stream))
		return;
	place = ledger_place(life->ledger, life->spool, stream);
	ack.session = place.session;
	ack.stream = place.stream;
	first = spool_first_unacked(life->spool, stream);
	next = spool_next_seq(life->spool, stream);
	if (first == next)
		return;
	ack.upto = first + below(life, next - first);
	if (!is_current(life, stream) && below(life, 2) == 0)
		ack.upto = next - 1;
	ledger_ack(life->ledger, &ack);
	spool_acked(life->spool, stream, ack.upto);
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
do_reopen(struct life *life)
{
	spool_close(&life->spool);
	life_open(life);
}

static void
do_refuse(struct life *life)
{
	struct err err = { 0 };
	struct fact place, *f;
	uint64_t first, next;
	uint32_t stream;

	do_commit(life);
	if (!choose(life, &stream))
		return;
	first = spool_first_unacked(life->spool, stream);
	next = spool_next_seq(life->spool, stream);
	if (first == next)
		return;
	place = ledger_place(life->ledger, life->spool, stream);
	place.seq = first + below(life, next - first);
	f = ledger_find(life->ledger, &place, NEVER);
	if (f != NULL)
		f->refused = true;
	if (spool_refuse(
		life->spool, stream, place.seq, WIRE_GAP_REFUSED, &err) != 0 &&
	    !life_is_excused())
		life_die("refuse", &err);
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

static void
do_session(struct life *life)
{
	do_commit(life);
	spool_new_session(life->spool);
}

/* The aggregator has other content there. */
static void
do_move(struct life *life)
{
	struct err err = { 0 };
	enum spool_result result = SPOOL_OK;
	uint64_t begun;
	uint32_t stream, to;
	struct fact place;

	do_commit(life);
	if (!life_is_excused() && below(life, 3) == 0)
		trouble(life);
	if (!choose(life, &stream) || is_current(life, stream))
		return;
	place = ledger_place(life->ledger, life->spool, stream);
	begun = states_position();
	if (life->ledger->moves[place.stream] == 0)
		life->ledger->moves[place.stream] = begun + 1;
	/* It answered a hello before. */
	spool_acked(life->spool, stream,
	    ledger_acked(life->ledger, place.session, place.stream, NEVER));
	do
		result = spool_move(life->spool, stream, &to, &err);
	while (result == SPOOL_OK && spool_is_to_move(life->spool, stream) &&
	       below(life, 4) > 0);
	if (result == SPOOL_IO && !life_is_excused())
		life_die("move", &err);
	life_accept_readable(life, begun);
}

static void (*const steps[])(struct life *life) = { do_append, do_append,
	do_append, do_append, do_append, do_append, do_append, do_append,
	do_append, do_append, do_append, do_append, do_append, do_commit,
	do_commit, do_commit, do_ack, do_ack, do_ack, do_tidy, do_tidy,
	do_reopen, do_refuse };

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
		if (n < 30)
			(n < 10 ? do_session : do_move)(&life);
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
	uint32_t from = ledger->facts_count;
	struct err err = { 0 };

	for (uint32_t i = 0; i < LEDGER_STREAMS; i++) {
		if (append(ledger, spool, i, at, &err) != SPOOL_IO)
			continue;
		fprintf(stderr, "append: %s\n", err.text);
		return false;
	}
	if (spool_commit(spool, &err) != SPOOL_OK) {
		fprintf(stderr, "commit: %s\n", err.text);
		return false;
	}
	for (; from < ledger->facts_count; from++)
		ledger->facts[from].accepted = at;
	return true;
}

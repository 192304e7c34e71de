/*
 * life - one spool while it is open, and what its ledger has to know of it.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fault/spool/life.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/fault/spool/work.h"
#include "tests/fault/states/states.h"

/* Small, so that a short life turns over many segments. */
const struct spool_options work_options = { .bytes_max = 512 << 10,
	.segment_bytes = 16 << 10,
	.retain_bytes = 48 << 10,
	.free_bytes_min = 1 };

bool
life_is_excused(void)
{
	return states_failed() || states_killed();
}

void
life_die(const char *what, const struct err *err)
{
	fprintf(stderr, "while it was running: %s: %s\n", what, err->text);
	exit(1);
}

void
life_accept_readable(struct life *life)
{
	struct ledger *ledger = life->ledger;
	uint64_t at = states_position();

	for (uint32_t i = 0; i < ledger->facts_count; i++) {
		struct fact *f = &ledger->facts[i];
		struct spool_batch b;
		struct err err = { 0 };

		if (f->session != life->session ||
		    f->stream >= spool_streams(life->spool) ||
		    spool_read(life->spool, f->stream, f->seq, &b, &err) != 1)
			continue;
		if (b.reason != 0 ? f->id != 0 : f->id != ledger_id(b.body))
			continue;
		f->chain = b.chain;
		if (f->accepted == NEVER)
			f->accepted = at;
	}
}

void
life_begin_session(struct life *life, uint64_t begun)
{
	struct ledger *ledger = life->ledger;
	struct session *s;

	for (uint32_t i = 0; i < ledger->sessions_count; i++) {
		if (session_equal(
			&ledger->sessions[i].id, spool_session(life->spool))) {
			ledger->sessions[i].done =
			    ledger->sessions[i].done == NEVER
				? states_position()
				: ledger->sessions[i].done;
			life->session = i;
			return;
		}
	}
	s = &ledger->sessions[ledger->sessions_count];
	s->id = *spool_session(life->spool);
	s->begun = begun;
	s->done = states_position();
	life->session = ledger->sessions_count++;
}

static void
note_run(struct life *life)
{
	struct ledger *ledger = life->ledger;
	uint64_t run = spool_start_count(life->spool);

	if (run <= ledger_run(ledger, NEVER) || ledger->runs_count == 256)
		life_die("the run does not count up", &(struct err){ 0 });
	ledger->runs[ledger->runs_count] = run;
	ledger->runs_at[ledger->runs_count++] = states_position();
}

void
life_open(struct life *life)
{
	uint64_t begun = states_position();
	struct err err = { 0 };

	life->pending_count = 0;
	while (spool_open(&life->spool, life->dir, &work_options, &err) != 0) {
		/* The disk refused; the next attempt finds it better. */
		if (!life_is_excused())
			life_die("open", &err);
		states_fail_at(0, 0);
		states_revive();
	}
	if (states_killed()) {
		spool_close(&life->spool);
		states_revive();
		life_open(life);
		return;
	}
	note_run(life);
	life_begin_session(life, begun);
	life_accept_readable(life);
}

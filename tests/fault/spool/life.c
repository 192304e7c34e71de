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

static void
accept_one(struct life *life, const struct fact *place,
    const struct spool_batch *batch, uint64_t begun)
{
	struct fact *f = ledger_find(life->ledger, place, NEVER), new = *place;
	uint64_t at = states_position();

	new.id = batch->reason != 0 ? 0 : ledger_id(batch->body);
	new.submitted = begun;
	new.accepted = NEVER;
	/* The gap of a refused batch is gone with the process. */
	if (f != NULL && f->id != new.id) {
		if (f->id != 0 && new.id != 0)
			life_die("other content", &(struct err){ 0 });
		return;
	}
	if (f == NULL)
		f = ledger_add(life->ledger, &new);
	if (new.id != 0)
		f->chain = batch->chain;
	if (f->accepted == NEVER && new.id != 0)
		f->accepted = at;
}

void
life_accept_readable(struct life *life, uint64_t begun)
{
	struct spool *spool = life->spool;

	for (uint32_t i = 0; i < spool_streams(spool); i++) {
		struct fact place;
		struct spool_batch b;
		struct err err = { 0 };

		if (spool_partition(spool, i).at == NULL)
			continue;
		place = ledger_place(life->ledger, spool, i);
		for (place.seq = 1;
		     spool_read(spool, i, place.seq, &b, &err) == 1;
		     place.seq++)
			accept_one(life, &place, &b, begun);
	}
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
	life_accept_readable(life, begun);
}

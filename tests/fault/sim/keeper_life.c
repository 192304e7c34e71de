/*
 * keeper_life - commits of the keeper, its crashes, and what a store that was
 * restored owes.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "tests/fault/sim/sim.h"

void
sim_keeper_init(struct sim *sim)
{
	struct sim_keeper *k = &sim->keeper;

	k->up = true;
	k->commit_ns = 0;
	k->has_backup = false;
	k->answers = 0;
	k->disk.generation = k->work.generation = sim_random(sim) | 1;
	k->disk.streams = k->work.streams = 0;
	k->disk.kepts = k->work.kepts = 0;
	k->credit = 512 << 10;
	k->busy_percent = k->refuse_percent = 0;
	sim_twin_load(sim);
}

/* The used part of a store only: the rest is never looked at. */
static void
copy_store(struct sim_store *to, const struct sim_store *from)
{
	to->generation = from->generation;
	to->streams = from->streams;
	to->kepts = from->kepts;
	memcpy(to->stream, from->stream,
	    (size_t)from->streams * sizeof(from->stream[0]));
	memcpy(
	    to->kept, from->kept, (size_t)from->kepts * sizeof(from->kept[0]));
}

static void
close_owed(struct sim *sim)
{
	struct sim_store *work = &sim->keeper.work;

	for (int i = 0; i < work->streams; i++) {
		struct sim_keeper_stream *s = &work->stream[i];

		if (s->owed > s->hwm && work->kepts < SIM_KEPT)
			work->kept[work->kepts++] =
			    (struct sim_kept){ s->session, s->stream,
				    s->hwm + 1, s->owed, -1, true };
		s->owed = s->owed_chain = 0;
		sim_twin_put(sim, s);
	}
}

void
sim_keeper_commit(struct sim *sim)
{
	struct sim_keeper *k = &sim->keeper;
	static _Thread_local struct sim_answer answer[SIM_ANSWERS];
	int answers = k->answers;

	sim_trace(sim, "keeper commits");
	k->commit_ns = 0;
	/* After a time, which is over when it likes to be. */
	if (sim_is_mixed(sim) && sim_chance(sim, 2))
		close_owed(sim);
	sim_twin_commit(sim);
	copy_store(&k->disk, &k->work);
	memcpy(answer, k->answer, (size_t)answers * sizeof(answer[0]));
	k->answers = 0;
	for (int i = 0; i < answers; i++)
		sim_keeper_post(sim, &answer[i]);
	if (sim_chance(sim, 5)) {
		copy_store(&k->backup, &k->disk);
		k->has_backup = true;
	}
}

void
sim_keeper_close_owed(struct sim *sim)
{
	close_owed(sim);
	sim_keeper_commit(sim);
}

void
sim_keeper_crash(struct sim *sim)
{
	struct sim_keeper *k = &sim->keeper;

	sim_trace(sim, "keeper crashes");
	k->up = false;
	k->up_ns = sim->now_ns + 1 + sim_below(sim, 2000000000);
	k->commit_ns = 0;
	k->answers = 0;
	copy_store(&k->work, &k->disk);
	sim_twin_crash(sim);
}

/* What the store that goes had of a stream, or owed itself. */
static void
owe(struct sim *sim, const struct sim_keeper_stream *before)
{
	struct sim_keeper_stream *s =
	    sim_keeper_get(sim, &before->session, before->stream);
	bool more = before->owed > before->hwm;
	uint64_t owed = more ? before->owed : before->hwm;

	if (s->run < before->run)
		s->run = before->run;
	if (owed <= s->hwm || owed <= s->owed)
		return;
	s->owed = owed;
	s->owed_chain = more ? before->owed_chain : before->chain;
}

/* Gaps of the keeper's own are a stream like any other: owed, too. */
static void
tell_again(struct sim_store *work, const struct sim_kept *closed)
{
	for (int i = 0; i < work->kepts; i++)
		if (work->kept[i].closed &&
		    work->kept[i].stream == closed->stream &&
		    work->kept[i].seq == closed->seq &&
		    work->kept[i].last == closed->last &&
		    session_equal(&work->kept[i].session, &closed->session))
			return;
	if (work->kepts < SIM_KEPT)
		work->kept[work->kepts++] = *closed;
}

/* What the store that is set aside had. */
static void
bring(struct sim *sim, const struct sim_store *before)
{
	for (int i = 0; i < before->streams && sim->mutant != SIM_OWE_NOTHING;
	     i++)
		owe(sim, &before->stream[i]);
	for (int i = 0; i < before->kepts; i++)
		if (before->kept[i].closed)
			tell_again(&sim->keeper.work, &before->kept[i]);
}

void
sim_keeper_restore(struct sim *sim, bool lost)
{
	struct sim_keeper *k = &sim->keeper;
	static _Thread_local struct sim_store before;

	if (!k->has_backup && !lost)
		return;
	sim_keeper_crash(sim);
	if (lost)
		sim_loss_begin(sim);
	copy_store(&before, &k->disk);
	k->work.streams = k->work.kepts = 0;
	if (k->has_backup)
		copy_store(&k->work, &k->backup);
	if (!lost)
		bring(sim, &before);
	copy_store(&k->disk, &k->work);
	k->disk.generation = sim_random(sim) | 1;
	copy_store(&k->work, &k->disk);
	if (lost)
		sim_loss_end(sim);
	sim_twin_load(sim);
}

/*
 * aggregator_life - commits of the aggregator, its crashes, and what is missing
 * after a restore.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "tests/fault/sim/sim.h"

void
sim_aggregator_init(struct sim *sim)
{
	struct sim_aggregator *k = &sim->aggregator;

	k->up = true;
	k->commit_ns = 0;
	k->has_backup = false;
	k->answers = 0;
	k->disk.generation = k->work.generation = sim_random(sim) | 1;
	k->disk.streams = k->work.streams = 0;
	k->disk.entries = k->work.entries = 0;
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
	to->entries = from->entries;
	memcpy(to->stream, from->stream,
	    (size_t)from->streams * sizeof(from->stream[0]));
	memcpy(to->entry, from->entry,
	    (size_t)from->entries * sizeof(from->entry[0]));
}

static void
close_missing(struct sim *sim)
{
	struct sim_store *work = &sim->aggregator.work;

	for (int i = 0; i < work->streams; i++) {
		struct sim_aggregator_stream *s = &work->stream[i];

		if (s->missing > s->last_seq && work->entries < SIM_ENTRIES)
			work->entry[work->entries++] =
			    (struct sim_entry){ s->session, s->stream,
				    s->last_seq + 1, s->missing, -1, true };
		s->missing = s->missing_hash = 0;
		sim_twin_put(sim, s);
	}
}

void
sim_aggregator_commit(struct sim *sim)
{
	struct sim_aggregator *k = &sim->aggregator;
	static _Thread_local struct sim_answer answer[SIM_ANSWERS];
	int answers = k->answers;

	sim_trace(sim, "aggregator commits");
	k->commit_ns = 0;
	/* After a time, which is over when it likes to be. */
	if (sim_is_mixed(sim) && sim_chance(sim, 2))
		close_missing(sim);
	sim_twin_commit(sim);
	copy_store(&k->disk, &k->work);
	memcpy(answer, k->answer, (size_t)answers * sizeof(answer[0]));
	k->answers = 0;
	for (int i = 0; i < answers; i++)
		sim_aggregator_post(sim, &answer[i]);
	if (sim_chance(sim, 5)) {
		copy_store(&k->backup, &k->disk);
		k->has_backup = true;
	}
}

void
sim_aggregator_close_missing(struct sim *sim)
{
	close_missing(sim);
	sim_aggregator_commit(sim);
}

void
sim_aggregator_crash(struct sim *sim)
{
	struct sim_aggregator *k = &sim->aggregator;

	sim_trace(sim, "aggregator crashes");
	k->up = false;
	k->up_ns = sim->now_ns + 1 + sim_below(sim, 2000000000);
	k->commit_ns = 0;
	k->answers = 0;
	copy_store(&k->work, &k->disk);
	sim_twin_crash(sim);
}

/* What the replaced store had of a stream, or missed itself. */
static void
note_missing(struct sim *sim, const struct sim_aggregator_stream *before)
{
	struct sim_aggregator_stream *s =
	    sim_aggregator_get(sim, &before->session, before->stream);
	bool more = before->missing > before->last_seq;
	uint64_t missing = more ? before->missing : before->last_seq;

	if (s->start_count < before->start_count)
		s->start_count = before->start_count;
	if (missing <= s->last_seq || missing <= s->missing)
		return;
	s->missing = missing;
	s->missing_hash = more ? before->missing_hash : before->chain;
}

/* Gaps of the aggregator's own are a stream like any other: missing, too. */
static void
report_again(struct sim_store *work, const struct sim_entry *closed)
{
	for (int i = 0; i < work->entries; i++)
		if (work->entry[i].closed &&
		    work->entry[i].stream == closed->stream &&
		    work->entry[i].seq == closed->seq &&
		    work->entry[i].last == closed->last &&
		    session_equal(&work->entry[i].session, &closed->session))
			return;
	if (work->entries < SIM_ENTRIES)
		work->entry[work->entries++] = *closed;
}

/* What the replaced store had. */
static void
bring(struct sim *sim, const struct sim_store *before)
{
	for (int i = 0;
	     i < before->streams && sim->mutant != SIM_FORGET_MISSING; i++)
		note_missing(sim, &before->stream[i]);
	for (int i = 0; i < before->entries; i++)
		if (before->entry[i].closed)
			report_again(&sim->aggregator.work, &before->entry[i]);
}

void
sim_aggregator_restore(struct sim *sim, bool lost)
{
	struct sim_aggregator *k = &sim->aggregator;
	static _Thread_local struct sim_store before;

	if (!k->has_backup && !lost)
		return;
	sim_aggregator_crash(sim);
	if (lost)
		sim_loss_begin(sim);
	copy_store(&before, &k->disk);
	k->work.streams = k->work.entries = 0;
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

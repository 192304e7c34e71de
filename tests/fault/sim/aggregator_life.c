/*
 * aggregator_life - commits of the aggregator, its crashes, and restores.
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

/* Is the session over, as far as every machine knows: all of it
 * acknowledged, and nothing under way? */
static bool
is_ended(struct sim *sim, const struct sim_aggregator_stream *s)
{
	for (int i = 0; i < SIM_MACHINES; i++) {
		struct sim_machine *m = &sim->machine[i];
		const struct sim_session *session =
		    m->there ? sim_find_session(&m->spool, &s->session) : NULL;
		const struct sim_spool_stream *of =
		    session != NULL ? &session->stream[s->stream] : NULL;

		/* A store that is restored would not know it any more. */
		if (of != NULL && sim->kind != SIM_PLAIN)
			return false;
		if (of != NULL &&
		    (of->first_disk != s->last_seq + 1 ||
			of->generation_disk != sim->aggregator.work.generation))
			return false;
	}
	return sim->flights == 0 && sim_broker_is_idle(sim) &&
	       sim->backup_of < 0;
}

/* Sessions that were idle for long lose their rows. */
static void
collect(struct sim *sim)
{
	struct sim_store *work = &sim->aggregator.work;

	for (int i = 0; i < work->streams; i++) {
		if (!is_ended(sim, &work->stream[i]))
			continue;
		sim_twin_remove(
		    sim, &work->stream[i].session, work->stream[i].stream);
		work->stream[i--] = work->stream[--work->streams];
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
	if (sim_chance(sim, 20))
		collect(sim);
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

void
sim_aggregator_restore(struct sim *sim, bool lost)
{
	struct sim_aggregator *k = &sim->aggregator;

	if (!k->has_backup && !lost)
		return;
	sim_aggregator_crash(sim);
	k->work.streams = k->work.entries = 0;
	if (k->has_backup)
		copy_store(&k->work, &k->backup);
	copy_store(&k->disk, &k->work);
	k->disk.generation = sim_random(sim) | 1;
	copy_store(&k->work, &k->disk);
	sim_twin_load(sim);
}

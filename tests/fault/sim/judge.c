/*
 * judge - what the aggregator's disk holds at the end, against what was
 * accepted.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fault/sim/sim.h"

int
sim_copies(const struct sim *sim, int content)
{
	const struct sim_store *disk = &sim->aggregator.disk;
	int copies = 0;

	for (int i = 0; i < disk->entries; i++)
		copies += disk->entry[i].content == content;
	return copies;
}

bool
sim_is_reported_lost(const struct sim *sim, int content)
{
	const struct sim_store *disk = &sim->aggregator.disk;

	for (int i = 0; i < sim->numbers; i++) {
		const struct sim_number *n = &sim->number[i];

		if (n->content != content)
			continue;
		for (int j = 0; j < disk->entries; j++) {
			const struct sim_entry *k = &disk->entry[j];

			if (k->content < 0 && k->stream == n->stream &&
			    session_equal(&k->session, &n->session) &&
			    n->seq >= k->seq && n->seq <= k->last)
				return true;
		}
	}
	return false;
}

/* Does a spool still know of this number, and so what became of it? */
static bool
knows(struct sim_machine *m, const struct sim_number *n)
{
	const struct sim_session *session =
	    m->there ? sim_find_session(&m->spool, &n->session) : NULL;
	const struct sim_spool_stream *s;

	if (session == NULL)
		return false;
	s = &session->stream[n->stream];
	if (n->seq >= sim_end_of(s, s->synced))
		return false;
	if (n->seq > s->dropped)
		return s->item[n->seq - s->dropped - 1].content == n->content;
	/* A copy may have had something else there. */
	return !*sim_was_copied(m->sim, &n->session);
}

static bool
is_known(struct sim *sim, int content)
{
	for (int i = 0; i < sim->numbers; i++)
		for (int j = 0; j < SIM_MACHINES; j++)
			if (sim->number[i].content == content &&
			    knows(&sim->machine[j], &sim->number[i]))
				return true;
	return false;
}

/* Where a store was lost and a machine was copied, one copy may report as lost
 * what another has under the same number, or bring again what the other moved
 * (proto/delivery.md, "Limits"). */
static bool
is_beyond_limits(struct sim *sim, int content)
{
	for (int i = 0; i < sim->numbers && sim->kind == SIM_LOST; i++) {
		const struct sim_number *n = &sim->number[i];

		if (n->content == content && *sim_was_copied(sim, &n->session))
			return true;
	}
	return false;
}

static void
judge_content(struct sim *sim, int number)
{
	const struct sim_content *c = &sim->content[number];
	int copies = sim_copies(sim, number);

	if (!c->accepted && copies > 0) {
		sim_wrong(
		    sim, "content %d was stored and never accepted", number);
		return;
	}
	if (is_beyond_limits(sim, number))
		return;
	if (copies > 1 && !c->doubled)
		sim_wrong(
		    sim, "content %d was stored %d times", number, copies);
	if (copies > 0 || c->destroyed || !c->accepted)
		return;
	/* The sender has set aside what was refused. */
	if (c->refused && sim->kind != SIM_PLAIN &&
	    sim->kind != SIM_AGGREGATOR_RESTORED)
		return;
	if (sim->kind == SIM_PLAIN && !c->refused)
		sim_wrong(sim, "content %d was lost", number);
	else if (!sim_is_reported_lost(sim, number) &&
		 (sim->kind == SIM_CLONED || sim->kind == SIM_SPOOL_RESTORED ||
		     is_known(sim, number)))
		sim_wrong(sim, "content %d was lost in silence", number);
}

/* Every number of a stream once, in order, and nobody else's content. */
static void
judge_order(struct sim *sim)
{
	const struct sim_store *disk = &sim->aggregator.disk;

	for (int i = 0; i < disk->entries; i++) {
		const struct sim_entry *k = &disk->entry[i];
		uint64_t before = 0;
		bool given = k->content < 0;

		for (int j = i - 1; j >= 0 && before == 0; j--)
			if (disk->entry[j].stream == k->stream &&
			    session_equal(&disk->entry[j].session, &k->session))
				before = disk->entry[j].last;
		if (k->seq != before + 1) {
			sim_wrong(sim, "number %llu was stored after %llu",
			    (unsigned long long)k->seq,
			    (unsigned long long)before);
			return;
		}
		for (int j = 0; j < sim->numbers && !given; j++)
			given =
			    sim->number[j].content == k->content &&
			    sim->number[j].seq == k->seq &&
			    sim->number[j].stream == k->stream &&
			    session_equal(&sim->number[j].session, &k->session);
		if (!given) {
			sim_wrong(sim, "content %d never had number %llu",
			    k->content, (unsigned long long)k->seq);
			return;
		}
	}
}

void
sim_judge(struct sim *sim)
{
	bool may_fork = sim->kind == SIM_CLONED || sim_is_mixed(sim);
	bool may_resend =
	    sim->kind == SIM_AGGREGATOR_RESTORED || sim_is_mixed(sim);

	judge_order(sim);
	for (int i = 0; i < sim->contents; i++)
		judge_content(sim, i);
	if (sim->forks > 0 && !may_fork)
		sim_wrong(sim, "a session was given up without need");
	if (sim->resends > 0 && !may_resend)
		sim_wrong(sim, "a sender resent without need");
}

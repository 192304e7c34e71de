/*
 * loss - who has or knows what, in worlds in which an aggregator's disk is
 * lost: what nobody who is left has, or knows to be gone, may be missed in
 * silence.
 * SPDX-License-Identifier: MIT
 */
#include "tests/fault/sim/sim.h"

/* ---- doubles and a lost store ------------------------------------------- */

/* Does the aggregator have, under this number, what a double gave it? */
static bool
is_taken(const struct sim_store *disk, const struct sim_number *n)
{
	for (int i = 0; i < disk->entries; i++)
		if (disk->entry[i].seq == n->seq &&
		    disk->entry[i].content >= 0 &&
		    disk->entry[i].content != n->content &&
		    disk->entry[i].stream == n->stream &&
		    session_equal(&disk->entry[i].session, &n->session))
			return true;
	return false;
}

/* Its running hashes from this number up to `to`: gaps have none. */
static bool
is_remembered(
    const struct sim_store *disk, const struct sim_number *n, uint64_t to)
{
	for (int i = 0; i < disk->streams; i++) {
		const struct sim_aggregator_stream *s = &disk->stream[i];

		if (s->stream != n->stream ||
		    !session_equal(&s->session, &n->session))
			continue;
		for (uint64_t seq = n->seq; seq < to && seq <= s->last_seq;
		     seq++)
			if (seq < s->ring_from || s->ring[seq % SIM_RING] == 0)
				return false;
		return true;
	}
	return false;
}

void
sim_loss_find(struct sim_machine *m, int cause)
{
	struct sim_spool_stream *s = &m->spool.stream[cause];
	struct sim *sim = m->sim;

	for (int i = 0; i < s->items; i++) {
		const struct sim_number n = { m->spool.session, cause,
			s->item[i].seq, s->item[i].content };

		if (n.content >= 0 && s->next - n.seq <= SIM_RING &&
		    is_taken(&sim->aggregator.disk, &n) &&
		    is_remembered(&sim->aggregator.disk, &n, s->next))
			sim->content[n.content].findable = true;
	}
}

bool
sim_loss_is_hidden(const struct sim *sim, int content)
{
	for (int i = 0; i < sim->numbers; i++)
		if (sim->number[i].content == content &&
		    is_taken(&sim->aggregator.disk, &sim->number[i]))
			return !sim->content[content].findable;
	return false;
}

bool
sim_loss_is_behind_gap(
    const struct sim *sim, const struct sim_number *n, uint64_t from)
{
	const struct sim_store *disk = &sim->aggregator.disk;
	bool gap = false, there = false;

	for (int i = 0; i < disk->entries; i++) {
		const struct sim_entry *k = &disk->entry[i];

		if (k->stream != n->stream ||
		    !session_equal(&k->session, &n->session))
			continue;
		if (k->content < 0 && k->seq > from && k->last < n->seq)
			gap = true;
		if (k->content == n->content && k->seq == n->seq)
			there = true;
	}
	return gap && there;
}

/* ---- who knows what ----------------------------------------------------- */

/* Would this machine's disk miss the number, or send it again? */
static bool
knows(const struct sim_machine *m, const struct sim_number *n)
{
	const struct sim_spool_stream *s = &m->spool.stream[n->stream];

	for (uint32_t i = 0; i < m->spool.past_sessions.count; i++) {
		const struct spool_past_session *e =
		    &m->spool.past_sessions.at[i];

		if (session_equal(&e->session, &n->session) &&
		    e->known >= n->seq &&
		    sim_stream_of(text_of(e->partition)) == n->stream)
			return true;
	}
	if (!session_equal(&m->spool.session, &n->session) || s->synced == 0)
		return false;
	for (int i = s->synced - 1; i >= 0; i--) {
		const struct sim_item *item = &s->item[i];

		if (item->last < n->seq)
			return false;
		if (item->seq <= n->seq)
			return item->content < 0 || item->content == n->content;
	}
	return true; /* acknowledged, and gone */
}

/* The aggregator has been reported that it lacks the number, and will say so.
 */
static bool
is_missing(const struct sim_store *disk, const struct sim_number *n)
{
	for (int i = 0; i < disk->streams; i++)
		if (disk->stream[i].stream == n->stream &&
		    session_equal(&disk->stream[i].session, &n->session))
			return n->seq > disk->stream[i].last_seq &&
			       n->seq <= disk->stream[i].missing;
	return false;
}

static bool
is_safe(const struct sim *sim, int content)
{
	if (sim_copies(sim, content) > 0 || sim_is_reported_lost(sim, content))
		return true;
	for (int i = 0; i < sim->numbers; i++) {
		const struct sim_number *n = &sim->number[i];

		if (n->content != content || is_taken(&sim->aggregator.disk, n))
			continue;
		if (is_missing(&sim->aggregator.disk, n))
			return true;
		for (int j = 0; j < SIM_MACHINES; j++)
			if (sim->machine[j].there && knows(&sim->machine[j], n))
				return true;
	}
	return false;
}

/* Is the batch itself in a spool? */
static bool
is_held(const struct sim *sim, int content)
{
	for (int i = 0; i < SIM_MACHINES; i++)
		for (int j = 0; j < SIM_STREAMS; j++) {
			const struct sim_machine *m = &sim->machine[i];
			const struct sim_spool_stream *s = &m->spool.stream[j];

			for (int k = 0; m->there && k < s->synced; k++)
				if (s->item[k].content == content)
					return true;
		}
	return false;
}

void
sim_loss_begin(struct sim *sim)
{
	for (int i = 0; i < sim->contents; i++) {
		sim->content[i].safe = is_safe(sim, i);
		sim->content[i].hidden = sim_loss_is_hidden(sim, i);
	}
}

void
sim_loss_end(struct sim *sim)
{
	for (int i = 0; i < sim->contents; i++) {
		struct sim_content *c = &sim->content[i];

		c->findable = false; /* determined again from what is left */
		/* Hidden, too, it is gone with the last who has it, and what
		 * hid it may go after it. */
		if (!is_safe(sim, i) &&
		    (c->safe || (c->hidden && !is_held(sim, i))))
			c->destroyed = true;
	}
}

/*
 * former - what a machine remembers of sessions that its spool gave up, for
 * the real former.c; and who has or knows what in a world.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "tests/fault/sim/sim.h"

#define SECOND_NS INT64_C(1000000000)

/* ---- what former.c asks of a spool, which is a machine here -------------- */

uint64_t __wrap_spool_run(const struct spool *spool);
uint32_t __wrap_spool_formers(const struct spool *spool);
struct spool_former *__wrap_spool_former(struct spool *spool, uint32_t i);
int __wrap_spool_formers_save(struct spool *spool, struct err *err);
int __wrap_spool_tell(struct spool *spool, struct text partition,
    uint64_t count, uint32_t reason, struct err *err);

uint64_t
__wrap_spool_run(const struct spool *spool)
{
	return ((const struct sim_machine *)spool)->spool.run;
}

uint32_t
__wrap_spool_formers(const struct spool *spool)
{
	return ((const struct sim_machine *)spool)->formers.count;
}

struct spool_former *
__wrap_spool_former(struct spool *spool, uint32_t i)
{
	return &((struct sim_machine *)spool)->formers.at[i];
}

static void
drop(struct sim_formers *f, uint32_t i)
{
	f->count--;
	memmove(&f->at[i], &f->at[i + 1], (f->count - i) * sizeof(f->at[0]));
}

/* Its disk is full now and then. */
int
__wrap_spool_formers_save(struct spool *spool, struct err *err)
{
	struct sim_machine *m = (struct sim_machine *)spool;

	for (uint32_t i = m->formers.count; i-- > 0;)
		if (m->formers.at[i].forget)
			drop(&m->formers, i);
	if (!m->sim->calm && sim_chance(m->sim, 5))
		return err_set(err, "full");
	m->spool.formers = m->formers;
	return 0;
}

static int
stream_of(struct text partition)
{
	return text_equal(partition, text_of(sim_partitions[1]));
}

int
__wrap_spool_tell(struct spool *spool, struct text partition, uint64_t count,
    uint32_t reason, struct err *err)
{
	struct sim_machine *m = (struct sim_machine *)spool;

	if (!m->sim->calm && sim_chance(m->sim, 5))
		return err_set(err, "full");
	if (reason != WIRE_GAP_RESTORED || count == 0)
		sim_wrong(m->sim, "a gap of %llu numbers, reason %u",
		    (unsigned long long)count, reason);
	sim_trace(m->sim, "m%d tells session %u from %llu: %llu", m->number,
	    m->answer.session.bytes[0], (unsigned long long)m->answer.expect,
	    (unsigned long long)count);
	sim_machine_tell(m, stream_of(partition), &m->answer.session,
	    m->answer.expect, count);
	return 0;
}

/* ---- its life ----------------------------------------------------------- */

static bool
on_send(void *arg, struct text frame)
{
	struct sim_machine *m = arg;

	if (!m->sim->calm && sim_chance(m->sim, 3))
		return false;
	sim_post(m->sim, m->number, true, frame);
	return true;
}

static void
on_commit(void *arg)
{
	struct sim_machine *m = arg;

	sim_machine_commit(m->sim, m->number);
}

void
sim_former_start(struct sim_machine *m)
{
	m->formers = m->spool.formers;
	m->former = (struct former){ .options = { .spool = (struct spool *)m,
					 .node = text_of("n"),
					 .wait_ns = (1 + m->number) * SECOND_NS,
					 .arg = m,
					 .send = on_send,
					 .commit = on_commit } };
}

void
sim_former_give_up(struct sim_machine *m)
{
	struct sim_formers *f = &m->formers;

	if (m->sim->mutant == SIM_NO_FORMERS)
		return;
	for (int i = 0; i < SIM_STREAMS; i++) {
		const struct sim_spool_stream *s = &m->spool.stream[i];
		struct spool_former *e;

		if (s->next == 1)
			continue;
		if (f->count == SPOOL_FORMERS_MAX) {
			sim_wrong(m->sim, "too many sessions for this world");
			return;
		}
		e = &f->at[f->count++];
		*e = (struct spool_former){ .session = m->spool.session,
			.known = s->first - 1 };
		snprintf(e->partition, sizeof(e->partition), "%s",
		    sim_partitions[i]);
	}
	m->spool.formers = *f;
}

void
sim_former_receive(struct sim_machine *m, struct text frame, int64_t wall_ns)
{
	struct text body;

	if (wire_open(frame, &m->answer, &body) == WIRE_OK)
		former_receive(&m->former, frame, m->sim->now_ns, wall_ns);
}

/* Each question was asked after the last fault, and again after the time that
 * others have; nothing of it is open. */
bool
sim_former_is_settled(const struct sim_machine *m)
{
	int64_t time_ns = m->former.options.wait_ns;

	for (uint32_t i = 0; i < m->formers.count; i++)
		if (m->formers.at[i].since_ns != 0)
			return false;
	return m->formers.count == 0 ||
	       m->sim->now_ns - m->sim->calm_ns > 4 * time_ns + 40 * SECOND_NS;
}

/* ---- doubles and a lost store ------------------------------------------- */

/* Does the keeper have, under this number, what a double gave it? */
static bool
is_taken(const struct sim_store *disk, const struct sim_number *n)
{
	for (int i = 0; i < disk->kepts; i++)
		if (disk->kept[i].seq == n->seq && disk->kept[i].content >= 0 &&
		    disk->kept[i].content != n->content &&
		    disk->kept[i].stream == n->stream &&
		    session_equal(&disk->kept[i].session, &n->session))
			return true;
	return false;
}

/* Its chains from this number up to `to`: gaps have none. */
static bool
is_remembered(
    const struct sim_store *disk, const struct sim_number *n, uint64_t to)
{
	for (int i = 0; i < disk->streams; i++) {
		const struct sim_keeper_stream *s = &disk->stream[i];

		if (s->stream != n->stream ||
		    !session_equal(&s->session, &n->session))
			continue;
		for (uint64_t seq = n->seq; seq < to && seq <= s->hwm; seq++)
			if (seq < s->ring_from || s->ring[seq % SIM_RING] == 0)
				return false;
		return true;
	}
	return false;
}

void
sim_former_find(struct sim_machine *m, int cause)
{
	struct sim_spool_stream *s = &m->spool.stream[cause];
	struct sim *sim = m->sim;

	for (int i = 0; i < s->items; i++) {
		const struct sim_number n = { m->spool.session, cause,
			s->item[i].seq, s->item[i].content };

		if (n.content >= 0 && s->next - n.seq <= SIM_RING &&
		    is_taken(&sim->keeper.disk, &n) &&
		    is_remembered(&sim->keeper.disk, &n, s->next))
			sim->content[n.content].findable = true;
	}
}

bool
sim_former_may_miss(const struct sim *sim, int content)
{
	for (int i = 0; i < sim->numbers; i++)
		if (sim->number[i].content == content &&
		    is_taken(&sim->keeper.disk, &sim->number[i]))
			return !sim->content[content].findable;
	return false;
}

/* ---- who knows what ----------------------------------------------------- */

/* Would this machine's disk miss the number, or send it again? */
static bool
knows(const struct sim_machine *m, const struct sim_number *n)
{
	const struct sim_spool_stream *s = &m->spool.stream[n->stream];

	for (uint32_t i = 0; i < m->spool.formers.count; i++) {
		const struct spool_former *e = &m->spool.formers.at[i];

		if (session_equal(&e->session, &n->session) &&
		    e->known >= n->seq &&
		    stream_of(text_of(e->partition)) == n->stream)
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

/* The keeper has been told that it lacks the number, and will say so. */
static bool
is_owed(const struct sim_store *disk, const struct sim_number *n)
{
	for (int i = 0; i < disk->streams; i++)
		if (disk->stream[i].stream == n->stream &&
		    session_equal(&disk->stream[i].session, &n->session))
			return n->seq > disk->stream[i].hwm &&
			       n->seq <= disk->stream[i].owed;
	return false;
}

static bool
is_safe(const struct sim *sim, int content)
{
	if (sim_copies(sim, content) > 0 || sim_is_told_lost(sim, content))
		return true;
	for (int i = 0; i < sim->numbers; i++) {
		const struct sim_number *n = &sim->number[i];

		if (n->content != content || is_taken(&sim->keeper.disk, n))
			continue;
		if (is_owed(&sim->keeper.disk, n))
			return true;
		for (int j = 0; j < SIM_MACHINES; j++)
			if (sim->machine[j].there && knows(&sim->machine[j], n))
				return true;
	}
	return false;
}

static _Thread_local bool was_safe[SIM_CONTENTS];

void
sim_before_loss(const struct sim *sim)
{
	for (int i = 0; i < sim->contents; i++)
		was_safe[i] = is_safe(sim, i);
}

void
sim_after_loss(struct sim *sim)
{
	for (int i = 0; i < sim->contents; i++) {
		sim->content[i].findable = false; /* anew, with what is left */
		if (was_safe[i] && !is_safe(sim, i))
			sim->content[i].destroyed = true;
	}
}

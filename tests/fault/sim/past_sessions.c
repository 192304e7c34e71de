/*
 * past_sessions - the owner of the real agents/delivery/past_sessions.c: what a
 * machine remembers of sessions that its spool gave up.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "tests/fault/sim/sim.h"

#define SECOND_NS INT64_C(1000000000)

/* ---- what agents/delivery/past_sessions.c asks of a spool, which is a machine
 * here -------------- */

uint64_t __wrap_spool_start_count(const struct spool *spool);
uint32_t __wrap_spool_past_sessions(const struct spool *spool);
struct spool_past_session *__wrap_spool_past_session(
    struct spool *spool, uint32_t i);
int __wrap_spool_past_sessions_save(struct spool *spool, struct err *err);
int __wrap_spool_report_gap(struct spool *spool, struct text partition,
    uint64_t count, uint32_t reason, struct err *err);

uint64_t
__wrap_spool_start_count(const struct spool *spool)
{
	return ((const struct sim_machine *)spool)->spool.start_count;
}

uint32_t
__wrap_spool_past_sessions(const struct spool *spool)
{
	return ((const struct sim_machine *)spool)->unsaved.count;
}

struct spool_past_session *
__wrap_spool_past_session(struct spool *spool, uint32_t i)
{
	return &((struct sim_machine *)spool)->unsaved.at[i];
}

static void
drop(struct sim_sessions *f, uint32_t i)
{
	f->count--;
	memmove(&f->at[i], &f->at[i + 1], (f->count - i) * sizeof(f->at[0]));
}

/* Its disk is full now and then. */
int
__wrap_spool_past_sessions_save(struct spool *spool, struct err *err)
{
	struct sim_machine *m = (struct sim_machine *)spool;

	for (uint32_t i = m->unsaved.count; i-- > 0;)
		if (m->unsaved.at[i].forget)
			drop(&m->unsaved, i);
	if (!m->sim->calm && sim_chance(m->sim, 5))
		return err_set(err, "full");
	m->spool.past_sessions = m->unsaved;
	return 0;
}

int
__wrap_spool_report_gap(struct spool *spool, struct text partition,
    uint64_t count, uint32_t reason, struct err *err)
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
	sim_machine_report(m, sim_stream_of(partition), &m->answer.session,
	    m->answer.expect, count);
	return 0;
}

/* ---- its life ----------------------------------------------------------- */

static void
on_commit(void *arg)
{
	struct sim_machine *m = arg;

	sim_machine_commit(m->sim, m->number);
}

void
sim_previous_start(struct sim_machine *m)
{
	m->unsaved = m->spool.past_sessions;
	m->past_sessions =
	    (struct past_sessions){ .options = { .spool = (struct spool *)m,
					.node = text_of("n"),
					.wait_ns = (1 + m->number) * SECOND_NS,
					.arg = m,
					.send = sim_machine_send,
					.commit = on_commit } };
}

void
sim_previous_give_up(struct sim_machine *m)
{
	struct sim_sessions *f = &m->unsaved;

	if (m->sim->mutant == SIM_NO_PAST_SESSIONS)
		return;
	for (int i = 0; i < SIM_STREAMS; i++) {
		const struct sim_spool_stream *s = &m->spool.stream[i];
		struct spool_past_session *e;

		if (s->next == 1)
			continue;
		if (f->count == SPOOL_PAST_SESSIONS_MAX) {
			sim_wrong(m->sim, "too many sessions for this world");
			return;
		}
		e = &f->at[f->count++];
		*e = (struct spool_past_session){ .session = m->spool.session,
			.known = s->first - 1 };
		snprintf(e->partition, sizeof(e->partition), "%s",
		    sim_partitions[i]);
	}
	m->spool.past_sessions = *f;
}

void
sim_previous_receive(struct sim_machine *m, struct text frame, int64_t wall_ns)
{
	struct text body;

	if (wire_open(frame, &m->answer, &body) == WIRE_OK)
		past_sessions_receive(
		    &m->past_sessions, frame, m->sim->now_ns, wall_ns);
}

/* Each question was asked after the last fault, and again after the time that
 * others have; nothing of it is open. */
bool
sim_previous_is_settled(const struct sim_machine *m)
{
	int64_t time_ns = m->past_sessions.options.wait_ns;

	for (uint32_t i = 0; i < m->unsaved.count; i++)
		if (m->unsaved.at[i].since_ns != 0)
			return false;
	return m->unsaved.count == 0 ||
	       m->sim->now_ns - m->sim->calm_ns > 4 * time_ns + 40 * SECOND_NS;
}

/*
 * machine - the owner of the real agents/delivery/sender.c: reads, sends,
 * crashes, comes back.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fault/sim/sim.h"

#define WALL_NS INT64_C(1700000000000000000)

const char sim_partitions[SIM_STREAMS][8] = { "acct$p0", "acct$p1" };

/* The sender's numbers of streams: the current session's, then those of the
 * earlier one that is sent besides. */
enum { EARLIER = SIM_STREAMS };

int
sim_stream_of(struct text partition)
{
	return text_equal(partition, text_of(sim_partitions[1]));
}

static struct sim_session *
session_of(struct sim_machine *m, uint32_t number)
{
	return number < EARLIER ? sim_current(&m->spool)
				: sim_find_session(&m->spool, &m->earlier);
}

static struct sim_spool_stream *
stream_of(struct sim_machine *m, uint32_t number)
{
	return &session_of(m, number)->stream[number % SIM_STREAMS];
}

/* ---- what the sender asks ----------------------------------------------- */

static uint64_t
on_first(void *arg, uint32_t number)
{
	return stream_of(arg, number)->first;
}

static void
fill_gap(struct sender_batch *batch, uint64_t seq, uint64_t last,
    uint64_t chain_after, enum wire_reason reason)
{
	batch->seq = seq;
	batch->last_seq = last;
	batch->reason = reason;
	batch->chain_after = chain_after;
}

static int
on_read(void *arg, uint32_t number, uint64_t seq, struct sender_batch *batch)
{
	struct sim_machine *m = arg;
	const struct sim_spool_stream *s = stream_of(m, number);
	int items =
	    m->sim->mutant == SIM_SEND_BEFORE_SYNC ? s->items : s->synced;
	uint64_t end = sim_end_of(s, items), last = s->dropped;
	const struct sim_item *item;

	if (seq >= end)
		return 0;
	if (seq <= s->dropped) {
		if (last >= end)
			last = end - 1;
		fill_gap(batch, seq, last,
		    items > 0 && last == s->dropped ? s->item[0].chain : 0,
		    WIRE_GAP_RESTORED);
		return 1;
	}
	item = &s->item[seq - s->dropped - 1];
	if (item->gap) {
		fill_gap(batch, seq, seq, item->chain_after,
		    item->content < 0 ? WIRE_GAP_RESTORED : WIRE_GAP_REFUSED);
		return 1;
	}
	batch->seq = batch->last_seq = seq;
	batch->chain = item->chain;
	batch->records = 1;
	batch->body = sim_body(m->sim, item->content);
	batch->body_bytes = batch->body.bytes;
	return 1;
}

/* ---- what it decides ---------------------------------------------------- */

static void
check_stored(
    struct sim_machine *m, const struct sim_spool_stream *s, uint64_t seq)
{
	const struct sim_item *item;

	if (seq <= s->dropped || seq > sim_last_of(s, s->items))
		return;
	item = &s->item[seq - s->dropped - 1];
	if (!item->gap && sim_copies(m->sim, item->content) == 0 &&
	    !sim_is_reported_lost(m->sim, item->content))
		sim_wrong(m->sim,
		    "content %d was acknowledged and is not on the "
		    "aggregator's disk",
		    item->content);
}

static void
on_acked(struct sim_machine *m, const struct sender_step *step)
{
	struct sim_spool_stream *s = stream_of(m, step->stream);

	if (step->seq < s->first || step->seq >= sim_end_of(s, s->items))
		sim_wrong(m->sim, "acknowledged up to %llu of %llu..%llu",
		    (unsigned long long)step->seq, (unsigned long long)s->first,
		    (unsigned long long)sim_end_of(s, s->items) - 1);
	for (; s->first <= step->seq; s->first++)
		if (m->sim->kind != SIM_AGGREGATOR_RESTORED &&
		    !sim_is_mixed(m->sim))
			check_stored(m, s, s->first);
}

static void
on_refused(struct sim_machine *m, const struct sender_step *step)
{
	struct sim_spool_stream *s = stream_of(m, step->stream);
	struct sim_item *item;

	if (step->reason != WIRE_NACK_FORBIDDEN || step->seq <= s->dropped ||
	    step->seq >= sim_end_of(s, s->synced)) {
		sim_wrong(m->sim, "something was refused that never left");
		return;
	}
	item = &s->item[step->seq - s->dropped - 1];
	m->sim->content[item->content].refused = true;
	m->sim->refusals++;
	item->gap = true;
}

/* Streams that another store acknowledged are asked about. */
static void
on_welcomed(struct sim_machine *m, const struct sender_step *step)
{
	struct sim_spool_stream *s = stream_of(m, step->stream);
	int stream = (int)step->stream % SIM_STREAMS;

	for (int i = 0;
	     i < m->spool.sessions - 1 && m->sim->mutant != SIM_FORGET_RETAINED;
	     i++)
		if (m->spool.session[i].stream[stream].generation !=
		    step->generation)
			m->spool.session[i].stream[stream].settled = false;
	s->generation = step->generation;
	s->settled = true;
}

static void
on_diverged(struct sim_machine *m, const struct sender_step *step)
{
	struct session_id id = session_of(m, step->stream)->id;

	m->sim->forks++;
	sim_machine_commit(m->sim, m->number);
	if (step->stream >= EARLIER) {
		sim_move(m, &id, (int)step->stream % SIM_STREAMS);
		return;
	}
	for (uint32_t i = 0; i < EARLIER; i++)
		sender_close(m->sender, i);
	sim_begin_session(m);
}

static void
act(struct sim_machine *m, const struct sender_step *step)
{
	struct sim_spool_stream *s;
	bool taken;

	if (step->action != SENDER_SEND && step->action != SENDER_WAIT)
		sim_trace(m->sim, "m%d action %d stream %u seq %llu", m->number,
		    step->action, step->stream, (unsigned long long)step->seq);
	switch (step->action) {
	case SENDER_WAIT: break;
	case SENDER_SEND:
		taken = m->sim->calm || !sim_chance(m->sim, 3);
		if (taken)
			sim_post(m->sim, m->number, true, step->frame);
		sender_sent(m->sender, taken, m->sim->now_ns);
		break;
	case SENDER_WELCOMED: on_welcomed(m, step); break;
	case SENDER_ACKED: on_acked(m, step); break;
	case SENDER_REWIND:
		m->sim->resends++;
		s = stream_of(m, step->stream);
		s->first = step->seq;
		break;
	case SENDER_REFUSED: on_refused(m, step); break;
	case SENDER_DIVERGED: on_diverged(m, step); break;
	}
}

/* ---- its streams -------------------------------------------------------- */

static void
open_stream(struct sim_machine *m, uint32_t number)
{
	const struct sim_spool_stream *s = stream_of(m, number);

	if (sender_open(m->sender, number,
		text_of(sim_partitions[number % SIM_STREAMS]),
		&session_of(m, number)->id, s->generation, m->sim->now_ns) != 0)
		sim_wrong(m->sim, "sender_open refused");
}

static bool
is_empty(const struct sim_spool_stream *s)
{
	return s->synced == 0 && s->dropped == 0;
}

static void
open_current(struct sim_machine *m)
{
	for (uint32_t i = 0; i < EARLIER; i++)
		if (!sender_is_open(m->sender, i) &&
		    (!is_empty(stream_of(m, i)) ||
			m->sim->mutant == SIM_SEND_BEFORE_SYNC))
			open_stream(m, i);
}

static bool
is_settled(const struct sim_spool_stream *s)
{
	return is_empty(s) || (s->settled && sim_is_done(s));
}

/* The oldest session that has something to send, or to ask. */
static void
choose_earlier(struct sim_machine *m)
{
	m->has_earlier = false;
	for (int i = 0; i < m->spool.sessions - 1 && !m->has_earlier; i++)
		for (int j = 0; j < SIM_STREAMS; j++) {
			struct sim_spool_stream *s =
			    &m->spool.session[i].stream[j];

			if (is_settled(s))
				continue;
			m->has_earlier = true;
			m->earlier = m->spool.session[i].id;
		}
	for (uint32_t i = 0; i < SIM_STREAMS && m->has_earlier; i++) {
		struct sim_spool_stream *s = stream_of(m, EARLIER + i);

		if (is_settled(s))
			continue;
		s->settled = false;
		open_stream(m, EARLIER + i);
	}
}

static void
open_earlier(struct sim_machine *m)
{
	bool open = false;

	for (uint32_t i = EARLIER; i < 2 * EARLIER && m->has_earlier; i++) {
		if (!sender_is_open(m->sender, i))
			continue;
		if (sim_is_to_move(stream_of(m, i)))
			sim_move(m, &m->earlier, (int)(i % SIM_STREAMS));
		if (is_settled(stream_of(m, i)))
			sender_close(m->sender, i);
		else
			open = true;
	}
	if (!open)
		choose_earlier(m);
}

/* ---- its life ----------------------------------------------------------- */

void
sim_machine_new(struct sim *sim, int number)
{
	struct sim_machine *m = &sim->machine[number];

	m->sim = sim;
	m->number = number;
	m->there = true;
	m->up = false;
	m->sender = NULL;
	m->retain = sim_below(sim, 2) * sim_below(sim, 40);
	m->spool.sessions = 0;
	sim_machine_start(sim, number);
}

void
sim_machine_start(struct sim *sim, int number)
{
	struct sim_machine *m = &sim->machine[number];
	struct sender_options options = { .node = text_of("n"),
		.seed = sim_random(sim),
		.derived = sim->mutant == SIM_TRUST_WELCOME };
	struct sender_owner owner = { m, on_first, on_read, NULL, NULL };
	struct err err = { 0 };

	m->up = true;
	m->has_earlier = false;
	if (sender_new(&m->sender, &options, &owner, &err) != 0)
		sim_wrong(sim, "%s", err.text);
	if (sim->mutant != SIM_SAME_SESSION || m->spool.sessions == 0)
		sim_begin_session(m);
}

void
sim_machine_stop(struct sim *sim, int number)
{
	sender_free(&sim->machine[number].sender);
	sim->machine[number].up = false;
}

void
sim_machine_crash(struct sim *sim, int number)
{
	struct sim_machine *m = &sim->machine[number];

	sim_trace(sim, "m%d crashes", number);
	sim_machine_stop(sim, number);
	m->up_ns = sim->now_ns + 1 + sim_below(sim, 2000000000);
	sim_lose_page_cache(sim, &m->spool);
}

void
sim_machine_run(struct sim *sim, int number)
{
	struct sim_machine *m = &sim->machine[number];
	struct sender_step step = { .action = SENDER_WELCOMED };

	while (m->up && step.action != SENDER_WAIT && sim->wrong[0] == '\0') {
		open_current(m);
		open_earlier(m);
		step = sender_step(m->sender, sim->now_ns,
		    sim->now_ns + sim->wall_offset_ns + WALL_NS);
		act(m, &step);
	}
}

int64_t
sim_machine_deadline_ns(const struct sim_machine *m)
{
	return m->up ? sender_deadline_ns(m->sender) : 0;
}

void
sim_machine_receive(struct sim_machine *m, struct text frame)
{
	sender_receive(m->sender, frame, m->sim->now_ns);
	sim_machine_run(m->sim, m->number);
}

bool
sim_machine_is_at_rest(struct sim_machine *m)
{
	if (!m->up || sender_in_flight(m->sender) > 0)
		return false;
	for (int i = 0; i < m->spool.sessions; i++)
		for (int j = 0; j < SIM_STREAMS; j++)
			if (!is_settled(&m->spool.session[i].stream[j]))
				return false;
	return true;
}

/* ---- copies ------------------------------------------------------------- */

/* Was this session copied before?  If a third machine is faster than both
 * copies, both send what they have under a session of their own. */
bool *
sim_was_copied(struct sim *sim, const struct session_id *id)
{
	uint64_t number;

	memcpy(&number, id->bytes, sizeof(number));
	return &sim->copied[number % SIM_NUMBERS];
}

static void
note_doubles(struct sim *sim, struct sim_machine *f)
{
	for (int i = 0; i < f->spool.sessions; i++) {
		const struct sim_session *session = &f->spool.session[i];
		bool *copied = sim_was_copied(sim, &session->id);

		for (int j = 0; j < SIM_STREAMS && *copied; j++)
			for (int k = 0; k < session->stream[j].synced; k++)
				if (session->stream[j].item[k].content >= 0)
					sim->content
					    [session->stream[j].item[k].content]
						.doubled = true;
		*copied = true;
	}
}

/* A copy of the running machine goes on under the same session. */
void
sim_machine_clone(struct sim *sim, int from, int to)
{
	struct sim_machine *m = &sim->machine[to];
	struct sim_machine *f = &sim->machine[from];
	struct sim_session session;
	int sessions;

	note_doubles(sim, f);
	m->sim = sim;
	m->number = to;
	m->there = true;
	m->retain = f->retain;
	m->spool = f->spool;
	session = *sim_current(&m->spool);
	sim_lose_page_cache(sim, &m->spool);
	sim_machine_start(sim, to);
	if (!f->up || sim->mutant == SIM_SAME_SESSION)
		return;
	/* Take the session back that the start began. */
	sessions = --m->spool.sessions;
	*sim_current(&m->spool) = session;
	(void)sessions;
	for (int i = 0; i < SIM_STREAMS; i++) {
		struct sim_spool_stream *s = &sim_current(&m->spool)->stream[i];

		s->items = s->synced;
	}
}

void
sim_machine_backup(struct sim *sim, int number)
{
	sim->backup = sim->machine[number].spool;
	sim->backup_of = number;
	sim_lose_page_cache(sim, &sim->backup);
}

static bool
has_content(const struct sim_spool *spool, int content)
{
	for (int i = 0; i < spool->sessions; i++)
		for (int j = 0; j < SIM_STREAMS; j++) {
			const struct sim_spool_stream *s =
			    &spool->session[i].stream[j];

			for (int k = 0; k < s->synced; k++)
				if (s->item[k].content == content)
					return true;
		}
	return false;
}

/* Does another machine that is there have it? */
static bool
is_elsewhere(const struct sim *sim, int number, int content)
{
	for (int i = 0; i < SIM_MACHINES; i++)
		if (i != number && sim->machine[i].there &&
		    has_content(&sim->machine[i].spool, content))
			return true;
	return false;
}

/* A stream that was cut since the backup is not cut in it: what was moved
 * since is sent once more. */
static void
note_uncut(struct sim *sim, struct sim_spool *now, struct sim_spool *backup)
{
	for (int i = 0; i < backup->sessions; i++) {
		struct sim_session *old = &backup->session[i];
		const struct sim_session *new = sim_find_session(now, &old->id);

		for (int j = 0; j < SIM_STREAMS; j++) {
			struct sim_spool_stream *s = &old->stream[j];

			if (new != NULL &&new->stream[j].moved_upto ==
			    s->moved_upto)
				continue;
			for (int k = 0; k < s->synced; k++)
				if (s->item[k].content >= 0)
					sim->content[s->item[k].content]
					    .doubled = true;
		}
	}
}

void
sim_machine_restore(struct sim *sim)
{
	struct sim_machine *m = &sim->machine[sim->backup_of];

	if (m->up)
		sim_machine_crash(sim, m->number);
	for (int c = 0; c < sim->contents; c++)
		if (has_content(&m->spool, c) &&
		    !has_content(&sim->backup, c) &&
		    !is_elsewhere(sim, m->number, c) &&
		    (sim_is_mixed(sim) || sim_copies(sim, c) == 0))
			sim->content[c].destroyed = true;
	if (sim_is_mixed(sim))
		note_uncut(sim, &m->spool, &sim->backup);
	m->spool = sim->backup;
	sim_lose_page_cache(sim, &m->spool);
}

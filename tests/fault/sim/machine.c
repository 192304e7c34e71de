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

int
sim_stream_of(struct text partition)
{
	return text_equal(partition, text_of(sim_partitions[1]));
}

/* ---- callbacks of the sender -------------------------------------------- */

bool
sim_machine_send(void *machine, struct text frame)
{
	struct sim_machine *m = machine;

	if (!m->sim->calm && sim_chance(m->sim, 3))
		return false;
	sim_post(m->sim, m->number, true, frame);
	return true;
}

static int
on_read(void *arg, uint32_t stream, uint64_t seq, struct sender_batch *batch)
{
	struct sim_machine *m = arg;
	struct sim_spool_stream *s = &m->spool.stream[stream];
	int items =
	    m->sim->mutant == SIM_SEND_BEFORE_SYNC ? s->items : s->synced;
	const struct sim_item *item;

	if (items == 0 || seq > s->item[items - 1].last)
		return 0;
	item = sim_find_item(s, seq, items);
	if (item == NULL)
		return -1;
	batch->seq = item->seq;
	batch->last_seq = item->last;
	batch->reason = item->reason;
	batch->chain = item->chain;
	if (item->content < 0)
		batch->chain_after = item->chain_after;
	batch->records = 1;
	if (item->content >= 0) {
		batch->body = sim_body(m->sim, item->content);
		batch->body_bytes = batch->body.bytes;
	}
	return 1;
}

static void
on_acked(void *arg, uint32_t stream, uint64_t upto)
{
	struct sim_machine *m = arg;
	struct sim_spool_stream *s = &m->spool.stream[stream];

	sim_trace(m->sim, "m%d on_acked %u %llu", m->number, stream,
	    (unsigned long long)upto);
	if (upto < s->first || upto >= s->next)
		sim_wrong(m->sim, "acknowledged up to %llu of %llu..%llu",
		    (unsigned long long)upto, (unsigned long long)s->first,
		    (unsigned long long)s->next - 1);
	for (; s->first <= upto && m->sim->kind != SIM_AGGREGATOR_RESTORED &&
	       !sim_is_mixed(m->sim);
	     s->first++) {
		const struct sim_item *item =
		    sim_find_item(s, s->first, s->items);

		if (item != NULL && item->content >= 0 &&
		    sim_copies(m->sim, item->content) == 0 &&
		    !sim_is_reported_lost(m->sim, item->content))
			sim_wrong(m->sim,
			    "content %d was acknowledged and is "
			    "not on the aggregator's disk",
			    item->content);
	}
	s->first = upto + 1;
}

static void
on_refused(void *arg, uint32_t stream, uint64_t seq, enum wire_reason reason)
{
	struct sim_machine *m = arg;
	struct sim_spool_stream *s = &m->spool.stream[stream];
	struct sim_item *item = sim_find_item(s, seq, s->items);

	sim_trace(m->sim, "m%d on_refused %u %llu", m->number, stream,
	    (unsigned long long)seq);
	if (reason != WIRE_NACK_FORBIDDEN || item == NULL ||
	    item->content < 0) {
		sim_wrong(m->sim, "something was refused that never left");
		return;
	}
	m->sim->content[item->content].refused = true;
	m->sim->refusals++;
	item->content = -1;
	item->reason = WIRE_GAP_REFUSED;
}

/* Was the batch of this number refused for good? */
static bool
was_refused(const struct sim_machine *m, int stream, uint64_t seq)
{
	const struct sim *sim = m->sim;

	for (int i = 0; i < sim->numbers; i++) {
		const struct sim_number *n = &sim->number[i];

		if (n->seq == seq && n->stream == stream &&
		    session_equal(&n->session, &m->spool.session) &&
		    sim->content[n->content].refused)
			return true;
	}
	return false;
}

static void
on_rewind(void *arg, uint32_t stream, uint64_t seq)
{
	struct sim_machine *m = arg;
	struct sim_spool_stream *s = &m->spool.stream[stream];
	struct sim_item gap = {
		.seq = seq, .content = -1, .reason = WIRE_GAP_RESTORED
	};

	sim_trace(m->sim, "m%d on_rewind %u %llu", m->number, stream,
	    (unsigned long long)seq);
	m->sim->resends++;
	/* What was refused of one copy may be stored of the other: where they
	 * part is looked for then. */
	if (!was_refused(m, (int)stream, s->first - 1))
		m->sim->blind_resends++;
	m->restart[stream] = true;
	s->first = s->first_disk = seq;
	if (s->items == 0 || seq >= s->item[0].seq)
		return;
	if (s->items == SIM_ITEMS) {
		sim_wrong(m->sim, "no room for a gap");
		return;
	}
	gap.last = s->item[0].seq - 1;
	gap.chain_after = s->item[0].chain;
	memmove(s->item + 1, s->item, (size_t)s->items * sizeof(s->item[0]));
	s->item[0] = gap;
	s->items++;
	s->synced++;
}

static void
on_diverged(void *arg, uint32_t stream, uint64_t seq)
{
	struct sim_machine *m = arg;

	sim_trace(m->sim, "m%d on_forked %u %llu", m->number, stream,
	    (unsigned long long)seq);
	m->sim->forks++;
	sim_machine_commit(m->sim, m->number);
	sim_new_session(m, (int)stream, seq);
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
	memset(&m->spool, 0, sizeof(m->spool));
	sim->sessions++;
	memcpy(m->spool.session.bytes, &sim->sessions, sizeof(sim->sessions));
	for (int i = 0; i < SIM_STREAMS; i++)
		m->spool.stream[i].first = m->spool.stream[i].first_disk =
		    m->spool.stream[i].next = 1;
	sim_machine_start(sim, number);
}

void
sim_machine_start(struct sim *sim, int number)
{
	struct sim_machine *m = &sim->machine[number];
	struct sender_options options = { .node = text_of("n"),
		.start_count = ++m->spool.start_count,
		.seed = sim_random(sim) };
	struct sender_owner owner = { m, sim_machine_send, on_read, on_acked,
		on_refused, on_rewind, on_diverged, NULL, NULL };
	struct err err = { 0 };

	m->up = true;
	if (sender_new(&m->sender, &options, &owner, &err) != 0)
		sim_wrong(sim, "%s", err.text);
	if (sim->kind == SIM_LOST)
		sim_previous_start(m);
	if (sim->mutant == SIM_SESSION_PER_START)
		sim_new_session(m, 0, m->spool.stream[0].first);
	for (int i = 0; i < SIM_STREAMS; i++)
		m->restart[i] = true;
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
	sim_lose_page_cache(&m->spool);
}

static int64_t
wall_ns(const struct sim *sim)
{
	return sim->now_ns + sim->wall_offset_ns + WALL_NS;
}

void
sim_machine_run(struct sim *sim, int number)
{
	struct sim_machine *m = &sim->machine[number];

	if (!m->up)
		return;
	for (int i = 0; i < SIM_STREAMS; i++) {
		struct sim_spool_stream *s = &m->spool.stream[i];
		const struct sim_item *item;
		uint64_t chain = s->chain;

		if (!m->restart[i])
			continue;
		m->restart[i] = false;
		item = sim_find_item(s, s->first, s->items);
		if (item != NULL)
			chain = item->seq == s->first ? item->chain : 0;
		if (sender_restart(m->sender, (uint32_t)i,
			text_of(sim_partitions[i]), &m->spool.session, s->first,
			chain, sim->now_ns) != 0)
			sim_wrong(sim, "sender_restart refused");
	}
	sender_push(m->sender, sim->now_ns, wall_ns(sim));
	if (sim->kind == SIM_LOST)
		past_sessions_push(
		    &m->past_sessions, sim->now_ns, wall_ns(sim));
}

int64_t
sim_machine_deadline_ns(const struct sim_machine *m)
{
	int64_t at_ns = m->up ? sender_deadline_ns(m->sender) : 0;
	int64_t other_ns = 0;

	if (m->up && m->sim->kind == SIM_LOST)
		other_ns = past_sessions_deadline_ns(&m->past_sessions);
	return at_ns == 0 || (other_ns != 0 && other_ns < at_ns) ? other_ns
								 : at_ns;
}

void
sim_machine_receive(struct sim_machine *m, struct text frame)
{
	struct sim *sim = m->sim;

	if (!sender_receive(m->sender, frame, sim->now_ns, wall_ns(sim)) &&
	    sim->kind == SIM_LOST)
		sim_previous_receive(m, frame, wall_ns(sim));
	sim_machine_run(sim, m->number);
}

void
sim_machine_clone(struct sim *sim, int from, int to)
{
	struct sim_machine *m = &sim->machine[to];
	const struct sim_machine *f = &sim->machine[from];

	for (int i = 0; i < SIM_STREAMS; i++)
		for (int j = 0; j < f->spool.stream[i].synced; j++) {
			const struct sim_item *item =
			    &f->spool.stream[i].item[j];

			/* What the aggregator acknowledged it may want again.
			 */
			if (item->content >= 0 &&
			    (item->last >= f->spool.stream[i].first ||
				sim_is_mixed(sim)))
				sim->content[item->content].doubled = true;
		}
	m->sim = sim;
	m->number = to;
	m->there = true;
	m->retain = f->retain;
	m->spool = f->spool;
	sim_lose_page_cache(&m->spool);
	/* A copy of the running machine goes on under the same run. */
	if (m->spool.start_count > 0 && sim_chance(sim, 40))
		m->spool.start_count--;
	sim_machine_start(sim, to);
}

void
sim_machine_backup(struct sim *sim, int number)
{
	sim->backup = sim->machine[number].spool;
	sim->backup_of = number;
	sim_lose_page_cache(&sim->backup);
}

/* A frame of the life before that is still on its way is a second life: the
 * aggregator cannot tell it from a copy that runs, and takes it when its number
 * is the next, although the sender, superseded, goes on under a new session. */
static void
note_frame(struct sim *sim, struct text frame)
{
	struct wire_header h;
	struct text body;
	uint32_t content;

	if (wire_open(frame, &h, &body) != WIRE_OK || h.type != WIRE_BATCH)
		return;
	memcpy(&content, body.at, sizeof(content));
	sim->content[content].doubled = true;
}

static void
note_flights(struct sim *sim, int number)
{
	for (int i = 0; i < sim->flights; i++) {
		const struct sim_flight *f = &sim->flight[i];

		if (f->to < 0 && f->from == number)
			note_frame(sim,
			    (struct text){ (const char *)f->frame, f->bytes });
	}
	sim_broker_note(sim, number, note_frame);
}

void
sim_machine_restore(struct sim *sim)
{
	struct sim_machine *m = &sim->machine[sim->backup_of];

	if (m->up)
		sim_machine_crash(sim, m->number);
	note_flights(sim, m->number);
	if (sim->kind == SIM_LOST)
		sim_loss_begin(sim);
	for (int i = 0; i < SIM_STREAMS; i++) {
		struct sim_spool_stream *s = &m->spool.stream[i];
		struct sim_spool_stream *b = &sim->backup.stream[i];

		for (int j = 0; j < s->items; j++) {
			int content = s->item[j].content;
			bool there = false;

			for (int k = 0; k < b->items && !there; k++)
				there = b->item[k].content == content;
			/* A copy that the aggregator has is its own. */
			if (content >= 0 && !there &&
			    (!sim_is_mixed(sim) ||
				sim_copies(sim, content) == 0))
				sim->content[content].destroyed = true;
		}
		/* A disk from before a new session knows nothing of it. */
		for (int k = 0; k < b->items; k++)
			if (b->item[k].content >= 0 &&
			    !session_equal(
				&sim->backup.session, &m->spool.session))
				sim->content[b->item[k].content].doubled = true;
	}
	m->spool = sim->backup;
	sim_lose_page_cache(&m->spool);
	if (sim->kind == SIM_LOST)
		sim_loss_end(sim);
}

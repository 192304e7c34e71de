/*
 * spool - the disk of a machine, and the page cache above it.
 *
 * It promises what agents/spool/spool.h promises: what is committed stays, the
 * acknowledged position on disk may lag and never leads, and each start begins
 * another session.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "proto/hash/crc32c.h"
#include "proto/hash/hash.h"
#include "tests/fault/sim/sim.h"

struct text
sim_body(const struct sim *sim, int content)
{
	static _Thread_local unsigned char body[SIM_FLIGHT_BYTES];
	uint32_t number = (uint32_t)content;
	uint32_t bytes = sim->content[content].bytes;

	memcpy(body, &number, sizeof(number));
	memset(body + sizeof(number), content & 0xff, bytes - sizeof(number));
	return (struct text){ (char *)body, bytes };
}

/* ---- sessions ----------------------------------------------------------- */

struct sim_session *
sim_current(struct sim_spool *spool)
{
	return &spool->session[spool->sessions - 1];
}

struct sim_session *
sim_find_session(struct sim_spool *spool, const struct session_id *id)
{
	for (int i = 0; i < spool->sessions; i++)
		if (session_equal(&spool->session[i].id, id))
			return &spool->session[i];
	return NULL;
}

uint64_t
sim_last_of(const struct sim_spool_stream *s, int items)
{
	return s->dropped + (uint64_t)items;
}

uint64_t
sim_end_of(const struct sim_spool_stream *s, int items)
{
	return s->moved_from > 0 ? s->moved_from : sim_last_of(s, items) + 1;
}

bool
sim_is_to_move(const struct sim_spool_stream *s)
{
	return s->moved_from > 0 && s->moved_upto < sim_last_of(s, s->synced);
}

bool
sim_is_done(const struct sim_spool_stream *s)
{
	return s->first >= sim_end_of(s, s->synced) && !sim_is_to_move(s);
}

/* Earlier sessions of which nothing is left, and that this store was asked
 * about, are forgotten. */
static void
forget_sessions(struct sim_machine *m)
{
	struct sim_spool *spool = &m->spool;
	int kept = 0;

	for (int i = 0; i < spool->sessions; i++) {
		struct sim_session *session = &spool->session[i];
		bool needed = i == spool->sessions - 1 ||
			      (m->has_earlier &&
				  session_equal(&session->id, &m->earlier));

		for (int j = 0; j < SIM_STREAMS; j++) {
			const struct sim_spool_stream *s = &session->stream[j];

			needed = needed || s->items > 0 || !sim_is_done(s);
		}
		if (needed && kept != i)
			spool->session[kept] = *session;
		kept += needed;
	}
	spool->sessions = kept;
}

void
sim_begin_session(struct sim_machine *m)
{
	struct sim *sim = m->sim;
	struct sim_spool *spool = &m->spool;
	struct sim_session *session;

	if (spool->sessions == SIM_SESSIONS)
		forget_sessions(m);
	if (spool->sessions == SIM_SESSIONS) {
		sim_wrong(sim, "too many sessions for this spool");
		return;
	}
	session = &spool->session[spool->sessions++];
	memset(&session->id, 0, sizeof(session->id));
	sim->sessions++;
	memcpy(session->id.bytes, &sim->sessions, sizeof(sim->sessions));
	for (int i = 0; i < SIM_STREAMS; i++) {
		struct sim_spool_stream *s = &session->stream[i];

		s->items = s->synced = 0;
		s->dropped = s->generation = s->generation_disk = 0;
		s->moved_from = s->moved_upto = 0;
		s->first = s->first_disk = 1;
		s->settled = false;
	}
}

/* ---- appending ---------------------------------------------------------- */

static void
note_number(struct sim *sim, const struct session_id *session, int stream,
    uint64_t seq, int content)
{
	if (sim->numbers == SIM_NUMBERS) {
		sim_wrong(sim, "too many numbers for this world");
		return;
	}
	sim->number[sim->numbers++] =
	    (struct sim_number){ *session, stream, seq, content };
}

static void
append_item(struct sim *sim, struct sim_spool_stream *s, struct sim_item item)
{
	struct text body = { NULL, 0 };

	if (s->items == SIM_ITEMS ||
	    sim_last_of(s, s->items) + 1 >= SIM_ITEMS) {
		sim_wrong(sim, "too many batches for this spool");
		return;
	}
	item.chain = s->items > 0 ? s->item[s->items - 1].chain_after : 0;
	if (item.content >= 0)
		body = sim_body(sim, item.content);
	/* Behind a gap, a value that nobody else has. */
	item.chain_after =
	    item.content < 0
		? hash_chain(item.chain, (uint32_t)sim_random(sim), 0, 0)
		: hash_chain(item.chain, crc32c(0, body.at, body.bytes),
		      body.bytes, 1);
	s->item[s->items++] = item;
}

void
sim_machine_append(struct sim *sim, int number, int stream)
{
	struct sim_machine *m = &sim->machine[number];
	struct sim_content *content = &sim->content[sim->contents];

	if (sim->contents == SIM_CONTENTS)
		return;
	memset(content, 0, sizeof(*content));
	content->bytes = 8 + sim_below(sim, 600);
	content->quarantine = !sim->calm && sim_chance(sim, 2);
	append_item(sim, &sim_current(&m->spool)->stream[stream],
	    (struct sim_item){ .content = sim->contents++ });
}

/* What had the number there has the gap here. */
static void
note_moved_gap(struct sim *sim, const struct sim_item *item,
    const struct session_id *id, int stream, uint64_t seq)
{
	for (int i = 0, numbers = sim->numbers; i < numbers; i++) {
		struct sim_number n = sim->number[i];

		if (n.stream == stream && n.seq == item->origin_seq &&
		    session_equal(&n.session, &item->origin))
			note_number(sim, id, stream, seq, n.content);
	}
}

static void
sync_stream(struct sim *sim, const struct session_id *id, int stream,
    struct sim_spool_stream *s)
{
	for (; s->synced < s->items; s->synced++) {
		const struct sim_item *item = &s->item[s->synced];
		uint64_t seq = sim_last_of(s, s->synced) + 1;

		if (item->content < 0) {
			note_moved_gap(sim, item, id, stream, seq);
			continue;
		}
		sim->content[item->content].accepted = true;
		note_number(sim, id, stream, seq, item->content);
	}
}

void
sim_machine_commit(struct sim *sim, int number)
{
	struct sim_session *session = sim_current(&sim->machine[number].spool);

	for (int i = 0; i < SIM_STREAMS; i++)
		sync_stream(sim, &session->id, i, &session->stream[i]);
}

/* The next number to move; 0: all are.  A move that is only continued leaves
 * what is below the numbers that were moved: its ACKED may lag. */
static uint64_t
next_to_move(struct sim_spool_stream *s, bool downwards)
{
	if (sim_is_to_move(s))
		return ++s->moved_upto;
	return downwards && s->moved_from > s->first ? --s->moved_from : 0;
}

/* Two batches a commit, so that a crash may come in between. */
void
sim_move(struct sim_machine *m, const struct session_id *id, int stream)
{
	struct sim_spool_stream *s =
	    &sim_find_session(&m->spool, id)->stream[stream];
	struct sim_session *to = sim_current(&m->spool);
	bool forget = m->sim->mutant == SIM_FORGET_ORIGIN, downwards;
	uint64_t seq;

	if (s->moved_from == 0) {
		s->moved_from = s->first;
		s->moved_upto = s->first - 1;
	}
	downwards = !sim_is_to_move(s);
	for (int n = 0; n < 2 && (seq = next_to_move(s, downwards)) > 0; n++) {
		struct sim_item item = { .content = -1, .gap = true };

		if (seq > s->dropped)
			item = s->item[seq - s->dropped - 1];
		item.origin = *id;
		item.origin_seq = forget ? 0 : seq;
		append_item(m->sim, &to->stream[stream], item);
	}
	sim_machine_commit(m->sim, m->number);
}

/* May the first item go?  A moved one stays as long as what it came from. */
static bool
may_drop(struct sim_machine *m, const struct sim_spool_stream *s, int stream)
{
	const struct sim_item *item = &s->item[0];
	const struct sim_session *origin =
	    item->origin_seq > 0 ? sim_find_session(&m->spool, &item->origin)
				 : NULL;
	uint64_t seq = s->dropped + 1;

	if (origin != NULL && origin->stream[stream].items > 0)
		return false;
	if (s->moved_from > 0 && seq >= s->moved_from)
		return s->first_disk >= s->moved_from && seq <= s->moved_upto;
	return seq + m->retain < s->first_disk;
}

/* The acknowledged position goes to disk, then what is not kept for a
 * restored aggregator goes. */
void
sim_machine_tidy(struct sim *sim, int number)
{
	struct sim_machine *m = &sim->machine[number];

	for (int i = 0; i < m->spool.sessions; i++)
		for (int j = 0; j < SIM_STREAMS; j++) {
			struct sim_spool_stream *s =
			    &m->spool.session[i].stream[j];
			bool ended = i < m->spool.sessions - 1 && s->settled;

			s->first_disk = s->first;
			s->generation_disk = s->generation;
			/* The last one of the current session holds its
			 * running hash. */
			while (
			    s->synced > (ended ? 0 : 1) && may_drop(m, s, j)) {
				s->items--;
				s->synced--;
				s->dropped++;
				memmove(s->item, s->item + 1,
				    (size_t)s->items * sizeof(s->item[0]));
			}
		}
	forget_sessions(m);
}

/* ---- a crash ------------------------------------------------------------ */

/* Moved batches say where they come from. */
static void
find_moved(struct sim_spool *spool, const struct sim_item *item, int stream)
{
	struct sim_session *origin = sim_find_session(spool, &item->origin);
	struct sim_spool_stream *s;

	if (item->origin_seq == 0 || origin == NULL)
		return;
	s = &origin->stream[stream];
	if (s->moved_from == 0 || s->moved_from > item->origin_seq)
		s->moved_from = item->origin_seq;
	if (s->moved_upto < item->origin_seq)
		s->moved_upto = item->origin_seq;
}

/* What is not on disk is gone. */
void
sim_lose_page_cache(struct sim *sim, struct sim_spool *spool)
{
	(void)sim;
	for (int i = 0; i < spool->sessions; i++)
		for (int j = 0; j < SIM_STREAMS; j++) {
			struct sim_spool_stream *s =
			    &spool->session[i].stream[j];

			s->items = s->synced;
			s->first = s->first_disk;
			s->generation = s->generation_disk;
			s->settled = false;
			s->moved_from = s->moved_upto = 0;
			/* Nothing on disk says that it ever was. */
			if (s->items == 0)
				s->dropped = 0;
			if (s->items == 0)
				s->first = s->first_disk = 1;
			for (int k = 0; k < s->items; k++)
				s->item[k].gap = s->item[k].content < 0;
		}
	for (int i = 0; i < spool->sessions; i++)
		for (int j = 0; j < SIM_STREAMS; j++)
			for (int k = 0; k < spool->session[i].stream[j].items;
			     k++)
				find_moved(spool,
				    &spool->session[i].stream[j].item[k], j);
}

/*
 * spool - the disk of a machine, and the page cache above it.
 *
 * It promises what agents/spool/spool.h promises: what is committed stays, the
 * acknowledged position on disk may lag and never leads.
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

static uint64_t
hash_after(const struct sim *sim, const struct sim_item *item)
{
	struct text body;

	if (item->content < 0) /* one that nobody else has */
		return hash_chain(item->chain, 0, 0, 1);
	body = sim_body(sim, item->content);
	return hash_chain(
	    item->chain, crc32c(0, body.at, body.bytes), body.bytes, 1);
}

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

struct sim_item *
sim_find_item(struct sim_spool_stream *s, uint64_t seq, int items)
{
	for (int i = items - 1; i >= 0; i--)
		if (s->item[i].seq <= seq)
			return s->item[i].last >= seq ? &s->item[i] : NULL;
	return NULL;
}

static void
append_item(struct sim *sim, struct sim_spool_stream *s, struct sim_item item)
{
	uint64_t numbers = item.last - item.seq;

	if (s->items == SIM_ITEMS) {
		sim_wrong(sim, "too many batches for this spool");
		return;
	}
	item.seq = s->next;
	item.last = item.seq + numbers;
	item.chain = s->chain;
	item.chain_after = hash_after(sim, &item);
	s->item[s->items++] = item;
	s->next = item.last + 1;
	s->chain = s->item[s->items - 1].chain_after;
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
	append_item(sim, &m->spool.stream[stream],
	    (struct sim_item){ .content = sim->contents++ });
}

void
sim_machine_commit(struct sim *sim, int number)
{
	struct sim_spool *spool = &sim->machine[number].spool;

	for (int i = 0; i < SIM_STREAMS; i++) {
		struct sim_spool_stream *s = &spool->stream[i];

		for (; s->synced < s->items; s->synced++) {
			struct sim_item *item = &s->item[s->synced];

			if (item->content < 0)
				continue;
			sim->content[item->content].accepted = true;
			note_number(
			    sim, &spool->session, i, item->seq, item->content);
		}
	}
}

/* The acknowledged position goes to disk, then what is not kept for a
 * restored aggregator goes.  The last one stays: it holds the number. */
void
sim_machine_tidy(struct sim *sim, int number)
{
	struct sim_machine *m = &sim->machine[number];

	for (int i = 0; i < SIM_STREAMS; i++) {
		struct sim_spool_stream *s = &m->spool.stream[i];
		int drop = 0;

		s->first_disk = s->first;
		while (drop < s->synced - 1 &&
		       s->item[drop].last + m->retain < s->first_disk)
			drop++;
		memmove(s->item, s->item + drop,
		    (size_t)(s->items - drop) * sizeof(s->item[0]));
		s->items -= drop;
		s->synced -= drop;
	}
}

/* What is not on disk is gone. */
void
sim_lose_page_cache(struct sim_spool *spool)
{
	for (int i = 0; i < SIM_STREAMS; i++) {
		struct sim_spool_stream *s = &spool->stream[i];

		s->items = s->synced;
		s->first = s->first_disk;
		s->next = 1;
		s->chain = 0;
		if (s->items > 0) {
			s->next = s->item[s->items - 1].last + 1;
			s->chain = s->item[s->items - 1].chain_after;
		}
	}
}

/* May resending all from `from` on store something twice, by no fault of
 * the sender's?  Other streams cannot be asked before they follow; and what the
 * aggregator no longer remembers cannot be compared. */
static bool
may_double(const struct sim *sim, const struct session_id *session, int stream,
    uint64_t from, bool cause)
{
	const struct sim_store *disk = &sim->aggregator.disk;

	if (!cause)
		return true;
	for (int i = 0; i < disk->streams; i++)
		if (disk->stream[i].stream == stream &&
		    session_equal(&disk->stream[i].session, session))
			return disk->stream[i].last_seq >= from + SIM_RING;
	return false;
}

/* The content of each number of a gap keeps its gap under a new number. */
static void
renumber_gap(struct sim *sim, const struct session_id *from,
    const struct session_id *to, int stream, const struct sim_item *old,
    uint64_t seq)
{
	for (int i = 0, numbers = sim->numbers; i < numbers; i++) {
		struct sim_number n = sim->number[i];

		if (n.stream == stream && session_equal(&n.session, from) &&
		    n.seq >= old->seq && n.seq <= old->last)
			note_number(
			    sim, to, stream, seq + n.seq - old->seq, n.content);
	}
}

void
sim_machine_report(struct sim_machine *m, int stream,
    const struct session_id *of, uint64_t from, uint64_t count)
{
	struct sim_spool_stream *s = &m->spool.stream[stream];
	struct sim_item gap = { .seq = from,
		.last = from + count - 1,
		.content = -1,
		.reason = WIRE_GAP_RESTORED };

	append_item(m->sim, s, gap);
	renumber_gap(
	    m->sim, of, &m->spool.session, stream, &gap, s->next - count);
	sim_machine_commit(m->sim, m->number);
}

void
sim_new_session(struct sim_machine *m, int cause, uint64_t from_seq)
{
	struct sim *sim = m->sim;
	struct session_id old = m->spool.session, new = { { 0 } };

	if (sim->kind == SIM_LOST) {
		sim_loss_find(m, cause);
		sim_previous_give_up(m);
	}

	sim->sessions++;
	memcpy(new.bytes, &sim->sessions, sizeof(sim->sessions));
	m->spool.session = new;
	for (int i = 0; i < SIM_STREAMS; i++) {
		struct sim_spool_stream *s = &m->spool.stream[i];
		struct sim_spool_stream was = *s;
		uint64_t from = i == cause ? from_seq : s->first;
		bool doubled = may_double(sim, &old, i, from, i == cause);

		memset(s, 0, sizeof(*s));
		s->first = s->first_disk = s->next = 1;
		for (int j = 0; j < was.items; j++) {
			struct sim_item item = was.item[j];
			struct sim_number n = { old, i, item.seq,
				item.content };

			if (item.last < from)
				continue;
			if (item.content >= 0 &&
			    (doubled ||
				(sim->kind == SIM_LOST &&
				    sim_loss_is_behind_gap(sim, &n, from))))
				sim->content[item.content].doubled = true;
			append_item(sim, s, item);
			if (item.content < 0)
				renumber_gap(sim, &old, &new, i, &item,
				    s->next - 1 - (item.last - item.seq));
		}
		m->restart[i] = true;
	}
	sim_machine_commit(sim, m->number);
}

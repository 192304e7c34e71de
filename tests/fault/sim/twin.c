/*
 * twin - the real aggregator/ingest/receiver.c in parallel with the
 * aggregator of the rules: the same frames and transactions, and the same
 * results.
 * SPDX-License-Identifier: MIT
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fault/memory/db.h"
#include "tests/fault/sim/sim.h"

static struct {
	struct journal *journal;
	struct receiver *receiver;
	int from; /* what the aggregator had when the journal was empty */
} twin;

static bool
is_there(const struct sim *sim)
{
	return sim->mutant == SIM_RIGHT;
}

static void
must(struct sim *sim, bool good, const char *what)
{
	if (!good)
		sim_wrong(sim, "receiver.c differs from the rules: %s", what);
}

static int
count(const struct sim_store *store)
{
	int n = 0;

	for (int i = 0; i < store->entries; i++)
		n += !store->entry[i].closed;
	return n;
}

/* ---- its life ----------------------------------------------------------- */

static void
open_twin(struct sim *sim)
{
	const struct journal_options how = { .map_bytes = 1 << 20 };
	struct err err = { 0 };

	if (journal_open(&twin.journal, "/", &how, &err) != 0 ||
	    journal_begin(twin.journal, &err) != 0)
		sim_wrong(sim, "the journal: %s", err.text);
	twin.receiver = receiver_new(twin.journal, 0);
}

static void
close_twin(void)
{
	if (twin.journal == NULL)
		return;
	receiver_free(&twin.receiver);
	journal_abort(twin.journal);
	journal_close(&twin.journal);
}

void
sim_twin_put(struct sim *sim, const struct sim_aggregator_stream *stream)
{
	struct journal_stream s = { .last_seq = stream->last_seq,
		.start_count = stream->start_count,
		.node = text_of("n"),
		.missing = stream->missing,
		.missing_hash = stream->missing_hash,
		.boundary = stream->boundary };

	if (!is_there(sim))
		return;
	for (uint64_t n = stream->ring_from; n <= s.last_seq; n++)
		s.ring[n % JOURNAL_RING] = stream->ring[n % SIM_RING];
	journal_stream_put(twin.journal, &stream->session,
	    text_of(sim_partitions[stream->stream]), &s);
}

static void
put_generation(struct sim *sim)
{
	uint64_t generation = htole64(sim->aggregator.disk.generation);
	struct err err = { 0 };
	struct db_txn *txn;
	struct db *db;

	memory_db_reset();
	db_open(&db, "", NULL, &err);
	db_begin(db, true, &txn, &err);
	db_put(txn, JOURNAL_META, text_of("generation"),
	    (struct text){ (const char *)&generation, sizeof(generation) });
	db_commit(&txn, &err);
	db_close(&db);
}

void
sim_twin_load(struct sim *sim)
{
	const struct sim_store *disk = &sim->aggregator.disk;

	close_twin();
	if (!is_there(sim))
		return;
	put_generation(sim);
	open_twin(sim);
	for (int i = 0; i < disk->streams; i++)
		sim_twin_put(sim, &disk->stream[i]);
	twin.from = count(disk);
	sim_twin_commit(sim);
}

void
sim_twin_crash(struct sim *sim)
{
	if (!is_there(sim))
		return;
	close_twin();
	open_twin(sim);
}

/* ---- the same ----------------------------------------------------------- */

void
sim_twin_take(struct sim *sim, struct text frame, enum receiver_room room,
    const struct wire_header *answer)
{
	struct wire_header mine;

	if (!is_there(sim))
		return;
	must(sim, receiver_take(twin.receiver, frame, sim->now_ns, room, &mine),
	    "no answer");
	must(sim, mine.type == answer->type, "another answer");
	must(sim, mine.reason == answer->reason, "another reason");
	must(sim, mine.seq == answer->seq, "another seq");
	must(
	    sim, (mine.flags & WIRE_FLAG_SAME) == answer->flags, "other flags");
	must(sim, mine.expect == answer->expect && mine.chain == answer->chain,
	    "another next number");
	must(sim,
	    mine.last_seq == answer->last_seq &&
		mine.chain_after == answer->chain_after,
	    "another missing number");
	must(sim, mine.start_count == answer->start_count, "another boundary");
	must(sim,
	    mine.generation == answer->generation &&
		mine.sent_ns == answer->sent_ns &&
		session_equal(&mine.session, &answer->session),
	    "another address");
}

static void
compare_stream(struct sim *sim, const struct sim_aggregator_stream *s)
{
	struct text partition = text_of(sim_partitions[s->stream]);
	struct journal_stream mine;

	if (journal_stream_get(twin.journal, &s->session, partition, &mine) !=
	    JOURNAL_FOUND) {
		must(sim,
		    s->last_seq == 0 && s->start_count == 0 && s->missing == 0,
		    "a stream is not there");
		return;
	}
	must(sim,
	    mine.last_seq == s->last_seq && mine.start_count == s->start_count,
	    "a stream has another last number, or run");
	must(sim,
	    mine.missing == s->missing && mine.missing_hash == s->missing_hash,
	    "a stream misses another number");
	must(
	    sim, mine.boundary == s->boundary, "a stream has another boundary");
	for (uint64_t n = s->ring_from; n <= s->last_seq; n++)
		must(sim,
		    journal_running_hash(&mine, n) == s->ring[n % SIM_RING],
		    "another running hash");
}

void
sim_twin_commit(struct sim *sim)
{
	const struct sim_store *work = &sim->aggregator.work;
	struct err err = { 0 };
	uint64_t next;

	if (!is_there(sim))
		return;
	for (int i = 0; i < work->streams; i++)
		compare_stream(sim, &work->stream[i]);
	must(sim, journal_commit(twin.journal, &err) == DB_OK, err.text);
	receiver_committed(twin.receiver);
	next = journal_next(twin.journal);
	must(sim, next - 1 == (uint64_t)(count(work) - twin.from),
	    "another number of entries");
	must(sim, journal_begin(twin.journal, &err) == 0, err.text);
}

static void
compare_entry(struct sim *sim, const struct journal_entry *e,
    const struct sim_entry *want)
{
	bool gap = e->header.type == WIRE_GAP;
	uint32_t content = 0;

	if (!gap)
		memcpy(&content, e->body.at, sizeof(content));
	must(sim, gap == (want->content < 0), "an entry is of another kind");
	must(sim, gap || (int)content == want->content, "another content");
	must(sim,
	    e->header.seq == want->seq &&
		(gap ? e->header.last_seq : e->header.seq) == want->last &&
		session_equal(&e->header.session, &want->session),
	    "an entry has another number");
}

void
sim_twin_judge(struct sim *sim)
{
	const struct sim_store *disk = &sim->aggregator.disk;
	struct journal_walk *walk;
	struct journal_entry entry;
	struct err err = { 0 };
	int left = twin.from, rc = 1;

	if (!is_there(sim))
		return;
	if (journal_walk_open(twin.journal, &walk, &err) != 0 ||
	    journal_walk_seek(walk, 1, &err) != 0)
		sim_wrong(sim, "the journal: %s", err.text);
	for (int i = 0; i < disk->entries && rc == 1; i++) {
		if (disk->entry[i].closed || left-- > 0)
			continue;
		rc = journal_walk_next(walk, &entry);
		must(sim, rc == 1, "an entry is not there");
		if (rc == 1)
			compare_entry(sim, &entry, &disk->entry[i]);
	}
	must(sim, journal_walk_next(walk, &entry) == 0, "an entry too many");
	journal_walk_close(&walk);
	close_twin();
}

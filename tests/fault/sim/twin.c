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

static void
put_stream(struct sim *sim, const struct sim_aggregator_stream *stream)
{
	struct text partition = text_of(sim_partitions[stream->stream]);
	struct journal_stream s = { .owner = 1, .node = text_of("n") };

	(void)sim;
	for (uint64_t n = 1; n <= stream->last_seq; n++)
		journal_stream_advance(twin.journal, &stream->session,
		    partition, &s, n, stream->hash[n]);
	s.forgotten = stream->forgotten;
	journal_stream_put(twin.journal, &stream->session, partition, &s);
}

void
sim_twin_remove(struct sim *sim, const struct session_id *session, int stream)
{
	struct text partition = text_of(sim_partitions[stream]);
	unsigned char key[16 + 8];

	if (!is_there(sim))
		return;
	memcpy(key, session->bytes, 16);
	memcpy(key + 16, partition.at, partition.bytes);
	journal_stream_remove(journal_txn(twin.journal),
	    (struct text){ (const char *)key, 16 + partition.bytes });
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
		put_stream(sim, &disk->stream[i]);
	twin.from = disk->entries;
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
	must(sim,
	    receiver_take(twin.receiver, frame, 1, sim->now_ns, room, &mine),
	    "no answer");
	must(sim, mine.type == answer->type, "another answer");
	must(sim, mine.reason == answer->reason, "another reason");
	must(sim, mine.seq == answer->seq, "another seq");
	must(sim, (mine.flags & WIRE_FLAG_ALONE) == answer->flags,
	    "other flags");
	must(sim, mine.expect == answer->expect && mine.chain == answer->chain,
	    "another next number");
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
		must(sim, s->last_seq == 0, "a stream is not there");
		return;
	}
	must(sim, mine.last_seq == s->last_seq, "a stream has another end");
	must(sim, mine.hash == s->hash[s->last_seq], "another running hash");
	for (uint64_t n = 1; n <= s->last_seq; n++)
		must(sim,
		    journal_stream_compare(twin.journal, &s->session, partition,
			&mine, n,
			s->hash[n]) == (n <= s->forgotten    ? JOURNAL_FORGOTTEN
					   : s->hash[n] == 0 ? JOURNAL_LOST
							     : JOURNAL_SAME),
		    "it remembers another content");
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
	must(sim, next - 1 == (uint64_t)(work->entries - twin.from),
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
		if (left-- > 0)
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

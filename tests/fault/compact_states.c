/*
 * compact_states - opens the tables in the directories that crashes leave while
 * hours are compacted.
 *
 *     compact_states [STATES [SEED]]
 *
 * A journal with random events and samples is made.  Then some steps of the
 * indexer, of sealing and of jobs that are given up are recorded, in random
 * order.  Some hundred of the directories that a crash somewhere in it could
 * leave are opened, each in a child, and indexed to the end: every row must be
 * good, and readers must find each record once, as they do in a store that
 * was never compacted; and again when the rest is compacted.  The seed is
 * printed; with KEEP=DIR the first directory that fails is left there.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/admin/verify.h"
#include "aggregator/query/reader.h"
#include "aggregator/writer/writer_private.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "tests/fault/states/states.h"

enum { BATCHES = 60, RECORDS = 30, NODES = 4, STEPS = 40 };
#define T0        (INT64_C(1508000000) * NS_PER_SECOND)
#define PARTITION "acct$pool"

/* What readers find when all is indexed. */
struct found {
	uint64_t records, digest;
};

static struct journal *journal;
static struct writer *writer;

static uint64_t
below(uint64_t *random, uint64_t limit)
{
	return states_random(random) % limit;
}

static void
must(int rc, const struct err *err)
{
	if (rc == 0)
		return;
	fprintf(stderr, "%s\n", err->text);
	abort();
}

/* ---- what is in the journal ---- */

static void
put_record(struct wire_writer *w, uint64_t *random)
{
	static const char *const names[] = { "start", "end", "pull" };
	unsigned char bytes[64];
	struct wire_writer values;
	struct value value = { VALUE_INT,
		{ .i = (int64_t)below(random, 1000) } };
	struct record record = {
		.time_ns =
		    T0 + (int64_t)below(random, 2 * (uint64_t)KEY_HOUR_NS),
	};
	char node[16];

	snprintf(node, sizeof(node), "node-%d", (int)below(random, NODES));
	wire_put_context(w, text_of(node));
	wire_writer_init(&values, bytes, sizeof(bytes));
	if (below(random, 2) == 0) {
		record.kind = RECORD_EVENT;
		record.source = text_of("test");
		record.name = text_of(names[below(random, 3)]);
		wire_put_attribute(&values, text_of("n"), &value);
		record.attributes = 1;
		record.pairs = (struct text){ (const char *)bytes,
			(uint32_t)values.bytes };
	} else {
		record.kind = RECORD_SAMPLE;
		record.source = text_of("set");
		wire_put_value(&values, &value);
		record.values = 1;
		record.value_bytes = (struct text){ (const char *)bytes,
			(uint32_t)values.bytes };
	}
	if (!wire_put_record(w, &record))
		abort();
}

/* What the samples are, so that rollups are made. */
static void
define(struct wire_writer *w)
{
	unsigned char bytes[64];
	struct wire_writer pairs;
	struct record record = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of("set"),
		.attributes = 2 };

	wire_writer_init(&pairs, bytes, sizeof(bytes));
	wire_put_text_attribute(&pairs, text_of("names"), text_of("m"));
	wire_put_text_attribute(&pairs, text_of("types"), text_of("counter"));
	record.pairs =
	    (struct text){ (const char *)bytes, (uint32_t)pairs.bytes };
	wire_put_record(w, &record);
}

static void
append_batch(uint64_t seq, uint64_t *random)
{
	static unsigned char frame[WIRE_FRAME_BYTES_MAX], body[64 << 10];
	struct journal_note note = { .seq = seq,
		.receive_ns = T0 + (int64_t)seq };
	struct wire_header header = { .type = WIRE_BATCH,
		.partition = text_of(PARTITION),
		.node = text_of("head"),
		.session.bytes = { 1 },
		.seq = seq };
	struct wire_writer w;
	size_t bytes;

	wire_writer_init(&w, body, sizeof(body));
	if (seq == 1)
		define(&w);
	for (unsigned i = 0; i < RECORDS; i++)
		put_record(&w, random);
	header.records = w.records;
	header.body_bytes = (uint32_t)w.bytes;
	bytes = wire_frame(frame, sizeof(frame), &header,
	    (struct text){ (const char *)body, (uint32_t)w.bytes });
	journal_append(journal,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, &note);
}

static void
fill_journal(uint64_t *random)
{
	struct err err = { 0 };

	must(journal_begin(journal, &err), &err);
	for (uint64_t seq = 1; seq <= BATCHES; seq++)
		append_batch(seq, random);
	must(journal_commit(journal, &err) == DB_OK ? 0 : -1, &err);
}

/* ---- opening ---- */

static void
open_store(const char *dir)
{
	const struct journal_options how = { .map_bytes = 64 << 20 };
	const struct writer_options options = { .map_bytes = 64 << 20,
		.pause_ns = -1 };
	struct err err = { 0 };

	must(journal_open(&journal, dir, &how, &err), &err);
	must(writer_open(&writer, dir, journal, &options, &err), &err);
	writer->collect.limit = RECORDS;
}

static void
close_store(void)
{
	writer_close(&writer);
	journal_close(&journal);
}

/* Every record that readers find, in their order. */
static struct found
find_all(void)
{
	static unsigned char page[256 << 10];
	const struct wire_header question = { .type = WIRE_SELECT,
		.partition = text_of(PARTITION) };
	struct wire_query query = { .kinds = 1u << RECORD_EVENT |
					     1u << RECORD_SAMPLE,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS };
	char cursor[WIRE_CURSOR_BYTES_MAX];
	struct hash_key key = { 1, 2 };
	struct found found = { 0, 0 };
	struct reader *reader;
	struct err err = { 0 };
	bool last = false;

	must(reader_open_shared(&reader, writer_db(writer), journal, &err),
	    &err);
	while (!last) {
		struct wire_writer w;
		size_t skip;

		wire_writer_init(&w, page, sizeof(page));
		must(reader_answer(reader, &question, &query, &w, &last, &err),
		    &err);
		/* The cursor is of one length and stands before the records. */
		skip =
		    w.bytes < 2 + sizeof(cursor) ? w.bytes : 2 + sizeof(cursor);
		memcpy(cursor, page + 2, sizeof(cursor));
		query.cursor = (struct text){ cursor, sizeof(cursor) };
		found.records += w.records;
		key.k0 = hash_bytes(key, page + skip, w.bytes - skip);
	}
	found.digest = key.k0;
	reader_close(&reader);
	return found;
}

/* ---- what is recorded ---- */

static void
some_job(uint64_t *random)
{
	struct compact *compact = &writer->compact;

	compact->job = (struct compact_job){
		.hour = { .partition = 1,
		    .kind = below(random, 2) ? RECORD_EVENT : RECORD_SAMPLE,
		    .hour = key_hour(T0) + (int32_t)below(random, 3),
		    .first_ns = INT64_MIN },
		.choice = hour_cursor_all,
		.level = COMPACTED_ROW_LEVEL_WHOLE,
		.whole = true,
	};
	compact->step_rows = 20 + (uint32_t)below(random, 200);
	compact->busy = true;
}

static void
live(uint64_t *random)
{
	struct compact *compact = &writer->compact;
	struct err err = { 0 };
	bool more, done;

	for (unsigned i = 0; i < STEPS; i++) {
		if (below(random, 3) == 0)
			must(writer_step(writer, &more, &err) == DB_OK ? 0 : -1,
			    &err);
		if (!compact->busy || below(random, 12) == 0)
			some_job(random); /* the one at work is given up */
		must(compact_pass(compact, writer->db, &done, &err) == DB_OK
			 ? 0
			 : -1,
		    &err);
		compact->busy = !done;
	}
}

/* ---- the judge ---- */

static void
on_wrong(void *arg, const char *sentence)
{
	(void)arg;
	fprintf(stderr, "%s\n", sentence);
}

static bool
is_whole(const struct found *want, const char *when)
{
	struct found found = find_all();
	struct err err = { 0 };

	if (verify_tables(writer->db, on_wrong, NULL, &err) != 0)
		return false;
	if (found.records == want->records && found.digest == want->digest)
		return true;
	fprintf(stderr, "%s: %" PRIu64 " records, not %" PRIu64 "\n", when,
	    found.records, want->records);
	return false;
}

static bool
judge(void *arg, const char *dir, uint64_t at)
{
	const struct found *want = arg;
	struct err err = { 0 };
	bool good;

	(void)at;
	open_store(dir);
	must(writer_run(writer, &err), &err);
	good = is_whole(want, "indexed");
	must(writer_compact(writer, &err), &err);
	good = good && is_whole(want, "compacted");
	close_store();
	return good;
}

/* ---- the run ---- */

/* Two of the same journal: in one nothing is compacted. */
static void
try_store(const char *base, uint64_t seed, struct states_tally *tally)
{
	struct found want;
	const struct states_judge of_life = { judge, &want };
	char dir[512], crash[512];
	uint64_t random = seed, again = seed;
	struct err err = { 0 };

	snprintf(dir, sizeof(dir), "%s/live", base);
	snprintf(crash, sizeof(crash), "%s/crash", base);
	states_clear();
	states_build(dir, 0, &random);
	open_store(dir);
	fill_journal(&random);
	must(writer_run(writer, &err), &err);
	want = find_all();
	close_store();
	if (want.records != BATCHES * RECORDS)
		abort();
	states_build(dir, 0, &again);
	open_store(dir);
	fill_journal(&again);
	states_start(dir);
	live(&random);
	states_try(tally, &of_life, crash, seed, &random);
	close_store();
}

int
main(int argc, char **argv)
{
	return states_main(argc, argv, 1000, try_store);
}

/*
 * store - a short life of a journal, and a indexer of one, of which every step
 * may fail.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "aggregator/admin/admin.h"
#include "aggregator/ingest/receiver.h"
#include "aggregator/journal/verify.h"
#include "aggregator/tables/tables.h"
#include "aggregator/writer/writer.h"
#include "proto/os/clock.h"
#include "tests/fault/nth/nth.h"

enum { GROUPS = 10, BATCHES = 4, RECORDS = 12, MAP_BYTES = 64 << 20 };
#define T0 (INT64_C(1508000000) * NS_PER_SECOND)

struct store {
	struct journal *journal;
	struct receiver *receiver;
};

static int
open_store(struct store *store, const char *dir)
{
	const struct journal_options how = { .map_bytes = MAP_BYTES };
	struct err err = { 0 };

	*store = (struct store){ NULL, NULL };
	if (journal_open(&store->journal, dir, &how, &err) != 0) {
		fprintf(stderr, "open: %s\n", err.text);
		return -1;
	}
	store->receiver = receiver_new(store->journal, 0);
	return 0;
}

static void
close_store(struct store *store)
{
	receiver_free(&store->receiver);
	journal_close(&store->journal);
}

/* ---- the sender: content follows from stream and number alone ---- */

static void
put_event(struct wire_writer *w, uint32_t stream, uint64_t seq, int i)
{
	unsigned char pairs[256];
	struct wire_writer attributes;
	char text[32];
	struct record record = { .kind = RECORD_EVENT,
		.time_ns =
		    T0 + (int64_t)(seq * 1000 + stream * 100) * 60000000 + i,
		.source = text_of("cascade"),
		.name = text_of(i % 2 == 0 ? "pull-start" : "pull-end"),
		.attributes = 1 };

	wire_writer_init(&attributes, pairs, sizeof(pairs));
	snprintf(text, sizeof(text), "img=%" PRIu64 "-%d", seq, i / 2);
	wire_put_text_attribute(&attributes, text_of("message"), text_of(text));
	record.pairs = (struct text){ (const char *)attributes.at,
		(uint32_t)attributes.bytes };
	wire_put_record(w, &record);
}

static struct wire_header
header_of(uint32_t stream, uint64_t seq)
{
	return (struct wire_header){ .type = WIRE_BATCH,
		.partition = text_of("acct$pool"),
		.node = text_of(stream == 0 ? "n0" : "n1"),
		.session.bytes = { (unsigned char)(stream + 1) },
		.seq = seq };
}

/* Was it acknowledged, if the transaction is? */
static bool
send_batch(struct store *store, uint32_t stream, uint64_t seq)
{
	static unsigned char frame[WIRE_FRAME_BYTES_MAX], body[1 << 14];
	struct wire_header header = header_of(stream, seq), answer = { 0 };
	struct wire_writer w;
	size_t bytes;

	wire_writer_init(&w, body, sizeof(body));
	for (int i = 0; i < RECORDS; i++)
		put_event(&w, stream, seq, i);
	header.records = RECORDS;
	header.body_bytes = (uint32_t)w.bytes;
	bytes = wire_frame(frame, sizeof(frame), &header,
	    (struct text){ (const char *)body, (uint32_t)w.bytes });
	receiver_take(store->receiver,
	    (struct text){ (const char *)frame, (uint32_t)bytes }, 1, T0,
	    RECEIVER_ROOM, &answer);
	return answer.type == WIRE_ACK;
}

/* One transaction.  -1: the store is broken, as the aggregator would end. */
static int
take_group(struct store *store, struct nth_ledger *ledger)
{
	uint64_t next[NTH_STREAMS];
	struct err err = { 0 };
	enum db_result result;

	memcpy(next, ledger->stored, sizeof(next));
	if (journal_begin(store->journal, &err) != 0)
		return -1;
	for (uint32_t i = 0; i < BATCHES; i++) {
		uint32_t s = i % NTH_STREAMS;

		if (send_batch(store, s, next[s] + 1))
			next[s]++;
		if (next[s] > ledger->sent[s])
			ledger->sent[s] = next[s];
	}
	journal_purge(store->journal, 0, 0, 0, 1);
	result = journal_commit(store->journal, &err);
	if (result != DB_OK) {
		receiver_failed(store->receiver);
		return result == DB_FULL ? 0 : -1;
	}
	receiver_committed(store->receiver);
	memcpy(ledger->stored, next, sizeof(next));
	return 0;
}

static int
run_journal(const char *dir, struct nth_ledger *ledger)
{
	struct store store;
	int rc = open_store(&store, dir);

	for (int i = 0; i < GROUPS && rc == 0; i++)
		rc = take_group(&store, ledger);
	close_store(&store);
	if (rc == 0 && open_store(&store, dir) == 0)
		rc = take_group(&store, ledger);
	close_store(&store);
	return rc;
}

/* ---- the judge of the journal ---- */

static void
complain(void *arg, const char *sentence)
{
	(void)arg;
	fprintf(stderr, "%s\n", sentence);
}

static bool
stands_right(struct store *store, const struct nth_ledger *ledger)
{
	struct journal_stream stream;
	struct err err = { 0 };
	uint64_t last_seq[NTH_STREAMS];

	if (journal_begin(store->journal, &err) != 0)
		return nth_wrong(err.text, 0, 0);
	for (uint32_t s = 0; s < NTH_STREAMS; s++) {
		struct wire_header h = header_of(s, 1);

		if (journal_stream_get(store->journal, &h.session, h.partition,
			&stream) == JOURNAL_DAMAGED)
			return nth_wrong("damaged stream", s, 0);
		last_seq[s] = stream.last_seq;
		if (last_seq[s] < ledger->stored[s])
			return nth_wrong(
			    "lost up to", last_seq[s], ledger->stored[s]);
		if (last_seq[s] > ledger->sent[s])
			return nth_wrong(
			    "made up", last_seq[s], ledger->sent[s]);
	}
	for (uint32_t s = 0; s < NTH_STREAMS; s++)
		if (!send_batch(store, s, last_seq[s] + 1))
			return nth_wrong("goes on", s, 0);
	if (journal_commit(store->journal, &err) != DB_OK)
		return nth_wrong(err.text, 0, 0);
	return true;
}

static bool
judge_journal(const char *dir, const struct nth_ledger *ledger)
{
	struct store store;
	struct err err = { 0 };
	bool good = open_store(&store, dir) == 0 &&
		    journal_verify(store.journal, complain, NULL, &err) == 0 &&
		    stands_right(&store, ledger) &&
		    journal_verify(store.journal, complain, NULL, &err) == 0;

	close_store(&store);
	return good;
}

/* ---- the indexer ---- */

static const struct writer_options folding = { .models = "deploy/models",
	.map_bytes = MAP_BYTES };

static void
prepare_indexer(const char *dir, struct nth_ledger *ledger)
{
	if (run_journal(dir, ledger) != 0)
		abort();
	for (uint32_t s = 0; s < NTH_STREAMS; s++)
		ledger->records += ledger->stored[s] * RECORDS;
}

static int
indexer_all(const char *dir)
{
	struct store store;
	struct writer *writer = NULL;
	struct err err = { 0 };
	int rc = open_store(&store, dir);

	/* Here libconfuse reads the models, which falls over its own feet
	 * without memory. */
	nth_spare_malloc(true);
	if (rc == 0)
		rc = writer_open(&writer, dir, store.journal, &folding, &err);
	nth_spare_malloc(false);
	if (rc == 0)
		rc = writer_run(writer, &err);
	if (rc == 0)
		rc = writer_compact(writer, &err);
	if (rc != 0)
		fprintf(stderr, "indexer: %s\n", err.text);
	writer_close(&writer);
	close_store(&store);
	return rc;
}

static int
run_indexer(const char *dir, struct nth_ledger *ledger)
{
	(void)ledger;
	return indexer_all(dir);
}

static bool
judge_indexer(const char *dir, const struct nth_ledger *ledger)
{
	struct db_options how = { .read_only = true };
	struct db *tables;
	struct db_txn *txn;
	struct err err = { 0 };
	uint64_t records;

	if (indexer_all(dir) != 0)
		return false;
	if (admin_verify(dir, &err) != 0 ||
	    tables_open(&tables, dir, &how, &err) != 0 ||
	    db_begin(tables, false, &txn, &err) != 0)
		return nth_wrong(err.text, 0, 0);
	records = tables_fact(txn, FACT_RECORDS);
	db_abort(&txn);
	db_close(&tables);
	return records == ledger->records ||
	       nth_wrong("records", records, ledger->records);
}

const struct nth_scenario nth_journal = { "journal", NULL, run_journal,
	judge_journal };
const struct nth_scenario nth_indexer = { "indexer", prepare_indexer,
	run_indexer, judge_indexer };

/*
 * restored - print what a store has that was made of an archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/upkeep/restored.h"

#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"

struct row {
	struct text partition;
	uint64_t events, spans, samples, gaps, rejected, left_out;
	int64_t from, to;
};

const struct answer_column restored_columns[] = {
	{ "partition", "PARTITION", ANSWER_AT_TEXT(struct row, partition),
	    "account$pool" },
	{ "events", "EVENTS", ANSWER_AT_COUNT(struct row, events),
	    "events that the store has" },
	{ "spans", "SPANS", ANSWER_AT_COUNT(struct row, spans), "spans" },
	{ "samples", "SAMPLES", ANSWER_AT_COUNT(struct row, samples),
	    "samples" },
	{ "gaps", NULL, ANSWER_AT_COUNT(struct row, gaps),
	    "gap records, without that of the restore" },
	{ "rejected", NULL, ANSWER_AT_COUNT(struct row, rejected),
	    "rejected batches" },
	{ "from", "FROM", ANSWER_AT_TIME(struct row, from),
	    "time of the oldest record" },
	{ "to", "TO", ANSWER_AT_TIME(struct row, to),
	    "time of the newest record" },
	{ "left_out", NULL, ANSWER_AT_COUNT(struct row, left_out),
	    "records that stay in the archive because of --since" },
	{ .key = NULL },
};

static void
put_row(struct answer *answer, const struct partition_counts *counts,
    struct text partition)
{
	bool has = counts->first_ns <= counts->last_ns;
	struct row row = { .partition = partition,
		.events = counts->records[RECORD_EVENT],
		.spans = counts->records[RECORD_SPAN],
		.samples = counts->records[RECORD_SAMPLE],
		.gaps = counts->records[RECORD_GAP],
		.rejected = counts->records[RECORD_REJECTED],
		.from = has ? counts->first_ns : ANSWER_NO_NS,
		.to = has ? counts->last_ns : ANSWER_NO_NS };

	for (int kind = 0; kind < RECORD_KINDS; kind++)
		row.left_out += counts->archived[kind];
	answer_row(answer, &row, NULL);
}

int
restored_print(const char *store, struct answer *answer, struct err *err)
{
	struct db_options how = { .read_only = true, .allow_network = true };
	struct db *tables = NULL;
	struct db_txn *txn;
	struct partition_counts counts;
	struct text name;
	int rc;

	if (tables_open(&tables, store, &how, err) != 0)
		return -1;
	rc = db_begin(tables, false, &txn, err);
	for (uint32_t i = 1; rc == 0 && i <= dictionary_last(txn, 0); i++)
		if (dictionary_text(txn, 0, i, &name)) {
			tables_get_counts(txn, i, &counts);
			put_row(answer, &counts, name);
		}
	if (rc == 0)
		db_abort(&txn);
	db_close(&tables);
	return rc;
}

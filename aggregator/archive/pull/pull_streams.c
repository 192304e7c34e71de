/*
 * pull_streams - what a store that was read from the archive accepts next.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/pull/pull_streams.h"

#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/stream_row.h"
#include "aggregator/tables/tables.h"

static int
put_stream(struct db_txn *txn, struct journal *journal, struct text key,
    struct text value, struct err *err)
{
	struct session_id session;
	struct stream_row row;
	struct journal_stream stream;
	struct text partition;
	uint32_t number;

	if (!stream_row_get_key(key, &number, &session) ||
	    !stream_row_decode(value, &row) ||
	    !dictionary_text(txn, 0, number, &partition))
		return err_set(err, "archive: a malformed stream");
	/* What the numbers before its last one contain only the lost journal
	 * knew. */
	stream = (struct journal_stream){ .first_ns = row.receive_ns,
		.last_ns = row.receive_ns,
		.forgotten = row.hash != 0 ? row.last_seq - 1 : row.last_seq,
		.derived = row.derived,
		.owner = row.owner,
		.node = row.node };
	journal_stream_advance(
	    journal, &session, partition, &stream, row.last_seq, row.hash);
	journal_stream_put(journal, &session, partition, &stream);
	return 0;
}

static int
put_all(struct db_txn *txn, struct journal *journal, struct err *err)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_STREAMS);
	const struct text all = { NULL, 0 };
	struct text key, value;
	int rc = 0;

	for (bool more = db_seek(cursor, all, &key, &value); more && rc == 0;
	     more = db_next(cursor, &key, &value))
		rc = put_stream(txn, journal, key, value, err);
	db_cursor_close(&cursor);
	return rc;
}

int
pull_streams(struct db *tables, struct journal *journal, struct err *err)
{
	struct db_txn *txn;
	int rc;

	if (db_begin(tables, false, &txn, err) != 0)
		return -1;
	rc = journal_begin(journal, err);
	if (rc == 0) {
		rc = put_all(txn, journal, err);
		if (rc != 0)
			journal_abort(journal);
		else if (journal_commit(journal, err) != DB_OK)
			rc = -1;
	}
	db_abort(&txn);
	return rc;
}

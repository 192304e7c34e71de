/*
 * ended_sessions - removes the rows of sessions that ended.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/ended_sessions.h"

#include <string.h>

enum {
	ROWS_AT_ONCE = 1024,   /* read in one call */
	REMOVED_AT_ONCE = 256, /* the rest waits for the next pass */
};

static bool
is_ended(const struct ended_sessions *ended_sessions, struct text value,
    int64_t now_ns)
{
	int64_t idle_ns = ENDED_SESSIONS_IDLE_NS;
	struct journal_stream stream;

	/* A row that cannot be read protects its stream: verify reports it. */
	if (!journal_stream_decode(value, &stream))
		return false;
	if (stream.derived && ended_sessions->retain_ns == 0)
		return false;
	if (stream.derived && ended_sessions->retain_ns > idle_ns)
		idle_ns = ended_sessions->retain_ns;
	return stream.last_ns < now_ns - idle_ns;
}

uint32_t
ended_sessions_collect(struct ended_sessions *ended_sessions,
    struct journal *journal, int64_t now_ns)
{
	struct db_txn *txn = journal_txn(journal);
	struct db_cursor *cursor = db_cursor_open(txn, JOURNAL_STREAMS);
	struct text key, value,
	    from = { (const char *)ended_sessions->at,
		    ended_sessions->at_bytes };
	bool more = db_seek(cursor, from, &key, &value);
	unsigned char ended[REMOVED_AT_ONCE][sizeof(ended_sessions->at)];
	uint16_t bytes[REMOVED_AT_ONCE];
	uint32_t count = 0;

	for (int rows = 0;
	     more && rows < ROWS_AT_ONCE && count < REMOVED_AT_ONCE; rows++) {
		if (key.bytes <= sizeof(ended[0]) &&
		    is_ended(ended_sessions, value, now_ns)) {
			memcpy(ended[count], key.at, key.bytes);
			bytes[count++] = (uint16_t)key.bytes;
		}
		more = db_next(cursor, &key, &value);
	}
	ended_sessions->at_bytes = 0;
	if (more && key.bytes <= sizeof(ended_sessions->at)) {
		memcpy(ended_sessions->at, key.at, key.bytes);
		ended_sessions->at_bytes = key.bytes;
	}
	db_cursor_close(&cursor);
	for (uint32_t i = 0; i < count; i++)
		journal_stream_remove(
		    txn, (struct text){ (const char *)ended[i], bytes[i] });
	return count;
}

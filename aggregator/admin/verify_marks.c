/*
 * verify_marks - check what a store keeps for its archive: marks and streams.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/verify_private.h"

#include "aggregator/marks/marks.h"
#include "aggregator/tables/stream_row.h"

static void
check_marks(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_MARKS);
	uint64_t last = marks_last_change(check->txn);
	bool is_kept = marks_are_kept(check->txn);
	struct text key, value, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);
	struct mark mark;

	for (; more; more = db_next(cursor, &key, &value)) {
		if (!marks_decode(key, value, &mark))
			verify_report(check, "marks: malformed row");
		else if (mark.change == 0 || mark.change > last)
			verify_report(check,
			    "marks: change %llu, but the last one is %llu",
			    (unsigned long long)mark.change,
			    (unsigned long long)last);
		else if (!is_kept)
			verify_report(check,
			    "marks: a row, but the store has no archive");
	}
	db_cursor_close(&cursor);
}

static void
check_streams(struct check *check)
{
	struct db_cursor *cursor = db_cursor_open(check->txn, TABLES_STREAMS);
	struct text key, value, name, all = { NULL, 0 };
	bool more = db_seek(cursor, all, &key, &value);
	struct session_id session;
	struct stream_row row;
	uint32_t partition;

	for (; more; more = db_next(cursor, &key, &value)) {
		if (!stream_row_get_key(key, &partition, &session) ||
		    !stream_row_decode(value, &row))
			verify_report(check, "streams: malformed row");
		else if (!dictionary_text(check->txn, 0, partition, &name))
			verify_report(check,
			    "streams: partition %u has no name", partition);
	}
	db_cursor_close(&cursor);
}

void
verify_marks(struct check *check)
{
	check_marks(check);
	check_streams(check);
}

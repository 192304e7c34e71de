/*
 * writer_marks - the marks of the archive: all at first, then their removal.
 *
 * Only the writer changes the tables, so it does both, between its steps.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include <string.h>
#include <time.h>

#include "aggregator/tables/stream_row.h"
#include "proto/os/clock.h"

enum { ROWS = 8192 }; /* read by a transaction */
/* A request is noted between two steps; a full store pauses. */
#define NOTE_NS (10 * NS_PER_SECOND)
#define LOOK_NS (NS_PER_SECOND / 20)

/* What the journal knows of the streams; too much of those with entries that
 * are not indexed yet: the marks are not complete before they are. */
static int
raise_streams(struct writer *writer, struct db_txn *txn, struct err *err)
{
	struct text key, value, partition, all = { NULL, 0 };
	struct journal_stream stream;
	struct session_id session;
	struct db_cursor *cursor;
	struct db_txn *journal;
	uint32_t number;
	bool more;

	if (db_begin(journal_db(writer->journal), false, &journal, err) != 0)
		return -1;
	cursor = db_cursor_open(journal, JOURNAL_STREAMS);
	for (more = db_seek(cursor, all, &key, &value); more;
	     more = db_next(cursor, &key, &value)) {
		if (!journal_stream_key(key, &session, &partition) ||
		    !journal_stream_decode(value, &stream))
			continue;
		number = dictionary_find(txn, 0, partition);
		if (number != 0)
			stream_row_raise(txn, number, &session,
			    &(struct stream_row){ stream.last_seq,
				stream.last_ns, stream.derived, stream.owner,
				stream.node, stream.hash });
	}
	db_cursor_close(&cursor);
	db_abort(&journal);
	return 0;
}

int
writer_marks_open(struct writer *writer, struct db_txn *txn, struct err *err)
{
	if (writer->options.archive && !marks_are_kept(txn)) {
		marks_begin(txn, journal_next(writer->journal) - 1);
		if (raise_streams(writer, txn, err) != 0)
			return -1;
	}
	writer->marks.is_incomplete =
	    marks_are_kept(txn) && !marks_are_complete(txn);
	return 0;
}

static enum db_result
mark(struct writer *writer, bool *more, struct err *err)
{
	enum db_result result = marks_all_step(writer->db, ROWS, more, err);
	struct db_txn *txn;
	bool complete;

	if (result != DB_OK || *more)
		return result;
	if (db_begin(writer->db, false, &txn, err) != 0)
		return DB_BROKEN;
	complete = marks_are_complete(txn);
	db_abort(&txn);
	pthread_mutex_lock(&writer->lock);
	writer->marks.is_incomplete = !complete;
	pthread_mutex_unlock(&writer->lock);
	return DB_OK;
}

static void
keep_settled(struct marks_clear *to, const struct marks_clear *before)
{
	if (to->settled < before->settled)
		to->settled = before->settled;
}

/* A new request takes the place of one that is under way. */
static bool
take_request(struct writer *writer)
{
	struct writer_marks *marks = &writer->marks;

	pthread_mutex_lock(&writer->lock);
	if (marks->is_asked) {
		if (marks->is_clearing)
			keep_settled(&marks->asked, &marks->clear);
		marks->clear = marks->asked;
		marks->is_clearing = true;
		marks->is_asked = false;
	}
	pthread_mutex_unlock(&writer->lock);
	return marks->is_clearing;
}

static enum db_result
clear(struct writer *writer, bool *more, struct err *err)
{
	struct writer_marks *marks = &writer->marks;
	enum db_result result =
	    marks_clear_step(writer->db, &marks->clear, ROWS, more, err);

	if (result != DB_OK || *more)
		return result;
	marks->is_clearing = false;
	return DB_OK;
}

/* What only the archive before had. */
static void
forget_archived(struct db_txn *txn)
{
	uint32_t last = dictionary_last(txn, 0);
	struct partition_counts counts;
	struct text name;

	for (uint32_t partition = 1; partition <= last; partition++) {
		if (!dictionary_text(txn, 0, partition, &name))
			continue;
		tables_get_counts(txn, partition, &counts);
		memset(counts.archived, 0, sizeof(counts.archived));
		counts.oldest_ns = counts.first_ns;
		tables_put_counts(txn, partition, &counts);
	}
}

static void
put_note(struct db_txn *txn, const struct writer_archive *note)
{
	if (note->is_new)
		marks_begin_again(txn);
	if (note->id != tables_fact(txn, FACT_ARCHIVE_ID)) {
		forget_archived(txn);
		tables_put_fact(txn, FACT_ARCHIVE_ID, note->id);
	}
	if (note->is_again)
		tables_put_fact(
		    txn, FACT_CHANGE, tables_fact(txn, FACT_CHANGE) + 1);
	if (note->change > tables_fact(txn, FACT_ARCHIVED))
		tables_put_fact(txn, FACT_ARCHIVED, note->change);
	if (note->claimant != tables_fact(txn, FACT_CLAIMANT))
		tables_put_fact(txn, FACT_CLAIMANT, note->claimant);
	if (note->claim != tables_fact(txn, FACT_CLAIM))
		tables_put_fact(txn, FACT_CLAIM, note->claim);
}

static enum db_result
note(struct writer *writer, struct err *err)
{
	struct writer_marks *marks = &writer->marks;
	struct writer_archive note;
	enum db_result result;
	struct db_txn *txn;
	bool is_noting;

	pthread_mutex_lock(&writer->lock);
	is_noting = marks->is_noting;
	note = marks->note;
	pthread_mutex_unlock(&writer->lock);
	if (!is_noting)
		return DB_OK;
	if (db_begin(writer->db, true, &txn, err) != 0)
		return DB_BROKEN;
	put_note(txn, &note);
	result = db_commit(&txn, err);
	if (result != DB_OK)
		return result;
	pthread_mutex_lock(&writer->lock);
	marks->is_noting = marks->is_unknown = false;
	marks->is_incomplete |= note.is_new;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
	return DB_OK;
}

enum db_result
writer_marks_step(struct writer *writer, bool *more, struct err *err)
{
	enum db_result result = note(writer, err);

	*more = false;
	if (result != DB_OK)
		return result;
	if (writer->marks.is_incomplete)
		return mark(writer, more, err);
	return take_request(writer) ? clear(writer, more, err) : DB_OK;
}

/* ---- from other threads ---- */

/* Locking does not change what the caller sees as const. */
static pthread_mutex_t *
lock_of(const struct writer *writer)
{
	return (pthread_mutex_t *)(uintptr_t)&writer->lock;
}

bool
writer_marks_are_complete(const struct writer *writer)
{
	bool complete;

	pthread_mutex_lock(lock_of(writer));
	complete = !writer->marks.is_incomplete;
	pthread_mutex_unlock(lock_of(writer));
	return complete;
}

void
writer_clear_marks(struct writer *writer, const struct marks_clear *clear)
{
	struct writer_marks *marks = &writer->marks;
	struct marks_clear before;

	pthread_mutex_lock(&writer->lock);
	before = marks->asked;
	marks->asked = *clear;
	if (marks->is_asked)
		keep_settled(&marks->asked, &before);
	marks->is_asked = true;
	writer->woken = true;
	pthread_cond_broadcast(&writer->changed);
	pthread_mutex_unlock(&writer->lock);
}

bool
writer_marks_hold_all(struct writer *writer)
{
	bool hold;

	pthread_mutex_lock(&writer->lock);
	hold = writer->marks.is_unknown || writer->marks.is_incomplete;
	pthread_mutex_unlock(&writer->lock);
	return hold;
}

void
writer_await_archive(struct writer *writer)
{
	pthread_mutex_lock(&writer->lock);
	writer->marks.is_unknown = true;
	pthread_mutex_unlock(&writer->lock);
}

int
writer_note_archive(struct writer *writer, const struct writer_archive *archive,
    const atomic_bool *stop, struct err *err)
{
	int64_t until_ns = clock_monotonic_ns() + NOTE_NS, now_ns;
	bool is_waiting, is_again;

	pthread_mutex_lock(&writer->lock);
	/* Of a note that was not waited for long enough. */
	is_again = writer->marks.is_noting && writer->marks.note.is_again;
	writer->marks.note = *archive;
	writer->marks.note.is_again |= is_again;
	writer->marks.is_noting = writer->woken = true;
	pthread_cond_broadcast(&writer->changed);
	while ((is_waiting = writer->marks.is_noting) && !atomic_load(stop) &&
	       (now_ns = clock_monotonic_ns()) < until_ns) {
		const struct timespec look = { (now_ns + LOOK_NS) /
						   NS_PER_SECOND,
			(now_ns + LOOK_NS) % NS_PER_SECOND };

		pthread_cond_timedwait(&writer->changed, &writer->lock, &look);
	}
	pthread_mutex_unlock(&writer->lock);
	return !is_waiting
		   ? 0
		   : err_set(err, "archive: the store did not note how far the "
				  "archive is; trying again");
}

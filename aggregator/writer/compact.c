/*
 * compact - decide which hours to compact, and when.
 *
 * An hour that has ended and is idle is compacted as a whole.  An hour that is
 * still being filled is compacted slice by slice, so a reader never has many
 * slices to merge.  The search examines some hours at a time and continues
 * where it stopped.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include "aggregator/tables/tables.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { HOURS = 256 }; /* examined per step */
/* Late records of a compacted hour wait this many times longer, because the
 * whole hour is written again. */
enum { LATE_TIMES = 15 };
#define SEARCH_MIN_NS NS_PER_SECOND
#define SEARCH_MAX_NS (30 * NS_PER_SECOND)

/* The state of a search. */
struct search {
	struct compact *compact;
	struct db_txn *txn;
	struct db_cursor *cursor;
	int64_t before_ns; /* an hour that ends before this is over */
	bool force;        /* compact hours that are not idle too */
};

/* The slices of an hour. */
struct slices {
	uint32_t count, last;
	uint32_t of_level[COMPACTED_ROW_LEVELS];
};

static bool
seek(struct search *search, const struct key_row_block *to,
    struct key_row_block *found)
{
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;

	return db_seek(
		   search->cursor, hour_cursor_key(bytes, to), &key, &value) &&
	       key_get_row_block(key, found);
}

static bool
same_hour(const struct key_row_block *a, const struct key_row_block *b)
{
	return a->partition == b->partition && a->kind == b->kind &&
	       a->hour == b->hour;
}

static struct slices
count_slices(struct search *search, const struct key_row_block *hour)
{
	struct slices slices = { .count = 0 };
	struct key_row_block to = *hour, row_key;

	for (to.slice = 0;
	     seek(search, &to, &row_key) && same_hour(&row_key, hour);) {
		slices.count++;
		slices.last = row_key.slice;
		slices.of_level[compacted_row_level(row_key.slice) %
				COMPACTED_ROW_LEVELS]++;
		if (row_key.slice == UINT32_MAX)
			break;
		to.slice = row_key.slice + 1;
	}
	return slices;
}

/* Has the hour rows in the other table, from its slice on? */
static bool
has_rows(
    struct search *search, const struct key_row_block *hour, unsigned table)
{
	struct db_cursor *mine = search->cursor;
	struct key_row_block row_key;
	bool found;

	search->cursor = db_cursor_open(search->txn, table);
	found = seek(search, hour, &row_key) && same_hour(&row_key, hour);
	db_cursor_close(&search->cursor);
	search->cursor = mine;
	return found;
}

/* Has its last slice got no new records for a while? */
static bool
is_idle(struct search *search, const struct key_row_block *hour, uint32_t slice)
{
	const struct compact_quiet *quiet = &search->compact->quiet;
	struct key_row_block to = *hour, row_key;
	struct text key, value;
	bool more;

	to.slice = COMPACTED_ROW_LEVEL_WHOLE << COMPACTED_ROW_LEVEL_BITS;
	if (has_rows(search, &to, TABLES_CHUNKS))
		quiet = &search->compact->late;
	to.slice = slice;
	more = seek(search, &to, &row_key);
	while (more && same_hour(&row_key, hour) && row_key.slice == slice) {
		if (row_key.row > quiet->row)
			return false;
		more = db_next(search->cursor, &key, &value) &&
		       key_get_row_block(key, &row_key);
	}
	return true;
}

static bool
is_over(const struct search *search, const struct key_row_block *hour)
{
	return search->force ||
	       (hour->hour + INT64_C(1)) * KEY_HOUR_NS <= search->before_ns;
}

static bool
job_of_row_blocks(struct search *search, struct compact_job *job)
{
	struct slices slices = count_slices(search, &job->hour);

	if (is_over(search, &job->hour) &&
	    (search->force || is_idle(search, &job->hour, slices.last))) {
		job->choice = hour_cursor_all;
		job->level = COMPACTED_ROW_LEVEL_WHOLE;
		job->whole = true;
		return true;
	}
	if (slices.count <= COMPACT_SLICES)
		return false;
	/* All but the last slice, which is still being filled. */
	job->choice = (struct hour_cursor_choice){ 0, slices.last - 1, 1, 0 };
	job->level = 0;
	return true;
}

static bool
job_of_slices(struct search *search, struct compact_job *job)
{
	struct slices slices = count_slices(search, &job->hour);

	if (slices.count < 2)
		return false;
	if (is_over(search, &job->hour) &&
	    !has_rows(search, &job->hour, TABLES_ROW_BLOCKS)) {
		job->choice = hour_cursor_all;
		job->level = COMPACTED_ROW_LEVEL_WHOLE;
		job->whole = true;
		return true;
	}
	for (uint32_t level = 0; level + 1 < COMPACTED_ROW_LEVEL_WHOLE;
	     level++) {
		uint32_t first = level << COMPACTED_ROW_LEVEL_BITS;

		if (slices.of_level[level] < COMPACT_SLICES)
			continue;
		job->choice = (struct hour_cursor_choice){ 1, 0, first,
			first + ((1u << COMPACTED_ROW_LEVEL_BITS) - 1) };
		job->level = level + 1;
		return true;
	}
	return false;
}

/* Examine the next hours; true when one of them has work to do. */
static bool
search_hours(struct search *search)
{
	struct compact *compact = search->compact;
	struct key_row_block row_key;

	for (unsigned hours = 0; hours < HOURS; hours++) {
		struct compact_job job = { .slice = 0 };

		if (!seek(search, &compact->at, &row_key)) {
			compact->searching =
			    compact->table == TABLES_ROW_BLOCKS;
			compact->table = TABLES_CHUNKS;
			compact->at = (struct key_row_block){ .hour = INT32_MIN,
				.first_ns = INT64_MIN };
			return false;
		}
		job.hour =
		    (struct key_row_block){ .partition = row_key.partition,
			    .kind = row_key.kind,
			    .hour = row_key.hour,
			    .first_ns = INT64_MIN };
		compact->at = job.hour;
		if (compact->at.hour < INT32_MAX)
			compact->at.hour++;
		else
			compact->at.kind++;
		if ((compact->table == TABLES_ROW_BLOCKS
			    ? job_of_row_blocks(search, &job)
			    : job_of_slices(search, &job)) &&
		    !compact_skips(search->txn, &job.hour) &&
		    !compact_is_held(&job, search->txn)) {
			compact->job = job;
			return true;
		}
	}
	return false;
}

static int
search(struct writer *writer, bool force, struct err *err)
{
	struct compact *compact = &writer->compact;
	struct search search = { .compact = compact,
		.before_ns = clock_wall_ns() - writer->options.compact_after_ns,
		.force = force };

	if (db_begin(writer->db, false, &search.txn, err) != 0)
		return -1;
	search.cursor = db_cursor_open(search.txn, compact->table);
	compact->busy = search_hours(&search);
	db_cursor_close(&search.cursor);
	db_abort(&search.txn);
	return 0;
}

/* Rows up to `row` exist now. */
static void
note_rows(struct compact_quiet *quiet, uint32_t row, int64_t now_ns, int64_t ns)
{
	if (quiet->fresh_ns != 0 && now_ns - quiet->fresh_ns < ns)
		return;
	quiet->row = quiet->fresh;
	quiet->fresh = row;
	quiet->fresh_ns = now_ns;
}

static int64_t
late_ns(int64_t ns)
{
	return ns < INT64_MAX / LATE_TIMES ? LATE_TIMES * ns : INT64_MAX;
}

static int
begin_search(struct writer *writer, int64_t now_ns, struct err *err)
{
	struct compact *compact = &writer->compact;
	struct db_txn *txn;
	uint32_t row;

	if (db_begin(writer->db, false, &txn, err) != 0)
		return -1;
	row = (uint32_t)tables_fact(txn, FACT_ROW);
	db_abort(&txn);
	note_rows(
	    &compact->quiet, row, now_ns, writer->options.compact_after_ns);
	note_rows(&compact->late, row, now_ns,
	    late_ns(writer->options.compact_after_ns));
	compact->searching = true;
	compact->table = TABLES_ROW_BLOCKS;
	compact->at =
	    (struct key_row_block){ .hour = INT32_MIN, .first_ns = INT64_MIN };
	return 0;
}

int64_t
compact_search_ns(const struct writer *writer)
{
	int64_t ns = writer->options.compact_after_ns / 2;

	if (ns < SEARCH_MIN_NS)
		return SEARCH_MIN_NS;
	return ns < SEARCH_MAX_NS ? ns : SEARCH_MAX_NS;
}

/* ---- a transaction ---- */

/* The store is full, or the plan is void: the work done so far is committed,
 * the rest is searched for again. */
static void
end_pass(struct writer *writer, bool done)
{
	struct compact *compact = &writer->compact;

	if (done)
		compact->busy = false;
	if (compact->job.hour.kind == RECORD_SAMPLE &&
	    compact->job.hour.hour < writer->retention.compacted)
		writer->retention.compacted = compact->job.hour.hour;
}

static enum db_result
do_pass(struct writer *writer, struct err *err)
{
	bool done;
	enum db_result result;

	compact_enter(writer);
	result = compact_pass(&writer->compact, writer->db, &done, err);
	compact_leave(writer, done && result == DB_OK);
	end_pass(writer, done || result != DB_OK);
	return result;
}

/* Has nobody deleted rows since? */
static bool
is_valid(const struct writer *writer, struct db_txn *txn)
{
	const struct compact *compact = &writer->compact;

	return compact->items > 0 &&
	       compact->removals == writer->retention.removals &&
	       compact->dropped == tables_fact(txn, FACT_DROPPED);
}

static enum db_result
put_plan(struct writer *writer, struct err *err)
{
	struct compact *compact = &writer->compact;
	enum db_result result = DB_OK;
	struct db_txn *txn;
	bool valid;

	if (db_begin(writer->db, true, &txn, err) != 0)
		return DB_BROKEN;
	compact_enter(writer);
	valid = is_valid(writer, txn);
	if (valid) {
		compact_put_pass(compact, txn);
		result = db_commit(&txn, err);
	} else {
		db_abort(&txn);
	}
	compact_leave(writer, valid && compact->through && result == DB_OK);
	end_pass(writer, !valid || compact->through || result != DB_OK);
	return result;
}

bool
compact_is_due(struct writer *writer)
{
	struct compact *compact = &writer->compact;
	int64_t now_ns = clock_monotonic_ns();

	compact->removals = writer->retention.removals;
	if (compact->busy || compact->searching)
		return true;
	if (now_ns < compact->next_ns)
		return false;
	compact->next_ns = now_ns + compact_search_ns(writer);
	return true;
}

int
compact_plan(struct writer *writer, struct err *err)
{
	struct compact *compact = &writer->compact;
	struct db_txn *txn;

	if (!compact->busy && !compact->searching)
		return begin_search(writer, clock_monotonic_ns(), err);
	if (!compact->busy)
		return search(writer, false, err);
	if (db_begin(writer->db, false, &txn, err) != 0)
		return -1;
	compact_enter(writer);
	compact_plan_pass(compact, txn);
	compact_leave(writer, false);
	db_abort(&txn);
	return 0;
}

enum db_result
compact_put(struct writer *writer, struct err *err)
{
	struct compact *compact = &writer->compact;

	if (!compact->is_planned)
		return DB_OK;
	compact->is_planned = false;
	/* A writer does not pass over what is damaged, as a reader does. */
	return compact->is_damaged ? do_pass(writer, err)
				   : put_plan(writer, err);
}

enum db_result
compact_step(struct writer *writer, bool *more, struct err *err)
{
	*more = compact_is_due(writer);
	if (*more && compact_plan(writer, err) != 0)
		return DB_BROKEN;
	return compact_put(writer, err);
}

enum db_result
compact_all(struct writer *writer, struct err *err)
{
	struct compact *compact = &writer->compact;
	enum db_result result = DB_OK;

	compact->busy = compact->is_planned = false;
	if (begin_search(writer, clock_monotonic_ns(), err) != 0)
		return DB_BROKEN;
	while (result == DB_OK && (compact->busy || compact->searching)) {
		if (compact->busy)
			result = do_pass(writer, err);
		else if (search(writer, true, err) != 0)
			result = DB_BROKEN;
	}
	return result;
}

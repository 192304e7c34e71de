/*
 * seal - which hours are to be sealed, and when.
 *
 * An hour that is over and rests is sealed whole; one that is being filled in
 * slices, so that a reader never has many runs to merge.  Looking goes on
 * where it stopped, some hours at a time.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include "aggregator/tables/tables.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { HOURS = 256 }; /* looked at in a step */
/* Late records of an hour that was sealed wait so many times longer, since all
 * of the hour is written again. */
enum { LATE_TIMES = 15 };
#define LOOK_MIN_NS NS_PER_SECOND
#define LOOK_MAX_NS (30 * NS_PER_SECOND)

/* How to look. */
struct look {
	struct seal *seal;
	struct db_txn *txn;
	struct db_cursor *cursor;
	int64_t before_ns; /* hours that end before this are over */
	bool force;        /* whatever rests or does not */
};

/* The runs of an hour. */
struct runs {
	uint32_t count, last;
	uint32_t of_level[SEALED_ROW_LEVELS];
};

static bool
seek(struct look *look, const struct key_head *to, struct key_head *found)
{
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;

	return db_seek(look->cursor, lane_key(bytes, to), &key, &value) &&
	       key_get_head(key, found);
}

static bool
same_hour(const struct key_head *a, const struct key_head *b)
{
	return a->partition == b->partition && a->kind == b->kind &&
	       a->bucket == b->bucket;
}

static struct runs
count_runs(struct look *look, const struct key_head *hour)
{
	struct runs runs = { .count = 0 };
	struct key_head to = *hour, head;

	for (to.run = 0; seek(look, &to, &head) && same_hour(&head, hour);) {
		runs.count++;
		runs.last = head.run;
		runs.of_level[seal_level(head.run) % SEALED_ROW_LEVELS]++;
		if (head.run == UINT32_MAX)
			break;
		to.run = head.run + 1;
	}
	return runs;
}

/* Are there rows of the hour, from its run on, in the other table? */
static bool
has_rows(struct look *look, const struct key_head *hour, unsigned table)
{
	struct db_cursor *mine = look->cursor;
	struct key_head head;
	bool found;

	look->cursor = db_cursor_open(look->txn, table);
	found = seek(look, hour, &head) && same_hour(&head, hour);
	db_cursor_close(&look->cursor);
	look->cursor = mine;
	return found;
}

/* Has nothing come to its last run for a while? */
static bool
rests(struct look *look, const struct key_head *hour, uint32_t run)
{
	const struct seal_quiet *quiet = &look->seal->quiet;
	struct key_head to = *hour, head;
	struct text key, value;
	bool more;

	to.run = SEALED_ROW_LEVEL_WHOLE << SEALED_ROW_LEVEL_BITS;
	if (has_rows(look, &to, TABLES_CHUNKS))
		quiet = &look->seal->late;
	to.run = run;
	more = seek(look, &to, &head);
	while (more && same_hour(&head, hour) && head.run == run) {
		if (head.row > quiet->row)
			return false;
		more = db_next(look->cursor, &key, &value) &&
		       key_get_head(key, &head);
	}
	return true;
}

static bool
is_over(const struct look *look, const struct key_head *hour)
{
	return look->force ||
	       (hour->bucket + INT64_C(1)) * KEY_BUCKET_NS <= look->before_ns;
}

static bool
job_of_heads(struct look *look, struct seal_job *job)
{
	struct runs runs = count_runs(look, &job->hour);

	if (is_over(look, &job->hour) &&
	    (look->force || rests(look, &job->hour, runs.last))) {
		job->choice = hour_cursor_all;
		job->level = SEALED_ROW_LEVEL_WHOLE;
		job->whole = true;
		return true;
	}
	if (runs.count <= SEAL_RUNS)
		return false;
	/* All but the last, which is being filled. */
	job->choice = (struct hour_cursor_choice){ 0, runs.last - 1, 1, 0 };
	job->level = 0;
	return true;
}

static bool
job_of_runs(struct look *look, struct seal_job *job)
{
	struct runs runs = count_runs(look, &job->hour);

	if (runs.count < 2)
		return false;
	if (is_over(look, &job->hour) &&
	    !has_rows(look, &job->hour, TABLES_HEADS)) {
		job->choice = hour_cursor_all;
		job->level = SEALED_ROW_LEVEL_WHOLE;
		job->whole = true;
		return true;
	}
	for (uint32_t level = 0; level + 1 < SEALED_ROW_LEVEL_WHOLE; level++) {
		uint32_t first = level << SEALED_ROW_LEVEL_BITS;

		if (runs.of_level[level] < SEAL_RUNS)
			continue;
		job->choice = (struct hour_cursor_choice){ 1, 0, first,
			first + ((1u << SEALED_ROW_LEVEL_BITS) - 1) };
		job->level = level + 1;
		return true;
	}
	return false;
}

/* The next hours; true when there is something to do in one. */
static bool
look_at_hours(struct look *look)
{
	struct seal *seal = look->seal;
	struct key_head head;

	for (unsigned hours = 0; hours < HOURS; hours++) {
		struct seal_job job = { .run = 0 };

		if (!seek(look, &seal->at, &head)) {
			seal->looking = seal->table == TABLES_HEADS;
			seal->table = TABLES_CHUNKS;
			seal->at = (struct key_head){ .bucket = INT32_MIN,
				.first_ns = INT64_MIN };
			return false;
		}
		job.hour = (struct key_head){ .partition = head.partition,
			.kind = head.kind,
			.bucket = head.bucket,
			.first_ns = INT64_MIN };
		seal->at = job.hour;
		if (seal->at.bucket < INT32_MAX)
			seal->at.bucket++;
		else
			seal->at.kind++;
		if ((seal->table == TABLES_HEADS ? job_of_heads(look, &job)
						 : job_of_runs(look, &job)) &&
		    !seal_skips(look->txn, &job.hour)) {
			seal->job = job;
			return true;
		}
	}
	return false;
}

static int
look(struct writer *writer, bool force, struct err *err)
{
	struct seal *seal = &writer->seal;
	struct look look = { .seal = seal,
		.before_ns = clock_wall_ns() - writer->options.seal_after_ns,
		.force = force };

	if (db_begin(writer->db, false, &look.txn, err) != 0)
		return -1;
	look.cursor = db_cursor_open(look.txn, seal->table);
	seal->busy = look_at_hours(&look);
	db_cursor_close(&look.cursor);
	db_abort(&look.txn);
	return 0;
}

/* There are rows up to `row` now. */
static void
note_rows(struct seal_quiet *quiet, uint32_t row, int64_t now_ns, int64_t ns)
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
begin_looking(struct writer *writer, int64_t now_ns, struct err *err)
{
	struct seal *seal = &writer->seal;
	struct db_txn *txn;
	uint32_t row;

	if (db_begin(writer->db, false, &txn, err) != 0)
		return -1;
	row = (uint32_t)tables_fact(txn, FACT_ROW);
	db_abort(&txn);
	note_rows(&seal->quiet, row, now_ns, writer->options.seal_after_ns);
	note_rows(
	    &seal->late, row, now_ns, late_ns(writer->options.seal_after_ns));
	seal->looking = true;
	seal->table = TABLES_HEADS;
	seal->at =
	    (struct key_head){ .bucket = INT32_MIN, .first_ns = INT64_MIN };
	return 0;
}

int64_t
seal_look_ns(const struct writer *writer)
{
	int64_t ns = writer->options.seal_after_ns / 2;

	if (ns < LOOK_MIN_NS)
		return LOOK_MIN_NS;
	return ns < LOOK_MAX_NS ? ns : LOOK_MAX_NS;
}

static enum db_result
do_job(struct writer *writer, struct err *err)
{
	struct seal *seal = &writer->seal;
	bool done;
	enum db_result result;

	seal_enter(writer);
	result = seal_pass(seal, writer->db, &done, err);
	seal_leave(writer, done && result == DB_OK);
	/* No room: what was done is done, the rest is for another time. */
	if (done || result != DB_OK)
		seal->busy = false;
	if (seal->job.hour.kind == RECORD_SAMPLE &&
	    seal->job.hour.bucket < writer->retention.sealed)
		writer->retention.sealed = seal->job.hour.bucket;
	return result;
}

enum db_result
seal_step(struct writer *writer, bool *more, struct err *err)
{
	struct seal *seal = &writer->seal;
	int64_t now_ns = clock_monotonic_ns();

	*more = true;
	if (seal->busy)
		return do_job(writer, err);
	if (seal->looking)
		return look(writer, false, err) == 0 ? DB_OK : DB_BROKEN;
	*more = false;
	if (now_ns < seal->next_ns)
		return DB_OK;
	seal->next_ns = now_ns + seal_look_ns(writer);
	*more = true;
	return begin_looking(writer, now_ns, err) == 0 ? DB_OK : DB_BROKEN;
}

enum db_result
seal_all(struct writer *writer, struct err *err)
{
	struct seal *seal = &writer->seal;
	enum db_result result = DB_OK;

	seal->busy = false;
	if (begin_looking(writer, clock_monotonic_ns(), err) != 0)
		return DB_BROKEN;
	while (result == DB_OK && (seal->busy || seal->looking)) {
		if (seal->busy)
			result = do_job(writer, err);
		else if (look(writer, true, err) != 0)
			result = DB_BROKEN;
	}
	return result;
}

/*
 * retain - remove what is too old, or too much, hour by hour.
 *
 * Heads and chunks lie by hour, so the oldest are one range for each partition
 * and kind. Then the states of phases are walked: pairs of which both events
 * are that old go, and the statistics with them, so that these always stand for
 * what is still there.  Bounded transactions, between those of the fold.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/fold_core.h"

#include <string.h>

#include "proto/clock.h"
#include "proto/log.h"

enum { VISITS = 4096 }; /* partitions and kinds looked at in a step */
#define LOOK_NS (30 * NS_PER_SECOND)

/* ---- which hours ---- */

/* The oldest hour of a table; INT32_MAX: there are none. */
static int32_t
oldest_hour(struct db_txn *txn, unsigned table)
{
	struct db_cursor *cursor = db_cursor_open(txn, table);
	uint32_t partitions = names_last(txn, 0), i;
	int32_t oldest = INT32_MAX;
	int kind;

	for (i = 1; i <= partitions; i++) {
		for (kind = RECORD_EVENT; kind < RECORD_KINDS; kind++) {
			struct key_head head = { .partition = i,
				.kind = (uint8_t)kind,
				.bucket = INT32_MIN,
				.first_ns = INT64_MIN };
			unsigned char bytes[KEY_HEAD_BYTES];
			struct text key, value;

			key_put_head(bytes, &head);
			if (db_seek(cursor,
				(struct text){
				    (const char *)bytes, sizeof(bytes) },
				&key, &value) &&
			    key_get_head(key, &head) && head.partition == i &&
			    head.kind == kind && head.bucket < oldest)
				oldest = head.bucket;
		}
	}
	db_cursor_close(&cursor);
	return oldest;
}

/* Hours before this one are to go. */
static int
find_cut(struct fold *fold, int32_t *cut, struct err *err)
{
	const struct fold_options *options = &fold->options;
	struct db_status status;
	struct db_txn *txn;
	int32_t oldest, sealed;

	*cut = INT32_MIN;
	if (options->retain_ns > 0)
		*cut = key_bucket(clock_wall_ns() - options->retain_ns);
	if (options->retain_bytes == 0)
		return 0;
	if (db_status(fold->db, &status, err) != 0)
		return -1;
	if (status.used_bytes <= options->retain_bytes)
		return 0;
	if (db_begin(fold->db, false, &txn, err) != 0)
		return -1;
	oldest = oldest_hour(txn, TABLES_HEADS);
	sealed = oldest_hour(txn, TABLES_CHUNKS);
	if (sealed < oldest)
		oldest = sealed;
	db_abort(&txn);
	if (oldest != INT32_MAX && oldest + 1 > *cut)
		*cut = oldest + 1;
	return 0;
}

static void
begin(struct retain *retain, int32_t cut)
{
	*retain = (struct retain){ .cut = cut,
		.done = retain->done,
		.next_ns = retain->next_ns,
		.partition = 1,
		.kind = RECORD_EVENT };
}

/* ---- heads ---- */

/* Remove rows of one partition and kind; true: none are left to remove. */
static bool
remove_rows(struct fold *fold, struct db_cursor *cursor,
    struct partition_counts *counts, uint32_t *rows)
{
	struct retain *retain = &fold->retain;
	struct key_head head = { .partition = retain->partition,
		.kind = (uint8_t)retain->kind,
		.bucket = INT32_MIN,
		.first_ns = INT64_MIN };
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	bool more;

	key_put_head(bytes, &head);
	more = db_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; more; more = db_next(cursor, &key, &value)) {
		uint64_t count = head_count(value);

		if (!key_get_head(key, &head) ||
		    head.partition != retain->partition ||
		    head.kind != retain->kind || head.bucket >= retain->cut)
			return true;
		if (*rows == RETAIN_ROWS)
			return false;
		++*rows;
		counts->records[retain->kind] -=
		    count < counts->records[retain->kind]
			? count
			: counts->records[retain->kind];
		db_cursor_del(cursor);
	}
	return true;
}

static void
trim_heads(struct fold *fold, struct db_txn *txn)
{
	struct db_cursor *heads = db_cursor_open(txn, TABLES_HEADS);
	struct db_cursor *chunks = db_cursor_open(txn, TABLES_CHUNKS);
	struct retain *retain = &fold->retain;
	uint32_t partitions = names_last(txn, 0), rows = 0, visits;
	int64_t cut_ns = retain->cut * KEY_BUCKET_NS;
	struct partition_counts counts;

	for (visits = 0; visits < VISITS; visits++) {
		bool through;

		if (retain->partition > partitions)
			break;
		tables_get_counts(txn, retain->partition, &counts);
		through = remove_rows(fold, heads, &counts, &rows) &&
			  remove_rows(fold, chunks, &counts, &rows);
		if (counts.first_ns < cut_ns)
			counts.first_ns = cut_ns;
		tables_put_counts(txn, retain->partition, &counts);
		if (!through)
			break;
		if (++retain->kind == RECORD_KINDS) {
			retain->kind = RECORD_EVENT;
			retain->partition++;
		}
	}
	db_cursor_close(&heads);
	db_cursor_close(&chunks);
	retain->heads_done = retain->partition > partitions;
}

/* ---- a step ---- */

static void
say(struct fold *fold)
{
	char when[CLOCK_TEXT_BYTES];
	int64_t cut_ns = fold->retain.cut * KEY_BUCKET_NS;

	pthread_mutex_lock(&fold->lock);
	fold->status.retained_ns = (uint64_t)cut_ns;
	pthread_mutex_unlock(&fold->lock);
	log_debug(
	    "fold: records before %s are removed", clock_text(when, cut_ns, 0));
}

static enum db_result
remove_some(struct fold *fold, bool *more, struct err *err)
{
	struct retain saved = fold->retain;
	enum db_result result;
	struct db_txn *txn;
	bool through = false;

	if (db_begin(fold->db, true, &txn, err) != 0)
		return DB_BROKEN;
	if (!fold->retain.heads_done)
		trim_heads(fold, txn);
	else
		through = retain_phases(fold, txn);
	if (through)
		tables_put_fact(
		    txn, FACT_RETAINED, pack_zigzag(fold->retain.cut));
	result = db_commit(&txn, err);
	if (result != DB_OK) {
		fold->retain = saved;
		return result;
	}
	*more = true; /* when all is through: look whether it was enough */
	if (through) {
		fold->retain.done = fold->retain.cut;
		say(fold);
	}
	return DB_OK;
}

enum db_result
retain_step(struct fold *fold, bool *more, struct err *err)
{
	struct retain *retain = &fold->retain;
	int64_t now_ns = clock_monotonic_ns();
	int32_t cut;

	*more = false;
	if (retain->cut > retain->done)
		return remove_some(fold, more, err);
	if (now_ns < retain->next_ns)
		return DB_OK;
	retain->next_ns = now_ns + LOOK_NS;
	if (find_cut(fold, &cut, err) != 0)
		return DB_BROKEN;
	if (cut > retain->done) {
		begin(retain, cut);
		retain->next_ns = 0; /* look again when this is through */
		*more = true;
	}
	return DB_OK;
}

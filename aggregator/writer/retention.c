/*
 * retention - remove what is too old, or too much, hour by hour.
 *
 * Heads, chunks and tiers lie by hour, so the oldest are one range for each
 * partition and kind.  Then the states of phases are walked: pairs of which
 * both events are that old go, and the statistics with them, so that these
 * always stand for what is still there.  Bounded transactions, between those
 * of the fold.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include <string.h>

#include "aggregator/fold/dead_letter.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { VISITS = 4096 }; /* shelves looked at in a step */
#define LOOK_NS (30 * NS_PER_SECOND)

/* The shelves of a partition: records by kind, then tiers.  That of samples as
 * a tier, the first, is the last: they stand for others that must be gone. */
enum {
	SHELF_TIERS = RECORD_KINDS,
	SHELF_SAMPLES = SHELF_TIERS + TIERS,
	SHELVES
};

/* What is removed by a transaction. */
struct removal {
	struct retain *retain;
	struct db_txn *txn;
	struct db_cursor *heads, *chunks;
	struct partition_counts counts;
	struct seal_rows room; /* of dead letters */
	uint32_t rows;
};

static void
begin(struct retain *retain, const struct retain_cuts *cuts)
{
	*retain = (struct retain){ .cuts = *cuts,
		.done = retain->done,
		.next_ns = retain->next_ns,
		.sealed = retain->sealed,
		.partition = 1,
		.shelf = RECORD_EVENT };
}

int32_t
retain_cut_of(const struct retain_cuts *cuts, unsigned tier)
{
	int32_t all = cuts->before[RETAIN_ALL], own = cuts->before[tier];

	return own > all ? own : all;
}

static int32_t
cut_of(const struct retain *retain, unsigned tier)
{
	return retain_cut_of(&retain->cuts, tier);
}

/* ---- rows ---- */

/* What is removed of dead letters makes room for others. */
static void
free_dead(struct removal *removal, bool sealed, struct text value)
{
	struct partition_counts *counts = &removal->counts;
	uint64_t bytes = sealed ? dead_bytes_of_chunk(&removal->room, value)
				: dead_bytes_of_row(value);

	/* The last ones: whatever was damaged. */
	if (counts->records[RECORD_DEAD] == 0 || bytes > counts->dead_bytes)
		bytes = counts->dead_bytes;
	counts->dead_bytes -= bytes;
}

/* Records of the shelf before an hour; true: none are left to remove. */
static bool
remove_records(struct removal *removal, struct db_cursor *cursor, int32_t cut)
{
	const struct retain *retain = removal->retain;
	uint64_t *records = &removal->counts.records[retain->shelf];
	struct key_head head = { .partition = retain->partition,
		.kind = (uint8_t)retain->shelf,
		.bucket = INT32_MIN,
		.first_ns = INT64_MIN };
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	bool more = db_seek(cursor, lane_key(bytes, &head), &key, &value);

	for (; more; more = db_next(cursor, &key, &value)) {
		uint64_t count = head_count(value);

		if (!key_get_head(key, &head) ||
		    head.partition != retain->partition ||
		    head.kind != retain->shelf || head.bucket >= cut)
			return true;
		if (removal->rows >= RETAIN_ROWS)
			return false;
		removal->rows += cursor == removal->chunks ? RETAIN_CHUNK : 1;
		*records -= count < *records ? count : *records;
		if (retain->shelf == RECORD_DEAD)
			free_dead(removal, cursor == removal->chunks, value);
		db_cursor_del(cursor);
	}
	return true;
}

/* The same of the buckets of a tier. */
static bool
remove_buckets(struct removal *removal, unsigned tier, int32_t cut)
{
	struct db_cursor *cursor =
	    db_cursor_open(removal->txn, tables_tier(tier));
	struct key_head head = { .partition = removal->retain->partition,
		.kind = RECORD_SAMPLE,
		.bucket = INT32_MIN,
		.first_ns = INT64_MIN };
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	bool more = db_seek(cursor, lane_key(bytes, &head), &key, &value);

	for (; more && removal->rows < RETAIN_ROWS;
	     more = db_next(cursor, &key, &value)) {
		more = key_get_head(key, &head) &&
		       head.partition == removal->retain->partition &&
		       head.bucket < cut;
		if (!more)
			break;
		removal->rows++;
		db_cursor_del(cursor);
	}
	db_cursor_close(&cursor);
	return !more;
}

static bool
clear_shelf(struct removal *removal)
{
	const struct retain *retain = removal->retain;
	int32_t all = retain->cuts.before[RETAIN_ALL];

	if (retain->shelf == SHELF_SAMPLES)
		return retain_samples(removal->retain, removal->txn,
		    &removal->counts, &removal->rows);
	if (retain->shelf >= SHELF_TIERS) {
		unsigned tier = retain->shelf - SHELF_TIERS;

		return tier == TIER_RAW ||
		       remove_buckets(removal, tier, cut_of(retain, tier));
	}
	return remove_records(removal, removal->heads, all) &&
	       remove_records(removal, removal->chunks, all);
}

static void
clear_partition(struct removal *removal, struct db_txn *txn, uint32_t *visits)
{
	struct retain *retain = removal->retain;
	int32_t all = retain->cuts.before[RETAIN_ALL];
	struct partition_counts *counts = &removal->counts;

	tables_get_counts(txn, retain->partition, counts);
	while (retain->shelf < SHELVES && clear_shelf(removal)) {
		retain->shelf++;
		++*visits;
	}
	if (all != INT32_MIN && counts->first_ns < all * KEY_BUCKET_NS)
		counts->first_ns = all * KEY_BUCKET_NS;
	tables_put_counts(txn, retain->partition, counts);
	if (retain->shelf == SHELVES) {
		retain->shelf = RECORD_EVENT;
		retain->partition++;
	}
}

static void
remove_rows(struct fold *fold, struct db_txn *txn)
{
	struct retain *retain = &fold->retain;
	struct removal removal = { .retain = retain,
		.heads = db_cursor_open(txn, TABLES_HEADS),
		.chunks = db_cursor_open(txn, TABLES_CHUNKS),
		.txn = txn };
	uint32_t partitions = names_last(txn, 0), visits = 0;

	/* Before the first row goes: readers look at tiers from now on. */
	for (unsigned tier = 0; tier < TIERS; tier++)
		if (cut_of(retain, tier) > tables_cut(txn, tier))
			tables_put_cut(txn, tier, cut_of(retain, tier));
	while (visits < VISITS && removal.rows < RETAIN_ROWS &&
	       retain->partition <= partitions)
		clear_partition(&removal, txn, &visits);
	db_cursor_close(&removal.heads);
	db_cursor_close(&removal.chunks);
	seal_rows_clear(&removal.room);
	retain->rows_done = retain->partition > partitions;
}

/* ---- a step ---- */

static void
say(struct fold *fold)
{
	int32_t all = fold->retain.cuts.before[RETAIN_ALL];
	char when[CLOCK_TEXT_BYTES];

	if (all == INT32_MIN)
		return;
	pthread_mutex_lock(&fold->lock);
	fold->status.retained_ns = (uint64_t)(all * KEY_BUCKET_NS);
	pthread_mutex_unlock(&fold->lock);
	log_debug("fold: records before %s are removed",
	    clock_text(when, all * KEY_BUCKET_NS, 0));
}

/* Is anything to go that has not gone? */
static bool
is_wanted(const struct retain_cuts *cuts, const struct retain_cuts *done)
{
	for (unsigned i = 0; i < RETAIN_CUTS; i++)
		if (cuts->before[i] > done->before[i])
			return true;
	return false;
}

static bool
remove_in(struct fold *fold, struct db_txn *txn)
{
	struct retain *retain = &fold->retain;
	int32_t all = retain->cuts.before[RETAIN_ALL];

	if (!retain->rows_done) {
		remove_rows(fold, txn);
		return false;
	}
	if (all > retain->done.before[RETAIN_ALL]) {
		retain->phases_done =
		    retain->phases_done || retain_phases(fold, txn);
		if (!retain->phases_done || !retain_runs(fold, txn))
			return false;
		tables_put_fact(txn, FACT_RETAINED, pack_zigzag(all));
	}
	return true;
}

static enum db_result
remove_some(struct fold *fold, bool *more, struct err *err)
{
	struct retain saved = fold->retain;
	enum db_result result;
	struct db_txn *txn;
	bool through;

	if (db_begin(fold->db, true, &txn, err) != 0)
		return DB_BROKEN;
	through = remove_in(fold, txn);
	result = db_commit(&txn, err);
	if (result != DB_OK) {
		fold->retain = saved;
		return result;
	}
	*more = true; /* when all is through: look whether it was enough */
	if (!through)
		return DB_OK;
	for (unsigned i = 0; i < RETAIN_CUTS; i++)
		if (fold->retain.cuts.before[i] > fold->retain.done.before[i])
			fold->retain.done.before[i] =
			    fold->retain.cuts.before[i];
	say(fold);
	return DB_OK;
}

enum db_result
retain_step(struct fold *fold, bool *more, struct err *err)
{
	struct retain *retain = &fold->retain;
	int64_t now_ns = clock_monotonic_ns();
	struct retain_cuts cuts;

	*more = false;
	if (is_wanted(&retain->cuts, &retain->done))
		return remove_some(fold, more, err);
	if (now_ns < retain->next_ns)
		return DB_OK;
	retain->next_ns = now_ns + LOOK_NS;
	if (retain_find_cuts(fold, &cuts, err) != 0)
		return DB_BROKEN;
	if (retain->sealed < retain->done.before[TIER_RAW])
		retain->done.before[TIER_RAW] = retain->sealed;
	retain->sealed = INT32_MAX;
	if (is_wanted(&cuts, &retain->done)) {
		begin(retain, &cuts);
		retain->next_ns = 0; /* look again when this is through */
		*more = true;
	}
	return DB_OK;
}

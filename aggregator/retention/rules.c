/*
 * retention_rules - decide which hours to delete.
 *
 * By age, each kind of row has its own cut.  By size, the rows that need the
 * most space for their information are deleted first, an hour at a time:
 * samples, then their buckets of 1 min and 1 h.  Some hours of each
 * of these are spared as long as there is anything else of them.  Only then
 * whole hours are deleted, including events.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/retention/retention_private.h"

#include <inttypes.h>
#include <stdlib.h>

#include "aggregator/marks/marks.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

/* Hours of each rollup that are spared at first. */
static const int32_t spared[ROLLUPS] = { 24, 30 * 24, 365 * 24 };

/* The search for the oldest hour of some rows. */
struct oldest {
	struct db_cursor *cursor;
	uint32_t partitions;
	int32_t from; /* ignore earlier hours */
	int32_t hour; /* INT32_MAX: none */
};

static void
find_oldest(struct oldest *oldest, uint32_t partition, uint8_t kind)
{
	struct key_row_block row_key = { .partition = partition,
		.kind = kind,
		.hour = oldest->from,
		.first_ns = INT64_MIN };
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct text key, value;

	if (db_seek(oldest->cursor, hour_cursor_key(bytes, &row_key), &key,
		&value) &&
	    key_get_row_block(key, &row_key) &&
	    row_key.partition == partition && row_key.kind == kind &&
	    row_key.hour < oldest->hour)
		oldest->hour = row_key.hour;
}

static int32_t
oldest_of(struct db_txn *txn, unsigned table, uint8_t first, uint8_t last,
    int32_t from)
{
	struct oldest oldest = { db_cursor_open(txn, table),
		dictionary_last(txn, 0), from, INT32_MAX };

	for (uint32_t i = 1; i <= oldest.partitions; i++)
		for (uint8_t kind = first; kind <= last; kind++)
			find_oldest(&oldest, i, kind);
	db_cursor_close(&oldest.cursor);
	return oldest.hour;
}

/* The oldest hour of a rollup after its cut.  Only compacted samples count,
 * because only these have rollups. */
static int32_t
oldest_of_rollup(struct db_txn *txn, unsigned rollup, int32_t cut)
{
	return oldest_of(txn,
	    rollup == ROLLUP_RAW ? TABLES_CHUNKS : tables_rollup(rollup),
	    RECORD_SAMPLE, RECORD_SAMPLE, cut);
}

static int32_t
oldest_of_all(struct db_txn *txn)
{
	int32_t oldest = INT32_MAX;

	for (unsigned table = 0; table < TABLES_COUNT; table++) {
		int32_t hour;

		if (table != TABLES_ROW_BLOCKS && table < TABLES_CHUNKS)
			continue; /* a table without hours */
		hour = oldest_of(
		    txn, table, RECORD_EVENT, RECORD_KINDS - 1, INT32_MIN);
		oldest = hour < oldest ? hour : oldest;
	}
	return oldest;
}

static int32_t
newest_hour(struct db_txn *txn)
{
	uint32_t partitions = dictionary_last(txn, 0);
	struct partition_counts counts;
	int64_t last_ns = INT64_MIN;

	for (uint32_t i = 1; i <= partitions; i++) {
		tables_get_counts(txn, i, &counts);
		if (counts.last_ns > last_ns)
			last_ns = counts.last_ns;
	}
	return key_hour(last_ns);
}

/* Advance a cut by one hour. */
static void
cut_by_size(struct db_txn *txn, struct retention_cuts *cuts)
{
	int32_t newest = newest_hour(txn), oldest[ROLLUPS], hour;
	unsigned rollup;

	for (rollup = ROLLUP_RAW; rollup < ROLLUPS; rollup++)
		oldest[rollup] =
		    oldest_of_rollup(txn, rollup, cuts->before[rollup]);
	for (unsigned spare = 2; spare-- > 0;) {
		for (rollup = ROLLUP_RAW; rollup < ROLLUPS; rollup++) {
			int64_t last =
			    (int64_t)newest - (spare ? spared[rollup] : 1);

			if (oldest[rollup] > last)
				continue;
			if (oldest[rollup] >= cuts->before[rollup])
				cuts->before[rollup] = oldest[rollup] + 1;
			return;
		}
	}
	hour = oldest_of_all(txn);
	if (hour != INT32_MAX && hour >= cuts->before[RETENTION_ALL])
		cuts->before[RETENTION_ALL] = hour + 1;
}

/* ---- by age ---- */

static void
say_doubt(const struct retention *retention)
{
	const char *advice = "correct the clock; if it is right, run "
			     "poolscope-admin retain-now";
	int64_t hours =
	    (llabs(retention->clock_lead_ns) / NS_PER_SECOND + 1800) / 3600;

	switch (retention->stopped) {
	case STORE_CLOCK_TRUSTED:
		log_info("retention: the clock is trusted again; records are "
			 "deleted by age");
		break;
	case STORE_CLOCK_DISAGREES:
		log_warn("retention: nothing is deleted by age: the clock is "
			 "ahead of the clocks of all other nodes: %s",
		    advice);
		break;
	default:
		log_warn("retention: nothing is deleted by age: the clock is "
			 "%" PRId64 " hours %s the time noted in the store: %s",
		    hours,
		    retention->stopped == STORE_CLOCK_AHEAD ? "ahead of"
							    : "behind",
		    advice);
	}
}

static void
check_clock(struct retention *retention, const struct retention_limits *limits,
    struct db_txn *txn, int64_t wall_ns)
{
	enum store_clock_doubt stopped;

	store_clock_load(&retention->clock, txn);
	retention->doubt =
	    store_clock_step(&retention->clock, wall_ns, clock_boot_ns());
	retention->clock_lead_ns =
	    store_clock_lead_ns(&retention->clock, wall_ns);
	/* Without a limit of age it keeps nothing from being deleted. */
	stopped = limits->retain_ns > 0 || limits->retain_raw_ns > 0 ||
			  limits->retain_1min_ns > 0
		      ? retention->doubt
		      : STORE_CLOCK_TRUSTED;
	if (stopped == retention->stopped)
		return;
	retention->stopped = stopped;
	say_doubt(retention);
}

static void
cut_by_age(const struct retention *retention,
    const struct retention_limits *limits, int64_t now_ns,
    struct retention_cuts *cuts)
{
	const int64_t most_ns[RETENTION_CUTS] = {
		[ROLLUP_RAW] = limits->retain_raw_ns,
		[ROLLUP_1MIN] = limits->retain_1min_ns,
		[RETENTION_ALL] = limits->retain_ns,
	};
	bool trusted = retention->doubt == STORE_CLOCK_TRUSTED;

	for (unsigned i = 0; i < RETENTION_CUTS; i++)
		cuts->before[i] = trusted && most_ns[i] > 0
				      ? key_hour(now_ns - most_ns[i])
				      : INT32_MIN;
}

/* Once, until it fits again. */
static void
say_over(struct retention *retention, struct db_txn *txn,
    const struct retention_cuts *cuts)
{
	if (retention->is_over || !marks_are_kept(txn) ||
	    cuts->before[RETENTION_ALL] <= newest_hour(txn))
		return;
	retention->is_over = true;
	log_warn("retention: phases, test runs and entities, which a store "
		 "with an archive keeps, need more than --retain-bytes: no "
		 "records are kept; give more");
}

int
retention_find_cuts(struct retention *retention,
    const struct retention_limits *limits, struct retention_cuts *cuts,
    struct err *err)
{
	struct db_status status = { .used_bytes = 0 };
	int64_t now_ns = clock_wall_ns();
	struct db_txn *txn;

	if (limits->retain_bytes > 0 &&
	    db_status(retention->db, &status, err) != 0)
		return -1;
	if (db_begin(retention->db, false, &txn, err) != 0)
		return -1;
	check_clock(retention, limits, txn, now_ns);
	cut_by_age(retention, limits, now_ns, cuts);
	/* Cuts never move back, because readers rely on them. */
	for (unsigned rollup = ROLLUP_RAW; rollup < ROLLUPS; rollup++)
		if (cuts->before[rollup] < tables_cut(txn, rollup))
			cuts->before[rollup] = tables_cut(txn, rollup);
	if (limits->retain_bytes > 0 &&
	    status.used_bytes > limits->retain_bytes) {
		cut_by_size(txn, cuts);
		say_over(retention, txn, cuts);
	} else {
		retention->is_over = false;
	}
	db_abort(&txn);
	return 0;
}

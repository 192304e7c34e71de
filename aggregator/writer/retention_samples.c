/*
 * retain - which sealed samples of an old hour go: not those that stand for a
 * tier that is kept (tiers/tier.h).
 *
 * These make the walk long, so it looks only at hours that a cut has passed
 * since it was last through; after a start, once at all of them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include "aggregator/tiers/tier_list.h"

struct walk {
	struct retention *retention;
	struct db_txn *txn;
	struct db_cursor *cursor;
	struct partition_counts *counts;
	uint32_t *rows;
};

/* The first hour from `hour` on that a cut has passed, or INT32_MAX. */
static int32_t
next_hour(const struct retention *retention, int32_t hour)
{
	int32_t next = INT32_MAX;

	for (unsigned tier = TIER_RAW; tier < TIERS; tier++) {
		int32_t from = retention_cut_of(&retention->done, tier);

		if (from < hour)
			from = hour;
		if (from < retention_cut_of(&retention->cuts, tier) &&
		    from < next)
			next = from;
	}
	return next < retention_cut_of(&retention->cuts, TIER_RAW) ? next
								   : INT32_MAX;
}

/* To the next band at or behind where the walk is. */
static bool
next_band(struct walk *walk)
{
	struct key_head *at = &walk->retention->at, head;
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key;

	if (!db_seek_key(walk->cursor, lane_key(bytes, at), &key) ||
	    !key_get_head(key, &head) || head.partition != at->partition ||
	    head.kind != at->kind)
		return false;
	*at = head;
	return true;
}

static void
remove_band(struct walk *walk)
{
	const struct key_head *band = &walk->retention->at;
	uint64_t *records = &walk->counts->records[RECORD_SAMPLE];
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	struct key_head head;
	bool more = db_seek(walk->cursor, lane_key(bytes, band), &key, &value);

	for (; more && key_get_head(key, &head) &&
	       head.partition == band->partition && head.kind == band->kind &&
	       head.bucket == band->bucket && head.run == band->run &&
	       head.node == band->node && head.track == band->track;
	     more = db_next(walk->cursor, &key, &value)) {
		uint64_t count = head_count(value);

		*walk->rows += RETENTION_CHUNK;
		*records -= count < *records ? count : *records;
		db_cursor_del(walk->cursor);
	}
}

/* One band; then the walk is behind it. */
static void
look_at(struct walk *walk)
{
	struct key_head *at = &walk->retention->at;

	++*walk->rows;
	/* What is not sealed whole has no tiers yet. */
	if (seal_level(at->run) == SEALED_ROW_LEVEL_WHOLE &&
	    !tier_list_need_samples(walk->txn, at))
		remove_band(walk);
	at->first_ns = INT64_MIN;
	at->row = 0;
	if (++at->track == 0)
		at->node++;
}

bool
retention_samples(struct retention *retention, struct db_txn *txn,
    struct partition_counts *counts, uint32_t *rows)
{
	struct walk walk = { retention, txn, db_cursor_open(txn, TABLES_CHUNKS),
		counts, rows };
	struct key_head *at = &retention->at;
	int32_t hour = INT32_MIN;

	if (at->partition != retention->partition)
		*at = (struct key_head){ .partition = retention->partition,
			.kind = RECORD_SAMPLE,
			.bucket = INT32_MIN,
			.first_ns = INT64_MIN };
	while (*rows < RETENTION_ROWS && next_band(&walk)) {
		hour = next_hour(retention, at->bucket);
		if (hour == INT32_MAX)
			break;
		if (hour == at->bucket) {
			look_at(&walk);
			continue;
		}
		*at = (struct key_head){ .partition = at->partition,
			.kind = at->kind,
			.bucket = hour,
			.first_ns = INT64_MIN };
	}
	db_cursor_close(&walk.cursor);
	return hour == INT32_MAX || *rows < RETENTION_ROWS;
}

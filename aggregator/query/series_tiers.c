/*
 * reader_series_tiers - buckets of samples: out of which tier, or of the
 * samples. SPDX-License-Identifier: MIT
 */
#include "aggregator/query/band.h"

#include "aggregator/tiers/tier_list.h"

static bool
give_series(
    struct band *band, enum tier_step tier, struct sealed_cursor *sealed_cursor)
{
	struct page *page = band->page;
	struct series_band what = { .key = band->key,
		.node = band->node,
		.set = band->track,
		.skip = band->again ? page->mark.number : 0,
		.tier = tier,
		.sealed_cursor = sealed_cursor };

	return series_give(page->series, page, &what);
}

/* Is there a tier of the band? */
static bool
has_tier(const struct band *band)
{
	struct text value;

	return band->tier != TIER_RAW &&
	       tier_list_find(
		   band->page->txn, band->tier, &band->key, &value) &&
	       !tier_is_mark(value);
}

/* Buckets of one node and set: from its tier when that was made of all that
 * there is. */
bool
band_select_series(struct band *band, struct hour_cursor *hour_cursor)
{
	struct page *page = band->page;
	struct sealed_cursor *sealed_cursor =
	    hour_cursor_alone(hour_cursor, &band->key);
	struct key_head next = band->key;
	enum tier_step tier = TIER_RAW;
	bool good;

	if (sealed_cursor == NULL) {
		merge_reset(&page->reader->merge);
		hour_cursor_collect(hour_cursor, &band->key,
		    &page->reader->merge, page->query->from_ns);
		return give_series(band, TIER_RAW, NULL);
	}
	if (has_tier(band))
		tier = band->tier;
	good = give_series(band, tier, sealed_cursor);
	next.track++;
	hour_cursor_pass(hour_cursor, &band->key, &next);
	return good;
}

/* ---- hours ---- */

static bool
is_kept(const struct page *page, int32_t hour, unsigned tier)
{
	return hour >= tables_cut(page->txn, tier);
}

/* The samples of the hour were removed: what is left are tiers. */
static bool
samples_are_gone(const struct page *page, int32_t hour)
{
	return !is_kept(page, hour, TIER_RAW);
}

/* The coarsest tier that the step is made up of and that is kept of the hour,
 * be it the samples; else the finest that is kept. */
static enum tier_step
wanted_tier(const struct page *page, int32_t hour)
{
	enum tier_step best = tier_of_step(page->query->step_ns);
	enum tier_step tier = best;

	while (tier > TIER_RAW && !is_kept(page, hour, tier))
		tier--;
	if (is_kept(page, hour, tier))
		return tier;
	for (tier = best; tier < TIER_10MIN; tier++)
		if (is_kept(page, hour, tier))
			break;
	return tier;
}

/* The one sealed run that has all samples of the hour; 0: there is none, or
 * not all are in it. */
static uint32_t
whole_run(const struct page *page, const struct key_head *hour)
{
	struct db_cursor *heads = db_cursor_open(page->txn, TABLES_HEADS);
	struct db_cursor *chunks = db_cursor_open(page->txn, TABLES_CHUNKS);
	struct key_head to = *hour, head;
	unsigned char bytes[KEY_HEAD_BYTES];
	struct text key, value;
	uint32_t run = 0;

	to.run = to.node = to.track = 0;
	if (band_next_hour(heads, &to) != to.bucket &&
	    band_next_hour(chunks, &to) == to.bucket &&
	    db_seek(chunks, lane_key(bytes, &to), &key, &value) &&
	    key_get_head(key, &head) && head.run < UINT32_MAX) {
		to.run = head.run + 1;
		if (head.run >> SEALED_ROW_LEVEL_BITS ==
			SEALED_ROW_LEVEL_WHOLE &&
		    (!db_seek(chunks, lane_key(bytes, &to), &key, &value) ||
			memcmp(key.at, bytes, KEY_HOUR_BYTES) != 0))
			run = head.run;
	}
	db_cursor_close(&heads);
	db_cursor_close(&chunks);
	return run;
}

/* A band that has no tier, from the one run that has all samples. */
static bool
give_run(struct band *band, struct sealed_cursor **sealed_cursor, uint32_t run)
{
	struct page *page = band->page;
	struct key_head head = band->key;

	if (*sealed_cursor == NULL) {
		head.run = run;
		*sealed_cursor =
		    sealed_cursor_open(page->txn, &page->reader->sealed, &head);
	}
	sealed_cursor_seek(*sealed_cursor, head.node, head.track);
	return !(*sealed_cursor)->more ||
	       (*sealed_cursor)->head.node != head.node ||
	       (*sealed_cursor)->head.track != head.track ||
	       give_series(band, TIER_RAW, *sealed_cursor);
}

/* The same from all runs there are: late records wait to be sealed. */
static bool
give_runs(struct band *band)
{
	struct page *page = band->page;
	struct merge *merge = &page->reader->merge;
	struct hour_cursor hour_cursor = { .at = NULL };
	struct key_head head;
	bool good = true;

	hour_cursor_open(&hour_cursor, page->txn, &page->reader->sealed,
	    &band->key, &hour_cursor_all);
	if (hour_cursor_band(&hour_cursor, &head) &&
	    head.node == band->key.node && head.track == band->key.track) {
		merge_reset(merge);
		hour_cursor_collect(
		    &hour_cursor, &head, merge, page->query->from_ns);
		good = give_series(band, TIER_RAW, NULL);
	}
	hour_cursor_clear(&hour_cursor);
	return good;
}

/* The bands of a tier, where their samples are gone, or are in one `run` and
 * so all in the tiers.  False: the page is full. */
bool
band_select_tier(struct band *band, const struct key_head *first, uint32_t only,
    uint32_t run)
{
	struct page *page = band->page;
	struct db_cursor *cursor =
	    db_cursor_open(page->txn, tables_tier(band->tier));
	unsigned char bytes[KEY_HEAD_BYTES];
	struct key_head to = *first, head;
	struct sealed_cursor *sealed_cursor = NULL;
	struct text key, value;
	bool good = true;

	to.run = band->tier;
	to.row = 0;
	while (good && db_seek(cursor, lane_key(bytes, &to), &key, &value) &&
	       key_get_head(key, &head) && head.partition == to.partition &&
	       head.kind == to.kind && head.bucket == to.bucket &&
	       head.run == to.run && (only == 0 || head.node == only)) {
		band->key = head;
		band->again = band_is_mark(band);
		if (band_is_wanted(band, &to)) {
			if (!tier_is_mark(value))
				good = give_series(band, band->tier, NULL);
			else if (run != 0)
				good = give_run(band, &sealed_cursor, run);
			else
				good = give_runs(band);
			to.track++;
		} else {
			good = band_pass(band);
		}
		to.run = band->tier;
		to.first_ns = INT64_MIN;
		to.row = 0;
	}
	sealed_cursor_close(&sealed_cursor);
	db_cursor_close(&cursor);
	return good;
}

bool
band_find_tier(struct band *band, const struct key_head *first, uint32_t *run)
{
	struct page *page = band->page;

	*run = 0;
	band->tier = wanted_tier(page, first->bucket);
	if (band->tier == TIER_RAW)
		return false;
	*run = whole_run(page, first);
	return *run != 0 || samples_are_gone(page, first->bucket);
}

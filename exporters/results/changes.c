/*
 * result_changes - the changes of the level of entries' timings.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/results/entries.h"
#include "exporters/results/plot.h"
#include "exporters/results/query.h"
#include "exporters/source/known.h"
#include "proto/base/memory.h"
#include "proto/hash/string_table.h"

enum { POINTS_MAX = 1000000 }; /* of one entry */

struct row {
	struct text test, entry;
	int64_t start, start_us;
	double percent, before, after;
	uint64_t since;
};

static const struct answer_column columns[] = {
	{ "test", "TEST", ANSWER_AT_TEXT(struct row, test), "of which test",
	    .traits = ANSWER_SPARE },
	{ "entry", "ENTRY", ANSWER_AT_TEXT(struct row, entry),
	    "of which entry of it" },
	{ "start", "FROM", ANSWER_AT_TIME(struct row, start),
	    "from which start on the level is another" },
	{ "start_us", NULL, ANSWER_AT_WHOLE(struct row, start_us),
	    "the same since the epoch", "us" },
	{ "percent", "PERCENT", ANSWER_AT_NUMBER(struct row, percent),
	    "by how much it is another", "%" },
	{ "before", "BEFORE", ANSWER_AT_NUMBER(struct row, before),
	    "the median of the timings before, since the last change", "s" },
	{ "after", "AFTER", ANSWER_AT_NUMBER(struct row, after),
	    "the median from then on, until the next change", "s" },
	{ "since", NULL, ANSWER_AT_COUNT(struct row, since),
	    "how many timings there are from then on" },
	{ .key = NULL },
};
const struct answer_table result_changes_tables[] = { { "changes", columns },
	{ .name = NULL } };

static bool
get_number(const struct value *timing, double *number)
{
	if (timing->type == VALUE_INT)
		*number = (double)timing->is.i;
	else if (timing->type == VALUE_FLOAT)
		*number = timing->is.f;
	else
		return false;
	return isfinite(*number);
}

static void
reverse(struct result_points *points)
{
	for (uint32_t i = 0, k = points->count; i + 1 < k--; i++) {
		struct result_point point = points->at[i];

		points->at[i] = points->at[k];
		points->at[k] = point;
	}
}

int
result_query_points(const struct result_query *query,
    struct result_points *points, struct err *err)
{
	struct result_range range = result_query_range(query);
	struct result_row row;
	int rc;

	if (result_range_entries(
		&range, query->test, query->entry, query->limit, err) != 0)
		return -1;
	while ((rc = result_range_next(&range, &row, err)) > 0) {
		double number;

		if (!get_number(&row.timing, &number)) {
			points->left_out++;
			continue;
		}
		points->cut =
		    points->count == POINTS_MAX ||
		    (query->limit > 0 && points->count == query->limit);
		if (points->cut)
			break;
		points->at = memory_grow(points->at, &points->room,
		    points->count, sizeof(*points->at));
		points->at[points->count++] =
		    (struct result_point){ (double)row.start_us / 1e6, number };
	}
	result_query_note(query, &range);
	reverse(points);
	return rc < 0 ? -1 : 0;
}

/* ---- of entries ---- */

struct listing {
	const struct result_query *query;
	struct string_table texts;
	struct row *rows;
	uint32_t count, room;
	uint64_t entries; /* that have points */
};

static uint64_t
count_since(const struct result_points *points, double from)
{
	uint32_t i = points->count;

	while (i > 0 && points->at[i - 1].time >= from)
		i--;
	return points->count - i;
}

/* A level is the median of the timings between two changes. */
static void
add_levels(struct listing *listing, const struct result_plot *plot,
    const struct result_points *points, struct text test, struct text entry)
{
	for (uint32_t i = 1; i < plot->level_count; i++) {
		const struct result_level *level = &plot->levels[i];
		int64_t us = (int64_t)llround(level->from * 1e6);
		uint64_t since = count_since(points, level->from);

		if (listing->query->within > 0 &&
		    since > listing->query->within)
			continue;
		listing->rows = memory_grow(listing->rows, &listing->room,
		    listing->count, sizeof(*listing->rows));
		listing->rows[listing->count++] =
		    (struct row){ string_table_text(&listing->texts, test),
			    string_table_text(&listing->texts, entry),
			    result_time(us), us, level->percent,
			    level[-1].median, level->median, since };
	}
}

static int
on_entry(void *arg, struct text test, struct text entry, struct err *err)
{
	struct listing *listing = arg;
	struct result_query query = *listing->query;
	struct result_points points = { .at = NULL };
	struct result_plot plot = { .level_count = 0 };
	int rc;

	query.test = test;
	query.entry = entry;
	rc = result_query_points(&query, &points, err);
	if (rc == 0 && points.count == 0)
		rc = result_query_explain(&query, err);
	if (rc == 0 && points.count > 0) {
		listing->entries++;
		result_plot_init(&plot, points.at, points.count);
		add_levels(listing, &plot, &points, test, entry);
	}
	result_plot_clear(&plot);
	free(points.at);
	return rc;
}

/* What has become slower by most comes first, what had no time before last. */
static int
by_percent(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order;

	if (isnan(a->percent) || isnan(b->percent))
		order = isnan(a->percent) - isnan(b->percent);
	else
		order = (a->percent < b->percent) - (a->percent > b->percent);
	if (order == 0)
		order = text_compare(a->test, b->test);
	if (order == 0)
		order = text_compare(a->entry, b->entry);
	return order != 0
		   ? order
		   : (a->start_us > b->start_us) - (a->start_us < b->start_us);
}

int
result_query_changes(const struct result_query *query, struct err *err)
{
	struct listing listing = { .query = query };
	bool is_one = query->entry.bytes > 0 && query->within == 0;
	int rc;

	string_table_init(&listing.texts);
	if (is_one) {
		answer_hide_column(query->answer, "test");
		answer_hide_column(query->answer, "entry");
	}
	rc = result_entries_each(query, on_entry, &listing, err);
	rc = known_check_partition(query->source, query->partition, rc, err);
	if (!is_one && listing.count > 0)
		qsort(listing.rows, listing.count, sizeof(*listing.rows),
		    by_percent);
	for (uint32_t i = 0; rc == 0 && i < listing.count; i++)
		answer_row(query->answer, &listing.rows[i], NULL);
	if (rc == 0 && listing.entries == 0)
		answer_note(query->answer, "none", ANSWER_NO_COUNT,
		    "no timings in that time");
	else if (rc == 0 && listing.count == 0)
		answer_note(query->answer, "unchanged", listing.entries,
		    "the level of none of %" PRIu64 " entr%s changed%s",
		    listing.entries, listing.entries == 1 ? "y" : "ies",
		    query->within > 0 ? " of late (--within)" : "");
	if (rc == 0 && query->status != NULL)
		*query->status = listing.count > 0      ? STATUS_FOUND
				 : listing.entries == 0 ? STATUS_UNDECIDED
							: *query->status;
	free(listing.rows);
	string_table_clear(&listing.texts);
	return rc;
}

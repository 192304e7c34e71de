/*
 * top_pools - the view of all pools.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "exporters/top/view/view.h"
#include "proto/os/clock.h"

enum { POOL, NODES, LIVE, LATE, SILENT, GONE, RECORDS, NEWEST, TREND, COLUMNS };

static const struct pools *
pools_of(const struct top_snapshot *snapshot)
{
	static const struct pools none;

	return snapshot->pools == NULL ? &none : &snapshot->pools->pools;
}

static const struct pool *
pool_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return &pools_of(snapshot)->at[row];
}

static uint32_t
count_pools(const struct top_snapshot *snapshot)
{
	return pools_of(snapshot)->count;
}

static uint32_t
columns(const struct top_snapshot *snapshot,
    struct view_column to[static VIEW_COLUMNS_MAX])
{
	static const struct view_column all[COLUMNS] = {
		[POOL] = { "POOL", 12, 60, 0, false, true, false },
		[NODES] = { "NODES", 6, 8, 5, true, false, false },
		[LIVE] = { "LIVE", 6, 8, 3, true, false, false },
		[LATE] = { "LATE", 6, 8, 4, true, false, false },
		[SILENT] = { "SILENT", 6, 8, 2, true, false, false },
		[GONE] = { "GONE", 6, 8, 6, true, false, false },
		[RECORDS] = { "RECORDS", 7, 9, 7, true, false, false },
		[NEWEST] = { "NEWEST", 6, 8, 1, true, false, false },
		[TREND] = { "NEW", 8, 8, 8, false, false, true },
	};

	memcpy(to, all, sizeof(all));
	to[POOL].most = to[POOL].least;
	for (uint32_t i = 0; i < pools_of(snapshot)->count; i++) {
		unsigned wide =
		    cell_width(pool_of(snapshot, i)->partition.name, false);

		if (wide > to[POOL].most)
			to[POOL].most = wide;
	}
	if (to[POOL].most > all[POOL].most)
		to[POOL].most = all[POOL].most;
	return COLUMNS;
}

static struct text
name_of(const struct top_snapshot *snapshot, uint32_t row)
{
	return pool_of(snapshot, row)->partition.name;
}

static struct text
no_other(const struct top_snapshot *snapshot, uint32_t row)
{
	(void)snapshot;
	(void)row;
	return (struct text){ NULL, 0 };
}

/* NaN: it has no records. */
static double
age_of(const struct pool *pool)
{
	return pool->age_ns < 0 ? NAN : (double)pool->age_ns / 1e9;
}

static struct order_key
key(const struct top_snapshot *snapshot, uint32_t row, int column)
{
	const struct pool *pool = pool_of(snapshot, row);
	const double numbers[COLUMNS] = { 0, (double)pool->partition.nodes,
		pool->conditions[NODE_LIVE], pool->conditions[NODE_LATE],
		pool->conditions[NODE_SILENT], pool->conditions[NODE_GONE],
		(double)pool->partition.records, age_of(pool),
		(double)pool->partition.records };

	return (struct order_key){ .is_text = column == POOL,
		.text = pool->partition.name,
		.number = numbers[column] };
}

static struct text
cell(const struct top_snapshot *snapshot, uint32_t row, uint32_t column,
    char to[static VIEW_TEXT_BYTES])
{
	const struct pool *pool = pool_of(snapshot, row);

	if (column == POOL)
		return pool->partition.name;
	if (column == NEWEST)
		return text_of(cell_time(to, age_of(pool)));
	return text_of(cell_count(to, key(snapshot, row, (int)column).number));
}

static enum view_look
look(const struct top_snapshot *snapshot, uint32_t row)
{
	const struct pool *pool = pool_of(snapshot, row);

	return pool->conditions[NODE_SILENT] > 0 ? VIEW_BAD
	       : pool->conditions[NODE_LATE] > 0 ? VIEW_WARNING
						 : VIEW_PLAIN;
}

static void
detail(const struct top_snapshot *snapshot, uint32_t row, FILE *file)
{
	(void)snapshot;
	(void)row;
	(void)file;
}

static double
trend(const struct top_snapshot *snapshot, uint32_t row, int64_t *at_ns)
{
	*at_ns = snapshot->pools->read_ns;
	return (double)pool_of(snapshot, row)->partition.records;
}

static bool
find(const struct top_snapshot *snapshot, const struct top_snapshot *other,
    uint32_t like, uint32_t *row)
{
	struct text name = name_of(other, like);

	for (*row = 0; *row < count_pools(snapshot); ++*row)
		if (text_equal(name_of(snapshot, *row), name))
			return true;
	return false;
}

const struct view view_pools = {
	.name = "pools",
	.columns = columns,
	.count = count_pools,
	.name_of = name_of,
	.other_of = no_other,
	.key = key,
	.cell = cell,
	.look = look,
	.detail = detail,
	.trend = trend,
	.find = find,
	.column = POOL,
	.is_sorted = true,
	.none = "no pool has records yet",
};

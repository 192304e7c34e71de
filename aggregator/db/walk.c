/*
 * db_walk - rows of a snapshot, read without LMDB.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/walk.h"

void
db_walk_begin(struct db_walk *walk, struct db_txn *txn, unsigned table)
{
	walk->txn = txn;
	walk->table = table;
	walk->is_doubtful = false;
	db_txn_path(txn, table, &walk->path);
}

/* ---- leaves ---- */

/* The first leaf from the end of the way on that can be read; false: there is
 * none.  The pages in between are counted as damaged. */
static bool
find_leaf(struct db_walk *walk, enum snapshot_way way,
    enum snapshot_way (*onward)(struct snapshot_path *))
{
	while (way == WAY_DAMAGED) {
		db_txn_damage(walk->txn, walk->table, walk->path.bad);
		way = onward(&walk->path);
	}
	walk->is_doubtful = way == WAY_DOUBTFUL;
	if (way == WAY_DOUBTFUL)
		db_txn_damage(walk->txn, walk->table, walk->path.bad);
	return way != WAY_NONE;
}

/* Not between leaves, as behind a damaged end of a table. */
static bool
is_on_leaf(const struct db_walk *walk)
{
	return walk->path.depth == walk->path.tree.depth;
}

static unsigned *
index_of(struct db_walk *walk)
{
	return &walk->path.at[walk->path.depth - 1].index;
}

static unsigned
rows_of(const struct db_walk *walk)
{
	return page_count(snapshot_path_leaf(&walk->path));
}

/* ---- rows ---- */

/* Where the list of rows of a leaf is damaged, a row can be in it twice. */
static bool
is_repeated(const struct db_walk *walk, unsigned index)
{
	const void *leaf = snapshot_path_leaf(&walk->path);
	struct text key = page_key(leaf, index);

	for (unsigned i = 0; walk->is_doubtful && i < index; i++)
		if (page_compare(page_key(leaf, i), key) == 0)
			return true;
	return false;
}

static bool
give_row(struct db_walk *walk, struct db_walk_row *row)
{
	const void *leaf = snapshot_path_leaf(&walk->path);

	row->key = page_key(leaf, *index_of(walk));
	row->stored = db_txn_stored(walk->txn, leaf, *index_of(walk));
	return true;
}

/* The row at the place of the walk, or the first one behind it. */
static bool
row_onward(struct db_walk *walk, struct db_walk_row *row)
{
	for (;; ++*index_of(walk)) {
		if (*index_of(walk) >= rows_of(walk) &&
		    !find_leaf(walk, snapshot_path_next(&walk->path),
			snapshot_path_next))
			return false;
		if (!is_repeated(walk, *index_of(walk)))
			return give_row(walk, row);
	}
}

bool
db_walk_seek(struct db_walk *walk, struct text key, struct db_walk_row *row)
{
	enum snapshot_way way = snapshot_path_seek(&walk->path, key);
	bool is_around = way == WAY_DAMAGED;

	if (!find_leaf(walk, way, snapshot_path_next))
		return false;
	if (!is_around)
		db_txn_check_before(walk->txn, walk->table, &walk->path);
	/* Who searches where keys are out of order misses rows. */
	if (walk->is_doubtful)
		*index_of(walk) = 0;
	return row_onward(walk, row);
}

bool
db_walk_next(struct db_walk *walk, struct db_walk_row *row)
{
	if (walk->path.depth == 0)
		return db_walk_seek(walk, (struct text){ NULL, 0 }, row);
	if (!is_on_leaf(walk)) {
		if (!find_leaf(walk, snapshot_path_next(&walk->path),
			snapshot_path_next))
			return false;
	} else if (*index_of(walk) < rows_of(walk))
		++*index_of(walk);
	return row_onward(walk, row);
}

/* The row at the place of the walk, or the first one before it. */
static bool
row_back(struct db_walk *walk, struct db_walk_row *row)
{
	while (is_repeated(walk, *index_of(walk)))
		--*index_of(walk);
	return give_row(walk, row);
}

bool
db_walk_last(struct db_walk *walk, struct db_walk_row *row)
{
	return find_leaf(walk, snapshot_path_last(&walk->path),
		   snapshot_path_previous) &&
	       row_back(walk, row);
}

bool
db_walk_previous(struct db_walk *walk, struct db_walk_row *row)
{
	if (walk->path.depth == 0)
		return db_walk_last(walk, row);
	if (is_on_leaf(walk) && *index_of(walk) > 0)
		--*index_of(walk);
	else if (!find_leaf(walk, snapshot_path_previous(&walk->path),
		     snapshot_path_previous))
		return false;
	return row_back(walk, row);
}

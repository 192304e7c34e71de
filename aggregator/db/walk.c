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

/* On a doubtful leaf: to the row with the next key, whatever its place in the
 * list, of those that may be here.  A damaged number may lead to any page, and
 * a list may have a row twice. */
static bool
pick(struct db_walk *walk, int direction)
{
	const void *leaf = snapshot_path_leaf(&walk->path);
	struct text best = { NULL, 0 };

	for (unsigned i = 0; i < page_count(leaf); i++) {
		struct text key = page_key(leaf, i);

		if (!snapshot_path_may_have(&walk->path, key) ||
		    (walk->last.bytes > 0 &&
			direction * page_compare(key, walk->last) <= 0) ||
		    (best.bytes > 0 &&
			direction * page_compare(key, best) >= 0))
			continue;
		best = key;
		*index_of(walk) = i;
	}
	return best.bytes > 0;
}

static bool
give_row(struct db_walk *walk, struct db_walk_row *row)
{
	const void *leaf = snapshot_path_leaf(&walk->path);

	row->key = walk->last = page_key(leaf, *index_of(walk));
	row->stored = db_txn_stored(walk->txn, leaf, *index_of(walk));
	return true;
}

/* The row at the place of the walk, or the first one behind it. */
static bool
row_onward(struct db_walk *walk, struct db_walk_row *row)
{
	while (walk->is_doubtful ? !pick(walk, 1)
				 : *index_of(walk) >= rows_of(walk))
		if (!find_leaf(walk, snapshot_path_next(&walk->path),
			snapshot_path_next))
			return false;
	return give_row(walk, row);
}

bool
db_walk_seek(struct db_walk *walk, struct text key, struct db_walk_row *row)
{
	enum snapshot_way way = snapshot_path_seek(&walk->path, key);
	bool is_around = way == WAY_DAMAGED;

	walk->last = (struct text){ NULL, 0 };
	if (!find_leaf(walk, way, snapshot_path_next))
		return false;
	if (!is_around)
		db_txn_check_before(walk->txn, walk->table, &walk->path);
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
	while (walk->is_doubtful && !pick(walk, -1))
		if (!find_leaf(walk, snapshot_path_previous(&walk->path),
			snapshot_path_previous))
			return false;
	return give_row(walk, row);
}

bool
db_walk_last(struct db_walk *walk, struct db_walk_row *row)
{
	walk->last = (struct text){ NULL, 0 };
	return find_leaf(walk, snapshot_path_last(&walk->path),
		   snapshot_path_previous) &&
	       row_back(walk, row);
}

bool
db_walk_previous(struct db_walk *walk, struct db_walk_row *row)
{
	if (walk->path.depth == 0)
		return db_walk_last(walk, row);
	if (is_on_leaf(walk) && walk->is_doubtful)
		return row_back(walk, row);
	if (is_on_leaf(walk) && *index_of(walk) > 0)
		--*index_of(walk);
	else if (!find_leaf(walk, snapshot_path_previous(&walk->path),
		     snapshot_path_previous))
		return false;
	return row_back(walk, row);
}

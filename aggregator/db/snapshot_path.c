/*
 * db_snapshot - ways through the trees of a snapshot.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/snapshot.h"

#include <string.h>

enum { ID_BYTES = 8 }; /* of a page, in the free list */

static const unsigned char *
page_at(const struct snapshot *snapshot, uint64_t number)
{
	return snapshot->base + number * snapshot->limits.page_bytes;
}

/* ---- the free list ---- */

static uint64_t
get_id(const unsigned char *at, uint64_t index)
{
	uint64_t id;

	memcpy(&id, at + index * ID_BYTES, sizeof(id));
	return id;
}

/* The numbers of a row: their count, then the pages, the greatest first.  NULL:
 * it is damaged. */
static const unsigned char *
free_ids(const struct snapshot *snapshot, const void *page, unsigned row,
    uint64_t *count)
{
	struct page_value value = page_value(page, row);
	const unsigned char *at = value.at;

	if (at == NULL) {
		at = page_at(snapshot, value.number);
		if (!page_check_overflow(
			at, value.number, value.bytes, &snapshot->limits))
			return NULL;
		at += PAGE_HEAD_BYTES;
	}
	if (value.bytes < ID_BYTES)
		return NULL;
	*count = get_id(at, 0);
	return *count <= value.bytes / ID_BYTES - 1 ? at : NULL;
}

static bool
check_free_ids(const struct snapshot *snapshot, const void *page)
{
	for (unsigned row = 0; row < page_count(page); row++) {
		uint64_t count, before = PAGE_NONE, id;
		const unsigned char *at = free_ids(snapshot, page, row, &count);

		if (at == NULL)
			return false;
		for (uint64_t i = 1; i <= count; i++) {
			id = get_id(at, i);
			if (id >= before || id < PAGE_METAS ||
			    id > snapshot->last)
				return false;
			before = id;
		}
	}
	return true;
}

static void
count_free(const struct snapshot *snapshot, const void *page, uint64_t from,
    uint64_t *pages)
{
	for (unsigned row = 0; row < page_count(page); row++) {
		uint64_t count;
		const unsigned char *at = free_ids(snapshot, page, row, &count);

		for (uint64_t i = 1; at != NULL && i <= count; i++) {
			if (get_id(at, i) < from)
				break;
			(*pages)++;
		}
	}
}

bool
snapshot_free_list(
    const struct snapshot *snapshot, uint64_t from, uint64_t *pages)
{
	struct snapshot_path path;
	enum snapshot_way way;
	uint64_t rows = 0;

	if (pages != NULL)
		*pages = 0;
	if (snapshot->base == NULL)
		return true;
	snapshot_path_begin(&path, snapshot, &snapshot->free_list);
	for (way = snapshot_path_seek(&path, (struct text){ NULL, 0 });
	     way == WAY_LEAF; way = snapshot_path_next(&path)) {
		rows += page_count(snapshot_path_leaf(&path));
		if (pages != NULL)
			count_free(
			    snapshot, snapshot_path_leaf(&path), from, pages);
	}
	return way == WAY_NONE && rows == snapshot->free_list.rows;
}

/* ---- going down ---- */

void
snapshot_path_begin(struct snapshot_path *path, const struct snapshot *snapshot,
    const struct page_tree *tree)
{
	path->snapshot = snapshot;
	path->tree = *tree;
	path->depth = 0;
	path->bad = 0;
}

/* The keys that the pages below `levels` may have: from `low` on, and less than
 * `high`; empty: no limit. */
static void
get_limits(const struct snapshot_path *path, unsigned levels, struct text *low,
    struct text *high)
{
	*low = *high = (struct text){ NULL, 0 };
	while (levels-- > 0) {
		const void *page = path->at[levels].page;
		unsigned index = path->at[levels].index;

		if (low->bytes == 0 && index > 0)
			*low = page_key(page, index);
		if (high->bytes == 0 && index + 1 < page_count(page))
			*high = page_key(page, index + 1);
	}
}

/* The first key of a branch is empty. */
static unsigned
first_index(const void *page)
{
	return page_is_leaf(page) ? 0 : 1;
}

/* Are its first and its last key between those of its parents? */
static bool
is_in_limits(const struct snapshot_path *path, const void *page)
{
	unsigned count = page_count(page), first = first_index(page);
	struct text low, high;

	if (path->tree.is_free_list || count <= first)
		return true;
	get_limits(path, path->depth, &low, &high);
	return (low.bytes == 0 ||
		   page_compare(page_key(page, first), low) >= 0) &&
	       (high.bytes == 0 ||
		   page_compare(page_key(page, count - 1), high) < 0);
}

static bool
is_sound(const struct snapshot_path *path, const void *page, uint64_t number)
{
	enum page_kind kind = page_check(
	    page, number, &path->snapshot->limits, path->tree.is_free_list);

	return kind != PAGE_BAD &&
	       (kind != PAGE_LEAF || !path->tree.is_free_list ||
		   check_free_ids(path->snapshot, page));
}

/* A page that can be used at this level; NULL: it cannot. */
static const void *
usable(const struct snapshot_path *path, uint64_t number, unsigned level)
{
	const struct snapshot *snapshot = path->snapshot;
	const void *page = page_at(snapshot, number);

	if (number < PAGE_METAS || number >= snapshot->limits.pages ||
	    !page_begins(page, number, level + 1u == path->tree.depth) ||
	    (!db_marks_has(snapshot->env->marks, number) &&
		!is_sound(path, page, number)))
		return NULL;
	return page;
}

/* Do the keys lead to this page, the next one of the way, by another way? */
static bool
leads_elsewhere(
    const struct snapshot_path *path, const void *page, struct text key)
{
	uint64_t number = path->tree.root;
	bool is_other = false;

	for (unsigned level = 0; level < path->depth; level++) {
		const void *branch = usable(path, number, level);
		unsigned index;

		if (branch == NULL)
			return false;
		index = page_find_child(branch, key);
		is_other |= branch != path->at[level].page ||
			    index != path->at[level].index;
		number = page_child(branch, index);
	}
	return is_other && page_at(path->snapshot, number) == page;
}

/* Has a damaged number of a page led here?  Who takes the page for one that
 * belongs here finds its rows twice, and LMDB frees it twice. */
static bool
belongs_elsewhere(const struct snapshot_path *path, const void *page)
{
	return leads_elsewhere(path, page, page_key(page, first_index(page))) ||
	       leads_elsewhere(
		   path, page, page_key(page, page_count(page) - 1));
}

/* A branch that is out of order may have a page twice, and no key says which
 * place is the right one: the first one counts. */
static bool
is_repeated(const struct snapshot_path *path, uint64_t number)
{
	const struct snapshot *snapshot = path->snapshot;
	const unsigned char *branch;
	unsigned index;

	if (path->depth == 0)
		return false;
	branch = path->at[path->depth - 1].page;
	index = path->at[path->depth - 1].index;
	if (db_marks_has(
		snapshot->env->marks, (uint64_t)(branch - snapshot->base) /
					  snapshot->limits.page_bytes))
		return false;
	for (unsigned i = 0; i < index; i++)
		if (page_child(branch, i) == number)
			return true;
	return false;
}

/* Add a page to the way. */
static enum snapshot_way
enter(struct snapshot_path *path, uint64_t number)
{
	struct db_marks *marks = path->snapshot->env->marks;
	const void *page = usable(path, number, path->depth);
	bool is_here;

	path->bad = number;
	if (page == NULL || is_repeated(path, number))
		return WAY_DAMAGED;
	is_here = is_in_limits(path, page);
	if (!is_here && belongs_elsewhere(path, page))
		return WAY_DAMAGED;
	path->at[path->depth].page = page;
	path->at[path->depth].index = 0;
	path->at[path->depth].is_doubtful = !is_here;
	path->depth++;
	if (!is_here)
		return WAY_DOUBTFUL;
	if (!db_marks_has(marks, number)) {
		if (!path->tree.is_free_list &&
		    (!page_ascends(page) ||
			!page_lists_all(
			    page, path->snapshot->limits.page_bytes))) {
			path->at[path->depth - 1].is_doubtful = true;
			return WAY_DOUBTFUL;
		}
		db_marks_set(marks, number);
	}
	return WAY_LEAF;
}

/* The number of the page that the way has at a level. */
static uint64_t
number_of(const struct snapshot_path *path, unsigned level)
{
	return (uint64_t)((const unsigned char *)path->at[level].page -
			  path->snapshot->base) /
	       path->snapshot->limits.page_bytes;
}

enum side { SIDE_FIRST, SIDE_LAST, SIDE_KEY };

static unsigned
choose(const void *page, enum side side, struct text key)
{
	if (side == SIDE_LAST)
		return page_count(page) - 1;
	if (side == SIDE_FIRST)
		return 0;
	return page_is_leaf(page) ? page_find_row(page, key)
				  : page_find_child(page, key);
}

/* From the pages that the way has to a leaf. */
static enum snapshot_way
descend(struct snapshot_path *path, enum side side, struct text key)
{
	enum snapshot_way way, all = WAY_LEAF;
	uint64_t doubtful = 0;

	/* All that a doubtful branch leads to is doubtful. */
	for (unsigned level = 0; level < path->depth; level++)
		if (path->at[level].is_doubtful) {
			all = WAY_DOUBTFUL;
			doubtful = number_of(path, level);
		}
	while (path->depth < path->tree.depth) {
		unsigned last = path->depth - 1;
		uint64_t number =
		    path->depth == 0
			? path->tree.root
			: page_child(path->at[last].page, path->at[last].index);

		way = enter(path, number);
		if (way == WAY_DAMAGED)
			return way;
		if (way == WAY_DOUBTFUL) {
			all = way;
			doubtful = number;
		}
		last = path->depth - 1;
		path->at[last].index = choose(path->at[last].page, side, key);
	}
	path->bad = doubtful;
	return all;
}

static enum snapshot_way
from_root(struct snapshot_path *path, enum side side, struct text key)
{
	path->depth = 0;
	if (path->tree.root == PAGE_NONE)
		return WAY_NONE;
	return descend(path, side, key);
}

enum snapshot_way
snapshot_path_seek(struct snapshot_path *path, struct text key)
{
	return from_root(path, key.bytes > 0 ? SIDE_KEY : SIDE_FIRST, key);
}

enum snapshot_way
snapshot_path_last(struct snapshot_path *path)
{
	return from_root(path, SIDE_LAST, (struct text){ NULL, 0 });
}

/* The levels of the way that have branches. */
static unsigned
branches(const struct snapshot_path *path)
{
	return path->depth < path->tree.depth ? path->depth : path->depth - 1u;
}

enum snapshot_way
snapshot_path_next(struct snapshot_path *path)
{
	unsigned level = path->depth == 0 ? 0 : branches(path);

	while (level-- > 0) {
		if (path->at[level].index + 1 >=
		    page_count(path->at[level].page))
			continue;
		path->at[level].index++;
		path->depth = level + 1;
		return descend(path, SIDE_FIRST, (struct text){ NULL, 0 });
	}
	return WAY_NONE;
}

enum snapshot_way
snapshot_path_previous(struct snapshot_path *path)
{
	unsigned level = path->depth == 0 ? 0 : branches(path);

	while (level-- > 0) {
		if (path->at[level].index == 0)
			continue;
		path->at[level].index--;
		path->depth = level + 1;
		return descend(path, SIDE_LAST, (struct text){ NULL, 0 });
	}
	return WAY_NONE;
}

bool
snapshot_path_may_have(const struct snapshot_path *path, struct text key)
{
	for (unsigned level = 0; level + 1u < path->depth; level++) {
		const void *page = path->at[level].page;
		unsigned index = path->at[level].index;

		if ((index > 0 &&
			page_compare(key, page_key(page, index)) < 0) ||
		    (index + 1 < page_count(page) &&
			page_compare(key, page_key(page, index + 1)) >= 0))
			return false;
	}
	return true;
}

const void *
snapshot_path_leaf(const struct snapshot_path *path)
{
	return path->at[path->depth - 1].page;
}

enum snapshot_way
snapshot_path_edge(const struct snapshot_path *path, uint64_t *bad)
{
	struct snapshot_path beside = *path;
	unsigned row = path->at[path->depth - 1].index;
	enum snapshot_way way = WAY_LEAF;

	if (row == 0)
		way = snapshot_path_previous(&beside);
	else if (row >= page_count(snapshot_path_leaf(path)))
		way = snapshot_path_next(&beside);
	*bad = beside.bad;
	return way == WAY_DOUBTFUL ? way : WAY_LEAF;
}

/* ---- before a change ---- */

static enum snapshot_way
check_beside(const struct snapshot_path *path, unsigned level, unsigned index,
    uint64_t *bad)
{
	struct snapshot_path beside = *path;
	enum snapshot_way way;

	beside.at[level].index = index;
	beside.depth = level + 1;
	way = descend(&beside, SIDE_FIRST, (struct text){ NULL, 0 });
	*bad = beside.bad;
	return way;
}

/* To one side, as many leaves as may have become one page with this one in the
 * transaction, and the one after them: LMDB merges a page that is less than a
 * quarter full with its neighbour, again and again. */
static enum snapshot_way
check_side(const struct snapshot_path *path,
    enum snapshot_way (*step)(struct snapshot_path *path), uint64_t *bad)
{
	uint32_t page_bytes = path->snapshot->limits.page_bytes, filled = 0;
	struct snapshot_path beside = *path;
	enum snapshot_way way;
	bool is_last = false;

	while ((way = step(&beside)) == WAY_LEAF && !is_last) {
		filled += page_filled(snapshot_path_leaf(&beside), page_bytes);
		is_last = filled >= page_bytes / 4;
	}
	*bad = beside.bad;
	return way == WAY_NONE ? WAY_LEAF : way;
}

enum snapshot_way
snapshot_path_neighbours(const struct snapshot_path *path, uint64_t *bad)
{
	enum { BRANCHES = 2 }; /* to each side */
	enum snapshot_way way = check_side(path, snapshot_path_next, bad);

	if (way == WAY_LEAF)
		way = check_side(path, snapshot_path_previous, bad);
	for (unsigned level = 0; level + 2 < path->depth; level++) {
		unsigned index = path->at[level].index,
			 count = page_count(path->at[level].page);

		for (unsigned i = 1; i <= BRANCHES && way == WAY_LEAF; i++) {
			if (index >= i)
				way = check_beside(path, level, index - i, bad);
			if (way == WAY_LEAF && index + i < count)
				way = check_beside(path, level, index + i, bad);
		}
	}
	return way;
}

static bool
check_value(
    const struct snapshot *snapshot, struct page_value value, uint64_t *bad)
{
	*bad = value.number;
	return value.at != NULL ||
	       page_check_overflow(page_at(snapshot, value.number),
		   value.number, value.bytes, &snapshot->limits);
}

bool
snapshot_path_may_write(
    const struct snapshot_path *path, struct text key, uint64_t *bad)
{
	const void *leaf = snapshot_path_leaf(path);
	unsigned row = path->at[path->depth - 1].index;

	return row >= page_count(leaf) ||
	       page_compare(page_key(leaf, row), key) != 0 ||
	       check_value(path->snapshot, page_value(leaf, row), bad);
}

/* ---- all of a tree ---- */

static void
walk_leaf(const struct snapshot_path *path,
    void (*on_damage)(void *arg, const struct snapshot_damage *damage),
    void *arg)
{
	const void *leaf = snapshot_path_leaf(path);
	struct snapshot_damage damage = { 0 };

	for (unsigned row = 0; row < page_count(leaf); row++) {
		if (check_value(
			path->snapshot, page_value(leaf, row), &damage.page))
			continue;
		damage.from = damage.to = page_key(leaf, row);
		on_damage(arg, &damage);
	}
}

uint64_t
snapshot_walk(const struct snapshot *snapshot, const struct page_tree *tree,
    void (*on_damage)(void *arg, const struct snapshot_damage *damage),
    void *arg)
{
	struct snapshot_path path;
	struct snapshot_damage damage;
	enum snapshot_way way;
	uint64_t rows = 0;

	snapshot_path_begin(&path, snapshot, tree);
	way = snapshot_path_seek(&path, (struct text){ NULL, 0 });
	for (; way != WAY_NONE; way = snapshot_path_next(&path)) {
		if (way == WAY_DAMAGED || way == WAY_DOUBTFUL) {
			damage.page = path.bad;
			damage.is_doubtful = way == WAY_DOUBTFUL;
			get_limits(&path, path.depth > 0 ? branches(&path) : 0,
			    &damage.from, &damage.to);
			on_damage(arg, &damage);
		}
		if (way == WAY_DAMAGED)
			continue;
		walk_leaf(&path, on_damage, arg);
		rows += page_count(snapshot_path_leaf(&path));
	}
	return rows;
}

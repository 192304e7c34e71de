/*
 * db_snapshot - the pages that a transaction began with, checked before LMDB
 * trusts them.
 *
 * Private to this folder.  Before LMDB is asked for a row, the way to it is
 * walked here, in the same order, and each page on it is checked once
 * (page.h); the environment remembers which.  A page that a writing
 * transaction has changed is LMDB's own and was made from checked ones.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_SNAPSHOT_H
#define AGGREGATOR_DB_SNAPSHOT_H

#include "aggregator/db/env.h"
#include "aggregator/db/pages/page.h"

/* Errors of db_env_begin, next to those of LMDB and the system. */
enum {
	SNAPSHOT_CUT = -29000, /* the file ends before pages that are in use */
	SNAPSHOT_HEADER,       /* a header is damaged */
	SNAPSHOT_NAMES,        /* the table of tables is damaged */
	SNAPSHOT_FREE_LIST,    /* damaged: a writer would overwrite rows */
	SNAPSHOT_UNREADABLE,   /* reading the file failed while in use */
};
/* The sentence about one of these; NULL: `rc` is none of them. */
const char *snapshot_sentence(int rc);

struct snapshot {
	struct db_env *env;
	const unsigned char *base; /* of the map; NULL: there are no tables */
	struct page_limits limits;
	struct page_tree free_list;
	const void *names;  /* leaf of the table of tables */
	uint64_t txn, last; /* the last page that the header counts */
};

/* Before LMDB opens the file: its length and its headers.  `path` is that of
 * the directory. */
int snapshot_check_file(const char *path, struct err *err);

/* Of a transaction that has just begun.  Returns 0, an error of above, or
 * EAGAIN: the snapshot is too old, begin again. */
int snapshot_begin(
    struct snapshot *snapshot, struct db_env *env, MDB_txn *txn, bool write);
/* Has the file been cut, or could it not be read, since it was opened? */
bool snapshot_is_unreadable(const struct db_env *env);

/* False: there is no such table; PAGE_NONE is an empty one. */
bool snapshot_tree(
    const struct snapshot *snapshot, const char *name, struct page_tree *tree);

/* The way from the root to a leaf. */
struct snapshot_path {
	const struct snapshot *snapshot;
	struct page_tree tree;
	unsigned depth; /* pages on the way; less than tree.depth: broken */
	struct {
		const void *page;
		unsigned index;
		bool is_doubtful;
	} at[PAGE_DEPTH_MAX];
	uint64_t bad; /* the page that is damaged, or that does not have the
			 keys that its parent says */
};
enum snapshot_way {
	WAY_LEAF,     /* the whole way is good */
	WAY_NONE,     /* the table is empty, or there is no further leaf */
	WAY_DOUBTFUL, /* good pages, but `bad` has keys of other pages, or in
			 another order, or does not list all of its rows */
	WAY_DAMAGED   /* `bad` cannot be used */
};
void snapshot_path_begin(struct snapshot_path *path,
    const struct snapshot *snapshot, const struct page_tree *tree);
/* To the leaf of `key`; empty: to the first one. */
enum snapshot_way snapshot_path_seek(
    struct snapshot_path *path, struct text key);
enum snapshot_way snapshot_path_last(struct snapshot_path *path);
/* To the next leaf, also after WAY_DAMAGED: past the damaged page. */
enum snapshot_way snapshot_path_next(struct snapshot_path *path);
enum snapshot_way snapshot_path_previous(struct snapshot_path *path);
/* After a seek of a key that would be the first or the last one of its leaf:
 * WAY_DOUBTFUL when the leaf on that side has keys of this one, because a key
 * of a branch is damaged; `bad` is that leaf. */
enum snapshot_way snapshot_path_edge(
    const struct snapshot_path *path, uint64_t *bad);
/* May a row of this key be on the leaf, by what all pages on the way say? */
bool snapshot_path_may_have(const struct snapshot_path *path, struct text key);
/* The leaf of a whole way. */
const void *snapshot_path_leaf(const struct snapshot_path *path);
/* What LMDB may touch when it deletes from this leaf, also after other changes
 * of the transaction: neighbours on all levels.
 * Other than WAY_LEAF: `bad` is a page. */
enum snapshot_way snapshot_path_neighbours(
    const struct snapshot_path *path, uint64_t *bad);
/* After a seek of `key`: may its value be replaced or deleted? */
bool snapshot_path_may_write(
    const struct snapshot_path *path, struct text key, uint64_t *bad);

/* Does a value lie inside of the file?  `at` may be outside of the map: in a
 * page that the transaction has made. */
bool snapshot_has(
    const struct snapshot *snapshot, const void *at, size_t bytes);

/* Walk the free list; false: it is damaged, or has other rows than the header
 * counts.  `pages` gets how many pages are free, of those from page `from`
 * on. */
bool snapshot_free_list(
    const struct snapshot *snapshot, uint64_t from, uint64_t *pages);

/* Walk a whole tree, with the overflow pages; calls `on_damage` for each page
 * that is damaged, with the keys around it.  Returns how many rows the others
 * have. */
struct snapshot_damage {
	uint64_t page;
	struct text from, to; /* keys: not less than, less than; empty: none */
	bool is_doubtful;
};
uint64_t snapshot_walk(const struct snapshot *snapshot,
    const struct page_tree *tree,
    void (*on_damage)(void *arg, const struct snapshot_damage *damage),
    void *arg);

#endif

/*
 * page - the pages of LMDB's file, read with suspicion.
 *
 * LMDB 0.9 trusts every byte of its file: a page that is not what it should be
 * ends the process.  These functions look at one page and touch nothing
 * outside of it.  proto/store.md, "Damage", says what is checked.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_DB_PAGES_PAGE_H
#define AGGREGATOR_DB_PAGES_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/text.h"

enum {
	PAGE_HEAD_BYTES = 16,
	PAGE_BYTES_LEAST = 512,
	PAGE_BYTES_MOST = 32768,
	PAGE_META_BYTES = 152, /* of a header page that are in use */
	PAGE_METAS = 2,        /* pages 0 and 1 are headers */
	PAGE_DEPTH_MAX = 32,
};
#define PAGE_NONE UINT64_MAX /* the root of an empty table */

/* A table: where its tree begins, and how high it is. */
struct page_tree {
	uint64_t root, rows;
	uint16_t depth;
	bool is_free_list;
};

/* A header of the file. */
struct page_meta {
	uint32_t page_bytes;
	uint64_t last; /* page */
	uint64_t txn;
	struct page_tree free_list, names;
};

/* False: this is not header number `index` (0 or 1) of an environment. */
bool page_get_meta(const void *page, unsigned index, struct page_meta *meta);

/* Limits that numbers in a page must keep. */
struct page_limits {
	uint32_t page_bytes;
	uint64_t pages; /* of the file: the last page has this number - 1 */
};

enum page_kind { PAGE_BAD, PAGE_BRANCH, PAGE_LEAF };

/* What a page is, if each number in it lies where it may. */
enum page_kind page_check(const void *page, uint64_t number,
    const struct page_limits *limits, bool is_free_list);

/* Is this page `number`, and a leaf or else a branch?  A page that was checked
 * in an older snapshot may be another one now. */
bool page_begins(const void *page, uint64_t number, bool is_leaf);

/* Is this the first page of an overflow value of `bytes`? */
bool page_check_overflow(const void *page, uint64_t number, uint64_t bytes,
    const struct page_limits *limits);

/* Of a page that was checked. */
bool page_is_leaf(const void *page);
unsigned page_count(const void *page);
uint32_t page_filled(const void *page, uint32_t page_bytes);
struct text page_key(const void *page, unsigned index);
uint64_t page_child(const void *page, unsigned index);
/* The value of a row: `at` NULL when it lies in overflow pages from `number`
 * on. */
struct page_value {
	const void *at;
	uint64_t number, bytes;
};
struct page_value page_value(const void *page, unsigned index);
/* The tree of the table `name`, from a leaf of the table of tables; false:
 * there is none. */
bool page_find_tree(const void *page, struct text name, struct page_tree *tree);
/* Has a leaf of the table of tables nothing but tables? */
bool page_check_trees(const void *page);

/* Does each key come after the one before it? */
bool page_ascends(const void *page);
/* Do the rows that it lists fill what is in use?  LMDB leaves nothing between
 * rows, so if not, its list is too short, or has a row twice. */
bool page_lists_all(const void *page, uint32_t page_bytes);

/* As LMDB orders keys. */
int page_compare(struct text a, struct text b);
/* The last child whose first key is not greater than `key`. */
unsigned page_find_child(const void *page, struct text key);
/* The first row whose key is not less than `key`; page_count: none. */
unsigned page_find_row(const void *page, struct text key);

#endif

/*
 * page - the pages of LMDB's file.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/pages/page.h"

#include <string.h>

enum {
	IS_BRANCH = 1,
	IS_LEAF = 2,
	IS_OVERFLOW = 4,
	IS_META = 8,
	IN_OVERFLOW = 1, /* of a row */
	IS_TREE = 2,
	NODE_BYTES = 8,
	TREE_BYTES = 48,
	FREE_LIST_FLAGS = 8, /* keys are numbers */
	META_VERSION = 1,
	KEY_BYTES_MAX = 511,
};
#define META_MAGIC 0xBEEFC0DEu

static uint16_t
get16(const void *from, size_t at)
{
	uint16_t v;

	memcpy(&v, (const char *)from + at, sizeof(v));
	return v;
}

static uint32_t
get32(const void *from, size_t at)
{
	uint32_t v;

	memcpy(&v, (const char *)from + at, sizeof(v));
	return v;
}

static uint64_t
get64(const void *from, size_t at)
{
	uint64_t v;

	memcpy(&v, (const char *)from + at, sizeof(v));
	return v;
}

/* ---- headers ---- */

static bool
get_tree(const void *from, bool is_free_list, struct page_tree *tree)
{
	*tree = (struct page_tree){
		.depth = get16(from, 6),
		.rows = get64(from, 32),
		.root = get64(from, 40),
		.is_free_list = is_free_list,
	};
	if (get16(from, 4) != (is_free_list ? FREE_LIST_FLAGS : 0))
		return false;
	if (tree->root == PAGE_NONE)
		return tree->depth == 0;
	return tree->root >= PAGE_METAS && tree->depth > 0 &&
	       tree->depth <= PAGE_DEPTH_MAX;
}

static bool
is_page_size(uint32_t bytes)
{
	return bytes >= PAGE_BYTES_LEAST && bytes <= PAGE_BYTES_MOST &&
	       (bytes & (bytes - 1)) == 0;
}

bool
page_get_meta(const void *page, unsigned index, struct page_meta *meta)
{
	const char *at = (const char *)page + PAGE_HEAD_BYTES;

	if (get64(page, 0) != index || get16(page, 10) != IS_META ||
	    get32(at, 0) != META_MAGIC || get32(at, 4) != META_VERSION)
		return false;
	meta->page_bytes = get32(at, 24);
	meta->last = get64(at, 120);
	meta->txn = get64(at, 128);
	/* A new environment has two equal headers.  Each commit writes the one
	 * that is not in use. */
	return is_page_size(meta->page_bytes) && meta->last >= PAGE_METAS - 1 &&
	       meta->last < PAGE_NONE / meta->page_bytes &&
	       (meta->txn == 0 || meta->txn % PAGE_METAS == index) &&
	       get_tree(at + 24, true, &meta->free_list) &&
	       get_tree(at + 72, false, &meta->names);
}

/* ---- a page ---- */

bool
page_is_leaf(const void *page)
{
	return get16(page, 10) == IS_LEAF;
}

unsigned
page_count(const void *page)
{
	return (unsigned)(get16(page, 12) - PAGE_HEAD_BYTES) / 2;
}

uint32_t
page_filled(const void *page, uint32_t page_bytes)
{
	return page_bytes - PAGE_HEAD_BYTES -
	       (uint32_t)(get16(page, 14) - get16(page, 12));
}

static const char *
node(const void *page, unsigned index)
{
	return (const char *)page + get16(page, PAGE_HEAD_BYTES + 2 * index);
}

struct text
page_key(const void *page, unsigned index)
{
	const char *at = node(page, index);

	return (struct text){ at + NODE_BYTES, get16(at, 6) };
}

uint64_t
page_child(const void *page, unsigned index)
{
	const char *at = node(page, index);

	return get32(at, 0) | (uint64_t)get16(at, 4) << 32;
}

struct page_value
page_value(const void *page, unsigned index)
{
	const char *at = node(page, index);
	const char *value = at + NODE_BYTES + get16(at, 6);

	if (get16(at, 4) & IN_OVERFLOW)
		return (
		    struct page_value){ NULL, get64(value, 0), get32(at, 0) };
	return (struct page_value){ value, 0, get32(at, 0) };
}

static uint64_t
overflow_pages(uint64_t bytes, uint32_t page_bytes)
{
	return (PAGE_HEAD_BYTES - 1 + bytes) / page_bytes + 1;
}

static bool
is_range(uint64_t first, uint64_t count, const struct page_limits *limits)
{
	return first >= PAGE_METAS && first < limits->pages &&
	       count <= limits->pages - first;
}

/* `room`: from the node to the end of its page. */
static bool
check_row(const char *at, uint32_t room, const struct page_limits *limits,
    bool is_free_list)
{
	uint64_t bytes = get32(at, 0);
	uint32_t used = NODE_BYTES + (uint32_t)get16(at, 6);
	uint16_t flags = get16(at, 4);

	if (is_free_list && get16(at, 6) != 8)
		return false;
	if (flags == IN_OVERFLOW)
		return used + 8 <= room &&
		       is_range(get64(at, used),
			   overflow_pages(bytes, limits->page_bytes), limits);
	if (flags == IS_TREE && bytes != TREE_BYTES)
		return false;
	return (flags == 0 || (flags == IS_TREE && !is_free_list)) &&
	       bytes <= room && used + bytes <= room;
}

enum page_kind
page_check(const void *page, uint64_t number, const struct page_limits *limits,
    bool is_free_list)
{
	uint32_t end = limits->page_bytes, lower = get16(page, 12),
		 upper = get16(page, 14);
	uint16_t flags = get16(page, 10);
	bool is_leaf = flags == IS_LEAF;
	unsigned i, count;

	if (get64(page, 0) != number || (!is_leaf && flags != IS_BRANCH) ||
	    lower < PAGE_HEAD_BYTES + 2 || lower % 2 != 0 || lower > upper ||
	    upper > end)
		return PAGE_BAD;
	count = page_count(page);
	if (!is_leaf && count < 2 && !is_free_list)
		return PAGE_BAD;
	for (i = 0; i < count; i++) {
		uint32_t at = get16(page, PAGE_HEAD_BYTES + 2 * i);
		const char *row = (const char *)page + at;
		uint32_t key;

		if (at < upper || at % 2 != 0 || at > end - NODE_BYTES)
			return PAGE_BAD;
		key = get16(row, 6);
		if (key > KEY_BYTES_MAX || key > end - NODE_BYTES - at ||
		    (key == 0 && (is_leaf || i > 0)))
			return PAGE_BAD;
		if (is_leaf ? !check_row(row, end - at, limits, is_free_list)
			    : !is_range(page_child(page, i), 1, limits))
			return PAGE_BAD;
	}
	return is_leaf ? PAGE_LEAF : PAGE_BRANCH;
}

bool
page_begins(const void *page, uint64_t number, bool is_leaf)
{
	return get64(page, 0) == number &&
	       get16(page, 10) == (is_leaf ? IS_LEAF : IS_BRANCH);
}

bool
page_check_overflow(const void *page, uint64_t number, uint64_t bytes,
    const struct page_limits *limits)
{
	return get64(page, 0) == number && get16(page, 10) == IS_OVERFLOW &&
	       get32(page, 12) == overflow_pages(bytes, limits->page_bytes);
}

bool
page_find_tree(const void *page, struct text name, struct page_tree *tree)
{
	unsigned i, count = page_count(page);

	for (i = 0; i < count; i++)
		if (text_equal(page_key(page, i), name) &&
		    get16(node(page, i), 4) == IS_TREE)
			return get_tree(page_value(page, i).at, false, tree);
	return false;
}

bool
page_check_trees(const void *page)
{
	unsigned i, count = page_count(page);
	struct page_tree tree;

	for (i = 0; i < count; i++)
		if (get16(node(page, i), 4) != IS_TREE ||
		    !get_tree(page_value(page, i).at, false, &tree))
			return false;
	return true;
}

/* ---- finding a key ---- */

int
page_compare(struct text a, struct text b)
{
	uint32_t bytes = a.bytes < b.bytes ? a.bytes : b.bytes;
	int rc = bytes > 0 ? memcmp(a.at, b.at, bytes) : 0;

	return rc != 0 ? rc : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

/* With the byte that aligns the next row. */
static uint32_t
row_bytes(const void *page, unsigned index)
{
	const char *at = node(page, index);
	uint32_t bytes = NODE_BYTES + (uint32_t)get16(at, 6);

	if (page_is_leaf(page))
		bytes += get16(at, 4) & IN_OVERFLOW ? (uint32_t)sizeof(uint64_t)
						    : get32(at, 0);
	return bytes + (bytes & 1);
}

bool
page_lists_all(const void *page, uint32_t page_bytes)
{
	uint32_t bytes = 0, count = page_count(page);

	for (uint32_t i = 0; i < count; i++)
		bytes += row_bytes(page, i);
	return bytes == page_bytes - get16(page, 14);
}

bool
page_ascends(const void *page)
{
	/* The first key of a branch means nothing. */
	unsigned count = page_count(page), i = page_is_leaf(page) ? 0 : 1;
	struct text before = page_key(page, i < count ? i : 0), key;

	while (++i < count) {
		key = page_key(page, i);
		if (page_compare(before, key) >= 0)
			return false;
		before = key;
	}
	return true;
}

/* The first of the indexes from `low` to `count` whose key is not less than
 * `key`. */
static unsigned
search(const void *page, unsigned low, unsigned count, struct text key)
{
	while (low < count) {
		unsigned middle = low + (count - low) / 2;

		if (page_compare(page_key(page, middle), key) < 0)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

unsigned
page_find_child(const void *page, struct text key)
{
	unsigned count = page_count(page), i = search(page, 1, count, key);

	/* The first key of a branch means: less than all others. */
	if (i < count && page_compare(page_key(page, i), key) == 0)
		return i;
	return i - 1;
}

unsigned
page_find_row(const void *page, struct text key)
{
	return search(page, 0, page_count(page), key);
}

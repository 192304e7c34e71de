/*
 * db_page - take any bytes for a page of LMDB's file: if it is accepted,
 * nothing that is read of it lies outside of it.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "aggregator/db/pages/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES = 4096 };

static void
must_be_inside(const unsigned char *page, const void *at, uint64_t bytes)
{
	const unsigned char *from = at;

	if (from < page || bytes > BYTES ||
	    (size_t)(from - page) > BYTES - bytes)
		abort();
}

static void
read_page(const unsigned char *page, const struct page_limits *limits,
    bool is_free_list)
{
	enum page_kind kind = page_check(page, 3, limits, is_free_list);
	struct page_tree tree;

	if (kind == PAGE_BAD)
		return;
	for (unsigned i = 0; i < page_count(page); i++) {
		struct text key = page_key(page, i);
		struct page_value value;

		must_be_inside(page, key.at, key.bytes);
		if (page_find_child(page, key) >= page_count(page) ||
		    page_find_row(page, key) > page_count(page))
			abort();
		if (kind == PAGE_BRANCH) {
			if (page_child(page, i) >= limits->pages)
				abort();
			continue;
		}
		value = page_value(page, i);
		if (value.at != NULL)
			must_be_inside(page, value.at, value.bytes);
		else if (value.number + value.bytes / BYTES >= limits->pages)
			abort();
	}
	if (kind == PAGE_LEAF && page_check_trees(page))
		page_find_tree(page, text_of("meta"), &tree);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct page_limits limits = { BYTES, 100 };
	unsigned char *page = calloc(1, BYTES); /* no byte more */
	struct page_meta meta;

	if (page == NULL)
		abort();
	memcpy(page, data, size < BYTES ? size : BYTES);
	page_get_meta(page, 0, &meta);
	page_get_meta(page, 1, &meta);
	page_check_overflow(page, 3, 100, &limits);
	read_page(page, &limits, false);
	read_page(page, &limits, true);
	free(page);
	return 0;
}

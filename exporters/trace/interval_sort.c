/*
 * interval_sort - sort intervals before they are drawn.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/interval_sort.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

struct interval_sort_entry {
	int64_t begin_ns, end_ns;
	uint64_t order; /* order of arrival: makes the sort stable */
	size_t at;      /* the texts, one after another */
	uint32_t row, flags;
	uint32_t name, category, pairs; /* bytes */
};

void
interval_sort_init(struct interval_sort *interval_sort, size_t bytes_max)
{
	*interval_sort = (struct interval_sort){ .bytes_max = bytes_max,
		.limit_ns = INT64_MAX };
}

void
interval_sort_clear(struct interval_sort *interval_sort)
{
	free(interval_sort->entries);
	free(interval_sort->bytes);
	memset(interval_sort, 0, sizeof(*interval_sort));
}

void
interval_sort_empty(struct interval_sort *interval_sort)
{
	interval_sort->count = 0;
	interval_sort->used = 0;
	interval_sort->limit_ns = INT64_MAX;
}

bool
interval_sort_was_full(const struct interval_sort *interval_sort)
{
	return interval_sort->limit_ns != INT64_MAX;
}

static int
by_begin(const void *left, const void *right)
{
	const struct interval_sort_entry *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void
interval_sort_sort(struct interval_sort *interval_sort)
{
	if (interval_sort->count > 1)
		qsort(interval_sort->entries, interval_sort->count,
		    sizeof(*interval_sort->entries), by_begin);
}

static size_t
text_bytes(const struct interval_sort_entry *entry)
{
	return (size_t)entry->name + entry->category + entry->pairs;
}

/* Compact the texts of the remaining intervals. */
static void
pack(struct interval_sort *interval_sort)
{
	unsigned char *bytes = memory_alloc(interval_sort->bytes_room);
	size_t used = 0;

	for (uint32_t i = 0; i < interval_sort->count; i++) {
		struct interval_sort_entry *entry = &interval_sort->entries[i];

		memcpy(bytes + used, interval_sort->bytes + entry->at,
		    text_bytes(entry));
		entry->at = used;
		used += text_bytes(entry);
	}
	free(interval_sort->bytes);
	interval_sort->bytes = bytes;
	interval_sort->used = used;
}

/* Drop the later half; intervals with the same begin stay together.  False:
 * all have the same begin. */
static bool
drop_later_half(struct interval_sort *interval_sort)
{
	uint32_t left = interval_sort->count / 2;

	interval_sort_sort(interval_sort);
	while (left > 0 && interval_sort->entries[left - 1].begin_ns ==
			       interval_sort->entries[left].begin_ns)
		left--;
	if (left == 0)
		return false;
	interval_sort->limit_ns = interval_sort->entries[left].begin_ns;
	interval_sort->count = left;
	pack(interval_sort);
	return true;
}

static bool
make_room(struct interval_sort *interval_sort, size_t bytes)
{
	while (interval_sort->count > 0 &&
	       interval_sort->used + bytes +
		       (interval_sort->count + 1) *
			   sizeof(*interval_sort->entries) >
		   interval_sort->bytes_max)
		if (!drop_later_half(interval_sort))
			return false;
	if (interval_sort->bytes_room < interval_sort->used + bytes) {
		interval_sort->bytes_room =
		    2 * interval_sort->bytes_room + bytes + 4096;
		interval_sort->bytes = memory_resize(
		    interval_sort->bytes, interval_sort->bytes_room);
	}
	MEMORY_GROW(
	    interval_sort->entries, interval_sort->room, interval_sort->count);
	return true;
}

static void
put(struct interval_sort *interval_sort, struct text t)
{
	if (t.bytes > 0)
		memcpy(
		    interval_sort->bytes + interval_sort->used, t.at, t.bytes);
	interval_sort->used += t.bytes;
}

void
interval_sort_add(
    struct interval_sort *interval_sort, const struct interval_sort_item *item)
{
	struct interval_sort_entry entry = { item->begin_ns, item->end_ns, 0, 0,
		item->row, item->flags, item->name.bytes, item->category.bytes,
		item->pairs.bytes + item->notes.bytes };

	if (item->begin_ns >= interval_sort->limit_ns)
		return;
	if (!make_room(interval_sort, text_bytes(&entry))) {
		interval_sort->crowded++;
		return;
	}
	/* Making room may have dropped the begin of the new interval, too. */
	if (item->begin_ns >= interval_sort->limit_ns)
		return;
	entry.order = interval_sort->added++;
	entry.at = interval_sort->used;
	interval_sort->entries[interval_sort->count++] = entry;
	interval_sort->last_row = item->row;
	interval_sort->last_begin_ns = item->begin_ns;
	put(interval_sort, item->name);
	put(interval_sort, item->category);
	put(interval_sort, item->pairs);
	put(interval_sort, item->notes);
}

void
interval_sort_get(const struct interval_sort *interval_sort, uint32_t i,
    struct interval_sort_item *item)
{
	const struct interval_sort_entry *entry = &interval_sort->entries[i];
	const char *at = (const char *)interval_sort->bytes + entry->at;

	*item = (struct interval_sort_item){ .row = entry->row,
		.flags = entry->flags,
		.begin_ns = entry->begin_ns,
		.end_ns = entry->end_ns,
		.name = { at, entry->name },
		.category = { at + entry->name, entry->category },
		.pairs = { at + entry->name + entry->category, entry->pairs } };
}

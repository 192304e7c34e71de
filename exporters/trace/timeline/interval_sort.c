/*
 * interval_sort - intervals that are sorted before they are drawn.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/interval_sort.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/array.h"

struct bag_entry {
	int64_t begin_ns, end_ns;
	uint64_t order; /* of coming: what is equal otherwise stays so */
	size_t at;      /* the texts, one behind the other */
	uint32_t row, flags;
	uint32_t name, category, pairs; /* bytes */
};

void
bag_init(struct bag *bag, size_t bytes_max)
{
	*bag = (struct bag){ .bytes_max = bytes_max, .limit_ns = INT64_MAX };
}

void
bag_clear(struct bag *bag)
{
	free(bag->entries);
	free(bag->bytes);
	memset(bag, 0, sizeof(*bag));
}

void
bag_empty(struct bag *bag)
{
	bag->count = 0;
	bag->used = 0;
	bag->limit_ns = INT64_MAX;
}

bool
bag_was_full(const struct bag *bag)
{
	return bag->limit_ns != INT64_MAX;
}

static int
by_begin(const void *left, const void *right)
{
	const struct bag_entry *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void
bag_sort(struct bag *bag)
{
	if (bag->count > 1)
		qsort(
		    bag->entries, bag->count, sizeof(*bag->entries), by_begin);
}

static size_t
text_bytes(const struct bag_entry *entry)
{
	return (size_t)entry->name + entry->category + entry->pairs;
}

/* The texts of what is left, close together again. */
static void
pack(struct bag *bag)
{
	unsigned char *bytes = malloc(bag->bytes_room);
	size_t used = 0;

	if (bytes == NULL)
		abort(); /* out of memory */
	for (uint32_t i = 0; i < bag->count; i++) {
		struct bag_entry *entry = &bag->entries[i];

		memcpy(bytes + used, bag->bytes + entry->at, text_bytes(entry));
		entry->at = used;
		used += text_bytes(entry);
	}
	free(bag->bytes);
	bag->bytes = bytes;
	bag->used = used;
}

/* The later half goes, whole begins at a time.  False: there is but one. */
static bool
give_up_half(struct bag *bag)
{
	uint32_t left = bag->count / 2;

	bag_sort(bag);
	while (left > 0 &&
	       bag->entries[left - 1].begin_ns == bag->entries[left].begin_ns)
		left--;
	if (left == 0)
		return false;
	bag->limit_ns = bag->entries[left].begin_ns;
	bag->count = left;
	pack(bag);
	return true;
}

static bool
make_room(struct bag *bag, size_t bytes)
{
	while (bag->count > 0 &&
	       bag->used + bytes + (bag->count + 1) * sizeof(*bag->entries) >
		   bag->bytes_max)
		if (!give_up_half(bag))
			return false;
	if (bag->bytes_room < bag->used + bytes) {
		bag->bytes_room = 2 * bag->bytes_room + bytes + 4096;
		bag->bytes = realloc(bag->bytes, bag->bytes_room);
		if (bag->bytes == NULL)
			abort(); /* out of memory */
	}
	bag->entries =
	    grow(bag->entries, &bag->room, bag->count, sizeof(*bag->entries));
	return true;
}

static void
put(struct bag *bag, struct text t)
{
	if (t.bytes > 0)
		memcpy(bag->bytes + bag->used, t.at, t.bytes);
	bag->used += t.bytes;
}

void
bag_add(struct bag *bag, const struct bag_item *item)
{
	struct bag_entry entry = { item->begin_ns, item->end_ns, 0, 0,
		item->row, item->flags, item->name.bytes, item->category.bytes,
		item->pairs.bytes + item->notes.bytes };

	if (item->begin_ns >= bag->limit_ns)
		return;
	if (!make_room(bag, text_bytes(&entry))) {
		bag->crowded++;
		return;
	}
	/* What was there may have been given up for it, and it with that. */
	if (item->begin_ns >= bag->limit_ns)
		return;
	entry.order = bag->came++;
	entry.at = bag->used;
	bag->entries[bag->count++] = entry;
	bag->last_row = item->row;
	bag->last_begin_ns = item->begin_ns;
	put(bag, item->name);
	put(bag, item->category);
	put(bag, item->pairs);
	put(bag, item->notes);
}

void
bag_get(const struct bag *bag, uint32_t i, struct bag_item *item)
{
	const struct bag_entry *entry = &bag->entries[i];
	const char *at = (const char *)bag->bytes + entry->at;

	*item = (struct bag_item){ .row = entry->row,
		.flags = entry->flags,
		.begin_ns = entry->begin_ns,
		.end_ns = entry->end_ns,
		.name = { at, entry->name },
		.category = { at + entry->name, entry->category },
		.pairs = { at + entry->name + entry->category, entry->pairs } };
}

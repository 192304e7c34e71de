/*
 * metric_columns - which number of a sample is which metric.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/metric_columns.h"

#include <stdlib.h>

#include "proto/base/memory.h"

enum { KEY_ROOM = 8 + NAME_BYTES_MAX };

/* The attributes of the entity of kind "set"; a view. */
static bool
find_entity(
    struct page *page, uint32_t kind, struct text name, struct text *attributes)
{
	unsigned char key[KEY_ROOM];
	struct text value;
	struct unpack u;

	if (kind == 0 || name.bytes > NAME_BYTES_MAX)
		return false;
	put_u32_be(key, page->partition);
	put_u32_be(key + 4, kind);
	memcpy(key + 8, name.at, name.bytes);
	if (!db_get(page->txn, TABLES_ENTITIES,
		(struct text){ (const char *)key, 8 + name.bytes }, &value))
		return false;
	u = unpack_of(value);
	get_u32(&u);    /* node */
	get_u32(&u);    /* stream */
	get_varint(&u); /* seq */
	get_u32(&u);    /* index */
	get_varint(&u); /* receive_ns */
	*attributes = get_bytes(&u, unpack_left(&u));
	return !u.bad;
}

/* The text of an attribute of the entity; views into the row, so that names
 * live as long as the transaction. */
static struct text
find_text(struct page *page, struct text attributes, const char *key)
{
	struct row_block_attribute attribute;
	struct value value;

	row_block_attribute_count(&attributes);
	while (row_block_next_attribute(&attributes, &attribute)) {
		struct text bytes = attribute.value;

		if (text_equal(
			lookup_name(&page->reader->lookup, &attribute.key),
			text_of(key)) &&
		    record_next_value(&bytes, &value) &&
		    value.type == VALUE_TEXT)
			return value.is.text;
	}
	return (struct text){ NULL, 0 };
}

/* Words are separated by blanks. */
static bool
next_word(struct text *rest, struct text *word)
{
	uint32_t i = 0;

	while (rest->bytes > 0 && rest->at[0] == ' ') {
		rest->at++;
		rest->bytes--;
	}
	if (rest->bytes == 0)
		return false;
	while (i < rest->bytes && rest->at[i] != ' ')
		i++;
	*word = (struct text){ rest->at, i };
	rest->at += i;
	rest->bytes -= i;
	return true;
}

static void
want(struct series_set *set, struct text name, bool counter)
{
	set->wanted = memory_grow(
	    set->wanted, &set->room, set->count, sizeof(*set->wanted));
	set->wanted[set->count++] =
	    (struct series_column){ set->columns, counter, name };
}

void
metric_columns_find(
    struct series_set *set, struct page *page, uint32_t kind, struct text name)
{
	struct text pattern = page->query->columns;
	struct text attributes, names, types, metric, type;

	set->columns = set->count = 0;
	set->boot = UINT32_MAX;
	if (!find_entity(page, kind, name, &attributes))
		return;
	names = find_text(page, attributes, "names");
	types = find_text(page, attributes, "types");
	for (; set->columns < RECORD_VALUES_MAX && next_word(&names, &metric);
	     set->columns++) {
		bool known = next_word(&types, &type);

		if (text_equal(metric, text_of(COUNTER_RATE_BOOT_COLUMN)))
			set->boot = set->columns;
		else if (metric.bytes <= NAME_BYTES_MAX &&
			 (pattern.bytes == 0 || text_match(pattern, metric)))
			want(set, metric,
			    known && text_equal(type, text_of("counter")));
	}
}

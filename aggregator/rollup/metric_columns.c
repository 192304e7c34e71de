/*
 * metric_columns - which value of a sample belongs to which metric.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/metric_columns.h"

#include <stdlib.h>

#include "aggregator/rollup/bucket.h"
#include "aggregator/tables/row_block.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/base/text.h"

enum { KEY_ROOM = 8 + NAME_BYTES_MAX };

/* The attributes of the entity of kind "set" (a view). */
static bool
find_entity(struct db_txn *txn, uint32_t partition, uint32_t kind,
    struct text name, struct text *attributes)
{
	unsigned char key[KEY_ROOM];
	struct text value;
	struct varint_reader u;

	if (kind == 0 || name.bytes > NAME_BYTES_MAX)
		return false;
	varint_put_u32_be(key, partition);
	varint_put_u32_be(key + 4, kind);
	memcpy(key + 8, name.at, name.bytes);
	if (!db_get(txn, TABLES_ENTITIES,
		(struct text){ (const char *)key, 8 + name.bytes }, &value))
		return false;
	u = varint_reader_of(value);
	varint_get_u32(&u); /* node */
	varint_get_u32(&u); /* stream */
	varint_get(&u);     /* seq */
	varint_get_u32(&u); /* index */
	varint_get(&u);     /* receive_ns */
	*attributes = varint_get_bytes(&u, varint_left(&u));
	return !u.bad;
}

/* The text of an attribute of the entity: a view into the row, valid as long as
 * the transaction. */
static struct text
find_text(struct lookup *lookup, struct text attributes, const char *key)
{
	struct row_block_attribute attribute;
	struct value value;

	row_block_attribute_count(&attributes);
	while (row_block_next_attribute(&attributes, &attribute)) {
		struct text bytes = attribute.value;

		if (text_equal(
			lookup_name(lookup, &attribute.key), text_of(key)) &&
		    record_next_value(&bytes, &value) &&
		    value.type == VALUE_TEXT)
			return value.is.text;
	}
	return (struct text){ NULL, 0 };
}

static void
add_column(struct metric_columns *columns, struct text name, struct text unit,
    bool counter)
{
	columns->wanted = memory_grow(columns->wanted, &columns->room,
	    columns->count, sizeof(*columns->wanted));
	columns->wanted[columns->count++] =
	    (struct metric_column){ columns->columns, counter,
		    counter_rate_column_of(name, unit), name };
}

void
metric_columns_find(struct metric_columns *columns, struct db_txn *txn,
    uint32_t partition, struct lookup *lookup, uint32_t kind, struct text name,
    struct text pattern)
{
	struct text attributes, names, units, types, metric, unit, type;

	columns->columns = columns->count = 0;
	columns->boot = UINT32_MAX;
	/* A damaged store may have lost the name. */
	if (name.at == NULL ||
	    !find_entity(txn, partition, kind, name, &attributes))
		return;
	names = find_text(lookup, attributes, "names");
	units = find_text(lookup, attributes, "units");
	types = find_text(lookup, attributes, "types");
	for (; columns->columns < RECORD_VALUES_MAX &&
	       (metric = text_next_word(&names)).bytes > 0;
	     columns->columns++) {
		unit = text_next_word(&units);
		type = text_next_word(&types);

		if (text_equal(metric, text_of(COUNTER_RATE_BOOT_COLUMN)))
			columns->boot = columns->columns;
		else if (metric.bytes <= NAME_BYTES_MAX &&
			 (pattern.bytes == 0 || text_match(pattern, metric)))
			add_column(columns, metric, unit,
			    text_equal(type, text_of("counter")));
	}
}

void
metric_columns_clear(struct metric_columns *columns)
{
	free(columns->wanted);
	*columns = (struct metric_columns){ .columns = 0 };
}

uint64_t
metric_columns_boot(const struct value *value)
{
	if (value->type == VALUE_UINT)
		return value->is.u;
	return value->type == VALUE_INT && value->is.i > 0
		   ? (uint64_t)value->is.i
		   : 0;
}

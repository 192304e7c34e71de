/*
 * group_definition - the stored definition of a metric group: the entity of
 * kind "set" with its name.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/tables/group_definition.h"

#include <string.h>

#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/row_block.h"
#include "aggregator/tables/tables.h"
#include "proto/base/varint.h"

enum { KEY_ROOM = 8 + NAME_BYTES_MAX };

/* The attributes of the entity (a view). */
static bool
find_entity(struct db_txn *txn, uint32_t partition, struct text name,
    struct text *attributes)
{
	uint32_t kind = dictionary_find(txn, partition, text_of("set"));
	unsigned char key[KEY_ROOM];
	struct text value;
	struct varint_reader u;

	/* A damaged store may have lost the name. */
	if (kind == 0 || name.at == NULL || name.bytes > NAME_BYTES_MAX)
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

/* The text of an attribute; empty when the entity has none. */
static struct text
find_text(struct db_txn *txn, uint32_t partition, struct text attributes,
    const char *key)
{
	uint32_t number = dictionary_find(txn, partition, text_of(key));
	struct row_block_attribute attribute;
	struct value value;

	row_block_attribute_count(&attributes);
	while (row_block_next_attribute(&attributes, &attribute)) {
		struct text bytes = attribute.value;
		bool same = attribute.key.number != 0
				? attribute.key.number == number
				: text_equal(attribute.key.text, text_of(key));

		if (same && record_next_value(&bytes, &value) &&
		    value.type == VALUE_TEXT)
			return value.is.text;
	}
	return (struct text){ "", 0 };
}

bool
group_definition_find(struct db_txn *txn, uint32_t partition, struct text name,
    struct definition *definition)
{
	static const struct text none = { "", 0 };
	struct text attributes;

	*definition = (struct definition){ none, none, none };
	if (!find_entity(txn, partition, name, &attributes))
		return false;
	definition->names = find_text(txn, partition, attributes, "names");
	definition->units = find_text(txn, partition, attributes, "units");
	definition->types = find_text(txn, partition, attributes, "types");
	return true;
}

/*
 * string_table - assign numbers to names: 0, 1, 2 ... in the order of
 * insertion.
 *
 * The names are copied and do not move until string_table_clear, so views of
 * them may be stored.  The hash is keyed at random, because the names come
 * from untrusted peers.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_HASH_STRING_TABLE_H
#define PROTO_HASH_STRING_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/hash/hash.h"
#include "proto/base/text.h"

struct string_table_block; /* opaque */

struct string_table {
	struct text *names; /* by number */
	uint32_t count;
	uint32_t *slots; /* number + 1; 0 is free */
	uint32_t slot_count;
	struct hash_key key;
	struct string_table_block *blocks;
};

void string_table_init(struct string_table *string_table);
void string_table_clear(struct string_table *string_table);

/* The number of `name`; a new name gets the next number. */
uint32_t string_table_add(struct string_table *string_table, struct text name);

/* The stored copy of a name. */
static inline struct text
string_table_text(struct string_table *string_table, struct text name)
{
	uint32_t number = string_table_add(string_table, name);

	return string_table->names[number];
}

/* Find the number of `name`; false when the table does not contain it. */
bool string_table_find(const struct string_table *string_table,
    struct text name, uint32_t *number);

/* Copy `t` with the lifetime of the names, without giving it a number. */
struct text string_table_keep(struct string_table *string_table, struct text t);

#endif

/*
 * string_table - numbers for names: 0, 1, 2 ... in the order of their coming.
 *
 * The names are copied and stay where they are until string_table_clear, so
 * views of them may be kept.  The table is keyed at random: names come from
 * others. SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_STRING_TABLE_H
#define PROTO_BASE_STRING_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/hash.h"
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

/* The number of `name`, a new one when it was never seen. */
uint32_t string_table_add(struct string_table *string_table, struct text name);

/* The name itself, as it is kept. */
static inline struct text
string_table_text(struct string_table *string_table, struct text name)
{
	uint32_t number = string_table_add(string_table, name);

	return string_table->names[number];
}

/* The number of `name`; false when it was never seen. */
bool string_table_find(const struct string_table *string_table,
    struct text name, uint32_t *number);

/* A copy of `t` that lives as long as the names, without a number. */
struct text string_table_keep(struct string_table *string_table, struct text t);

#endif

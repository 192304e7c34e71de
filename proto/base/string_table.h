/*
 * string_table - numbers for names: 0, 1, 2 ... in the order of their coming.
 *
 * The names are copied and stay where they are until intern_clear, so views
 * of them may be kept.  The table is keyed at random: names come from others.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_STRING_TABLE_H
#define PROTO_BASE_STRING_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/hash.h"
#include "proto/base/text.h"

struct intern_block; /* opaque */

struct intern {
	struct text *names; /* by number */
	uint32_t count;
	uint32_t *slots; /* number + 1; 0 is free */
	uint32_t slot_count;
	struct hash_key key;
	struct intern_block *blocks;
};

void intern_init(struct intern *intern);
void intern_clear(struct intern *intern);

/* The number of `name`, a new one when it was never seen. */
uint32_t intern_add(struct intern *intern, struct text name);

/* The name itself, as it is kept. */
static inline struct text
intern_text(struct intern *intern, struct text name)
{
	uint32_t number = intern_add(intern, name);

	return intern->names[number];
}

/* The number of `name`; false when it was never seen. */
bool intern_find(
    const struct intern *intern, struct text name, uint32_t *number);

/* A copy of `t` that lives as long as the names, without a number. */
struct text intern_keep(struct intern *intern, struct text t);

#endif

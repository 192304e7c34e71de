/*
 * used - what counts as used of a node, for all who show it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/used.h"

#include <string.h>

enum { KEY_BYTES = 2 * NAME_BYTES_MAX + 1 };

static struct text
key_of(char to[static KEY_BYTES], const struct series_point *point)
{
	memcpy(to, point->node.at, point->node.bytes);
	to[point->node.bytes] = '\0';
	memcpy(to + point->node.bytes + 1, point->group.at, point->group.bytes);
	return (struct text){ to, point->node.bytes + 1 + point->group.bytes };
}

void
used_carried_init(struct used_carried *carried)
{
	string_table_init(&carried->names);
}

void
used_carried_clear(struct used_carried *carried)
{
	string_table_clear(&carried->names);
}

void
used_carried_take(struct used_carried *carried,
    const struct series_point *point, double physical)
{
	char key[KEY_BYTES];

	if (!(physical > 0))
		string_table_add(&carried->names, key_of(key, point));
}

bool
used_carried_has(
    const struct used_carried *carried, const struct series_point *point)
{
	char key[KEY_BYTES];
	uint32_t number;

	return string_table_find(&carried->names, key_of(key, point), &number);
}

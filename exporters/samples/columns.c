/*
 * columns - the columns of samples, from the definitions of metric groups.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/columns.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/text.h"

void
columns_init(struct column_groups *groups)
{
	memset(groups, 0, sizeof(*groups));
	string_table_init(&groups->names);
}

static void
clear_one(struct columns *columns)
{
	free(columns->names);
	free(columns->memory);
	*columns = (struct columns){ .names = NULL };
}

void
columns_clear(struct column_groups *groups)
{
	for (uint32_t i = 0; i < groups->names.count && i < groups->room; i++)
		clear_one(&groups->at[i]);
	free(groups->at);
	string_table_clear(&groups->names);
	memset(groups, 0, sizeof(*groups));
}

static struct columns *
columns_of(struct column_groups *groups, struct text group)
{
	uint32_t number;

	/* Samples of one group follow each other. */
	if (groups->last < groups->names.count &&
	    text_equal(groups->names.names[groups->last], group))
		return &groups->at[groups->last];
	number = string_table_add(&groups->names, group);
	groups->at = memory_grow_zero(
	    groups->at, &groups->room, number, sizeof(*groups->at));
	groups->last = number;
	return &groups->at[number];
}

static void
take_apart(struct columns *columns)
{
	struct text names = columns->lists.names;
	struct text units = columns->lists.units;
	uint32_t room = names.bytes / 2 + 1; /* each a name and a blank */
	struct text name;

	if (room > RECORD_VALUES_MAX)
		room = RECORD_VALUES_MAX;
	columns->names = memory_zero(2 * (size_t)room, sizeof(*columns->names));
	columns->units = columns->names + room;
	while (columns->count < room &&
	       (name = text_next_word(&names)).bytes > 0) {
		columns->names[columns->count] = name;
		columns->units[columns->count++] = text_next_word(&units);
	}
}

static struct text
copy(char **to, struct text list)
{
	struct text made = { *to, list.bytes };

	if (list.bytes > 0)
		memcpy(*to, list.at, list.bytes);
	*to += list.bytes;
	return made;
}

void
columns_take(struct column_groups *groups, const struct record *record)
{
	struct definition fresh;
	struct columns *columns;
	char *end;

	if (!definition_of(record, &fresh))
		return;
	columns = columns_of(groups, record->name);
	if (definition_compare(record->name, &columns->lists, &fresh,
		definition_sender_of(record), NULL) != DEFINITION_GROWN)
		return;
	clear_one(columns);
	columns->memory = end =
	    memory_alloc((size_t)fresh.names.bytes + fresh.units.bytes +
			 fresh.types.bytes + 1);
	columns->lists.names = copy(&end, fresh.names);
	columns->lists.units = copy(&end, fresh.units);
	columns->lists.types = copy(&end, fresh.types);
	columns->definition = ++groups->definitions;
	take_apart(columns);
}

const struct columns *
columns_find(struct column_groups *groups, struct text group)
{
	return columns_of(groups, group);
}

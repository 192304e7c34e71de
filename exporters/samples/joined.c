/*
 * joined - metrics that are columns of several dynamic groups.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/joined.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/metric/dynamic_group.h"

enum {
	NOBODY = UINT32_MAX, /* owns a group that is not a dynamic one */
	KEY_BYTES = sizeof(uint32_t) + 2 * (NAME_BYTES_MAX + 1) + 1,
};

void
joined_init(struct joined *joined)
{
	memset(joined, 0, sizeof(*joined));
	string_table_init(&joined->owners);
	string_table_init(&joined->metrics);
}

void
joined_clear(struct joined *joined)
{
	string_table_clear(&joined->owners);
	string_table_clear(&joined->metrics);
	free(joined->several);
	free(joined->owner_of);
	free(joined->metric);
}

/* ---- groups ---- */

static void
add_group(struct joined *joined, const struct column_groups *groups,
    uint32_t group, struct buffer *key)
{
	struct text origin = groups->names.names[group];
	uint32_t before = joined->owners.count, number;

	joined->owner_of[group] = NOBODY;
	if (!dynamic_group_is(origin))
		return;
	origin.bytes -= DYNAMIC_DIGITS;
	key->bytes = 0;
	buffer_put_text(key, origin);
	buffer_put_text(key, groups->at[group].labels);
	number = string_table_add(&joined->owners, buffer_text(key));
	joined->owner_of[group] = number;
	MEMORY_GROW(joined->several, joined->owner_room, number);
	joined->several[number] = number < before;
}

static bool
has_several(const struct joined *joined, uint32_t group)
{
	uint32_t owner =
	    group < joined->groups ? joined->owner_of[group] : NOBODY;

	return owner != NOBODY && joined->several[owner];
}

/* ---- metrics ---- */

/* False: the names are longer than those of records. */
static bool
key_of(const struct joined *joined, const struct column_groups *groups,
    uint32_t group, uint32_t column, char room[static KEY_BYTES],
    struct text *key)
{
	const struct columns *columns = &groups->at[group];
	const struct text parts[] = { columns->names[column],
		columns->units[column] };
	char *end = room;

	memcpy(end, &joined->owner_of[group], sizeof(uint32_t));
	end += sizeof(uint32_t);
	for (int i = 0; i < 2; i++) {
		if (parts[i].bytes > NAME_BYTES_MAX)
			return false;
		if (parts[i].bytes > 0)
			memcpy(end, parts[i].at, parts[i].bytes);
		end += parts[i].bytes;
		*end++ = ' '; /* which is in none of them */
	}
	*end++ = columns->counters[column] ? 'c' : 'g';
	*key = (struct text){ room, (uint32_t)(end - room) };
	return true;
}

static void
add_metric(struct joined *joined, const struct column_groups *groups,
    uint32_t group, uint32_t column, bool is_selected)
{
	uint32_t before = joined->metrics.count, number;
	struct joined_metric *metric;
	char room[KEY_BYTES];
	struct text key;

	if (!key_of(joined, groups, group, column, room, &key))
		return;
	number = string_table_add(&joined->metrics, key);
	MEMORY_GROW(joined->metric, joined->metric_room, number);
	metric = &joined->metric[number];
	if (number == before)
		*metric = (struct joined_metric){ NOBODY, false };
	else
		metric->several = true;
	if (metric->first == NOBODY && is_selected)
		metric->first = group;
}

void
joined_read(struct joined *joined, const struct column_groups *groups,
    struct text pattern)
{
	struct buffer key = { .at = NULL };

	joined_clear(joined);
	joined_init(joined);
	joined->groups = groups->names.count;
	joined->owner_of =
	    memory_zero(joined->groups + 1, sizeof(*joined->owner_of));
	for (uint32_t i = 0; i < joined->groups; i++)
		add_group(joined, groups, i, &key);
	for (uint32_t i = 0; i < joined->groups; i++) {
		bool is_selected = pattern.bytes == 0 ||
				   text_match(pattern, groups->names.names[i]);

		for (uint32_t k = 0;
		     has_several(joined, i) && k < groups->at[i].count; k++)
			add_metric(joined, groups, i, k, is_selected);
	}
	buffer_clear(&key);
}

bool
joined_find(const struct joined *joined, const struct column_groups *groups,
    uint32_t group, uint32_t column, struct text *name)
{
	char room[KEY_BYTES];
	struct text key;
	uint32_t number;

	if (!has_several(joined, group) ||
	    !key_of(joined, groups, group, column, room, &key) ||
	    !string_table_find(&joined->metrics, key, &number) ||
	    !joined->metric[number].several ||
	    joined->metric[number].first == NOBODY)
		return false;
	*name = groups->names.names[joined->metric[number].first];
	return true;
}

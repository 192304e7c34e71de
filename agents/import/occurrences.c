/*
 * import_occurrences - counts how often a row has been seen in an input.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/occurrences.h"

#include <stdlib.h>

#include "proto/base/memory.h"

enum { ROOM_BEGIN = 4096 };

static struct import_occurrence *
find(const struct import_occurrences *occurrences, uint64_t hash)
{
	uint32_t mask = occurrences->room - 1, i = (uint32_t)hash & mask;

	while (occurrences->at[i].hash != 0 && occurrences->at[i].hash != hash)
		i = (i + 1) & mask;
	return &occurrences->at[i];
}

static void
grow(struct import_occurrences *occurrences)
{
	const struct import_occurrences old = *occurrences;

	occurrences->room = old.room > 0 ? 2 * old.room : ROOM_BEGIN;
	occurrences->at =
	    memory_zero(occurrences->room, sizeof(*occurrences->at));
	for (uint32_t i = 0; i < old.room; i++)
		if (old.at[i].hash != 0)
			*find(occurrences, old.at[i].hash) = old.at[i];
	free(old.at);
}

uint64_t
import_occurrences_add(struct import_occurrences *occurrences, uint64_t hash)
{
	struct import_occurrence *row;

	hash += hash == 0;
	if (occurrences->count >= occurrences->room / 4 * 3 &&
	    occurrences->count < IMPORT_OCCURRENCES_MAX)
		grow(occurrences);
	row = find(occurrences, hash);
	if (row->hash == 0) {
		if (occurrences->count == IMPORT_OCCURRENCES_MAX)
			return 0;
		occurrences->count++;
		row->hash = hash;
	}
	return row->count++;
}

void
import_occurrences_clear(struct import_occurrences *occurrences)
{
	free(occurrences->at);
	*occurrences = (struct import_occurrences){ .at = NULL };
}

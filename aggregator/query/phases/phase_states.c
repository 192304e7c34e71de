/*
 * phase_states - a walk over the rows of one phase, of all nodes or of some.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/phases/phase_states.h"

#include "aggregator/tables/tables.h"

enum { SEEK_ROWS = 8 }; /* reading this many rows takes as long as a seek */

static bool
seek(struct db_cursor *cursor, const struct key_phase *to, struct text *key,
    struct text *value)
{
	unsigned char bytes[KEY_PHASE_BYTES];

	key_put_phase(bytes, to);
	return db_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, key, value);
}

bool
phase_states_find_phase(
    struct db_cursor *cursor, uint32_t partition, uint32_t *phase)
{
	struct key_phase from = { partition, *phase, 0, 0 };
	struct text key, value;

	if (!seek(cursor, &from, &key, &value) || key.bytes < KEY_PHASE_BYTES ||
	    varint_get_u32_be(key.at) != partition)
		return false;
	*phase = varint_get_u32_be(key.at + 4);
	return true;
}

/* Move past a row that is not selected. */
static bool
skip(struct phase_states *phase_states, struct text *key)
{
	struct key_phase to = phase_states->at;

	if (++phase_states->skipped <= SEEK_ROWS)
		return db_next(phase_states->cursor, key, &phase_states->value);
	phase_states->skipped = 0;
	if (to.scope > phase_states->scope_last && ++to.key_hash == 0)
		return false;
	to.scope = phase_states->scope_first;
	return seek(phase_states->cursor, &to, key, &phase_states->value);
}

/* Move from the current row to the next selected one. */
static bool
find_selected(struct phase_states *phase_states, bool more, struct text key)
{
	struct key_phase last = phase_states->at;

	while (more && phase_row_get_key(key, &phase_states->at)) {
		if (phase_states->at.partition != last.partition ||
		    phase_states->at.phase != last.phase)
			return false;
		if (phase_states->at.key_hash != last.key_hash)
			phase_states->skipped = 0;
		last = phase_states->at;
		if (last.scope < phase_states->scope_first ||
		    last.scope > phase_states->scope_last)
			more = skip(phase_states, &key);
		else
			return true;
	}
	return false;
}

bool
phase_states_begin(struct phase_states *phase_states, struct db_cursor *cursor,
    const struct key_phase *from, const struct phase_entry *event,
    uint32_t scope_first, uint32_t scope_last)
{
	struct text key = { NULL, 0 };
	bool more;

	*phase_states = (struct phase_states){ .at = *from,
		.scope_first = scope_first,
		.scope_last = scope_last,
		.cursor = cursor };
	more =
	    event != NULL && phase_row_find(cursor, from, phase_point_of(event),
				 &key, &phase_states->value);
	more = more || seek(cursor, from, &key, &phase_states->value);
	return find_selected(phase_states, more, key);
}

bool
phase_states_next(struct phase_states *phase_states)
{
	struct text key = { NULL, 0 };
	bool more = db_next(phase_states->cursor, &key, &phase_states->value);

	return find_selected(phase_states, more, key);
}

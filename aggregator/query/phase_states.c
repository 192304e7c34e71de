/*
 * phase_states - a walk over the states of one phase, of all nodes or of some.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/query/phase_states.h"

#include "aggregator/query/page.h"

enum { STEPS = 8 }; /* rows that take as long as a leap */

bool
page_wants_numbers(const struct page *page, uint32_t *first, uint32_t *last)
{
	struct text node = page->query->node;

	*first = 0;
	*last = UINT32_MAX;
	if (node.bytes == 0 || text_is_pattern(node))
		return true;
	*first = *last = names_find(page->txn, page->partition, node);
	return *first != 0;
}

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
states_find_phase(struct db_cursor *cursor, uint32_t partition, uint32_t *phase)
{
	struct key_phase from = { partition, *phase, 0, 0 };
	struct text key, value;

	if (!seek(cursor, &from, &key, &value) || key.bytes < KEY_PHASE_BYTES ||
	    get_u32_be(key.at) != partition)
		return false;
	*phase = get_u32_be(key.at + 4);
	return true;
}

/* Behind a row that is not wanted. */
static bool
pass(struct states *states, struct text *key)
{
	struct key_phase to = states->at;

	if (++states->passed <= STEPS)
		return db_next(states->cursor, key, &states->value);
	states->passed = 0;
	if (to.scope > states->scope_last && ++to.key_hash == 0)
		return false;
	to.scope = states->scope_first;
	return seek(states->cursor, &to, key, &states->value);
}

/* From the row that the cursor is at to the next one that is wanted. */
static bool
settle(struct states *states, bool more, struct text key)
{
	struct key_phase last = states->at;

	while (more && key.bytes >= KEY_PHASE_BYTES) {
		key_get_phase(
		    (struct text){ key.at, KEY_PHASE_BYTES }, &states->at);
		if (states->at.partition != last.partition ||
		    states->at.phase != last.phase)
			return false;
		if (states->at.key_hash != last.key_hash)
			states->passed = 0;
		last = states->at;
		if (last.scope < states->scope_first ||
		    last.scope > states->scope_last)
			more = pass(states, &key);
		else if (key.bytes == KEY_PHASE_BYTES)
			return true;
		else /* sealed pairs */
			more = db_next(states->cursor, &key, &states->value);
	}
	return false;
}

bool
states_begin(struct states *states, struct db_cursor *cursor,
    const struct key_phase *from, uint32_t scope_first, uint32_t scope_last)
{
	struct text key = { NULL, 0 };
	bool more;

	*states = (struct states){ .at = *from,
		.scope_first = scope_first,
		.scope_last = scope_last,
		.cursor = cursor };
	more = seek(cursor, from, &key, &states->value);
	return settle(states, more, key);
}

bool
states_next(struct states *states)
{
	struct text key = { NULL, 0 };
	bool more = db_next(states->cursor, &key, &states->value);

	return settle(states, more, key);
}

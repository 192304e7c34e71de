/*
 * part_cursor - the events of a phase, of all its parts, in order.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/part_cursor.h"

#include <stdlib.h>

#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/base/search.h"

/* ---- one part ---- */

static int
compare(uint64_t hash, uint32_t scope, uint64_t other_hash, uint32_t other)
{
	if (hash != other_hash)
		return hash < other_hash ? -1 : 1;
	return scope < other ? -1 : scope > other;
}

static const struct part_row_state *
state_of(const struct part_cursor_input *input)
{
	return &input->row.state[input->state];
}

static void
enter(struct part_cursor_input *input, uint32_t state)
{
	input->state = state;
	input->at = state_of(input)->from;
	input->to = state_of(input)->to;
}

/* Take the row under the cursor, or the next one that can be read. */
static bool
take_row(const struct part_cursor *cursor, struct part_cursor_input *input,
    bool found, struct text key, struct text value)
{
	struct part_row_key of;

	for (; found && part_row_get_key(key, &of) &&
	       of.partition == cursor->list.partition &&
	       of.phase == cursor->list.phase && of.part == input->part;
	     found = db_next(input->rows, &key, &value))
		if (part_row_open(&input->row, value) &&
		    (!cursor->completes || part_row_complete(&input->row))) {
			input->number = of.row;
			enter(input, 0);
			return true;
		}
	return false;
}

static bool
next_row(const struct part_cursor *cursor, struct part_cursor_input *input)
{
	struct text key, value;
	bool found = db_next(input->rows, &key, &value);

	return take_row(cursor, input, found, key, value);
}

/* Behind the events of the current state in this row: the rest of it is at the
 * beginning of the next row. */
static bool
continues(const struct part_cursor *cursor, struct part_cursor_input *input)
{
	struct part_row_state last = *state_of(input);

	if (input->state + 1 < input->row.states) {
		enter(input, input->state + 1);
		return false;
	}
	input->more = next_row(cursor, input);
	return input->more && state_of(input)->key_hash == last.key_hash &&
	       state_of(input)->scope == last.scope;
}

static struct text
put_place(unsigned char to[static PART_ROW_KEY_BYTES],
    const struct part_cursor *cursor, const struct part_cursor_input *input,
    uint64_t key_hash, uint32_t scope, int64_t from_ns)
{
	const struct part_row_key key = { cursor->list.partition,
		cursor->list.phase, input->part, key_hash, scope, from_ns,
		false, 0 };

	return part_row_put_key(to, &key);
}

/* Move to the row that has the place, or would have it. */
static void
seek_row(const struct part_cursor *cursor, struct part_cursor_input *input,
    uint64_t key_hash, uint32_t scope, int64_t from_ns)
{
	unsigned char bytes[PART_ROW_KEY_BYTES];
	struct text place =
	    put_place(bytes, cursor, input, key_hash, scope, from_ns);
	struct text key, value;
	bool found = db_seek(input->rows, place, &key, &value);

	input->more = take_row(cursor, input, found, key, value);
}

/* Is the place in the row, and not before its first event? */
static bool
has_place(const struct part_cursor_input *input, uint64_t key_hash,
    uint32_t scope, int64_t from_ns)
{
	const struct part_row_state *first, *last;
	int order;

	if (!input->more || input->row.states == 0)
		return false;
	first = &input->row.state[0];
	last = &input->row.state[input->row.states - 1];
	order = compare(key_hash, scope, first->key_hash, first->scope);
	if (order < 0 || (order == 0 && from_ns <= input->row.at[0].id.time_ns))
		return false;
	order = compare(key_hash, scope, last->key_hash, last->scope);
	return order < 0 ||
	       (order == 0 &&
		   from_ns <= input->row.at[last->to - 1].id.time_ns);
}

/* Enter the first state of the row from this one on; there is one. */
static void
seek_state(struct part_cursor_input *input, uint64_t key_hash, uint32_t scope)
{
	uint32_t low = LOWER_BOUND(i, 0, input->row.states - 1,
	    compare(input->row.state[i].key_hash, input->row.state[i].scope,
		key_hash, scope) < 0);

	enter(input, low);
}

static bool
is_in(const struct part_cursor_input *input, uint64_t key_hash, uint32_t scope)
{
	return input->more && state_of(input)->key_hash == key_hash &&
	       state_of(input)->scope == scope;
}

static void
seek_input(const struct part_cursor *cursor, struct part_cursor_input *input,
    uint64_t key_hash, uint32_t scope, int64_t from_ns)
{
	if (!has_place(input, key_hash, scope, from_ns))
		seek_row(cursor, input, key_hash, scope, from_ns);
	if (!input->more)
		return;
	seek_state(input, key_hash, scope);
	if (!is_in(input, key_hash, scope))
		return;
	while (input->at < input->to &&
	       input->row.at[input->at].id.time_ns < from_ns)
		input->at++;
	if (input->at == input->to)
		(void)continues(cursor, input);
}

/* ---- all of them ---- */

static void
open_input(struct part_cursor *cursor, struct db_txn *txn,
    const struct part_info *part)
{
	struct part_cursor_input *input;

	MEMORY_GROW_ZERO(cursor->input, cursor->room, cursor->count);
	input = &cursor->input[cursor->count++];
	input->part = part->number;
	input->least_ns = part->least_ns;
	input->most_ns = part->most_ns;
	input->rows = db_cursor_open(txn, TABLES_PHASES);
	input->row.states = 0;
	input->more = input->used = input->waits = false;
}

bool
part_cursor_open(struct part_cursor *cursor, struct db_txn *txn,
    uint32_t partition, uint32_t phase, bool completes)
{
	cursor->completes = completes;
	cursor->count = 0;
	cursor->given = NULL;
	if (!part_list_get(&cursor->list, txn, partition, phase))
		return false;
	for (uint32_t i = 0; i < cursor->list.count; i++)
		open_input(cursor, txn, &cursor->list.at[i]);
	return cursor->count > 0;
}

bool
part_cursor_open_some(struct part_cursor *cursor, struct db_txn *txn,
    uint32_t partition, uint32_t phase, const struct part_info *parts,
    uint32_t count)
{
	uint32_t next = 0;

	cursor->completes = true;
	cursor->count = 0;
	cursor->given = NULL;
	if (!part_list_get(&cursor->list, txn, partition, phase))
		return false;
	for (uint32_t i = 0; i < cursor->list.count && next < count; i++)
		if (cursor->list.at[i].number == parts[next].number)
			open_input(cursor, txn, &parts[next++]);
	return next == count && count > 0;
}

void
part_cursor_close(struct part_cursor *cursor)
{
	for (uint32_t i = 0; i < cursor->count; i++)
		db_cursor_close(&cursor->input[i].rows);
	cursor->count = 0;
	cursor->given = NULL;
}

void
part_cursor_clear(struct part_cursor *cursor)
{
	part_cursor_close(cursor);
	for (uint32_t i = 0; i < cursor->room; i++)
		part_row_clear(&cursor->input[i].row);
	free(cursor->input);
	part_list_clear(&cursor->list);
	*cursor = (struct part_cursor){ .input = NULL };
}

void
part_cursor_seek(struct part_cursor *cursor, uint64_t key_hash, uint32_t scope,
    int64_t from_ns)
{
	cursor->given = NULL;
	for (uint32_t i = 0; i < cursor->count; i++) {
		seek_input(cursor, &cursor->input[i], key_hash, scope, from_ns);
		cursor->input[i].used = cursor->input[i].waits = false;
	}
}

/* The place is behind all events of the state, if it has any: they are at the
 * end of the row before. */
static void
step_back(const struct part_cursor *cursor, struct part_cursor_input *input,
    uint64_t key_hash, uint32_t scope, int64_t from_ns)
{
	unsigned char bytes[PART_ROW_KEY_BYTES];
	struct text place =
	    put_place(bytes, cursor, input, key_hash, scope, from_ns);
	struct part_row_key of;
	struct text key, value;

	input->more = (db_seek(input->rows, place, &key, &value)
			      ? db_prev(input->rows, &key, &value)
			      : db_last(input->rows, &key, &value)) &&
		      part_row_get_key(key, &of) && of.key_hash == key_hash &&
		      of.scope == scope &&
		      take_row(cursor, input, true, key, value);
}

/* May the part have events of the current state before those of the row? */
static int64_t
missing_before(const struct part_cursor_input *input)
{
	return input->state > 0 || input->number == 0
		   ? INT64_MIN
		   : input->row.at[input->at].id.time_ns;
}

/* Move to the events of the current state from `from_ns` on, or to the last
 * ones before it.  Returns the time up to which events may be missing. */
static int64_t
look_before(const struct part_cursor *cursor, struct part_cursor_input *input,
    int64_t from_ns)
{
	uint64_t key_hash = cursor->key_hash;
	uint32_t scope = cursor->scope;

	if (!has_place(input, key_hash, scope, from_ns))
		seek_row(cursor, input, key_hash, scope, from_ns);
	if (input->more)
		seek_state(input, key_hash, scope);
	if (!is_in(input, key_hash, scope))
		step_back(cursor, input, key_hash, scope, from_ns);
	if (input->more)
		seek_state(input, key_hash, scope);
	input->used = is_in(input, key_hash, scope);
	return input->used ? missing_before(input) : INT64_MIN;
}

int64_t
part_cursor_seek_before(struct part_cursor *cursor, uint64_t key_hash,
    uint32_t scope, int64_t from_ns, uint32_t nearest)
{
	int64_t missing_ns = INT64_MIN, own_ns;
	uint32_t before = 0;

	cursor->given = NULL;
	cursor->key_hash = key_hash;
	cursor->scope = scope;
	for (uint32_t i = cursor->count; i-- > 0;) {
		struct part_cursor_input *input = &cursor->input[i];

		input->used = false;
		input->waits = input->least_ns > from_ns;
		if (input->waits)
			continue;
		if (input->most_ns < from_ns && before++ >= nearest)
			own_ns = input->most_ns;
		else
			own_ns = look_before(cursor, input, from_ns);
		if (own_ns > missing_ns)
			missing_ns = own_ns;
	}
	return missing_ns;
}

/* Look for the events of the current state in the parts that wait, if they may
 * have one at this time or before.  True: one of them has. */
static bool
wake(struct part_cursor *cursor, int64_t time_ns)
{
	bool found = false;

	for (uint32_t i = 0; i < cursor->count; i++) {
		struct part_cursor_input *input = &cursor->input[i];

		if (!input->waits || input->least_ns > time_ns)
			continue;
		input->waits = false;
		seek_input(cursor, input, cursor->key_hash, cursor->scope,
		    input->least_ns);
		input->used = is_in(input, cursor->key_hash, cursor->scope);
		found = found || input->used;
	}
	return found;
}

/* Move an input behind the current state. */
static void
pass(const struct part_cursor *cursor, struct part_cursor_input *input)
{
	while (is_in(input, cursor->key_hash, cursor->scope)) {
		input->at = input->to;
		if (!continues(cursor, input))
			return;
	}
}

bool
part_cursor_state(struct part_cursor *cursor)
{
	struct part_cursor_input *least = NULL;

	for (uint32_t i = 0; i < cursor->count; i++) {
		struct part_cursor_input *input = &cursor->input[i];

		if (input->used)
			pass(cursor, input);
		input->used = false;
		if (input->more &&
		    (least == NULL ||
			compare(state_of(input)->key_hash,
			    state_of(input)->scope, state_of(least)->key_hash,
			    state_of(least)->scope) < 0))
			least = input;
	}
	cursor->given = NULL;
	if (least == NULL)
		return false;
	cursor->key_hash = state_of(least)->key_hash;
	cursor->scope = state_of(least)->scope;
	cursor->key = (struct text){ cursor->key_room,
		state_of(least)->key.bytes < sizeof(cursor->key_room)
		    ? state_of(least)->key.bytes
		    : sizeof(cursor->key_room) };
	if (cursor->key.bytes > 0)
		memcpy(cursor->key_room, state_of(least)->key.at,
		    cursor->key.bytes);
	for (uint32_t i = 0; i < cursor->count; i++)
		cursor->input[i].used =
		    is_in(&cursor->input[i], cursor->key_hash, cursor->scope);
	return true;
}

static void
advance(const struct part_cursor *cursor, struct part_cursor_input *input)
{
	if (++input->at == input->to)
		input->used = continues(cursor, input);
}

/* The nodes, which decide last, are read when they do. */
static bool
is_less(struct part_cursor_input *a, struct part_cursor_input *b)
{
	const struct phase_entry *one = &a->row.at[a->at];
	const struct phase_entry *other = &b->row.at[b->at];
	int order = phase_compare_ids(one, other);

	if (order != 0)
		return order < 0;
	return part_row_complete(&a->row) && part_row_complete(&b->row) &&
	       phase_compare(one, other) < 0;
}

/* The input that has the least entry. */
static struct part_cursor_input *
least_input(struct part_cursor *cursor)
{
	struct part_cursor_input *least = NULL;

	for (uint32_t i = 0; i < cursor->count; i++) {
		struct part_cursor_input *input = &cursor->input[i];

		while (input->used && input->row.at[input->at].id.time_ns <
					  cursor->list.cut_ns)
			advance(cursor, input);
		if (input->used && (least == NULL || is_less(input, least)))
			least = input;
	}
	return least;
}

const struct phase_entry *
part_cursor_entry(struct part_cursor *cursor)
{
	struct part_cursor_input *least;

	if (cursor->given != NULL)
		advance(cursor, cursor->given);
	cursor->given = NULL;
	do
		least = least_input(cursor);
	while (wake(cursor,
	    least != NULL ? least->row.at[least->at].id.time_ns : INT64_MAX));
	cursor->given = least;
	return least == NULL ? NULL : &least->row.at[least->at];
}

bool
part_cursor_complete(struct part_cursor *cursor)
{
	return cursor->given != NULL && part_row_complete(&cursor->given->row);
}

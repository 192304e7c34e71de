/*
 * phase_rows - encoding of states and compacted pairs.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/phase.h"

enum {
	FLAG_COMPACTED = 1,
	ENTRY_MEASURED = 1,
	ENTRY_NODE = 2,
	ENTRY_SHIFT = 2,
	SIDE_MAX = PHASE_PAIRS_MAX + PHASE_OPEN_MAX + 1,
};

static void
put_entry(struct buffer *to, const struct phase_entry *entry, int64_t base,
    uint32_t scope)
{
	unsigned char *start, *at;
	bool node = entry->node != scope;

	start = at =
	    buffer_need(to, 8 * VARINT_BYTES + (size_t)entry->id.body.bytes);
	at = varint_encode(at, varint_delta(base, entry->id.time_ns));
	at = varint_encode(at, entry->id.stream);
	at = varint_encode(at, entry->id.seq);
	at = varint_encode(at, entry->id.index);
	at = varint_encode(
	    at, varint_delta(entry->id.time_ns, entry->id.receive_ns));
	at = varint_encode(at, (uint64_t)entry->id.body.bytes << ENTRY_SHIFT |
				   (node ? ENTRY_NODE : 0) |
				   (entry->measured ? ENTRY_MEASURED : 0));
	if (node)
		at = varint_encode(at, entry->node);
	if (entry->measured)
		at = varint_encode(at, varint_zigzag(entry->measured_ns));
	if (entry->id.body.bytes > 0)
		memcpy(at, entry->id.body.at, entry->id.body.bytes);
	to->bytes += (size_t)(at - start) + entry->id.body.bytes;
}

static void
get_entry(struct varint_reader *u, struct phase_entry *entry, int64_t base,
    uint32_t scope)
{
	uint64_t form;

	entry->id.time_ns = varint_undelta(base, varint_get(u));
	entry->id.stream = varint_get_u32(u);
	entry->id.seq = varint_get(u);
	entry->id.index = varint_get_u32(u);
	entry->id.receive_ns = varint_undelta(entry->id.time_ns, varint_get(u));
	form = varint_get_max(u, UINT32_MAX);
	entry->node = form & ENTRY_NODE ? varint_get_u32(u) : scope;
	entry->measured = (form & ENTRY_MEASURED) != 0;
	entry->measured_ns =
	    entry->measured ? varint_unzigzag(varint_get(u)) : 0;
	entry->id.body = varint_get_bytes(u, form >> ENTRY_SHIFT);
}

static void
put_mark(struct buffer *to, const struct row_block_item *mark)
{
	varint_put(to, varint_zigzag(mark->time_ns));
	varint_put(to, mark->stream);
	varint_put(to, mark->seq);
	varint_put(to, mark->index);
}

static struct row_block_item
get_mark(struct varint_reader *u)
{
	struct row_block_item mark = { .time_ns =
					   varint_unzigzag(varint_get(u)) };

	mark.stream = varint_get_u32(u);
	mark.seq = varint_get(u);
	mark.index = varint_get_u32(u);
	return mark;
}

static void
put_side(struct buffer *to, const struct phase_side *side, int64_t *base,
    uint32_t scope)
{
	uint32_t i;

	varint_put(to, side->count);
	for (i = 0; i < side->count; i++) {
		put_entry(to, &side->at[i], *base, scope);
		*base = side->at[i].id.time_ns;
	}
}

static void
get_side(struct varint_reader *u, struct phase_side *side, int64_t *base,
    uint32_t scope)
{
	uint32_t count = (uint32_t)varint_get_max(u, SIDE_MAX), i;

	phase_side_room(side, count);
	for (i = 0; i < count && !u->bad; i++) {
		get_entry(u, &side->at[i], *base, scope);
		*base = side->at[i].id.time_ns;
	}
	side->count = u->bad ? 0 : count;
}

void
phase_state_encode(
    const struct phase_state *state, uint32_t scope, struct buffer *to)
{
	int64_t base = 0;

	varint_put(to, state->sums.bytes > 0 ? FLAG_COMPACTED : 0);
	varint_put_text(to, state->key);
	if (state->sums.bytes > 0) {
		varint_put(to, state->compacted);
		put_mark(to, &state->start_mark);
		put_mark(to, &state->end_mark);
		varint_put_text(to, state->sums);
	}
	put_side(to, &state->start, &base, scope);
	put_side(to, &state->end, &base, scope);
}

bool
phase_state_decode(struct phase_state *state, struct text value, uint32_t scope)
{
	struct varint_reader u = varint_reader_of(value);
	uint64_t flags = varint_get_max(&u, FLAG_COMPACTED);
	int64_t base = 0;

	phase_state_reset(state, varint_get_text(&u));
	if (flags & FLAG_COMPACTED) {
		state->compacted = varint_get_u32(&u);
		state->start_mark = get_mark(&u);
		state->end_mark = get_mark(&u);
		state->sums = varint_get_text(&u);
	}
	get_side(&u, &state->start, &base, scope);
	get_side(&u, &state->end, &base, scope);
	return !u.bad && u.at == u.end && phase_pairs(state) < PHASE_PAIRS_MAX;
}

/* ---- compacted pairs ---- */

void
phase_key_compacted(unsigned char key[static PHASE_KEY_COMPACTED_BYTES],
    const struct key_phase *phase, uint64_t k)
{
	key_put_phase(key, phase);
	varint_put_u32_be(key + KEY_PHASE_BYTES, (uint32_t)k);
}

uint32_t
phase_put_compacted(const struct phase_state *state, uint32_t first,
    uint32_t pairs, uint32_t scope, struct buffer *to)
{
	size_t header, start = to->bytes;
	uint32_t i;

	/* The first byte is the count: PHASE_COMPACT fits in a byte. */
	varint_put(to, 0);
	header = to->bytes - 1;
	for (i = 0; i < pairs; i++) {
		const struct phase_entry *from = &state->start.at[first + i];
		size_t before = to->bytes;

		put_entry(to, from, 0, scope);
		put_entry(
		    to, &state->end.at[first + i], from->id.time_ns, scope);
		if (i > 0 && to->bytes - start > ROW_BLOCK_BYTES) {
			to->bytes = before;
			break;
		}
	}
	to->at[header] = (unsigned char)i;
	return i;
}

bool
phase_open_compacted(
    struct phase_compacted *compacted, struct text value, uint32_t scope)
{
	compacted->bytes = varint_reader_of(value);
	compacted->left = varint_get(&compacted->bytes);
	compacted->scope = scope;
	return !compacted->bytes.bad;
}

bool
phase_next_compacted(struct phase_compacted *compacted,
    struct phase_entry *start, struct phase_entry *end)
{
	if (compacted->left == 0)
		return false;
	get_entry(&compacted->bytes, start, 0, compacted->scope);
	get_entry(&compacted->bytes, end, start->id.time_ns, compacted->scope);
	compacted->left--;
	if (compacted->bytes.bad)
		compacted->left = 0;
	return !compacted->bytes.bad;
}

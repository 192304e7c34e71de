/*
 * run_row - the stored row of a test run.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/run_row.h"

#include <string.h>

enum {
	FLAG_KNOWN = 1,
	FLAG_ERROR = 2,
	FLAGS_MAX = 3,
	/* Flags: what differs from the event before. */
	FORM_ID = 1,
	FORM_NODE = 2,
	FORM_LATE = 4,
	FORM_SHIFT = 3,
};
#define FORM_MAX ((uint64_t)UINT32_MAX << FORM_SHIFT | 7)

void
run_row_put_key(
    unsigned char key[static RUN_ROW_KEY_BYTES], const struct run_row_key *run)
{
	varint_put_u32_be(key, run->partition);
	varint_put_u32_be(key + 4, run->model);
	varint_put_u32_be(key + 8, run->run);
}

bool
run_row_get_key(struct text key, struct run_row_key *run)
{
	if (key.bytes != RUN_ROW_KEY_BYTES)
		return false;
	run->partition = varint_get_u32_be(key.at);
	run->model = varint_get_u32_be(key.at + 4);
	run->run = varint_get_u32_be(key.at + 8);
	return true;
}

void
run_row_reset(struct run_row *row)
{
	row->known = row->error = false;
	row->id = (struct text){ NULL, 0 };
	row->group = row->requestor = row->count = 0;
	row->overflow = 0;
}

/* The next event of the same batch is the expected one. */
static bool
is_next(const struct row_block_item *before, const struct row_block_item *id)
{
	return id->stream == before->stream && id->seq == before->seq &&
	       id->index == before->index + 1;
}

static int64_t
late_ns(const struct row_block_item *id)
{
	return (int64_t)((uint64_t)id->receive_ns - (uint64_t)id->time_ns);
}

static unsigned char *
put_event(unsigned char *at, const struct run_row_event *before,
    const struct run_row_event *event)
{
	const struct row_block_item *id = &event->id;
	bool next = is_next(&before->id, id);
	bool node = event->node != before->node;
	bool late = late_ns(id) != late_ns(&before->id);

	at = varint_encode(
	    at, (uint64_t)event->event << FORM_SHIFT | (next ? 0 : FORM_ID) |
		    (node ? FORM_NODE : 0) | (late ? FORM_LATE : 0));
	at = varint_encode(at, varint_delta(before->id.time_ns, id->time_ns));
	if (late)
		at = varint_encode(at, varint_zigzag(late_ns(id)));
	if (node)
		at = varint_encode(at, event->node);
	if (next)
		return at;
	at = varint_encode(at, id->stream);
	at = varint_encode(at, id->seq);
	return varint_encode(at, id->index);
}

static void
get_event(struct varint_reader *u, const struct run_row_event *before,
    struct run_row_event *event)
{
	uint64_t form = varint_get_max(u, FORM_MAX);
	struct row_block_item *id = &event->id;
	int64_t late = late_ns(&before->id);

	*event = *before;
	event->event = (uint32_t)(form >> FORM_SHIFT);
	id->time_ns = varint_undelta(before->id.time_ns, varint_get(u));
	if (form & FORM_LATE)
		late = varint_unzigzag(varint_get(u));
	id->receive_ns = (int64_t)((uint64_t)id->time_ns + (uint64_t)late);
	if (form & FORM_NODE)
		event->node = varint_get_u32(u);
	id->index++;
	if (form & FORM_ID) {
		id->stream = varint_get_u32(u);
		id->seq = varint_get(u);
		id->index = varint_get_u32(u);
	}
}

static const struct run_row_event nothing;

void
run_row_encode(const struct run_row *row, struct buffer *to)
{
	const struct run_row_event *before = &nothing;
	unsigned char *start, *at;

	varint_put_text(to, row->id);
	start = at =
	    buffer_need(to, (5 + 7 * (size_t)row->count) * VARINT_BYTES);
	at = varint_encode(
	    at, (row->known ? FLAG_KNOWN : 0) | (row->error ? FLAG_ERROR : 0));
	at = varint_encode(at, row->group);
	at = varint_encode(at, row->requestor);
	at = varint_encode(at, row->overflow);
	at = varint_encode(at, row->count);
	for (uint32_t i = 0; i < row->count; before = &row->at[i++])
		at = put_event(at, before, &row->at[i]);
	to->bytes += (size_t)(at - start);
}

bool
run_row_decode(struct run_row *row, struct text value)
{
	const struct run_row_event *before = &nothing;
	struct varint_reader u = varint_reader_of(value);
	uint64_t flags;

	row->id = varint_get_text(&u);
	flags = varint_get_max(&u, FLAGS_MAX);
	row->known = (flags & FLAG_KNOWN) != 0;
	row->error = (flags & FLAG_ERROR) != 0;
	row->group = varint_get_u32(&u);
	row->requestor = varint_get_u32(&u);
	row->overflow = varint_get(&u);
	row->count = (uint32_t)varint_get_max(&u, RUN_EVENTS_MAX);
	for (uint32_t i = 0; i < row->count && !u.bad; before = &row->at[i++])
		get_event(&u, before, &row->at[i]);
	if (!u.bad && u.at == u.end)
		return true;
	run_row_reset(row);
	return false;
}

enum run_row_taken
run_row_take(struct run_row *row, const struct run_row_event *event)
{
	uint32_t i = row->count;
	int order = -1;

	/* Search from the end, because most arrive in order. */
	while (i > 0 &&
	       (order = row_block_compare(&event->id, &row->at[i - 1].id)) < 0)
		i--;
	if (i > 0 && order == 0)
		return RUN_ROW_REPEATED;
	if (row->count == RUN_EVENTS_MAX) {
		row->overflow++;
		return RUN_ROW_OVERFLOW;
	}
	memmove(
	    row->at + i + 1, row->at + i, (row->count - i) * sizeof(*row->at));
	row->at[i] = *event;
	row->count++;
	return RUN_ROW_TAKEN;
}

void
run_row_events(const struct run_row *row, const struct run_row_roles *roles,
    struct run_events *to)
{
	to->count = 0;
	to->overflow = row->overflow;
	for (uint32_t i = 0; i < row->count; i++) {
		struct run_event *event = &to->at[to->count];
		uint32_t role = 0;

		while (role < roles->count &&
		       roles->number[role] != row->at[i].event)
			role++;
		if (role == roles->count)
			continue;
		event->role = (uint8_t)role;
		event->time_ns = row->at[i].id.time_ns;
		event->receive_ns = row->at[i].id.receive_ns;
		to->count++;
	}
}

/*
 * run_row - the stored row of a test run.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/run_row.h"

#include <string.h>

#include "aggregator/tables/key.h"
#include "aggregator/tables/tables.h"

enum {
	FLAG_KNOWN = 1,
	FLAG_ERROR = 2,
	FLAGS_MAX = 3,
	/* Flags: what differs from the event before. */
	FORM_ID = 1,
	FORM_NODE = 2,
	FORM_LATE = 4,
	FORM_TOGETHER = 8,
	FORM_SHIFT = 4,
};
/* Hours whose nanoseconds fit int64. */
#define HOUR_MAX (INT64_MAX / KEY_HOUR_NS - 1)
#define FORM_MAX ((uint64_t)UINT32_MAX << FORM_SHIFT | 15)

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

/* The order of bytes is that of times when the sign is flipped. */
#define SIGN (UINT64_C(1) << 63)

void
run_row_put_time_key(unsigned char key[static RUN_ROW_TIME_KEY_BYTES],
    const struct run_row_time *at)
{
	varint_put_u32_be(key, at->partition);
	varint_put_u32_be(key + 4, at->model);
	varint_put_u64_be(key + 8, (uint64_t)at->time_ns ^ SIGN);
	varint_put_u32_be(key + 16, at->run);
}

bool
run_row_get_time_key(struct text key, struct run_row_time *at)
{
	if (key.bytes != RUN_ROW_TIME_KEY_BYTES)
		return false;
	at->partition = varint_get_u32_be(key.at);
	at->model = varint_get_u32_be(key.at + 4);
	at->time_ns = (int64_t)(varint_get_u64_be(key.at + 8) ^ SIGN);
	at->run = varint_get_u32_be(key.at + 16);
	return true;
}

void
run_row_reset(struct run_row *row)
{
	row->known = row->error = false;
	row->id = (struct text){ NULL, 0 };
	row->group = row->requestor = row->count = row->tallies = 0;
	row->overflow = 0;
	row->overflow_ns = 0;
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
	bool together = late && id->receive_ns == before->id.receive_ns;

	late = late && !together;
	at = varint_encode(
	    at, (uint64_t)event->event << FORM_SHIFT | (next ? 0 : FORM_ID) |
		    (node ? FORM_NODE : 0) | (late ? FORM_LATE : 0) |
		    (together ? FORM_TOGETHER : 0));
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
	/* `*event` has the receive time of the event before. */
	if (!(form & FORM_TOGETHER))
		id->receive_ns =
		    (int64_t)((uint64_t)id->time_ns + (uint64_t)late);
	if (form & FORM_NODE)
		event->node = varint_get_u32(u);
	id->index++;
	if (form & FORM_ID) {
		id->stream = varint_get_u32(u);
		id->seq = varint_get(u);
		id->index = varint_get_u32(u);
	}
}

static void
put_tallies(const struct run_row *row, struct buffer *to)
{
	struct run_row_tally before = { .event = 0 };
	unsigned char *start, *at;

	start = at =
	    buffer_need(to, (3 + 4 * (size_t)row->tallies) * VARINT_BYTES);
	at = varint_encode(at, row->overflow);
	at = varint_encode(at, varint_zigzag(row->overflow_ns));
	at = varint_encode(at, row->tallies);
	for (uint32_t i = 0; i < row->tallies; before = row->tally[i++]) {
		const struct run_row_tally *tally = &row->tally[i];

		at = varint_encode(at, tally->event - before.event);
		at = varint_encode(at, varint_delta(before.hour, tally->hour));
		at = varint_encode(
		    at, (uint64_t)(tally->first_ns -
				   (int64_t)tally->hour * KEY_HOUR_NS));
		at = varint_encode(at, tally->count);
	}
	to->bytes += (size_t)(at - start);
}

static void
get_tallies(struct varint_reader *u, struct run_row *row)
{
	struct run_row_tally before = { .event = 0 };

	row->overflow = varint_get(u);
	row->overflow_ns = varint_unzigzag(varint_get(u));
	row->tallies = (uint32_t)varint_get_max(u, RUN_ROW_TALLIES_MAX);
	for (uint32_t i = 0; i < row->tallies && !u->bad;
	     before = row->tally[i++]) {
		struct run_row_tally *tally = &row->tally[i];
		int64_t hour;

		tally->event =
		    (uint32_t)varint_get_max(u, UINT32_MAX - before.event) +
		    before.event;
		hour = varint_undelta(before.hour, varint_get(u));
		if (hour < -HOUR_MAX || hour > HOUR_MAX) {
			u->bad = true;
			return;
		}
		tally->hour = (int32_t)hour;
		tally->first_ns = hour * KEY_HOUR_NS +
				  (int64_t)varint_get_max(u, KEY_HOUR_NS - 1);
		tally->count = varint_get(u);
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
	at = varint_encode(at, row->count);
	for (uint32_t i = 0; i < row->count; before = &row->at[i++])
		at = put_event(at, before, &row->at[i]);
	to->bytes += (size_t)(at - start);
	put_tallies(row, to);
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
	row->count = (uint32_t)varint_get_max(&u, RUN_EVENTS_MAX);
	for (uint32_t i = 0; i < row->count && !u.bad; before = &row->at[i++])
		get_event(&u, before, &row->at[i]);
	get_tallies(&u, row);
	if (!u.bad && u.at == u.end)
		return true;
	run_row_reset(row);
	return false;
}

/* Two nodes may have events of one identity, if imports say so. */
static int
compare(const struct run_row_event *a, const struct run_row_event *b)
{
	int order = row_block_compare(&a->id, &b->id);

	if (order != 0 || a->node == b->node)
		return order;
	return a->node < b->node ? -1 : 1;
}

enum run_row_taken
run_row_take(struct run_row *row, const struct run_row_event *event)
{
	uint32_t i = row->count;
	int order = -1;

	/* Search from the end, because most arrive in order. */
	while (i > 0 && (order = compare(event, &row->at[i - 1])) < 0)
		i--;
	if (i > 0 && order == 0)
		return RUN_ROW_REPEATED;
	if (row->count == RUN_EVENTS_MAX)
		return RUN_ROW_OVERFLOW;
	memmove(
	    row->at + i + 1, row->at + i, (row->count - i) * sizeof(*row->at));
	row->at[i] = *event;
	row->count++;
	return RUN_ROW_TAKEN;
}

/* The place of a tally, or where it belongs; `*names`: how many others have
 * other names than `event`. */
static uint32_t
find_tally(
    const struct run_row *row, uint32_t event, int32_t hour, uint32_t *names)
{
	uint32_t place = 0;

	*names = 0;
	for (uint32_t i = 0; i < row->tallies; i++) {
		const struct run_row_tally *tally = &row->tally[i];

		place += tally->event < event ||
			 (tally->event == event && tally->hour < hour);
		*names += tally->event != event &&
			  (i == 0 || tally->event != tally[-1].event);
	}
	return place;
}

bool
run_row_count(struct run_row *row, uint32_t event, int64_t time_ns)
{
	int32_t hour = key_hour(time_ns);
	uint32_t names, place = find_tally(row, event, hour, &names);
	struct run_row_tally *tally = &row->tally[place];

	if (place < row->tallies && tally->event == event &&
	    tally->hour == hour) {
		tally->count++;
		if (time_ns < tally->first_ns)
			tally->first_ns = time_ns;
		return true;
	}
	if (row->tallies == RUN_ROW_TALLIES_MAX || names == RUN_NAMES_MAX) {
		if (row->overflow++ == 0 || time_ns > row->overflow_ns)
			row->overflow_ns = time_ns;
		return false;
	}
	memmove(tally + 1, tally, (row->tallies - place) * sizeof(*tally));
	*tally = (struct run_row_tally){ event, hour, time_ns, 1 };
	row->tallies++;
	return true;
}

bool
run_row_trim(struct run_row *row, int64_t cut_ns)
{
	uint32_t old = 0, kept = 0;
	bool trimmed = row->overflow > 0 && row->overflow_ns < cut_ns;

	if (trimmed)
		row->overflow = 0, row->overflow_ns = 0;
	while (old < row->count && row->at[old].id.time_ns < cut_ns)
		old++;
	row->count -= old;
	memmove(row->at, row->at + old, row->count * sizeof(*row->at));
	for (uint32_t i = 0; i < row->tallies; i++)
		if (row->tally[i].first_ns >= cut_ns)
			row->tally[kept++] = row->tally[i];
	trimmed |= old > 0 || kept < row->tallies;
	row->tallies = kept;
	return trimmed;
}

bool
run_row_first(const struct run_row *row, int64_t *first_ns)
{
	bool found = row->count > 0;

	*first_ns = found ? row->at[0].id.time_ns : 0;
	for (uint32_t i = 0; i < row->tallies; i++) {
		if (!found || row->tally[i].first_ns < *first_ns)
			*first_ns = row->tally[i].first_ns;
		found = true;
	}
	return found;
}

int64_t
run_row_time(const struct run_row *row)
{
	int64_t first_ns;

	return run_row_first(row, &first_ns) ? first_ns : RUN_ROW_NO_TIME;
}

bool
run_row_find(struct run_row *row, struct packed *packed, struct db_txn *txn,
    const struct run_row_time *at)
{
	struct run_row_key run = { at->partition, at->model, at->run };
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	struct text value;

	run_row_put_key(bytes, &run);
	return packed_get(packed, txn, tables_runs,
		   (struct text){ (const char *)bytes, sizeof(bytes) },
		   &value) &&
	       run_row_decode(row, value) && run_row_time(row) == at->time_ns;
}

bool
run_row_has_events(const struct run_row *row)
{
	return row->count > 0 || row->tallies > 0 || row->overflow > 0;
}

void
run_row_events(const struct run_row *row, const struct run_row_roles *roles,
    struct run_events *to)
{
	to->count = to->others = to->nodes = 0;
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
		event->node = row->at[i].node;
		to->count++;
	}
}

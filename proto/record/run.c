/*
 * run - the events of a run id, and the durations of its steps.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/run.h"

#include "proto/record/pairing.h"

void
run_events_put(
    struct buffer *to, int64_t first_ns, const struct run_events *events)
{
	unsigned char *start, *at;
	int64_t before_ns = first_ns;

	varint_put(to, events->nodes);
	for (uint32_t i = 0; i < events->nodes; i++)
		varint_put_text(to, events->node[i]);
	start = at =
	    buffer_need(to, (4 * (size_t)events->count + 1) * VARINT_BYTES);
	at = varint_encode(at, events->count);
	for (uint32_t i = 0; i < events->count; i++) {
		const struct run_event *event = &events->at[i];

		at = varint_encode(at, event->role);
		at = varint_encode(at, varint_delta(before_ns, event->time_ns));
		at = varint_encode(
		    at, varint_delta(event->time_ns, event->receive_ns));
		at = varint_encode(at, event->node);
		before_ns = event->time_ns;
	}
	to->bytes += (size_t)(at - start);
	varint_put(to, events->others);
	for (uint32_t i = 0; i < events->others; i++) {
		varint_put_text(to, events->other[i].event);
		varint_put(to, events->other[i].count);
	}
	varint_put(to, events->overflow);
}

/* A page comes from outside. */
static bool
is_name(struct text name)
{
	uint32_t character, bytes;

	if (name.bytes == 0 || name.bytes > RUN_NAME_BYTES_MAX)
		return false;
	for (; name.bytes > 0; name.at += bytes, name.bytes -= bytes) {
		bytes = text_character(name, &character);
		if (bytes == 0 || character < 0x20 ||
		    (character >= 0x7f && character < 0xa0))
			return false;
	}
	return true;
}

static void
get_events(struct varint_reader *u, int64_t first_ns, struct run_events *events)
{
	int64_t time_ns = first_ns;

	events->nodes = (uint32_t)varint_get_max(u, RUN_EVENTS_MAX);
	for (uint32_t i = 0; i < events->nodes && !u->bad; i++) {
		events->node[i] = varint_get_text(u);
		u->bad |= text_check_name(events->node[i]) != TEXT_OK;
	}
	events->count = (uint32_t)varint_get_max(u, RUN_EVENTS_MAX);
	for (uint32_t i = 0; i < events->count && !u->bad; i++) {
		struct run_event *event = &events->at[i];

		event->role = (uint8_t)varint_get_max(u, RUN_ROLES_MAX - 1);
		time_ns = varint_undelta(time_ns, varint_get(u));
		event->time_ns = time_ns;
		event->receive_ns = varint_undelta(time_ns, varint_get(u));
		event->node = varint_get_u32(u);
		u->bad |= event->node >= events->nodes;
	}
}

bool
run_events_get(struct text from, int64_t first_ns, struct run_events *events)
{
	struct varint_reader u = varint_reader_of(from);

	get_events(&u, first_ns, events);
	events->others = (uint32_t)varint_get_max(&u, RUN_NAMES_MAX);
	for (uint32_t i = 0; i < events->others && !u.bad; i++) {
		struct run_count *other = &events->other[i];

		other->event = varint_get_text(&u);
		other->count = varint_get(&u);
		u.bad |= !is_name(other->event);
	}
	events->overflow = varint_get(&u);
	return !u.bad && u.at == u.end;
}

static int64_t
time_of(const struct run_event *event, enum run_clock clock)
{
	return clock == RUN_EMIT ? event->time_ns : event->receive_ns;
}

static bool
is_end(const struct run_event *event, struct run_step step)
{
	return event->role == step.end;
}

static bool
is_start(const struct run_event *event, struct run_step step)
{
	return event->role == step.begin && !is_end(event, step);
}

/* The durations of the ends in [at, to), which are of one time. */
static void
put_durations(const struct run_event *at, const struct run_event *to,
    struct run_step step, const struct pairer_instant *how,
    const struct run_event *waiting, enum run_clock clock, int64_t *ns)
{
	const struct run_event *own = at;

	for (uint32_t done = 0; at < to && done < how->waiting + how->own;
	     at++) {
		const struct run_event *begin = waiting;

		if (!is_end(at, step))
			continue;
		if (done >= how->waiting) {
			while (!is_start(own, step))
				own++;
			begin = own++;
		}
		ns[done++] =
		    pairing_duration(time_of(begin, clock), time_of(at, clock));
	}
}

/* Millions of runs are read at a time: no arrays, which a release would set to
 * zero for each of their steps.  One start at most waits. */
uint32_t
run_events_durations(const struct run_events *events, struct run_step step,
    enum run_clock clock, int64_t to[static RUN_EVENTS_MAX / 2])
{
	const struct run_event *at = events->at, *end = at + events->count;
	const struct run_event *waiting = NULL, *next;
	uint32_t pairs = 0;

	for (; at < end; at = next) {
		const struct run_event *last = NULL; /* start */
		uint32_t starts = 0, ends = 0;
		struct pairer_instant how;

		next = at + 1;
		if (at->role != step.begin && at->role != step.end)
			continue;
		for (next = at; next < end && next->time_ns == at->time_ns;
		     next++) {
			ends += is_end(next, step);
			if (is_start(next, step)) {
				starts++;
				last = next;
			}
		}
		how = pairer_instant(waiting != NULL, starts, ends);
		put_durations(at, next, step, &how, waiting, clock, to + pairs);
		pairs += how.waiting + how.own;
		waiting = how.left > 0 ? last : NULL;
	}
	return pairs;
}

enum run_state
run_state(const struct run_events *events, unsigned begun, unsigned ended)
{
	enum run_state state = RUN_QUEUED;

	for (uint32_t i = 0; i < events->count; i++) {
		if (events->at[i].role == ended)
			return RUN_FINISHED;
		if (events->at[i].role == begun)
			state = RUN_ONGOING;
	}
	return state;
}

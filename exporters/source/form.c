/*
 * starts_form - the starts of a pool, from the required phases of its nodes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/form.h"

#include <stdbool.h>
#include <stdlib.h>

#include "proto/base/memory.h"

/* A node, from one begin to its next one. */
struct cycle {
	int64_t begin_ns, ready_ns, sign_ns;
	uint32_t node;
	bool lacks; /* a required phase did not end */
};

/* ---- order ---- */

static int
compare_times(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int64_t
place_of(const struct start_mark *mark)
{
	return mark->end_ns != START_UNKNOWN ? mark->end_ns : mark->begin_ns;
}

/* It ended, and did not begin at the same time. */
static bool
has_lasted(const struct start_mark *mark)
{
	return mark->begin_ns != START_UNKNOWN &&
	       mark->begin_ns < place_of(mark);
}

/* Of one time, what has lasted comes first: see is_before. */
static int
by_place(const void *left, const void *right)
{
	const struct start_mark *a = left, *b = right;
	int by_time;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	by_time = compare_times(place_of(a), place_of(b));
	return by_time != 0 ? by_time : has_lasted(b) - has_lasted(a);
}

static int
by_node(const void *left, const void *right)
{
	const struct cycle *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return compare_times(a->begin_ns, b->begin_ns);
}

static int
by_begin(const void *left, const void *right)
{
	const struct cycle *a = left, *b = right;
	int by_time = compare_times(a->begin_ns, b->begin_ns);

	return by_time != 0 ? by_time
			    : (a->node > b->node) - (a->node < b->node);
}

/* What is read is nearly always in order. */
static void
sort(void *at, uint32_t count, size_t bytes,
    int (*compare)(const void *, const void *))
{
	const char *row = at;

	for (uint32_t i = 1; i < count; i++, row += bytes)
		if (compare(row, row + bytes) > 0) {
			qsort(at, count, bytes, compare);
			return;
		}
}

/* ---- nodes ---- */

static struct cycle *
make_cycles(const struct start_marks *first, uint32_t *count)
{
	struct cycle *cycles = memory_zero(first->count + 1, sizeof(*cycles));

	*count = 0;
	for (uint32_t i = 0; i < first->count; i++) {
		const struct start_mark *mark = &first->at[i];

		if (mark->begin_ns != START_UNKNOWN)
			cycles[(*count)++] =
			    (struct cycle){ .begin_ns = mark->begin_ns,
				    .ready_ns = START_UNKNOWN,
				    .sign_ns = mark->begin_ns,
				    .node = mark->node };
	}
	sort(cycles, *count, sizeof(*cycles), by_node);
	return cycles;
}

/* Does it belong to what the node did before it began then?  Also when it ended
 * at the same time. */
static bool
is_before(const struct start_mark *mark, int64_t begin_ns)
{
	int64_t place_ns = place_of(mark);

	return place_ns < begin_ns ||
	       (place_ns == begin_ns && has_lasted(mark));
}

static int64_t
later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Add a phase to what the nodes did. */
static void
add_phase(struct cycle *cycles, uint32_t count, struct start_marks *marks)
{
	uint32_t at = 0;

	sort(marks->at, marks->count, sizeof(*marks->at), by_place);
	for (uint32_t i = 0; i < count; i++) {
		struct cycle *cycle = &cycles[i];
		bool again = i + 1 < count && cycle[1].node == cycle->node;
		bool done = false;

		for (; at < marks->count; at++) {
			const struct start_mark *mark = &marks->at[at];

			if (mark->node > cycle->node ||
			    (mark->node == cycle->node && again &&
				!is_before(mark, cycle[1].begin_ns)))
				break;
			if (done || mark->node < cycle->node ||
			    is_before(mark, cycle->begin_ns))
				continue;
			cycle->sign_ns =
			    later_of(cycle->sign_ns, place_of(mark));
			done = mark->end_ns != START_UNKNOWN;
			if (done)
				cycle->ready_ns =
				    later_of(cycle->ready_ns, mark->end_ns);
		}
		cycle->lacks |= !done;
	}
}

/* ---- starts ---- */

/* What a node did in the start that is being formed. */
struct seen {
	uint32_t start; /* its number + 1 */
	bool ready;
};

/* Did the pool pause for longer than the gap?  The difference of two times may
 * exceed int64_t. */
static bool
has_paused(int64_t since_ns, int64_t now_ns, int64_t gap_ns)
{
	return now_ns > since_ns &&
	       (uint64_t)now_ns - (uint64_t)since_ns > (uint64_t)gap_ns;
}

static void
add_cycle(struct start *start, const struct cycle *cycle, struct seen *seen,
    uint32_t number)
{
	start->last_begin_ns = cycle->begin_ns;
	start->sign_ns = later_of(start->sign_ns, cycle->sign_ns);
	if (seen->start == number) {
		start->again++;
	} else {
		*seen = (struct seen){ .start = number };
		start->nodes++;
	}
	if (cycle->lacks || seen->ready)
		return;
	seen->ready = true;
	if (start->ready++ == 0 || cycle->ready_ns < start->first_ready_ns)
		start->first_ready_ns = cycle->ready_ns;
	start->last_ready_ns = later_of(start->last_ready_ns, cycle->ready_ns);
}

struct start *
starts_form(struct start_marks *phases, uint32_t phase_count, uint32_t nodes,
    int64_t to_ns, int64_t gap_ns, uint32_t *count, int64_t *ready_ns)
{
	struct seen *seen = memory_zero(nodes + 1, sizeof(*seen));
	struct start *starts = NULL;
	uint32_t cycle_count, room = 0;
	struct cycle *cycles = make_cycles(&phases[0], &cycle_count);

	*count = 0;
	for (uint32_t i = 0; ready_ns != NULL && i < nodes; i++)
		ready_ns[i] = START_NONE;
	for (uint32_t i = 0; i < phase_count; i++)
		add_phase(cycles, cycle_count, &phases[i]);
	sort(cycles, cycle_count, sizeof(*cycles), by_begin);
	for (uint32_t i = 0; i < cycle_count; i++) {
		const struct cycle *cycle = &cycles[i];

		if (cycle->begin_ns >= to_ns)
			break;
		if (*count == 0 || has_paused(starts[*count - 1].sign_ns,
				       cycle->begin_ns, gap_ns)) {
			starts =
			    memory_grow(starts, &room, *count, sizeof(*starts));
			starts[(*count)++] =
			    (struct start){ .begin_ns = cycle->begin_ns,
				    .sign_ns = cycle->begin_ns,
				    .first_ready_ns = START_UNKNOWN,
				    .last_ready_ns = START_UNKNOWN };
		}
		add_cycle(
		    &starts[*count - 1], cycle, &seen[cycle->node], *count);
		if (ready_ns != NULL)
			ready_ns[cycle->node] =
			    cycle->lacks ? START_UNKNOWN : cycle->ready_ns;
	}
	free(cycles);
	free(seen);
	return starts;
}

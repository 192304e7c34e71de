/*
 * critical_run - a start, as it was or as it would have been.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/critical/run.h"

#include <stdlib.h>

#include "proto/base/memory.h"

/* Those that have a place and have not passed it on: a heap by end. */
struct holders {
	uint32_t *at;
	uint32_t count, room;
};

struct running {
	const struct critical_waits *waits;
	const struct critical_run *recorded; /* NULL: this is it */
	const struct critical_change *change;
	struct critical_run *run;
	/* Of the groups: the one that ended last, or of those of a key
	 * first, so far; CRITICAL_NONE. */
	uint32_t *ended[CRITICAL_GROUPS];
	struct holders *holders; /* by group of CRITICAL_KEY */
	uint32_t *final;         /* by node: its last end that made it ready */
};

/* a + b - c, or the end of the range that it is beyond: lengths that somebody
 * asks for add up. */
static int64_t
shifted(int64_t a, int64_t b, int64_t c)
{
	__int128 sum = (__int128)a + b - c;

	if (sum > INT64_MAX)
		return INT64_MAX;
	return sum < INT64_MIN ? INT64_MIN : (int64_t)sum;
}

/* ---- places ---- */

static bool
is_sooner(const struct running *r, uint32_t a, uint32_t b)
{
	const struct critical_times *at = r->run->at;

	return at[a].end_ns != at[b].end_ns ? at[a].end_ns < at[b].end_ns
					    : a < b;
}

static void
push(const struct running *r, struct holders *holders, uint32_t i)
{
	uint32_t at = holders->count;

	holders->at = memory_grow(holders->at, &holders->room, holders->count++,
	    sizeof(*holders->at));
	for (; at > 0 && is_sooner(r, i, holders->at[(at - 1) / 2]);
	     at = (at - 1) / 2)
		holders->at[at] = holders->at[(at - 1) / 2];
	holders->at[at] = i;
}

static void
pop(const struct running *r, struct holders *holders)
{
	uint32_t last = holders->at[--holders->count], at = 0, child;

	while ((child = 2 * at + 1) < holders->count) {
		if (child + 1 < holders->count &&
		    is_sooner(r, holders->at[child + 1], holders->at[child]))
			child++;
		if (!is_sooner(r, holders->at[child], last))
			break;
		holders->at[at] = holders->at[child];
		at = child;
	}
	holders->at[at] = last;
}

/* ---- begins ---- */

static void
offer(struct critical_times *times, enum critical_cause cause, uint32_t by,
    int64_t at_ns)
{
	if (at_ns <= times->could_ns)
		return;
	times->could_ns = at_ns;
	times->cause = cause;
	times->by = by;
}

static void
wait_for_ends(struct running *r, uint32_t i)
{
	const struct critical_item *item = &r->waits->at[i];
	struct critical_times *times = &r->run->at[i];

	for (uint32_t d = 0; d < item->dep_count; d++) {
		const struct critical_dep *dep = &r->waits->dep[item->deps + d];
		uint32_t by = r->ended[dep->by][dep->group];

		if (by == CRITICAL_NONE)
			continue;
		times->bound++;
		offer(times, CRITICAL_BY_PHASE, by, r->run->at[by].end_ns);
	}
	times->is_missing =
	    r->recorded != NULL && times->bound < r->recorded->at[i].bound;
	if (item->outer != CRITICAL_NONE)
		offer(times, CRITICAL_BY_OUTER, item->outer,
		    r->run->at[item->outer].begin_ns);
}

/* One that was recorded to begin though none was free has a place of its own
 * from then on. */
static void
wait_for_place(struct running *r, uint32_t i)
{
	uint32_t group = r->waits->at[i].group[CRITICAL_KEY];
	uint32_t places = r->run->places[group];
	struct critical_times *times = &r->run->at[i];
	struct holders *holders = &r->holders[group];
	uint32_t holder;

	if (places == 0 || holders->count < places)
		return;
	holder = holders->at[0];
	if (r->recorded == NULL &&
	    r->run->at[holder].end_ns > r->waits->at[i].begin_ns) {
		r->run->over++;
		r->run->places[group]++;
		return;
	}
	offer(times, CRITICAL_BY_PLACE, holder, r->run->at[holder].end_ns);
	pop(r, holders);
}

static void
begin(struct running *r, uint32_t i)
{
	const struct critical_item *item = &r->waits->at[i];
	struct critical_times *times = &r->run->at[i];
	const struct critical_change *change = r->change;
	int64_t length_ns = shifted(item->end_ns, 0, item->begin_ns);

	*times = (struct critical_times){ .could_ns = item->node_ns,
		.by = CRITICAL_NONE,
		.inner = CRITICAL_NONE };
	if (change != NULL && change->without != NULL &&
	    change->without[item->node]) {
		times->is_missing = true;
		return;
	}
	if (change != NULL && change->shift_ns != NULL)
		times->could_ns =
		    shifted(times->could_ns, change->shift_ns[item->node], 0);
	if (change != NULL && change->length_ns != NULL)
		length_ns = change->length_ns[i];
	wait_for_ends(r, i);
	if (times->is_missing)
		return;
	times->asked_ns = times->could_ns;
	wait_for_place(r, i);
	times->begin_ns = item->begin_ns;
	if (r->recorded != NULL)
		times->begin_ns = shifted(times->could_ns, item->begin_ns,
		    r->recorded->at[i].could_ns);
	times->end_ns = shifted(times->begin_ns, length_ns, 0);
	if (r->waits->places[item->group[CRITICAL_KEY]] > 0)
		push(r, &r->holders[item->group[CRITICAL_KEY]], i);
}

/* ---- ends ---- */

/* What lies in it has ended: its own end comes as long after that as it was
 * recorded to. */
static void
end_outer(struct running *r, uint32_t i)
{
	struct critical_times *times = &r->run->at[i];

	if (r->recorded == NULL || r->recorded->at[i].inner == CRITICAL_NONE ||
	    times->inner == CRITICAL_NONE)
		return;
	times->end_ns =
	    shifted(r->run->at[times->inner].end_ns, r->waits->at[i].end_ns,
		r->waits->at[r->recorded->at[i].inner].end_ns);
}

static void
take_group(struct running *r, uint32_t i, enum critical_group by)
{
	uint32_t *ended = &r->ended[by][r->waits->at[i].group[by]];
	const struct critical_times *at = r->run->at;

	if (*ended == CRITICAL_NONE ||
	    (by == CRITICAL_KEY ? at[i].end_ns < at[*ended].end_ns
				: at[i].end_ns >= at[*ended].end_ns))
		*ended = i;
}

static void
end(struct running *r, uint32_t i)
{
	const struct critical_item *item = &r->waits->at[i];
	struct critical_times *times = &r->run->at[i];
	struct critical_times *outer =
	    item->outer == CRITICAL_NONE ? NULL : &r->run->at[item->outer];

	if (times->is_missing) {
		if (outer != NULL)
			outer->is_missing = true;
		r->run->missing += r->change == NULL ||
				   r->change->without == NULL ||
				   !r->change->without[item->node];
		return;
	}
	end_outer(r, i);
	if (outer != NULL &&
	    (outer->inner == CRITICAL_NONE ||
		r->run->at[outer->inner].end_ns <= times->end_ns))
		outer->inner = i;
	for (int by = 0; by < CRITICAL_GROUPS; by++)
		take_group(r, i, (enum critical_group)by);
	if (item->is_final &&
	    (r->final[item->node] == CRITICAL_NONE ||
		times->end_ns > r->run->at[r->final[item->node]].end_ns))
		r->final[item->node] = i;
}

/* ---- a run ---- */

/* Ends come before the begins of their time, but that of a phase without length
 * after its own. */
static bool
has_ended(const struct critical_waits *waits, uint32_t e, uint32_t i)
{
	int64_t end_ns = waits->at[e].end_ns, begin_ns = waits->at[i].begin_ns;

	return end_ns != begin_ns ? end_ns < begin_ns : e < i;
}

static void
go(struct running *r)
{
	const struct critical_waits *waits = r->waits;
	uint32_t ended = 0;

	for (uint32_t i = 0; i < waits->count; i++) {
		for (; ended < waits->count &&
		       has_ended(waits, waits->ends[ended], i);
		     ended++)
			end(r, waits->ends[ended]);
		begin(r, i);
	}
	for (; ended < waits->count; ended++)
		end(r, waits->ends[ended]);
}

static int
by_end(const void *left, const void *right, void *arg)
{
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	const struct critical_times *at = arg;

	if (at[i].end_ns != at[j].end_ns)
		return at[i].end_ns < at[j].end_ns ? -1 : 1;
	return (i > j) - (i < j);
}

/* The node that was the last one needed. */
static void
find_ready(struct running *r)
{
	uint32_t needed = r->waits->needed, nodes = 0;
	uint32_t *final = r->final;

	if (r->change != NULL && r->change->needed > 0)
		needed = r->change->needed;
	for (uint32_t i = 0; i < r->waits->nodes; i++)
		if (final[i] != CRITICAL_NONE)
			final[nodes++] = final[i];
	if (nodes == 0)
		return;
	if (needed > 0 && needed < nodes)
		qsort_r(final, nodes, sizeof(*final), by_end, r->run->at);
	else
		needed = nodes;
	r->run->last = final[needed - 1];
	for (uint32_t i = 0; needed == nodes && i < nodes; i++)
		if (by_end(&final[i], &r->run->last, r->run->at) > 0)
			r->run->last = final[i];
	r->run->ready_ns = r->run->at[r->run->last].end_ns;
}

static uint32_t *
no_items(uint32_t count)
{
	uint32_t *at = memory_zero((size_t)count + 1, sizeof(*at));

	for (uint32_t i = 0; i < count; i++)
		at[i] = CRITICAL_NONE;
	return at;
}

static void
run(struct critical_run *run, const struct critical_waits *waits,
    const struct critical_run *recorded, const struct critical_change *change)
{
	struct running r = { waits, recorded, change, run,
		.holders = memory_zero((size_t)waits->groups[CRITICAL_KEY] + 1,
		    sizeof(*r.holders)) };

	*run = (struct critical_run){
		.at = memory_zero((size_t)waits->count + 1, sizeof(*run->at)),
		.ready_ns = INT64_MIN,
		.last = CRITICAL_NONE
	};
	run->places = memory_copy(change != NULL && change->places != NULL
				      ? change->places
				  : recorded != NULL ? recorded->places
						     : waits->places,
	    ((size_t)waits->groups[CRITICAL_KEY] + 1) * sizeof(*run->places));
	for (int by = 0; by < CRITICAL_GROUPS; by++)
		r.ended[by] = no_items(waits->groups[by]);
	r.final = no_items(waits->nodes);
	go(&r);
	find_ready(&r);
	free(r.final);
	for (uint32_t i = 0; i < waits->groups[CRITICAL_KEY]; i++)
		free(r.holders[i].at);
	free(r.holders);
	for (int by = 0; by < CRITICAL_GROUPS; by++)
		free(r.ended[by]);
}

void
critical_run_recorded(
    struct critical_run *to, const struct critical_waits *waits)
{
	struct critical_change had = { .length_ns = NULL };
	uint64_t over;

	run(to, waits, NULL, NULL);
	if (to->over == 0)
		return;
	/* Those places were there from the beginning, so that nobody waited for
	 * one before they were needed. */
	over = to->over;
	had.places = to->places;
	free(to->at);
	run(to, waits, NULL, &had);
	free((uint32_t *)(uintptr_t)had.places);
	to->over = over;
}

void
critical_run_changed(struct critical_run *to,
    const struct critical_waits *waits, const struct critical_run *recorded,
    const struct critical_change *change)
{
	run(to, waits, recorded, change);
}

void
critical_run_clear(struct critical_run *run)
{
	free(run->at);
	free(run->places);
	*run = (struct critical_run){ .at = NULL };
}

/* ---- slack ---- */

struct slack {
	const struct critical_waits *waits;
	const struct critical_run *run;
	int64_t *latest_ns; /* ends, by phase */
	int64_t *begin_ns;  /* begins of those inside, by phase */
	int64_t *need_ns[CRITICAL_GROUPS]; /* ends, by group */
	uint32_t *first;                   /* of groups of CRITICAL_KEY */
	bool *is_late; /* by node: it was not needed any more */
};

static void
lower(int64_t *at, int64_t ns)
{
	*at = ns < *at ? ns : *at;
}

/* The latest begin of a phase is what it waits for passed on; it did not wait
 * for what ended later. */
static void
slack_begin(struct slack *s, uint32_t i)
{
	const struct critical_item *item = &s->waits->at[i];
	const struct critical_times *times = &s->run->at[i];
	int64_t latest_ns = s->begin_ns[i];

	if (times->inner == CRITICAL_NONE && s->latest_ns[i] != INT64_MAX)
		lower(&latest_ns,
		    s->latest_ns[i] - (times->end_ns - times->begin_ns));
	if (latest_ns == INT64_MAX)
		return;
	latest_ns -= times->begin_ns - times->could_ns;
	for (uint32_t d = 0; d < item->dep_count; d++) {
		const struct critical_dep *dep = &s->waits->dep[item->deps + d];

		if (dep->by != CRITICAL_KEY)
			lower(&s->need_ns[dep->by][dep->group], latest_ns);
		else if (has_ended(s->waits, s->first[dep->group], i))
			lower(&s->latest_ns[s->first[dep->group]], latest_ns);
	}
	if (item->outer != CRITICAL_NONE)
		lower(&s->begin_ns[item->outer], latest_ns);
	if (times->cause == CRITICAL_BY_PLACE)
		lower(&s->latest_ns[times->by], latest_ns);
}

static void
slack_end(struct slack *s, uint32_t i)
{
	const struct critical_item *item = &s->waits->at[i];
	const struct critical_times *at = s->run->at;
	int64_t *latest_ns = &s->latest_ns[i];

	if (item->is_final && !s->is_late[item->node])
		lower(latest_ns, s->run->ready_ns);
	lower(latest_ns, s->need_ns[CRITICAL_NODE][item->group[CRITICAL_NODE]]);
	lower(latest_ns,
	    s->need_ns[CRITICAL_NODE_KEY][item->group[CRITICAL_NODE_KEY]]);
	if (item->outer != CRITICAL_NONE &&
	    s->latest_ns[item->outer] != INT64_MAX)
		lower(latest_ns, s->latest_ns[item->outer] -
				     at[item->outer].end_ns +
				     at[at[item->outer].inner].end_ns);
}

static int64_t *
no_bounds(uint32_t count)
{
	int64_t *at = memory_zero((size_t)count + 1, sizeof(*at));

	for (uint32_t i = 0; i < count; i++)
		at[i] = INT64_MAX;
	return at;
}

int64_t *
critical_run_slack(
    const struct critical_run *run, const struct critical_waits *waits)
{
	uint32_t ended = waits->count;
	struct slack s = { waits, run, no_bounds(waits->count),
		no_bounds(waits->count),
		{ no_bounds(waits->groups[CRITICAL_NODE]),
		    no_bounds(waits->groups[CRITICAL_NODE_KEY]), NULL },
		memory_zero(
		    (size_t)waits->groups[CRITICAL_KEY] + 1, sizeof(*s.first)),
		memory_zero((size_t)waits->nodes + 1, sizeof(*s.is_late)) };

	for (uint32_t i = 0; i < waits->count; i++)
		if (waits->at[i].is_final && run->at[i].end_ns > run->ready_ns)
			s.is_late[waits->at[i].node] = true;
	for (uint32_t i = waits->count; i-- > 0;)
		s.first[waits->at[waits->ends[i]].group[CRITICAL_KEY]] =
		    waits->ends[i];
	for (uint32_t i = waits->count; i-- > 0;) {
		for (;
		     ended > 0 && !has_ended(waits, waits->ends[ended - 1], i);
		     ended--)
			slack_end(&s, waits->ends[ended - 1]);
		slack_begin(&s, i);
	}
	for (uint32_t i = 0; i < waits->count; i++)
		if (s.latest_ns[i] != INT64_MAX)
			s.latest_ns[i] -= run->at[i].end_ns;
	free(s.begin_ns);
	free(s.need_ns[CRITICAL_NODE]);
	free(s.need_ns[CRITICAL_NODE_KEY]);
	free(s.first);
	free(s.is_late);
	return s.latest_ns;
}

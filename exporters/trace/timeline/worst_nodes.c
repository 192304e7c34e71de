/*
 * timeline - the worst nodes: those with the longest phase.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/timeline_private.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

struct one {
	int64_t longest_ns; /* longest phase, or span */
	int64_t latest_ns;  /* end of the one that ended last */
	uint32_t number;    /* number of the node in `nodes` */
};

struct worst {
	struct string_table nodes;
	struct one *at; /* indexed by the number of the node */
	uint32_t room;
};

static void
take(struct worst *worst, struct text node, int64_t begin_ns, int64_t end_ns)
{
	uint32_t before = worst->nodes.count;
	uint32_t number = string_table_add(&worst->nodes, node);
	struct one *one;

	worst->at =
	    memory_grow(worst->at, &worst->room, number, sizeof(*worst->at));
	one = &worst->at[number];
	if (number == before)
		*one = (struct one){ INT64_MIN, INT64_MIN, number };
	if (end_ns - begin_ns > one->longest_ns)
		one->longest_ns = end_ns - begin_ns;
	if (end_ns > one->latest_ns)
		one->latest_ns = end_ns;
}

/* A phase without an end lasts to the end of the trace.  Jobs do not count: a
 * long job does not make a node slow. */
static int
read_kind(struct timeline *t, struct worst *worst, enum record_kind kind,
    struct err *err)
{
	struct record record;
	int rc;

	if (timeline_select(t, kind, TIME_MIN_NS, err) != 0)
		return -1;
	while ((rc = source_next(t->source, &record, err)) > 0) {
		bool is_phase = kind == RECORD_PHASE;
		int64_t end_ns =
		    is_phase && !record.has_end ? t->end_ns : record.end_ns;

		if ((is_phase &&
			(!record.has_time || timeline_is_job(&record))) ||
		    !timeline_wants(t, record.node, record.time_ns, end_ns))
			continue;
		take(worst, record.node,
		    record.time_ns > t->from_ns ? record.time_ns : t->from_ns,
		    end_ns);
	}
	return rc;
}

static int
by_length(const void *left, const void *right)
{
	const struct one *a = left, *b = right;

	if (a->longest_ns != b->longest_ns)
		return a->longest_ns > b->longest_ns ? -1 : 1;
	if (a->latest_ns != b->latest_ns)
		return a->latest_ns > b->latest_ns ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

int
timeline_choose_worst(struct timeline *t, uint64_t count, struct err *err)
{
	struct worst worst = { .at = NULL };
	int rc;

	string_table_init(&worst.nodes);
	rc = read_kind(t, &worst, RECORD_PHASE, err);
	if (rc == 0 && worst.nodes.count == 0)
		rc = read_kind(t, &worst, RECORD_SPAN, err);
	if (rc == 0 && worst.nodes.count > 1)
		qsort(
		    worst.at, worst.nodes.count, sizeof(*worst.at), by_length);
	if (rc == 0)
		t->nodes = worst.nodes.count;
	for (uint32_t i = 0; rc == 0 && i < worst.nodes.count && i < count; i++)
		(void)string_table_add(
		    &t->chosen, worst.nodes.names[worst.at[i].number]);
	t->chosen_only = true;
	free(worst.at);
	string_table_clear(&worst.nodes);
	return rc;
}

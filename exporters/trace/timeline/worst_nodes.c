/*
 * timeline - the worst nodes: those with the longest phase.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/timeline_private.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

struct one {
	int64_t longest_ns; /* longest phase, or span */
	int64_t latest_ns;  /* end of the one that ended last */
	uint32_t number;    /* number of the node in `nodes` */
};

/* A start without an end: it is open unless the same phase starts again. */
struct open_start {
	bool any;
	int64_t begin_ns;
	struct text node, source, name, key; /* views of `texts` */
	struct buffer texts;
};

struct worst {
	struct string_table nodes;
	struct string_table ignored; /* phases that may lack their end */
	struct one *at;              /* indexed by the number of the node */
	uint32_t room;
	struct open_start open;
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

/* ---- phases without an end ---- */

static struct text
keep(struct buffer *texts, struct text text)
{
	unsigned char *at = buffer_need(texts, text.bytes);

	if (text.bytes > 0)
		memcpy(at, text.at, text.bytes);
	texts->bytes += text.bytes;
	return (struct text){ (const char *)at, text.bytes };
}

static void
hold(struct open_start *open, const struct record *record)
{
	open->texts.bytes = 0;
	/* Once for all, so that the views stay valid. */
	buffer_need(
	    &open->texts, (size_t)record->node.bytes + record->source.bytes +
			      record->name.bytes + record->key.bytes + 1);
	open->any = true;
	open->begin_ns = record->time_ns;
	open->node = keep(&open->texts, record->node);
	open->source = keep(&open->texts, record->source);
	open->name = keep(&open->texts, record->name);
	open->key = keep(&open->texts, record->key);
}

/* The phases of one name, key and node follow each other. */
static bool
is_same(const struct open_start *open, const struct record *record)
{
	return text_equal(open->node, record->node) &&
	       text_equal(open->source, record->source) &&
	       text_equal(open->name, record->name) &&
	       text_equal(open->key, record->key);
}

static void
take_interval(struct timeline *t, struct worst *worst, struct text node,
    int64_t begin_ns, int64_t end_ns)
{
	if (timeline_wants(t, node, begin_ns, end_ns))
		take(worst, node, begin_ns > t->from_ns ? begin_ns : t->from_ns,
		    end_ns);
}

/* What is open lasts to the end of the trace.  If the same phase started again
 * its end was lost, and nobody knows when it was. */
static void
release(struct timeline *t, struct worst *worst, const struct record *next)
{
	struct open_start *open = &worst->open;

	if (open->any && (next == NULL || !is_same(open, next)))
		take_interval(t, worst, open->node, open->begin_ns, t->end_ns);
	open->any = false;
}

/* ---- reading ---- */

/* Jobs do not count: a long job does not make a node slow. */
static void
take_phase(struct timeline *t, struct worst *worst, const struct record *record)
{
	release(t, worst, record);
	if (!record->has_time || timeline_is_job(record) ||
	    timeline_is_ignored(&worst->ignored, record))
		return;
	if (record->has_end)
		take_interval(
		    t, worst, record->node, record->time_ns, record->end_ns);
	else
		hold(&worst->open, record);
}

static int
read_kind(struct timeline *t, struct worst *worst, enum record_kind kind,
    struct err *err)
{
	struct record record;
	int rc;

	if (timeline_select(t, kind, TIME_MIN_NS, err) != 0)
		return -1;
	while ((rc = source_next(t->source, &record, err)) > 0) {
		if (kind == RECORD_PHASE)
			take_phase(t, worst, &record);
		else
			take_interval(t, worst, record.node, record.time_ns,
			    record.end_ns);
	}
	release(t, worst, NULL);
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
	uint64_t pairs = 0;
	int rc;

	string_table_init(&worst.nodes);
	string_table_init(&worst.ignored);
	rc = timeline_read_ignored(t, &worst.ignored, &pairs, err);
	if (rc == 0)
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
	buffer_clear(&worst.open.texts);
	string_table_clear(&worst.ignored);
	string_table_clear(&worst.nodes);
	return rc;
}

/*
 * phases_timeline - what each node did when.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/phases/timeline.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

struct sweep {
	const struct phases_item **stack; /* in the order of their begin */
	uint32_t used;
	int64_t at_ns;
	/* A piece that may go on: an item without length parts none. */
	const struct phases_item *item;
	int64_t from_ns;
	void (*on_piece)(void *arg, const struct phases_item *item,
	    int64_t from_ns, int64_t to_ns);
	void *arg;
};

static void
end_piece(struct sweep *sweep)
{
	if (sweep->from_ns < sweep->at_ns)
		sweep->on_piece(
		    sweep->arg, sweep->item, sweep->from_ns, sweep->at_ns);
	sweep->from_ns = sweep->at_ns;
}

static void
advance(struct sweep *sweep, int64_t to_ns)
{
	while (sweep->at_ns < to_ns) {
		const struct phases_item *top = NULL;
		int64_t next_ns = to_ns;

		while (sweep->used > 0 &&
		       sweep->stack[sweep->used - 1]->end_ns <= sweep->at_ns)
			sweep->used--;
		if (sweep->used > 0)
			top = sweep->stack[sweep->used - 1];
		if (top != NULL && top->end_ns < to_ns)
			next_ns = top->end_ns;
		if (top != sweep->item)
			end_piece(sweep);
		sweep->item = top;
		sweep->at_ns = next_ns;
	}
}

uint32_t
phases_share_end(const struct phases_read *phases, uint32_t first)
{
	uint32_t end = first;

	while (end < phases->count &&
	       phases->items[end].node == phases->items[first].node)
		end++;
	return end;
}

static int64_t
last_end(const struct phases_item *items, uint32_t first, uint32_t end)
{
	int64_t last_ns = items[first].end_ns;

	while (++first < end)
		if (items[first].end_ns > last_ns)
			last_ns = items[first].end_ns;
	return last_ns;
}

bool
phases_share_hangs(
    const struct phases_read *phases, uint32_t first, uint32_t end)
{
	int64_t last_ns = last_end(phases->items, first, end);

	for (; first < end; first++)
		if (phases->items[first].is_open &&
		    phases->items[first].end_ns == last_ns)
			return true;
	return false;
}

int64_t
phases_sweep(const struct phases_read *phases, uint32_t first, uint32_t end,
    const struct phases_item **stack,
    void (*on_piece)(void *arg, const struct phases_item *item, int64_t from_ns,
	int64_t to_ns),
    void *arg)
{
	int64_t first_ns = phases->items[first].begin_ns, last_ns = first_ns;
	struct sweep sweep = { .stack = stack,
		.at_ns = first_ns,
		.from_ns = first_ns,
		.on_piece = on_piece,
		.arg = arg };

	for (uint32_t i = first; i < end; i++) {
		const struct phases_item *item = &phases->items[i];

		advance(&sweep, item->begin_ns);
		sweep.stack[sweep.used++] = item;
		last_ns = item->end_ns > last_ns ? item->end_ns : last_ns;
	}
	advance(&sweep, last_ns);
	end_piece(&sweep);
	return last_ns;
}

/* ---- until when nodes were heard ---- */

struct heard {
	struct string_table nodes;
	int64_t *last_ns; /* by number, on the clock of the node */
	uint32_t room;
};

static int64_t
last_of(const struct record *record)
{
	static const char *const keys[] = { "time_ns", "sample_ns" };
	int64_t last_ns = INT64_MIN;
	struct value value;

	for (int i = 0; i < 2; i++)
		if (record_find_attribute(record, text_of(keys[i]), &value) &&
		    value.type == VALUE_INT && value.is.i > last_ns)
			last_ns = value.is.i;
	return last_ns;
}

static int
read_heard(struct heard *heard, struct source *source, struct text partition,
    struct text node, struct err *err)
{
	enum clock_choice choice = source_clock(source)->choice;
	struct wire_query query = source_query(0);
	struct record record;
	int rc;

	query.node = node;
	source_clock(source)->choice = CLOCK_RAW;
	rc = source_select(source, SOURCE_NODES, partition, &query, err);
	while (rc == 0 && (rc = source_next(source, &record, err)) > 0) {
		uint32_t number = string_table_add(&heard->nodes, record.name);

		MEMORY_GROW(heard->last_ns, heard->room, number);
		heard->last_ns[number] = last_of(&record);
		rc = 0;
	}
	source_clock(source)->choice = choice;
	return rc;
}

/* ---- phases without an end ---- */

static int
by_key(const void *left, const void *right)
{
	const struct phases_item *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static void
end_before(struct phases_item *item, int64_t at_ns)
{
	if (item->is_open && item->end_ns > at_ns)
		item->end_ns = at_ns > item->begin_ns ? at_ns : item->begin_ns;
}

/* The last record of each node, the end of its job, and the same phase
 * again. */
static void
end_open(struct phases_timeline *t, const int64_t *last_ns,
    const struct job_intervals *jobs)
{
	struct phases_item *items = t->phases.items;

	qsort(items, t->phases.count, sizeof(*items), by_key);
	for (uint32_t i = 0; i < t->phases.count; i++) {
		struct phases_item *item = &items[i];

		if (!item->is_open)
			continue;
		t->open++;
		item->end_ns = INT64_MAX;
		end_before(item, last_ns[item->node]);
		if (jobs != NULL)
			end_before(item, job_intervals_last_end(jobs,
					     t->phases.nodes.names[item->node],
					     item->begin_ns));
		if (i + 1 < t->phases.count && item[1].node == item->node &&
		    item[1].phase == item->phase && item[1].key == item->key)
			end_before(item, item[1].begin_ns);
	}
	phases_read_sort(&t->phases);
}

/* The node begins again. */
static void
end_at_begin(struct phases_timeline *t)
{
	int64_t next_ns = INT64_MAX, after_ns = INT64_MAX;
	uint32_t number;

	for (uint32_t i = t->phases.count; i-- > 0;) {
		struct phases_item *item = &t->phases.items[i];

		if (i + 1 < t->phases.count && item[1].node != item->node)
			next_ns = after_ns = INT64_MAX;
		/* What begins at that moment belongs to it. */
		end_before(item, next_ns > item->begin_ns ? next_ns : after_ns);
		if (item->begin_ns < next_ns &&
		    string_table_find(&t->names.begins,
			t->names.phases.names[item->phase], &number)) {
			after_ns = next_ns;
			next_ns = item->begin_ns;
		}
	}
	phases_read_sort(&t->phases);
}

/* When each node was heard last, as its phases are shown: by the number of the
 * node. */
static int64_t *
last_records(const struct phases_timeline *t, const struct heard *heard,
    struct source *source, int64_t to_ns)
{
	int64_t *last_ns = memory_zero(t->phases.nodes.count, sizeof(*last_ns));
	uint32_t number;

	for (uint32_t i = 0; i < t->phases.nodes.count; i++) {
		struct text node = t->phases.nodes.names[i];
		int64_t *to = &last_ns[i];

		*to = INT64_MIN;
		if (string_table_find(&heard->nodes, node, &number))
			*to = heard->last_ns[number];
		if (*to != INT64_MIN &&
		    __builtin_add_overflow(*to,
			source_clock_shift(source_clock(source), node, *to),
			to))
			*to = INT64_MAX;
	}
	for (uint32_t i = 0; i < t->phases.count; i++) {
		const struct phases_item *item = &t->phases.items[i];

		if (last_ns[item->node] < item->end_ns)
			last_ns[item->node] = item->end_ns;
	}
	for (uint32_t i = 0; i < t->phases.nodes.count; i++)
		if (last_ns[i] > to_ns)
			last_ns[i] = to_ns;
	return last_ns;
}

int
phases_timeline_read(struct phases_timeline *t, struct source *source,
    struct text partition, const struct wire_query *query,
    const struct job_intervals *jobs, const char *model, struct err *err)
{
	struct heard heard = { .last_ns = NULL };
	int64_t *last_ns;
	int rc;

	*t = (struct phases_timeline){ .first_ns = INT64_MAX,
		.last_ns = INT64_MIN };
	string_table_init(&heard.nodes);
	rc = read_heard(&heard, source, partition, query->node, err);
	if (rc == 0)
		rc = phases_read_model(&t->phases, &t->names, source, partition,
		    query, model, PHASES_TIMELINE, &t->model, err);
	if (rc == 0) {
		last_ns = last_records(t, &heard, source, query->to_ns);
		end_open(t, last_ns, jobs);
		if (t->open > 0)
			end_at_begin(t);
		free(last_ns);
	}
	for (uint32_t i = 0; rc == 0 && i < t->phases.count; i++) {
		const struct phases_item *item = &t->phases.items[i];

		if (item->begin_ns < t->first_ns)
			t->first_ns = item->begin_ns;
		if (item->end_ns > t->last_ns)
			t->last_ns = item->end_ns;
	}
	string_table_clear(&heard.nodes);
	free(heard.last_ns);
	return rc;
}

void
phases_timeline_clear(struct phases_timeline *t)
{
	phases_read_clear(&t->phases);
	phases_names_clear(&t->names);
}

/* ---- segments ---- */

struct share {
	const struct phases_timeline *of;
	uint32_t first, end; /* the items of a node */
	int64_t order;       /* nodes with less come first */
	bool is_hanging;     /* these come first of all */
};

struct putting {
	void (*on_segment)(void *arg, const struct phases_segment *segment);
	void *arg;
};

static struct phases_segment
segment_of(const struct phases_item *item, int64_t begin_ns, int64_t end_ns)
{
	return (struct phases_segment){ .begin_ns = begin_ns,
		.end_ns = end_ns,
		.item = item,
		.node = item->node,
		.phase = item->phase,
		.key = item->key,
		.is_open = item->is_open && end_ns == item->end_ns };
}

static void
put_piece(
    void *arg, const struct phases_item *item, int64_t from_ns, int64_t to_ns)
{
	const struct putting *putting = arg;
	struct phases_segment segment;

	if (item == NULL)
		return;
	segment = segment_of(item, from_ns, to_ns);
	putting->on_segment(putting->arg, &segment);
}

static void
put_lanes(const struct share *share, const struct putting *putting)
{
	const struct phases_read *phases = &share->of->phases;
	int64_t ends_ns[PHASES_LANES_MAX];
	uint32_t keys[PHASES_LANES_MAX], lanes = 0;

	for (uint32_t i = share->first; i < share->end; i++) {
		const struct phases_item *item = &phases->items[i];
		struct phases_segment segment =
		    segment_of(item, item->begin_ns, item->end_ns);
		uint32_t lane = 0;

		while (lane < lanes &&
		       (ends_ns[lane] > item->begin_ns ||
			   (phases->is_of_spans && keys[lane] != item->key)))
			lane++;
		if (lane < PHASES_LANES_MAX) {
			ends_ns[lane] = item->end_ns;
			keys[lane] = item->key;
		}
		lanes += lane == lanes && lane < PHASES_LANES_MAX;
		segment.lane = lane < PHASES_LANES_MAX ? lane : UINT32_MAX;
		putting->on_segment(putting->arg, &segment);
	}
}

static int
by_order(const void *left, const void *right)
{
	const struct share *a = left, *b = right;
	const struct phases_item *x = &a->of->phases.items[a->first],
				 *y = &b->of->phases.items[b->first];

	if (a->is_hanging != b->is_hanging)
		return a->is_hanging ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return text_compare_natural(a->of->phases.nodes.names[x->node],
	    b->of->phases.nodes.names[y->node]);
}

static struct share
make_share(
    const struct phases_timeline *t, uint32_t first, enum phases_order order)
{
	const struct phases_item *items = t->phases.items;
	struct share share = { .of = t,
		.first = first,
		.end = phases_share_end(&t->phases, first) };

	share.is_hanging = phases_share_hangs(&t->phases, first, share.end);
	if (order == PHASES_BY_BEGIN)
		share.order = items[first].begin_ns;
	if (order == PHASES_LONGEST &&
	    __builtin_sub_overflow(items[first].begin_ns,
		last_end(items, first, share.end), &share.order))
		share.order = INT64_MIN;
	return share;
}

void
phases_timeline_each(const struct phases_timeline *t, enum phases_form form,
    enum phases_order order,
    void (*on_segment)(void *arg, const struct phases_segment *segment),
    void *arg)
{
	struct putting putting = { on_segment, arg };
	const struct phases_item **stack =
	    memory_zero(t->phases.count, sizeof(void *));
	struct share *shares =
	    memory_zero(t->phases.nodes.count, sizeof(*shares));
	uint32_t count = 0;

	for (uint32_t i = 0; i < t->phases.count; i = shares[count++].end)
		shares[count] = make_share(t, i, order);
	qsort(shares, count, sizeof(*shares), by_order);
	for (uint32_t i = 0; i < count; i++) {
		if (form == PHASES_LANES)
			put_lanes(&shares[i], &putting);
		else
			(void)phases_sweep(&t->phases, shares[i].first,
			    shares[i].end, stack, put_piece, &putting);
	}
	free(shares);
	free(stack);
}

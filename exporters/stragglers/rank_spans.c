/*
 * stragglers_rank_spans - the ranks of a parallel job from its spans.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stragglers/rank_spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/source/known.h"
#include "exporters/stragglers/why.h"
#include "proto/base/memory.h"
#include "proto/base/quantile.h"
#include "proto/base/sort.h"

enum { SPANS_MAX = 16 << 20, PEERS = 60 };

struct span {
	uint64_t step;
	uint32_t rank, node;
	int64_t begin_ns, end_ns, error_ns;
	int64_t wait_end_ns, wait_ns; /* of work; < 0: there is none */
	bool is_wait;
};

struct reading {
	struct rank_spans *to;
	struct source *source;
	const struct rank_spans_query *query;
	struct span *spans;
	uint32_t count, room;
	uint32_t works, steps; /* with attribute `step` */
	bool *has_no_clock;    /* by node */
	uint32_t no_clock_room;
};

/* ---- reading ---- */

static uint32_t
rank_of(struct rank_spans *to, const struct record *record)
{
	char name[2 * NAME_BYTES_MAX + 64];
	struct value value;
	int n = snprintf(name, sizeof(name), "%.*s\n", (int)record->node.bytes,
	    record->node.at);
	size_t room = sizeof(name) - (size_t)n;

	if (!record_find_attribute(record, text_of("rank"), &value))
		value.type = VALUE_NIL;
	if (value.type == VALUE_INT)
		n += snprintf(name + n, room, "%" PRId64, value.is.i);
	else if (value.type == VALUE_UINT)
		n += snprintf(name + n, room, "%" PRIu64, value.is.u);
	else if (value.type == VALUE_TEXT && value.is.text.bytes < room)
		n += snprintf(name + n, room, "%.*s", (int)value.is.text.bytes,
		    value.is.text.at);
	else
		n += snprintf(name + n, room, "%.*s", (int)record->source.bytes,
		    record->source.at);
	return string_table_add(&to->names, (struct text){ name, (uint32_t)n });
}

static bool
step_of(const struct record *record, uint64_t *step)
{
	struct value value;

	if (!record_find_attribute(record, text_of("step"), &value) ||
	    (value.type != VALUE_INT && value.type != VALUE_UINT))
		return false;
	*step = value.type == VALUE_UINT ? value.is.u : (uint64_t)value.is.i;
	return true;
}

/* By how much the times that the source showed may be wrong. */
static int64_t
error_of(struct reading *r, const struct record *record, uint32_t node)
{
	const struct source_clock *clock = source_clock(r->source);
	struct clock_map_offset offset;

	MEMORY_GROW_ZERO(r->has_no_clock, r->no_clock_room, node);
	if (clock->last.corrected)
		return clock->last.error_ns;
	if (clock->map != NULL &&
	    clock_map_at(clock->map, record->node, record->end_ns, &offset))
		return offset.error_ns + llabs(offset.offset_ns);
	r->has_no_clock[node] = true;
	return r->query->error_ns > 0 ? r->query->error_ns : RANKS_NO_CLOCK;
}

static void
take(struct reading *r, const struct record *record, bool is_wait)
{
	struct rank_spans *to = r->to;
	uint32_t node = string_table_add(&to->nodes, record->node);
	struct span *span;

	span = MEMORY_ADD(r->spans, r->room, r->count);
	*span = (struct span){ .rank = rank_of(to, record),
		.node = node,
		.begin_ns = record->time_ns,
		.end_ns = record->end_ns,
		.error_ns = error_of(r, record, node),
		.wait_ns = -1,
		.is_wait = is_wait };
	if (!is_wait) {
		r->works++;
		r->steps += step_of(record, &span->step);
	}
}

static int
read_spans(struct reading *r, struct err *err)
{
	struct wire_query query = r->query->spans;
	struct text work = text_of(r->query->work),
		    wait = text_of(r->query->wait);
	struct record record;
	int rc;

	if (source_load_clocks(r->source, r->query->partition, &query, err) !=
		0 ||
	    source_select(r->source, SOURCE_RECORDS, r->query->partition,
		&query, err) != 0)
		return -1;
	while ((rc = source_next(r->source, &record, err)) > 0) {
		bool is_wait;

		if (record.kind != RECORD_SPAN || !record.has_time ||
		    !record.has_end || record.end_ns < record.time_ns)
			continue;
		is_wait = text_match(wait, record.name);
		if (!is_wait && !text_match(work, record.name))
			continue;
		if (r->count == SPANS_MAX)
			return err_set(err,
			    "there are more than %d such spans; select fewer "
			    "with --from, --to or --node",
			    SPANS_MAX);
		take(r, &record, is_wait);
	}
	if (rc == 0 && r->works == 0) {
		err_set(
		    err, "no span %s is there in that time", r->query->work);
		known_suggest(r->source, SOURCE_RECORDS, r->query->partition,
		    &query, r->query->work, err);
		return -1;
	}
	return rc;
}

/* ---- steps ---- */

static int
by_rank(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return (int)a->is_wait - (int)b->is_wait;
}

static int64_t
middle_of(const struct span *span)
{
	return span->begin_ns + (span->end_ns - span->begin_ns) / 2;
}

static int
by_middle(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	int64_t at = middle_of(a), other = middle_of(b);

	if (at != other)
		return at < other ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Give each work the wait that follows it, and keep the works. */
static void
join_waits(struct reading *r)
{
	uint32_t kept = 0;

	qsort(r->spans, r->count, sizeof(*r->spans), by_rank);
	for (uint32_t i = 0; i < r->count; i++) {
		struct span span = r->spans[i];
		const struct span *next = &r->spans[i + 1];

		if (span.is_wait)
			continue;
		if (i + 1 < r->count && next->rank == span.rank &&
		    next->is_wait) {
			span.wait_ns = next->end_ns - next->begin_ns;
			span.wait_end_ns = next->end_ns;
		}
		r->to->no_wait += span.wait_ns < 0;
		r->spans[kept++] = span;
	}
	r->count = kept;
}

static void
number_by_time(struct reading *r)
{
	uint64_t *in = memory_zero(r->to->names.count, sizeof(*in));
	int64_t end_ns = INT64_MAX;
	uint64_t step = 1;

	qsort(r->spans, r->count, sizeof(*r->spans), by_middle);
	for (uint32_t i = 0; i < r->count; i++) {
		struct span *span = &r->spans[i];

		if (middle_of(span) > end_ns || in[span->rank] == step) {
			step++;
			end_ns = INT64_MAX;
		}
		in[span->rank] = span->step = step;
		if (span->wait_ns >= 0 && span->wait_end_ns < end_ns)
			end_ns = span->wait_end_ns;
	}
	free(in);
}

static void
find_ranks(struct reading *r)
{
	struct ranks_arrival *arrivals =
	    memory_zero(r->count, sizeof(*arrivals));

	for (uint32_t i = 0; i < r->count; i++) {
		const struct span *span = &r->spans[i];

		arrivals[i] = (struct ranks_arrival){ span->step, span->rank,
			span->node, span->begin_ns, span->end_ns,
			span->error_ns, span->wait_ns };
	}
	ranks_find(&r->to->ranks, arrivals, r->count);
	free(arrivals);
}

/* ---- why ---- */

/* All work of a rank. */
struct work {
	int64_t begin_ns, end_ns; /* of the first, of the last */
	double sum_ns, mean_ns;
	uint64_t steps;
};

static struct work *
add_up(const struct reading *r)
{
	struct work *works = memory_zero(r->to->names.count, sizeof(*works));

	for (uint32_t i = 0; i < r->count; i++) {
		const struct span *span = &r->spans[i];
		struct work *work = &works[span->rank];

		if (work->steps == 0 || span->begin_ns < work->begin_ns)
			work->begin_ns = span->begin_ns;
		if (work->steps == 0 || span->end_ns > work->end_ns)
			work->end_ns = span->end_ns;
		work->steps++;
		work->sum_ns += (double)(span->end_ns - span->begin_ns);
		work->mean_ns = work->sum_ns / (double)work->steps;
	}
	return works;
}

static double
median_mean(const struct work *works, uint32_t count)
{
	double *means = memory_zero((size_t)count + 1, sizeof(*means)), median;
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		if (works[i].steps > 0)
			means[n++] = works[i].mean_ns;
	sort_doubles(means, n);
	median = n == 0 ? 0 : quantile_median(means, n);
	free(means);
	return median;
}

static struct straggler
straggler_of(struct reading *r, const struct ranks_rank *rank,
    const struct work *work, double usual_ns)
{
	char phase[NAME_BYTES_MAX + 8];
	int n = snprintf(
	    phase, sizeof(phase), "%s:%s", RECORD_SPAN_MODEL, r->query->work);
	struct text name = { phase, (uint32_t)n < sizeof(phase)
					? (uint32_t)n
					: (uint32_t)sizeof(phase) - 1 };
	double all_ns = usual_ns * (double)work->steps;

	return (struct straggler){ .node = r->to->nodes.names[rank->node],
		.phase = string_table_text(&r->to->texts, name),
		.key = rank_spans_name(r->to, rank->rank),
		.begin_ns = work->begin_ns,
		.end_ns = work->end_ns,
		.time_ns = (int64_t)work->sum_ns,
		.usual_ns = (int64_t)all_ns,
		.lost_ns = (int64_t)work->sum_ns - (int64_t)all_ns,
		.drag_ns = rank->alone_ns,
		.of = r->to->ranks.count };
}

/* Nodes of which no rank is suspect, spread over all. */
static uint32_t
add_peers(const struct reading *r, struct measured *measured,
    uint32_t peers[static PEERS])
{
	const struct straggler *first = &r->to->at[0];
	uint32_t nodes = r->to->nodes.count, count = 0;
	uint32_t stride = nodes / PEERS + 1;
	bool *is_suspect = memory_zero((size_t)nodes + 1, 1);

	for (uint32_t i = 0; i < r->to->ranks.count; i++)
		if (r->to->ranks.at[i].verdict != RANKS_CHANCE)
			is_suspect[r->to->ranks.at[i].node] = true;
	for (uint32_t i = 0; i < nodes && count < PEERS; i += stride)
		if (!is_suspect[i])
			peers[count++] =
			    measured_add(measured, r->to->nodes.names[i],
				first->begin_ns, first->end_ns);
	free(is_suspect);
	return count;
}

/* By what was measured on its node.  That is the same for all ranks of it: if
 * there is no other node, nothing says why one of them is late. */
static int
explain(struct reading *r, struct err *err)
{
	struct rank_spans *to = r->to;
	const struct why_known nothing = { .bytes = NAN };
	uint32_t *own = memory_zero((size_t)to->count + 1, sizeof(*own));
	uint32_t peers[PEERS], peer_count;
	struct measured measured;
	int rc;

	if (to->nodes.count == 1) {
		for (uint32_t i = 0; i < to->count; i++)
			why_explain_by(&to->at[i], STRAGGLER_UNKNOWN,
			    "all ranks are on this node: what is measured "
			    "there is the same for all");
		free(own);
		return 0;
	}
	measured_init(&measured);
	for (uint32_t i = 0; i < to->count; i++)
		own[i] = measured_add(&measured, to->at[i].node,
		    to->at[i].begin_ns, to->at[i].end_ns);
	peer_count = add_peers(r, &measured, peers);
	measured.nodes_of_pool = to->nodes.count;
	rc = measured_read(&measured, r->source, r->query->partition, err);
	for (uint32_t i = 0; rc == 0 && i < to->count; i++)
		why_explain(&to->at[i], &measured, own[i], peers, peer_count,
		    &nothing, &to->texts);
	measured_clear(&measured);
	free(own);
	return rc;
}

static int
put_late(struct reading *r, struct err *err)
{
	struct rank_spans *to = r->to;
	struct work *works = add_up(r);
	double usual_ns = median_mean(works, to->names.count);

	to->at = memory_zero((size_t)to->ranks.count + 1, sizeof(*to->at));
	for (uint32_t i = 0; i < to->ranks.count; i++) {
		const struct ranks_rank *rank = &to->ranks.at[i];

		if (rank->verdict == RANKS_LATE)
			to->at[to->count++] =
			    straggler_of(r, rank, &works[rank->rank], usual_ns);
	}
	free(works);
	return to->count == 0 ? 0 : explain(r, err);
}

/* ---- all ---- */

struct text
rank_spans_name(const struct rank_spans *of, uint32_t rank)
{
	struct text name = of->names.names[rank];
	const char *end = memchr(name.at, '\n', name.bytes);

	name.bytes -= (uint32_t)(end + 1 - name.at);
	name.at = end + 1;
	return name;
}

int
rank_spans_read(struct rank_spans *to, struct source *source,
    const struct rank_spans_query *query, struct err *err)
{
	struct reading r = { .to = to, .source = source, .query = query };
	int rc;

	*to = (struct rank_spans){ .at = NULL };
	string_table_init(&to->nodes);
	string_table_init(&to->names);
	string_table_init(&to->texts);
	rc = read_spans(&r, err);
	if (rc == 0) {
		join_waits(&r);
		to->by_step = r.steps == r.works;
		if (!to->by_step)
			number_by_time(&r);
		find_ranks(&r);
		for (uint32_t i = 0; i < to->nodes.count; i++)
			to->no_clocks += r.has_no_clock[i];
		rc = put_late(&r, err);
	}
	free(r.spans);
	free(r.has_no_clock);
	return rc;
}

void
rank_spans_clear(struct rank_spans *of)
{
	ranks_clear(&of->ranks);
	string_table_clear(&of->nodes);
	string_table_clear(&of->names);
	string_table_clear(&of->texts);
	free(of->at);
	*of = (struct rank_spans){ .at = NULL };
}

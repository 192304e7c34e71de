/*
 * job_intervals - the nodes and times on which jobs ran.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/job_intervals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/samples/series.h"
#include "proto/base/memory.h"
#include "proto/base/nearest.h"
#include "proto/base/search.h"
#include "proto/os/clock.h"
#include "proto/record/node_list.h"

#define FINEST_NS (100 * INT64_C(1000000)) /* of the steps of samples */
#define HOUR_NS   (3600 * NS_PER_SECOND)

enum {
	NUMBER_BYTES = 24,
	STRING_BYTES = 24 /* of a table, besides its text */
};

/* A job started or ended on a node. */
struct edge {
	struct text node, job;
	struct text attributes; /* of a start, once they were needed */
	int64_t time_ns;
	bool end;
};

struct edges {
	struct edge *at;
	uint32_t count, room;
};

/* A node booted between two of its samples. */
struct boot {
	struct text node;
	int64_t last_ns, first_ns;
};

/* Those on which some job was not reported to have ended, and their boots. */
struct boots {
	struct string_table nodes;
	int64_t from_ns; /* since when */
	struct boot *at; /* sorted by node, time */
	uint32_t count, room;
};

static int
by_node(const void *left, const void *right)
{
	const struct job_interval *a = left, *b = right;
	int order = text_compare(a->node, b->node);

	if (order != 0)
		return order;
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return text_compare(a->job, b->job);
}

/* A start before an end of the same time. */
static int
by_job(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;
	int order = text_compare(a->node, b->node);

	if (order == 0)
		order = text_compare(a->job, b->job);
	if (order != 0)
		return order;
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->end - b->end;
}

static struct text
keep(struct job_intervals *job_intervals, struct text text)
{
	uint32_t before = job_intervals->texts.count;
	struct text kept = string_table_text(&job_intervals->texts, text);

	if (job_intervals->texts.count > before)
		job_intervals->texts_bytes += text.bytes + STRING_BYTES;
	return kept;
}

/* Each edge may become an interval. */
static int
check_bytes(const struct job_intervals *job_intervals,
    const struct edges *edges, struct err *err)
{
	size_t bytes =
	    job_intervals->texts_bytes +
	    edges->count * (sizeof(struct edge) + sizeof(struct job_interval));

	if (bytes <= JOB_INTERVALS_BYTES_MAX)
		return 0;
	return err_set(err,
	    "the begins and ends of jobs need more than %d MiB: name one job "
	    "with --job",
	    JOB_INTERVALS_BYTES_MAX >> 20);
}

/* An attribute that is a name, which programs may have sent as a number. */
static struct text
find_name(struct text pairs, const char *key, char room[static NUMBER_BYTES])
{
	struct record_attribute a;

	while (record_next_attribute(&pairs, &a)) {
		if (!text_equal(a.key, text_of(key)))
			continue;
		if (a.value.type == VALUE_TEXT)
			return a.value.is.text;
		if (a.value.type != VALUE_INT)
			break;
		snprintf(room, NUMBER_BYTES, "%lld", (long long)a.value.is.i);
		return text_of(room);
	}
	return (struct text){ "", 0 };
}

static struct text
user_of(const struct edge *start, char room[static NUMBER_BYTES])
{
	return find_name(start->attributes, "user", room);
}

static bool
is_selected(const struct job_intervals *job_intervals, const struct edge *start)
{
	const char *user = job_intervals->options->user;
	char room[NUMBER_BYTES];
	uint32_t number;
	struct text own;

	if (user == NULL)
		return true;
	own = user_of(start, room);
	return own.bytes > 0 ? text_equal(own, text_of(user))
			     : string_table_find(&job_intervals->of_user,
				   start->job, &number);
}

static void
add_edge(struct edges *edges, struct job_intervals *job_intervals,
    const struct record *record, int64_t time_ns, bool end)
{
	*MEMORY_ADD(edges->at, edges->room,
	    edges->count) = (struct edge){ keep(job_intervals, record->node),
		keep(job_intervals, record->key), text_of(""), time_ns, end };
}

static void
add_interval(
    struct job_intervals *job_intervals, const struct edge *edge, int64_t to_ns)
{
	if (!is_selected(job_intervals, edge))
		return;
	*MEMORY_ADD(job_intervals->at, job_intervals->room,
	    job_intervals->count) = (struct job_interval){ edge->node,
		edge->job, edge->time_ns, to_ns, 0 };
	if (edge->time_ns < job_intervals->from_ns)
		job_intervals->from_ns = edge->time_ns;
	if (to_ns > job_intervals->to_ns)
		job_intervals->to_ns = to_ns;
}

/* ---- jobs of which starts and ends were reported ---- */

/* The edges of one job on one node: it runs from the first start until as many
 * ends have come as starts, whichever of them are a pair.  Returns where what
 * has not ended begins: `count` if all has.  Without job_intervals nothing is
 * added. */
static uint32_t
add_reported(struct job_intervals *job_intervals, const struct edge *edge,
    uint32_t count)
{
	uint32_t running = 0, first = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!edge[i].end && running++ == 0)
			first = i;
		else if (edge[i].end && running > 0 && --running == 0 &&
			 job_intervals != NULL)
			add_interval(
			    job_intervals, &edge[first], edge[i].time_ns);
	}
	return running > 0 ? first : count;
}

/* ---- jobs of which an end was not reported ---- */

static bool
is_same_value(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case VALUE_INT: return a->is.i == b->is.i;
	case VALUE_UINT: return a->is.u == b->is.u;
	case VALUE_FLOAT: return a->is.f == b->is.f;
	case VALUE_TEXT: return text_equal(a->is.text, b->is.text);
	default: return true;
	}
}

/* Does no attribute distinguish the two starts? */
static bool
is_repeat(const struct edge *a, const struct edge *b)
{
	struct text left = a->attributes;
	struct record_attribute x;

	while (record_next_attribute(&left, &x)) {
		struct text right = b->attributes;
		struct record_attribute y;

		while (record_next_attribute(&right, &y))
			if (text_equal(x.key, y.key) &&
			    !is_same_value(&x.value, &y.value))
				return false;
	}
	return true;
}

/* A start that nothing distinguishes from the one that runs is that one,
 * reported again.  What still runs after the last edge does until `cut_ns`. */
static void
add_unreported(struct job_intervals *job_intervals, const struct edge *edge,
    uint32_t count, int64_t cut_ns)
{
	const struct edge *first = NULL, *last = NULL;
	uint32_t running = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!edge[i].end && running > 0 && is_repeat(last, &edge[i]))
			continue;
		if (!edge[i].end) {
			last = &edge[i];
			if (running++ == 0)
				first = last;
		} else if (running > 0 && --running == 0) {
			add_interval(job_intervals, first, edge[i].time_ns);
		}
	}
	if (running > 0 && first->time_ns < cut_ns)
		add_interval(job_intervals, first, cut_ns);
}

static void
add_until(struct job_intervals *job_intervals, const struct edge *edge,
    uint32_t count, int64_t cut_ns)
{
	uint32_t reported = add_reported(job_intervals, edge, count);

	add_unreported(
	    job_intervals, edge + reported, count - reported, cut_ns);
}

/* The first boot of the node, or of a later one. */
static uint32_t
first_boot(const struct boots *boots, struct text node)
{
	return LOWER_BOUND(
	    i, 0, boots->count, text_compare(boots->at[i].node, node) < 0);
}

/* How many of the edges are of the time before the boot?  A start between the
 * samples of before and behind is of the one that it is nearer to: a node dies,
 * and samples again, shortly after a sample and before one. */
static uint32_t
edges_before(const struct edge *edge, uint32_t count, const struct boot *boot)
{
	int64_t middle_ns =
	    boot->last_ns + (boot->first_ns - boot->last_ns) / 2;
	uint32_t before = 0;

	while (before < count &&
	       edge[before].time_ns <
		   (edge[before].end ? boot->first_ns : middle_ns))
		before++;
	return before;
}

/* A job without a reported end has ended when its node booted: by then it had
 * not run since the last sample of before. */
static void
add_job(struct job_intervals *job_intervals, const struct edge *edge,
    uint32_t count, const struct boots *boots)
{
	uint32_t reported = add_reported(job_intervals, edge, count);

	edge += reported;
	count -= reported;
	if (count == 0)
		return;
	for (uint32_t i = first_boot(boots, edge->node);
	     count > 0 && i < boots->count &&
	     text_equal(boots->at[i].node, edge->node);
	     i++) {
		const struct boot *boot = &boots->at[i];
		uint32_t before = edges_before(edge, count, boot);

		add_until(job_intervals, edge, before, boot->last_ns);
		edge += before;
		count -= before;
	}
	add_until(job_intervals, edge, count, TIME_MAX_NS);
}

/* ---- boots ---- */

static int
by_node_and_time(const void *left, const void *right)
{
	const struct boot *a = left, *b = right;
	int order = text_compare(a->node, b->node);

	if (order != 0)
		return order;
	return a->last_ns < b->last_ns ? -1 : a->last_ns > b->last_ns;
}

static void
add_boot(struct boots *boots, uint32_t node, const struct series_point *point)
{
	*MEMORY_ADD(boots->at, boots->room, boots->count) =
	    (struct boot){ boots->nodes.names[node], point->first_ns,
		    point->last_ns };
}

/* Add the boots that a query of intervals between samples finds. */
static int
find_boots(struct boots *to, const struct boots *of, struct series *series,
    struct text node, int64_t from_ns, int64_t to_ns, int64_t step_ns,
    struct err *err)
{
	const struct series_query query = { .node = node,
		.group = text_of("cpu"),
		.metric = text_of("system.cpu.time.idle"),
		.from_ns = from_ns,
		.to_ns = to_ns,
		.step_ns = step_ns,
		.nothing_behind = true,
		.intervals = true };
	struct series_point point;
	uint32_t number;
	int rc;

	if (series_select(series, &query, err) != 0)
		return -1;
	while ((rc = series_next(series, &point, err)) > 0)
		if (point.booted &&
		    string_table_find(&of->nodes, point.node, &number))
			add_boot(to, number, &point);
	return rc;
}

/* First hour by hour, then between which samples. */
static int
read_boots(struct boots *boots, struct source *source, struct text partition,
    struct text node, struct err *err)
{
	struct boots rough = { .nodes = boots->nodes };
	struct series *series = NULL;
	int rc = series_open(&series, source, partition, err);

	if (rc == 0)
		rc = find_boots(&rough, boots, series, node, boots->from_ns,
		    TIME_MAX_NS, HOUR_NS, err);
	for (uint32_t i = 0; rc == 0 && i < rough.count; i++) {
		char name[2 * NAME_BYTES_MAX];

		rc = find_boots(boots, boots, series,
		    node_list_quote(name, rough.at[i].node, false),
		    rough.at[i].last_ns, rough.at[i].first_ns + 1, FINEST_NS,
		    err);
	}
	if (boots->count > 1)
		qsort(boots->at, boots->count, sizeof(*boots->at),
		    by_node_and_time);
	series_close(&series);
	free(rough.at);
	return rc;
}

/* ---- attributes of starts ---- */

/* A phase has the attributes of its start and of its end in one: what
 * distinguishes starts apart is in the events. */
static int
read_attributes(struct job_intervals *job_intervals, struct edges *edges,
    struct source *source, struct text partition, int64_t from_ns,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_EVENT);
	char room[NUMBER_BYTES];
	struct record record;
	int rc = 0, next;

	query.name = text_of("job:*");
	query.node = job_intervals->options->node;
	query.from_ns = from_ns;
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while (rc == 0 && (next = source_next(source, &record, err)) != 0) {
		struct edge wanted = { .node = record.node,
			.time_ns = record.time_ns };
		struct edge *edge;

		if (next < 0)
			return -1;
		wanted.job = find_name(record.pairs, "job", room);
		edge = edges->count == 0
			   ? NULL
			   : bsearch(&wanted, edges->at, edges->count,
				 sizeof(*edges->at), by_job);
		if (edge != NULL)
			edge->attributes = keep(job_intervals, record.pairs);
		rc = check_bytes(job_intervals, edges, err);
	}
	return rc;
}

/* Whose jobs are they? */
static void
find_users(struct job_intervals *job_intervals, const struct edges *edges)
{
	const char *user = job_intervals->options->user;
	char room[NUMBER_BYTES];

	for (uint32_t i = 0; user != NULL && i < edges->count; i++)
		if (text_equal(user_of(&edges->at[i], room), text_of(user)))
			string_table_add(
			    &job_intervals->of_user, edges->at[i].job);
}

/* ---- all jobs ---- */

/* The number of edges, from `first` on, of one job on one node. */
static uint32_t
count_of_job(const struct edges *edges, uint32_t first)
{
	const struct edge *at = edges->at;
	uint32_t end = first + 1;

	while (end < edges->count && text_equal(at[end].node, at[first].node) &&
	       text_equal(at[end].job, at[first].job))
		end++;
	return end - first;
}

static int
add_jobs(struct job_intervals *job_intervals, struct edges *edges,
    struct source *source, struct text partition, struct err *err)
{
	struct boots boots = { .from_ns = TIME_MAX_NS };
	bool by_user = job_intervals->options->user != NULL;
	struct edge *at = edges->at;
	uint32_t count;
	int rc = 0;

	string_table_init(&boots.nodes);
	if (edges->count > 1)
		qsort(at, edges->count, sizeof(*at), by_job);
	for (uint32_t i = 0; i < edges->count; i += count) {
		uint32_t reported;

		count = count_of_job(edges, i);
		reported = add_reported(NULL, &at[i], count);
		if (reported == count)
			continue;
		string_table_add(&boots.nodes, at[i].node);
		if (at[i + reported].time_ns < boots.from_ns)
			boots.from_ns = at[i + reported].time_ns;
	}
	if (boots.nodes.count > 0)
		rc = read_boots(&boots, source, partition,
		    job_intervals->options->node, err);
	if (rc == 0 && (boots.nodes.count > 0 || by_user))
		rc = read_attributes(job_intervals, edges, source, partition,
		    by_user ? TIME_MIN_NS : boots.from_ns, err);
	if (rc == 0)
		find_users(job_intervals, edges);
	for (uint32_t i = 0; rc == 0 && i < edges->count; i += count) {
		count = count_of_job(edges, i);
		add_job(job_intervals, &at[i], count, &boots);
	}
	free(boots.at);
	string_table_clear(&boots.nodes);
	return rc;
}

static void
finish(struct job_intervals *job_intervals)
{
	struct job_interval *at = job_intervals->at;

	if (job_intervals->count > 1)
		qsort(at, job_intervals->count, sizeof(*at), by_node);
	for (uint32_t i = 0; i < job_intervals->count; i++) {
		at[i].reach_ns = at[i].to_ns;
		if (i > 0 && text_equal(at[i].node, at[i - 1].node) &&
		    at[i].reach_ns < at[i - 1].reach_ns)
			at[i].reach_ns = at[i - 1].reach_ns;
	}
}

static void
offer(struct nearest *nearest, struct text name)
{
	char word[NAME_BYTES_MAX + 1];

	snprintf(word, sizeof(word), "%.*s", (int)name.bytes, name.at);
	if (*word != '\0')
		nearest_offer(nearest, word);
}

static int
read_edges(struct job_intervals *job_intervals, struct edges *edges,
    struct source *source, struct text partition, struct nearest *nearest,
    struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_PHASE);
	const char *job = job_intervals->options->job;
	struct record record;
	int rc;

	query.name = text_of("job:run");
	query.node = job_intervals->options->node;
	if (source_select(source, SOURCE_RECORDS, partition, &query, err) != 0)
		return -1;
	while ((rc = source_next(source, &record, err)) > 0) {
		if (job != NULL && !text_equal(record.key, text_of(job))) {
			offer(nearest, record.key);
			continue;
		}
		if (record.has_time)
			add_edge(edges, job_intervals, &record, record.time_ns,
			    false);
		if (record.has_end)
			add_edge(
			    edges, job_intervals, &record, record.end_ns, true);
		if (check_bytes(job_intervals, edges, err) != 0)
			return -1;
	}
	return rc;
}

/* There are none: which ids are near, or users, if the job itself exists? */
static int
refuse(const struct job_options *options, const struct edges *edges,
    struct nearest *nearest, struct text partition, struct err *err)
{
	char question[3 * NEAREST_WORD_BYTES + 32], shown[300],
	    room[NUMBER_BYTES];
	char job[80] = "", user[80] = "";

	if (edges->count > 0 && options->user != NULL)
		nearest_begin(nearest, options->user);
	for (uint32_t i = 0; options->user != NULL && i < edges->count; i++)
		offer(nearest, user_of(&edges->at[i], room));
	if (options->job != NULL)
		snprintf(job, sizeof(job), " '%.64s'", options->job);
	if (options->user != NULL)
		snprintf(user, sizeof(user), " of user '%.64s'", options->user);
	return err_set(err, "no job%s%s in partition %s%s", job, user,
	    text_quote(shown, sizeof(shown), partition),
	    nearest_question(nearest, "", question, sizeof(question)));
}

int
job_intervals_read(struct job_intervals *job_intervals, struct source *source,
    struct text partition, const struct job_options *options, struct err *err)
{
	struct edges edges = { .at = NULL };
	struct nearest nearest;
	int rc;

	*job_intervals = (struct job_intervals){
		.from_ns = TIME_MAX_NS, .to_ns = TIME_MIN_NS, .options = options
	};
	string_table_init(&job_intervals->texts);
	string_table_init(&job_intervals->of_user);
	nearest_begin(&nearest, options->job != NULL ? options->job : "");
	rc =
	    read_edges(job_intervals, &edges, source, partition, &nearest, err);
	if (rc == 0)
		rc = add_jobs(job_intervals, &edges, source, partition, err);
	if (rc == 0 && job_options_given(options) && job_intervals->count == 0)
		rc = refuse(options, &edges, &nearest, partition, err);
	free(edges.at);
	finish(job_intervals);
	return rc;
}

void
job_intervals_clear(struct job_intervals *job_intervals)
{
	free(job_intervals->at);
	string_table_clear(&job_intervals->texts);
	string_table_clear(&job_intervals->of_user);
	memset(job_intervals, 0, sizeof(*job_intervals));
}

/* The number of intervals of nodes before `node`, and of those of `node` that
 * begin before `to_ns`. */
static uint32_t
count_before(
    const struct job_intervals *job_intervals, struct text node, int64_t to_ns)
{
	uint32_t low = 0, high = job_intervals->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct job_interval *at = &job_intervals->at[middle];
		int order = text_compare(at->node, node);

		if (order < 0 || (order == 0 && at->from_ns < to_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct job_interval *
job_intervals_next(const struct job_intervals *job_intervals, struct text node,
    int64_t from_ns, int64_t to_ns, uint32_t *place)
{
	if (*place == UINT32_MAX)
		*place = count_before(job_intervals, node, to_ns);
	while (*place > 0) {
		const struct job_interval *at = &job_intervals->at[--*place];

		if (!text_equal(at->node, node) || at->reach_ns <= from_ns)
			break;
		if (at->to_ns > from_ns)
			return at;
	}
	return NULL;
}

int64_t
job_intervals_end(const struct job_intervals *job_intervals, struct text node,
    struct text job, int64_t from_ns)
{
	const struct job_interval *at;
	uint32_t place = UINT32_MAX;

	while ((at = job_intervals_next(
		    job_intervals, node, from_ns, from_ns + 1, &place)) != NULL)
		if (text_equal(at->job, job))
			return at->to_ns;
	return from_ns;
}

bool
job_intervals_cover(const struct job_intervals *job_intervals, struct text node,
    int64_t from_ns, int64_t to_ns)
{
	uint32_t place = UINT32_MAX;

	return job_intervals_next(
		   job_intervals, node, from_ns, to_ns, &place) != NULL;
}

int64_t
job_intervals_last_end(const struct job_intervals *job_intervals,
    struct text node, int64_t from_ns)
{
	const struct job_interval *at;
	uint32_t place = UINT32_MAX;
	int64_t last_ns = from_ns;

	while ((at = job_intervals_next(
		    job_intervals, node, from_ns, from_ns + 1, &place)) != NULL)
		if (at->to_ns > last_ns)
			last_ns = at->to_ns;
	return last_ns;
}

int64_t
job_intervals_covered_ns(const struct job_intervals *job_intervals,
    struct text node, int64_t from_ns, int64_t to_ns)
{
	uint32_t end = count_before(job_intervals, node, to_ns), first = end;
	const struct job_interval *at = job_intervals->at;
	int64_t covered_ns = 0;

	while (first > 0 && text_equal(at[first - 1].node, node) &&
	       at[first - 1].reach_ns > from_ns)
		first--;
	/* Jobs that run at the same time count once. */
	for (uint32_t i = first; i < end; i++) {
		int64_t begin_ns =
		    at[i].from_ns > from_ns ? at[i].from_ns : from_ns;
		int64_t end_ns = at[i].to_ns < to_ns ? at[i].to_ns : to_ns;

		if (end_ns <= begin_ns)
			continue;
		covered_ns += end_ns - begin_ns;
		from_ns = end_ns;
	}
	return covered_ns;
}

/* ---- records ---- */

bool
job_intervals_has(
    const struct job_intervals *job_intervals, const struct record *record)
{
	int64_t from_ns = record->time_ns, to_ns;

	if (record->kind == RECORD_ENTITY)
		return job_intervals_cover(
		    job_intervals, record->node, TIME_MIN_NS, TIME_MAX_NS);
	if (record->kind == RECORD_PHASE && !record->has_time)
		from_ns = record->end_ns;
	to_ns = from_ns + 1;
	if (record->kind == RECORD_GAP && record->end_ns > to_ns)
		to_ns = record->end_ns;
	return job_intervals_cover(job_intervals, record->node, from_ns, to_ns);
}

static bool
wants(const void *job_intervals, const struct record *record)
{
	return job_intervals_has(job_intervals, record);
}

void
job_intervals_limit(
    const struct job_intervals *job_intervals, struct source *source)
{
	source_set_filter(
	    source, job_intervals != NULL ? wants : NULL, job_intervals);
}

void
job_intervals_narrow(
    const struct job_intervals *job_intervals, struct wire_query *query)
{
	/* A gap that began before a job may last into it. */
	if (query->from_ns < job_intervals->from_ns &&
	    (query->kinds & 1u << RECORD_GAP) == 0)
		query->from_ns = job_intervals->from_ns;
	if (query->to_ns > job_intervals->to_ns)
		query->to_ns = job_intervals->to_ns;
}

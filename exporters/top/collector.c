/*
 * top_collector - the thread that reads what the screen shows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/top/collector.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "exporters/nodes/now.h"
#include "exporters/source/order.h"
#include "exporters/nodes/status.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/thread.h"

/* ---- a snapshot of what is now ---- */

/* What the next snapshot shares with the last one.  Zero-initialised is
 * empty. */
struct compose {
	struct top_texts *names, *labels;
	uint32_t *order; /* of the nodes: the number in now_nodes by row */
	uint32_t count;
	uint32_t open_labels; /* the first of `labels`, of open_phases */
	struct top_runs *runs;
	struct top_pools *pools;
	struct top_lines *lines;
	struct top_causes *causes;
	uint64_t records; /* of the partition, then: */
	int64_t records_ns;
	double records_second;
};

/* The rate of records is that of at least this time. */
#define RATE_NS (2 * NS_PER_SECOND)

/* ---- nodes ---- */

static struct order_key
name_key(const void *arg, uint32_t number, int column)
{
	const struct node_states *states = arg;

	(void)column;
	return (struct order_key){ .is_text = true,
		.text = states->at[number].name };
}

/* Do the rows of before still name all nodes? */
static bool
has_same_nodes(const struct compose *compose, const struct node_states *states)
{
	if (compose->names == NULL || compose->count != states->count)
		return false;
	for (uint32_t i = 0; i < compose->count; i++)
		if (!text_equal(compose->names->table.names[i],
			states->at[compose->order[i]].name))
			return false;
	return true;
}

static void
take_names(struct compose *compose, const struct node_states *states)
{
	if (has_same_nodes(compose, states))
		return;
	top_unshare(compose->names);
	compose->names = top_texts_new();
	free(compose->order);
	compose->count = states->count;
	compose->order =
	    memory_alloc((states->count + 1) * sizeof(*compose->order));
	for (uint32_t i = 0; i < states->count; i++)
		compose->order[i] = i;
	order_numbers(compose->order, states->count, name_key, 0, states);
	for (uint32_t i = 0; i < states->count; i++)
		top_texts_add(
		    compose->names, states->at[compose->order[i]].name);
}

/* The label of a phase that a node is in for longer than usual; that of
 * open_phases has its key. */
static struct text
label_of(const struct node_state *node, const struct open_phase *open)
{
	return open != NULL && open->begin_ns == node->phase.begin_ns
		   ? open->label
		   : long_phase_name(&node->phase);
}

static bool
is_long(const struct node_state *node)
{
	return (node->attention & 1u << ATTENTION_PHASE) != 0;
}

static bool
has_same_labels(const struct compose *compose, const struct open_phases *open,
    const struct node_states *states, bool was_read)
{
	uint32_t number;

	if (compose->labels == NULL ||
	    compose->open_labels != open->labels.count)
		return false;
	for (uint32_t i = 0; was_read && i < open->labels.count; i++)
		if (!text_equal(
			compose->labels->table.names[i], open->labels.names[i]))
			return false;
	for (uint32_t i = 0; i < states->count; i++)
		if (is_long(&states->at[i]) &&
		    !string_table_find(&compose->labels->table,
			long_phase_name(&states->at[i].phase), &number))
			return false;
	return true;
}

static void
take_labels(struct compose *compose, const struct open_phases *open,
    const struct node_states *states, bool was_read)
{
	uint32_t number;

	if (has_same_labels(compose, open, states, was_read))
		return;
	top_unshare(compose->labels);
	compose->labels = top_texts_new();
	compose->open_labels = open->labels.count;
	for (uint32_t i = 0; i < open->labels.count; i++)
		top_texts_add(compose->labels, open->labels.names[i]);
	for (uint32_t i = 0; i < states->count; i++) {
		struct text name = long_phase_name(&states->at[i].phase);

		if (is_long(&states->at[i]) &&
		    !string_table_find(&compose->labels->table, name, &number))
			top_texts_add(compose->labels, name);
	}
}

static float
seconds(int64_t ns)
{
	return (float)((double)ns / (double)NS_PER_SECOND);
}

static void
put_phase(struct top_node *row, const struct compose *compose,
    const struct now *now, const struct node_state *node, int64_t now_ns)
{
	const struct open_phase *open =
	    open_phases_find(now_open(now), node->name);
	int64_t ready_ns = now_ready_ns(now, node->name);
	int64_t ahead_ns = isnan(node->clock_ns) ? 0 : (int64_t)node->clock_ns;
	int64_t age_ns, begin_ns;
	struct text label;
	uint32_t number;

	row->phase = TOP_NO_PHASE;
	row->phase_age = row->phase_usual = NAN;
	if (is_long(node)) {
		label = label_of(node, open);
		begin_ns = node->phase.begin_ns;
		row->phase_usual = (float)((double)node->phase.usual_ns / 1e9);
	} else if (open != NULL) {
		label = open->label;
		begin_ns = open->begin_ns;
	} else {
		if (ready_ns != START_UNKNOWN) {
			row->phase = TOP_READY;
			row->phase_age =
			    seconds(now_ns > ready_ns ? now_ns - ready_ns : 0);
		}
		return;
	}
	if (compose->labels == NULL ||
	    !string_table_find(&compose->labels->table, label, &number))
		return;
	age_ns = now_ns - begin_ns - ahead_ns;
	row->phase = number;
	row->phase_age = seconds(age_ns > 0 ? age_ns : 0);
}

static void
put_node(struct top_node *row, const struct compose *compose,
    const struct now *now, const struct node_state *node, int64_t now_ns)
{
	const struct node_usage usage =
	    node_usage_of(now_usages(now), node->name);
	int64_t received_ns = now_ns - node->received_ns;

	*row = (struct top_node){
		.age = seconds(node->age_ns),
		.received = node->received_ns == INT64_MIN
				? NAN
				: seconds(received_ns > 0 ? received_ns : 0),
		.spool = (float)node->spool,
		.clock = (float)(node->clock_ns / 1e9),
		.cpu = (float)usage.numbers[USAGE_CPU],
		.iowait = (float)usage.numbers[USAGE_IOWAIT],
		.pressure = (float)usage.numbers[USAGE_IO_PRESSURE],
		.gpu = (float)usage.numbers[USAGE_GPU],
		.receive = (float)usage.numbers[USAGE_RECEIVE],
		.disk = (float)usage.numbers[USAGE_DISK],
		.memory = (float)usage.numbers[USAGE_MEMORY_USED],
		.memory_limit = (float)usage.numbers[USAGE_MEMORY_LIMIT],
		.load = (float)usage.numbers[USAGE_LOAD],
		.condition = (uint8_t)node->condition,
		.attention = (uint8_t)node->attention,
	};
	/* They were not read again since nothing came. */
	if (node->age_ns > NODE_USAGE_LAST_NS)
		row->cpu = row->iowait = row->pressure = row->gpu =
		    row->receive = row->disk = row->memory = row->memory_limit =
			row->load = NAN;
	put_phase(row, compose, now, node, now_ns);
}

static void
put_nodes(struct top_snapshot *to, struct compose *compose,
    const struct now *now, int64_t now_ns)
{
	const struct node_states *states = now_nodes(now);

	take_names(compose, states);
	to->names = top_share(compose->names);
	to->labels = top_share(compose->labels);
	to->node_count = states->count;
	to->nodes = memory_alloc((states->count + 1) * sizeof(*to->nodes));
	memcpy(to->conditions, states->conditions, sizeof(to->conditions));
	for (uint32_t i = 0; i < states->count; i++) {
		const struct node_state *node = &states->at[compose->order[i]];

		put_node(&to->nodes[i], compose, now, node, now_ns);
		if (!isnan(node->spool))
			to->spool += node->spool;
	}
}

/* ---- the phases, and all ---- */

static void
put_label(char *to, size_t room, struct text phase)
{
	/* Without the model. */
	table_elide(to, room, text_after(phase, ':'), 16);
}

/* In how many nodes each phase is open for longer than usual. */
struct hanging {
	struct string_table ids;
	uint32_t *nodes, room;
};

static void
count_hanging(struct hanging *hanging, const struct node_states *states)
{
	*hanging = (struct hanging){ .room = 0 };
	string_table_init(&hanging->ids);
	for (uint32_t i = 0; i < states->count; i++) {
		uint32_t number;

		if (!is_long(&states->at[i]))
			continue;
		number =
		    string_table_add(&hanging->ids, states->at[i].phase.id);
		MEMORY_GROW_ZERO(hanging->nodes, hanging->room, number);
		hanging->nodes[number]++;
	}
}

static int
by_open(const void *left, const void *right)
{
	const struct top_phase *a = left, *b = right;

	if (a->hang != b->hang)
		return a->hang < b->hang ? 1 : -1;
	return (a->open < b->open) - (a->open > b->open);
}

/* Those that hang in most nodes, then those that most nodes are in. */
static void
put_phases(struct top_snapshot *to, const struct now *now)
{
	uint32_t count, number;
	const struct phase_row *rows = now_phases(now, &count);
	struct top_phase most[TOP_PHASES_MAX + 1];
	struct hanging hanging;
	uint32_t kept = 0;

	count_hanging(&hanging, now_nodes(now));
	for (uint32_t i = 0; i < count; i++) {
		const struct phase_row *row = &rows[i];
		struct top_phase phase = {
			.open = row->numbers[PHASE_OPEN_STARTS],
			.p50 = row->numbers[PHASE_P50],
			.p90 = row->numbers[PHASE_P90],
		};

		if (row->ignores_open || !(phase.open > 0))
			continue;
		put_label(phase.label, sizeof(phase.label), row->phase);
		if (string_table_find(&hanging.ids, row->phase, &number))
			phase.hang = hanging.nodes[number];
		most[kept++] = phase;
		if (kept > TOP_PHASES_MAX) {
			qsort(most, kept, sizeof(*most), by_open);
			kept--;
		}
	}
	qsort(most, kept, sizeof(*most), by_open);
	string_table_clear(&hanging.ids);
	free(hanging.nodes);
	to->phase_count = kept;
	to->phases = memory_copy(most, kept * sizeof(*most));
}

static void
take_rate(struct compose *compose, const struct partition_row *partition,
    int64_t now_ns)
{
	int64_t ns = now_ns - compose->records_ns;

	if (compose->records_ns == 0)
		compose->records_second = NAN;
	else if (ns < RATE_NS)
		return;
	else
		compose->records_second =
		    partition->records >= compose->records
			? (double)(partition->records - compose->records) /
			      seconds(ns)
			: NAN;
	compose->records = partition->records;
	compose->records_ns = now_ns;
}

/* `changed`: that of now_poll. */
static struct top_snapshot *
compose_snapshot(struct compose *compose, const struct now *now,
    unsigned changed, int64_t now_ns)
{
	struct top_snapshot *to = top_snapshot_new(now_ns);

	take_labels(
	    compose, now_open(now), now_nodes(now), (changed & NOW_OPEN) != 0);
	take_rate(compose, now_partition(now), now_ns);
	to->records_second = compose->records_second;
	to->known_ns = now_known_ns(now);
	put_nodes(to, compose, now, now_ns);
	put_phases(to, now);
	to->runs = top_share(compose->runs);
	to->pools = top_share(compose->pools);
	to->lines = top_share(compose->lines);
	to->causes = top_share(compose->causes);
	to->partition = memory_text(now_name(now));
	return to;
}

static void
compose_clear(struct compose *compose)
{
	top_unshare(compose->names);
	top_unshare(compose->labels);
	top_unshare(compose->runs);
	top_unshare(compose->pools);
	top_unshare(compose->lines);
	top_unshare(compose->causes);
	free(compose->order);
	*compose = (struct compose){ .count = 0 };
}

/* Facts about the pipeline, if their view is not shown. */
#define LINES_NS  (10 * NS_PER_SECOND)
#define CAUSES_NS (10 * NS_PER_SECOND)
#define PERIOD_NS NS_PER_SECOND

/* When a part may be read again (monotonic). */
struct due {
	int64_t next_ns;
	unsigned part;
};

struct collector {
	struct collector_options options;
	struct thread thread;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t cond;
	bool stops, is_changed;
	unsigned wanted;
	char partition[NAME_BYTES_MAX + 1];
	struct top_snapshot *newest;

	/* Of the thread. */
	char model[NAME_BYTES_MAX + 1];
	struct now *now;
	struct pools_kept *kept;
	struct compose compose;
	struct due runs, pools, lines, causes;
	int64_t answered_ns;
};

/* ---- parts ---- */

static bool
is_due(const struct due *due, unsigned wanted, int64_t now_ns)
{
	return (wanted & due->part) != 0 && now_ns >= due->next_ns;
}

static void
finish(struct due *due, int64_t begin_ns, int64_t least_ns)
{
	int64_t end_ns = clock_monotonic_ns();
	int64_t rest_ns = COLLECTOR_REST * (end_ns - begin_ns);

	if (rest_ns > NOW_REST_MAX_NS)
		rest_ns = NOW_REST_MAX_NS;
	due->next_ns = end_ns + (rest_ns > least_ns ? rest_ns : least_ns);
}

static int
read_runs(struct collector *collector, struct err *err)
{
	struct top_runs *runs = top_runs_new();
	int64_t begin_ns = clock_monotonic_ns();
	int rc = newest_runs_read(&runs->runs, collector->options.source,
	    now_name(collector->now), collector->model, COLLECTOR_RUNS, err);

	finish(&collector->runs, begin_ns, PERIOD_NS / 2);
	if (rc != 0) {
		top_unshare(runs);
		return -1;
	}
	runs->shared.bytes += runs->runs.count * (sizeof(*runs->runs.at) + 64);
	top_unshare(collector->compose.runs);
	collector->compose.runs = runs;
	return 0;
}

static int
read_pools(struct collector *collector, int64_t now_ns, struct err *err)
{
	struct top_pools *pools = top_pools_new();
	int64_t begin_ns = clock_monotonic_ns();
	int rc = pools_read(&pools->pools, collector->options.source,
	    collector->kept, (struct text){ NULL, 0 }, now_ns, err);

	finish(&collector->pools, begin_ns, PERIOD_NS / 2);
	if (rc != 0) {
		top_unshare(pools);
		return -1;
	}
	pools->read_ns = now_ns;
	pools->shared.bytes +=
	    pools->pools.count * (sizeof(*pools->pools.at) + 256);
	top_unshare(collector->compose.pools);
	collector->compose.pools = pools;
	return 0;
}

static int
read_lines(struct collector *collector, unsigned wanted, struct err *err)
{
	struct status_facts facts;
	int64_t begin_ns = clock_monotonic_ns();
	int rc = status_facts_read(&facts, collector->options.source,
	    collector->options.source_options, NULL, err);

	finish(&collector->lines, begin_ns,
	    (wanted & COLLECT_LINES) != 0 ? PERIOD_NS / 2 : LINES_NS);
	top_unshare(collector->compose.lines);
	collector->compose.lines = top_lines_new(&facts);
	return rc;
}

/* Of the newest start; a large pool has many samples, so that the rest is not
 * bounded.  That there are none is no fault. */
static int
read_causes(struct collector *collector, struct err *err)
{
	const struct start *start = now_start(collector->now);
	struct compose *compose = &collector->compose;
	int64_t begin_ns = clock_monotonic_ns(), end_ns;
	struct stragglers stragglers;
	struct err none = { 0 };
	int rc = -1;

	if (start != NULL) {
		const struct stragglers_query query = { .partition = now_name(
							    collector->now),
			.from_ns = start->begin_ns,
			.to_ns = TIME_MAX_NS,
			.start_ns = start->begin_ns,
			.bounds = STRAGGLER_BOUNDS };

		rc = stragglers_read(
		    &stragglers, collector->options.source, &query, &none);
		top_unshare(compose->causes);
		compose->causes = rc == 0 ? top_causes_new(&stragglers) : NULL;
		stragglers_clear(&stragglers);
	}
	end_ns = clock_monotonic_ns();
	collector->causes.next_ns =
	    end_ns + CAUSES_NS + COLLECTOR_REST * (end_ns - begin_ns);
	if (rc == 0 || !source_has_failed(collector->options.source))
		return 0;
	*err = none;
	return -1;
}

static int
read_all(struct collector *collector, unsigned wanted, int64_t now_ns,
    unsigned *changed, struct err *err)
{
	int64_t at_ns = clock_monotonic_ns();
	int rc = now_poll(collector->now, now_ns, changed, err);

	if (rc == 0 && is_due(&collector->lines, COLLECT_LINES, at_ns))
		rc = read_lines(collector, wanted, err);
	if (rc == 0 && at_ns >= collector->causes.next_ns)
		rc = read_causes(collector, err);
	if (rc == 0 && is_due(&collector->runs, wanted, at_ns))
		rc = read_runs(collector, err);
	if (rc == 0 && is_due(&collector->pools, wanted, at_ns))
		rc = read_pools(collector, now_ns, err);
	/* Say in the view of the pipeline what of it is silent. */
	if (rc != 0) {
		struct status_facts facts = { .aggregator = SERVICE_SILENT };

		top_unshare(collector->compose.lines);
		collector->compose.lines = top_lines_new(&facts);
		collector->lines.next_ns = 0;
	}
	return rc;
}

/* ---- the thread ---- */

/* Returns what is wanted. */
static unsigned
begin_round(struct collector *collector)
{
	bool is_changed;
	unsigned wanted;

	pthread_mutex_lock(&collector->mutex);
	is_changed = collector->is_changed || collector->now == NULL;
	collector->is_changed = false;
	wanted = collector->wanted;
	if (is_changed) {
		now_free(&collector->now);
		collector->now = now_new(collector->options.source,
		    text_of(collector->partition),
		    NOW_NODES | NOW_PHASES | NOW_PHASES_NEWEST | NOW_START |
			NOW_USAGE | NOW_USAGE_LAST | NOW_OPEN);
	}
	pthread_mutex_unlock(&collector->mutex);
	if (is_changed) {
		now_set_rest(collector->now, COLLECTOR_REST);
		compose_clear(&collector->compose);
		collector->runs.next_ns = collector->pools.next_ns =
		    collector->lines.next_ns = collector->causes.next_ns = 0;
	}
	return wanted;
}

static void
publish(struct collector *collector, struct top_snapshot *snapshot)
{
	struct top_snapshot *late;

	pthread_mutex_lock(&collector->mutex);
	/* Of a partition that is no longer shown. */
	if (collector->is_changed) {
		late = snapshot;
	} else {
		late = collector->newest;
		collector->newest = snapshot;
	}
	pthread_mutex_unlock(&collector->mutex);
	top_snapshot_drop(&late);
	collector->options.on_snapshot(collector->options.arg);
}

static void
collect(struct collector *collector)
{
	unsigned wanted = begin_round(collector), changed;
	int64_t now_ns = clock_wall_ns();
	struct top_snapshot *snapshot;
	struct err err = { 0 };
	int rc = read_all(collector, wanted, now_ns, &changed, &err);

	if (rc == 0)
		collector->answered_ns = clock_wall_ns();
	snapshot = compose_snapshot(&collector->compose, collector->now,
	    changed, rc == 0 ? now_ns : clock_wall_ns());
	snapshot->is_lost = rc != 0;
	snapshot->answered_ns = collector->answered_ns;
	if (rc != 0)
		snapshot->error = memory_string(err.text);
	publish(collector, snapshot);
}

/* Wait for the next period, or for a wish. */
static bool
wait_until(struct collector *collector, int64_t at_ns)
{
	unsigned wanted;
	bool stops;

	pthread_mutex_lock(&collector->mutex);
	wanted = collector->wanted;
	while (!collector->stops && !collector->is_changed &&
	       collector->wanted == wanted && clock_monotonic_ns() < at_ns) {
		struct timespec until = { .tv_sec = at_ns / NS_PER_SECOND,
			.tv_nsec = at_ns % NS_PER_SECOND };

		pthread_cond_timedwait(
		    &collector->cond, &collector->mutex, &until);
	}
	stops = collector->stops;
	pthread_mutex_unlock(&collector->mutex);
	return !stops;
}

static int
run(void *arg, struct err *err)
{
	struct collector *collector = arg;
	int64_t begin_ns;

	(void)err;
	do {
		begin_ns = clock_monotonic_ns();
		collect(collector);
	} while (wait_until(collector, begin_ns + PERIOD_NS));
	return 0;
}

static void
stop(void *arg)
{
	struct collector *collector = arg;

	pthread_mutex_lock(&collector->mutex);
	collector->stops = true;
	pthread_cond_signal(&collector->cond);
	pthread_mutex_unlock(&collector->mutex);
}

/* ---- for who draws ---- */

static void
init_cond(pthread_cond_t *cond)
{
	pthread_condattr_t how;

	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &how);
	pthread_condattr_destroy(&how);
}

int
collector_start(struct collector **started,
    const struct collector_options *options, struct err *err)
{
	struct collector *collector = memory_zero(1, sizeof(*collector));
	const struct thread_options thread = {
		.name = "the reader", .run = run, .stop = stop, .arg = collector
	};

	collector->options = *options;
	snprintf(collector->partition, sizeof(collector->partition), "%s",
	    options->partition);
	snprintf(
	    collector->model, sizeof(collector->model), "%s", options->model);
	collector->kept = pools_kept_new();
	collector->runs.part = COLLECT_RUNS;
	collector->pools.part = COLLECT_POOLS;
	collector->lines.part = COLLECT_LINES;
	pthread_mutex_init(&collector->mutex, NULL);
	init_cond(&collector->cond);
	*started = collector;
	return thread_start(&collector->thread, &thread, NULL, err);
}

bool
collector_stop(struct collector **stopped)
{
	struct collector *collector = *stopped;
	int64_t until_ns = clock_monotonic_ns() + NS_PER_SECOND / 5;
	struct timespec pause = { .tv_nsec = 5000000 };

	*stopped = NULL;
	if (collector == NULL)
		return true;
	stop(collector);
	while (thread_is_running(&collector->thread))
		if (clock_monotonic_ns() > until_ns)
			return false;
		else
			nanosleep(&pause, NULL);
	thread_stop(&collector->thread);
	now_free(&collector->now);
	pools_kept_free(&collector->kept);
	compose_clear(&collector->compose);
	top_snapshot_drop(&collector->newest);
	source_close(&collector->options.source);
	pthread_cond_destroy(&collector->cond);
	pthread_mutex_destroy(&collector->mutex);
	free(collector);
	return true;
}

struct top_snapshot *
collector_take(struct collector *collector)
{
	struct top_snapshot *taken;

	pthread_mutex_lock(&collector->mutex);
	taken = collector->newest;
	collector->newest = NULL;
	pthread_mutex_unlock(&collector->mutex);
	return taken;
}

void
collector_want(struct collector *collector, unsigned parts)
{
	pthread_mutex_lock(&collector->mutex);
	collector->wanted = parts;
	pthread_cond_signal(&collector->cond);
	pthread_mutex_unlock(&collector->mutex);
}

void
collector_change(struct collector *collector, struct text partition)
{
	struct top_snapshot *old;

	pthread_mutex_lock(&collector->mutex);
	snprintf(collector->partition, sizeof(collector->partition), "%.*s",
	    (int)partition.bytes, partition.at);
	collector->is_changed = true;
	old = collector->newest;
	collector->newest = NULL;
	pthread_cond_signal(&collector->cond);
	pthread_mutex_unlock(&collector->mutex);
	top_snapshot_drop(&old);
}

/*
 * generate_pool - generates starts of a pool of machines.
 * SPDX-License-Identifier: MIT
 */
#include "agents/generate/pool.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "proto/hash/prng.h"
#include "proto/os/clock.h"

enum { PROCESSORS = 16, JOBS = 2, IMAGES = 2, PULLS_EVERY = 5, SLOWER = 4 };
#define MEMORY_BYTES (INT64_C(64) << 30)
#define MS           INT64_C(1000000)

/* Both come at once; the second is the large one. */
static const struct image {
	const char *name, *bytes;
	int64_t pull_ms, load_ms, save_ms; /* what it takes usually */
} images[IMAGES] = {
	{ "docker.io/library/ubuntu:22.04", "80000000", 4000, 1500, 1000 },
	{ "gcr.io/ml/train:2.1", "4200000000", 22000, 8000, 9000 },
};
static const char *const users[JOBS] = { "ada", "bob" };

/* ---- which nodes are special ---- */

static bool
is_slow(const struct generate_pool *pool)
{
	return pool->nodes > 2 && pool->node == pool->nodes / 2;
}

static bool
hangs(const struct generate_pool *pool)
{
	return pool->nodes >= GENERATE_POOL_FAULTS_NODES &&
	       pool->start == pool->starts - 1 &&
	       /* one that loads */
	       pool->node == pool->nodes / 4 / PULLS_EVERY * PULLS_EVERY + 1;
}

static bool
dies(const struct generate_pool *pool)
{
	return pool->nodes >= GENERATE_POOL_FAULTS_NODES &&
	       pool->start == pool->starts - 1 &&
	       pool->node == pool->nodes / 4 * 3;
}

/* ---- the plan of a node ---- */

static struct generate_pool_event *
add(struct generate_pool_plan *plan, int64_t time_ns, const char *source,
    const char *name)
{
	struct generate_pool_event *event = &plan->event[plan->events++];

	*event = (struct generate_pool_event){ time_ns, source, name,
		{ NULL, NULL }, { NULL, NULL } };
	return event;
}

static void
add_image(struct generate_pool_plan *plan, int64_t time_ns, const char *name,
    const struct image *image)
{
	struct generate_pool_event *event = add(plan, time_ns, "cascade", name);

	event->key[0] = "img";
	event->value[0] = image->name;
	event->key[1] = "size";
	event->value[1] = image->bytes;
}

/* About `ms`: a tenth less to a tenth more. */
static int64_t
about(struct generate_pool *pool, int64_t ms)
{
	return prng_between(&pool->state, ms * 9 / 10, ms * 11 / 10) * MS;
}

/* One of PULLS_EVERY nodes pulls from the registry and saves the image for the
 * others, which load what they have received.  Returns when it has the image;
 * -1: never. */
static int64_t
plan_image(struct generate_pool *pool, const struct image *image, int64_t t)
{
	struct generate_pool_plan *plan = &pool->plan;
	int64_t times = is_slow(pool) ? SLOWER : 1;
	int64_t have;

	if (pool->node % PULLS_EVERY == 0 || is_slow(pool)) {
		have = t + about(pool, image->pull_ms) * times;
		add_image(plan, t, "pull-start", image);
		add_image(plan, have, "pull-end", image);
		add_image(plan, have + MS, "save-start", image);
		add_image(plan, have + MS + about(pool, image->save_ms),
		    "save-end", image);
		return have;
	}
	have = t + about(pool, image->pull_ms * 2 / 3);
	add_image(plan, t, "torrent-start", image);
	add_image(plan, have, "load-start", image);
	if (hangs(pool) && image == &images[IMAGES - 1])
		return -1;
	have += about(pool, image->load_ms);
	add_image(plan, have, "load-end", image);
	return have;
}

static void
plan_job(struct generate_pool *pool, int which, int64_t begin_ns,
    int64_t end_ns, bool ends)
{
	struct generate_pool_plan *plan = &pool->plan;
	struct generate_pool_event *event;

	snprintf(plan->job[which], sizeof(plan->job[which]), "%" PRIu64,
	    1000 + pool->start * JOBS + (uint64_t)which);
	plan->work_ns[which][0] = begin_ns;
	plan->work_ns[which][1] = end_ns;
	event = add(plan, begin_ns, "job", "start");
	event->key[0] = "job";
	event->value[0] = plan->job[which];
	event->key[1] = "user";
	event->value[1] = users[which];
	if (!ends)
		return;
	event = add(plan, end_ns, "job", "stop");
	event->key[0] = "job";
	event->value[0] = plan->job[which];
}

/* Installing, two images at once, two jobs; the last job of all still runs. */
static void
make_plan(struct generate_pool *pool)
{
	struct generate_pool_plan *plan = &pool->plan;
	int64_t t = pool->base_ns + (int64_t)pool->start *
					GENERATE_POOL_SPACING_S * NS_PER_SECOND;
	int64_t have;

	*plan = (struct generate_pool_plan){
		.end_ns = t + GENERATE_POOL_START_S * NS_PER_SECOND
	};
	t += prng_between(&pool->state, 0, 20000) * MS;
	plan->begin_ns = t;
	add(plan, t, "nodeprep", "start");
	t += about(pool, 5000);
	add(plan, t, "shipyard", "pull-start");
	t += about(pool, 4000);
	add(plan, t, "shipyard", "pull-end");
	t += about(pool, 13000);
	add(plan, t, "nodeprep", "end");
	plan->prepared_ns = t;
	t += about(pool, 1000);
	add(plan, t, "cascade", "start");
	plan->ready_ns = t;
	for (int i = 0; i < IMAGES; i++) {
		have = plan_image(pool, &images[i], t + (i + 1) * 100 * MS);
		if (have < 0)
			plan->ready_ns = INT64_MAX;
		else if (plan->ready_ns < have)
			plan->ready_ns = have;
	}
	if (plan->ready_ns == INT64_MAX)
		return;
	plan->ready_ns += about(pool, 500);
	add(plan, plan->ready_ns, "cascade", "gr-done");
	t = plan->end_ns - 680 * NS_PER_SECOND;
	plan_job(pool, 0, t, t + 360 * NS_PER_SECOND, true);
	plan_job(pool, 1, t + 400 * NS_PER_SECOND, plan->end_ns,
	    pool->start + 1 < pool->starts);
}

static void
begin_node(struct generate_pool *pool)
{
	/* Of each node on its own, whatever the others do. */
	pool->state = pool->seed ^ (pool->node * pool->starts + pool->start);
	(void)prng_bits(&pool->state);
	snprintf(pool->node_name, sizeof(pool->node_name), "cn%0*" PRIu64,
	    pool->nodes < 1000 ? 3 : 5, pool->node + 1);
	make_plan(pool);
	pool->gone_ns =
	    dies(pool) ? pool->plan.end_ns - 300 * NS_PER_SECOND : INT64_MAX;
	pool->sample_ns = pool->plan.begin_ns;
	memset(pool->ticks, 0, sizeof(pool->ticks));
	pool->step = 0;
}

/* ---- rows ---- */

static int
put_event(struct import_row *row, const struct generate_pool_event *event,
    struct err *err)
{
	struct value value = { .type = VALUE_TEXT };

	row->record.kind = RECORD_EVENT;
	row->record.time_ns = event->time_ns;
	row->record.source = text_of(event->source);
	row->record.name = text_of(event->name);
	for (int i = 0; i < 2 && event->key[i] != NULL; i++) {
		value.is.text = text_of(event->value[i]);
		if (import_row_put(row, event->key[i], &value, err) != 0)
			return -1;
	}
	return 0;
}

/* How busy are the processors, in thousandths, and the bytes in use? */
static int64_t
get_load(struct generate_pool *pool, int64_t *used)
{
	const struct generate_pool_plan *plan = &pool->plan;
	int64_t t = pool->sample_ns;

	*used = INT64_C(3) << 30;
	for (int i = 0; i < JOBS; i++) {
		if (t < plan->work_ns[i][0] || t >= plan->work_ns[i][1])
			continue;
		*used += INT64_C(20) << 30 << (i == 0);
		return i == 0 ? prng_between(&pool->state, 900, 960)
			      : prng_between(&pool->state, 330, 430);
	}
	return t < plan->prepared_ns ? prng_between(&pool->state, 80, 160)
	       : t < plan->ready_ns  ? prng_between(&pool->state, 400, 500)
				     : prng_between(&pool->state, 5, 25);
}

/* The processors' times since the node's boot. */
static void
put_cpu(struct generate_pool *pool, struct import_row *row)
{
	int64_t values[1 + METRIC_CPU_VALUES] = { 0 };

	values[0] = pool->plan.begin_ns;
	values[1 + METRIC_CPU_IDLE] = pool->ticks[0];
	values[1 + METRIC_CPU_USER] = pool->ticks[1];
	values[1 + METRIC_CPU_SYSTEM] = pool->ticks[2];
	values[1 + METRIC_CPU_PROCESSORS] = PROCESSORS;
	generate_row_sample(row, "cpu", pool->sample_ns, values,
	    1 + METRIC_CPU_VALUES, pool->body);
}

/* Then the period until the next sample passes. */
static void
put_memory(struct generate_pool *pool, struct import_row *row)
{
	int64_t values[METRIC_MEMORY_VALUES] = { 0 };
	int64_t used, busy = get_load(pool, &used);
	int64_t ticks = pool->period_ns / (10 * MS) * PROCESSORS;

	values[METRIC_MEMORY_LIMIT] = MEMORY_BYTES;
	values[METRIC_MEMORY_USED] = used;
	values[METRIC_MEMORY_FREE] = MEMORY_BYTES - used;
	values[METRIC_MEMORY_AVAILABLE] = MEMORY_BYTES - used;
	generate_row_sample(row, "memory", pool->sample_ns, values,
	    METRIC_MEMORY_VALUES, pool->body);
	pool->ticks[1] += ticks * busy * 9 / 10000;
	pool->ticks[2] += ticks * busy / 10000;
	pool->ticks[0] +=
	    ticks - ticks * busy * 9 / 10000 - ticks * busy / 10000;
	pool->sample_ns += pool->period_ns;
}

/* The definitions, the events, then two samples a period. */
static int
put_step(struct generate_pool *pool, struct import_row *row, uint32_t step,
    struct err *err)
{
	const struct generate_pool_plan *plan = &pool->plan;

	if (step == 0)
		generate_row_define(
		    row, pool->node_name, &metric_group_cpu, "cpu");
	else if (step == 1)
		generate_row_define(
		    row, pool->node_name, &metric_group_memory, "memory");
	else if (step - 2 < plan->events)
		return put_event(row, &plan->event[step - 2], err);
	else if ((step - plan->events) % 2 == 0)
		put_cpu(pool, row);
	else
		put_memory(pool, row);
	return 0;
}

/* Is there no such step, or had the node gone by then? */
static bool
is_skipped(const struct generate_pool *pool, uint32_t step)
{
	return step >= 2 && step - 2 < pool->plan.events &&
	       pool->plan.event[step - 2].time_ns >= pool->gone_ns;
}

static bool
has_samples(const struct generate_pool *pool)
{
	return pool->sample_ns <= pool->plan.end_ns &&
	       pool->sample_ns < pool->gone_ns;
}

/* Go to the next node, or start.  False: that was the last one. */
static bool
next_node(struct generate_pool *pool)
{
	if (++pool->node == pool->nodes) {
		pool->node = 0;
		if (++pool->start == pool->starts)
			return false;
	}
	begin_node(pool);
	return true;
}

static enum import_next
next_row(void *arg, struct import_row *row, struct err *err)
{
	struct generate_pool *pool = arg;

	while (is_skipped(pool, pool->step))
		pool->step++;
	if (pool->step >= 2 + pool->plan.events && !has_samples(pool) &&
	    (pool->start == pool->starts || !next_node(pool)))
		return IMPORT_END;
	row->aside = false;
	row->partition = (struct text){ NULL, 0 };
	row->record = (struct record){ .has_time = true,
		.node = text_of(pool->node_name) };
	pool->given++;
	return put_step(pool, row, pool->step++, err) == 0 ? IMPORT_LINE
							   : IMPORT_FAILED;
}

/* ---- the source ---- */

int64_t
generate_pool_length_s(const struct generate_pool *pool)
{
	return (int64_t)(pool->starts - 1) * GENERATE_POOL_SPACING_S +
	       GENERATE_POOL_START_S;
}

static void
rewind_rows(void *arg)
{
	struct generate_pool *pool = arg;

	pool->start = pool->node = pool->given = 0;
	begin_node(pool);
}

int
generate_pool_begin(struct generate_pool *pool, struct err *err)
{
	crypto_generichash_state state;
	char which[256];

	if (sodium_init() < 0)
		return err_set(err, "libsodium does not start");
	if (pool->base_ns < TIME_MIN_NS ||
	    pool->base_ns >
		TIME_MAX_NS - generate_pool_length_s(pool) * NS_PER_SECOND)
		return err_set(err,
		    "%" PRIu64 " starts are not all between the years 1900 "
		    "and 2200",
		    pool->starts);
	/* Change this word when the same numbers give another pool. */
	snprintf(which, sizeof(which),
	    "generate pool 1 %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64
	    " %" PRId64,
	    pool->seed, pool->nodes, pool->starts, pool->base_ns,
	    pool->period_ns);
	crypto_generichash_init(&state, NULL, 0, sizeof(pool->digest));
	crypto_generichash_update(
	    &state, (const unsigned char *)which, strlen(which));
	crypto_generichash_final(&state, pool->digest, sizeof(pool->digest));
	rewind_rows(pool);
	return 0;
}

static uint64_t
get_given(const void *arg)
{
	const struct generate_pool *pool = arg;

	return pool->given;
}

/* Rows at most: of a node that begins at once and does all. */
static uint64_t
count_rows(const struct generate_pool *pool)
{
	uint64_t periods =
	    (uint64_t)(GENERATE_POOL_START_S * NS_PER_SECOND / pool->period_ns);

	return pool->nodes * pool->starts * (2 + 20 + 2 * periods);
}

struct import_source
generate_pool_source(struct generate_pool *pool)
{
	return (struct import_source){
		.kind = IMPORT_RECORDS,
		.name = "pool",
		.bytes = count_rows(pool),
		.digest = pool->digest,
		.next = next_row,
		.offset = get_given,
		.line = get_given,
		.rewind = rewind_rows,
		.arg = pool,
	};
}

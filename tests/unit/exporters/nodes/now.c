/*
 * now - what is watched is what a new reader is shown.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/nodes/now.h"

#include "aggregator/query/server.h"
#include "exporters/nodes/pools.h"
#include "proto/metric/metric_groups.h"
#include "tests/unit/exporters/samples/sampled.h"

static struct query_server *server;
static struct reader *reader;
static char endpoint[96];
static struct now *now;

#define SECOND      NS_PER_SECOND
#define AT(seconds) (RIG_T0 + (seconds)*SECOND)

static void
serve(void)
{
	struct opt_list listen = { .at = { endpoint }, .count = 1 };
	struct query_server_options options = {
		.listen = &listen, .queue_messages = 4, .generation = 4711
	};
	struct query_server_source of = { .reader = reader };
	struct err err = { 0 };

	rig_good(query_server_open(&server, &options, &of, &err), &err);
	rig_good(query_server_start(server, NULL, &err), &err);
}

static struct source *
open_source(void)
{
	const struct source_options options = { .store = NULL };
	struct source *opened;
	struct err err = { 0 };

	rig_good(
	    source_open_endpoint(&opened, &options, endpoint, 5 * SECOND, &err),
	    &err);
	return opened;
}

static int
begin(void **state)
{
	struct err err = { 0 };

	set_up(state);
	snprintf(endpoint, sizeof(endpoint), "ipc://%s/door", rig.folder);
	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	serve();
	source = open_source();
	now = now_new(source, text_of(RIG_PARTITION), NOW_NODES | NOW_PHASES);
	return 0;
}

static int
end(void **state)
{
	now_free(&now);
	source_close(&source);
	query_server_close(&server);
	reader_close(&reader);
	rig_close(&rig);
	return 0;
}

static void
store(void)
{
	rig_send(&rig, 0);
	rig_indexer(&rig);
}

/* Poll until nothing is left to be read; returns what changed. */
static unsigned
poll_all(int64_t now_ns)
{
	unsigned changed = 0, some;
	struct err err = { 0 };
	int64_t next_ns;

	for (;;) {
		rig_good(now_poll(now, now_ns, &some, &err), &err);
		changed |= some;
		if (!now_is_behind(now, &next_ns))
			return changed;
		while (clock_monotonic_ns() < next_ns)
			usleep(1000);
	}
}

static const struct node_state *
node_named(const struct node_states *states, struct text name)
{
	uint32_t number;

	return string_table_find(&states->names, name, &number)
		   ? &states->at[number]
		   : NULL;
}

static enum node_condition
condition_of(const char *name)
{
	const struct node_state *node =
	    node_named(now_nodes(now), text_of(name));

	assert_non_null(node);
	return node->condition;
}

static void
a_poll_says_what_changed(void **state)
{
	const struct phase_row *phases;
	uint32_t count;

	assert_int_equal(poll_all(AT(0)), NOW_PARTITION);
	assert_int_equal(now_partition(now)->name.bytes, 0);
	put_job("n1", 0, "start", "1");
	put_job("n1", 8, "stop", "1");
	store();
	assert_int_equal(
	    poll_all(AT(10)), NOW_PARTITION | NOW_NODES | NOW_PHASES);
	assert_true(
	    text_equal(now_partition(now)->name, text_of(RIG_PARTITION)));
	assert_int_equal(now_partition(now)->records, 2);
	assert_int_equal(now_nodes(now)->count, 1);
	assert_int_equal(now_nodes(now)->at[0].age_ns, 2 * SECOND);
	phases = now_phases(now, &count);
	assert_int_equal(count, 2);
	assert_true(text_equal(phases[0].phase, text_of("job:run")));
	assert_true(phases[0].numbers[PHASE_COUNT] == 1);
	assert_true(phases[0].numbers[PHASE_SUM] == 8);

	/* Nothing came. */
	assert_int_equal(poll_all(AT(20)), 0);
	assert_int_equal(now_nodes(now)->at[0].age_ns, 12 * SECOND);
	/* A record that is in no phase. */
	put_job("n1", 21, "other", "1");
	store();
	assert_int_equal(poll_all(AT(21)), NOW_PARTITION | NOW_NODES);
}

static void
nodes_age_without_a_record(void **state)
{
	put_job("n1", 0, "start", "1");
	put_job("n2", 30, "start", "1");
	store();
	poll_all(AT(30));
	assert_int_equal(condition_of("n1"), NODE_LIVE);
	assert_int_equal(poll_all(AT(59)), 0);
	assert_int_equal(poll_all(AT(60)), NOW_NODES);
	assert_int_equal(condition_of("n1"), NODE_LATE);
	assert_int_equal(condition_of("n2"), NODE_LIVE);
	assert_int_equal(now_nodes(now)->conditions[NODE_LATE], 1);
	assert_int_equal(poll_all(AT(3600)), NOW_NODES);
	assert_int_equal(condition_of("n1"), NODE_GONE);
	assert_int_equal(condition_of("n2"), NODE_SILENT);
	/* It stays so. */
	assert_int_equal(poll_all(AT(3630)), NOW_NODES);
	assert_int_equal(poll_all(AT(6 * 86400)), 0);
	assert_int_equal(now_nodes(now)->attended, 2);
	/* Nobody misses them any longer. */
	assert_int_equal(poll_all(AT(8 * 86400)), NOW_NODES);
	assert_int_equal(poll_all(AT(30 * 86400)), 0);
	assert_int_equal(now_nodes(now)->attended, 0);
	assert_int_equal(now_nodes(now)->count, 2);
	assert_int_equal(now_nodes(now)->conditions[NODE_STOPPED], 2);
}

/* n1's record of 50 came and is not read yet, because the last reading was just
 * now.  At 70 that of 0, which is known, is more than a minute old: nothing
 * says that n1 is late. */
static void
what_is_not_read_is_no_silence(void **state)
{
	unsigned changed;
	struct err err = { 0 };

	now_set_rest(now, 1 << 30);
	put_job("n1", 0, "start", "1");
	store();
	rig_good(now_poll(now, AT(20), &changed, &err), &err);
	assert_int_equal(now_known_ns(now), AT(20));
	put_job("n1", 50, "start", "2");
	store();
	rig_good(now_poll(now, AT(70), &changed, &err), &err);
	assert_int_equal(now_known_ns(now), AT(20));
	assert_int_equal(condition_of("n1"), NODE_LIVE);
	assert_int_equal(now_nodes(now)->at[0].age_ns, 20 * SECOND);
	/* It rests for seconds, not for minutes, although it was to. */
	poll_all(AT(71));
	assert_int_equal(now_nodes(now)->at[0].age_ns, 21 * SECOND);
	assert_int_equal(now_known_ns(now), AT(71));
}

/* ---- the same as a new reader ---- */

static bool
is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void
compare_nodes(struct source *other, int64_t now_ns)
{
	const struct node_states *ours = now_nodes(now);
	struct node_states fresh;
	struct err err = { 0 };

	rig_good(node_states_read(&fresh, other, text_of(RIG_PARTITION),
		     (struct text){ NULL, 0 }, TIME_MIN_NS, now_ns, &err),
	    &err);
	assert_int_equal(fresh.count, ours->count);
	for (uint32_t i = 0; i < fresh.count; i++) {
		const struct node_state *a = &fresh.at[i],
					*b = node_named(ours, a->name);

		assert_non_null(b);
		assert_int_equal(a->made_ns, b->made_ns);
		assert_int_equal(a->heard_ns, b->heard_ns);
		assert_int_equal(a->age_ns, b->age_ns);
		assert_int_equal(a->received_ns, b->received_ns);
		assert_int_equal(a->last_ns, b->last_ns);
		assert_int_equal(a->condition, b->condition);
		assert_int_equal(a->attention, b->attention);
		assert_true(is_same(a->spool, b->spool));
		assert_true(is_same(a->clock_ns, b->clock_ns));
	}
	assert_memory_equal(
	    fresh.conditions, ours->conditions, sizeof(fresh.conditions));
	node_states_clear(&fresh);
}

static const struct phase_row *ours_next;
static uint32_t ours_left;

static void
compare_phase(void *arg, const struct phase_row *row)
{
	assert_true(ours_left-- > 0);
	assert_true(text_equal(row->phase, ours_next->phase));
	assert_true(text_equal(row->attributes, ours_next->attributes));
	for (int i = 0; i < PHASE_NUMBERS; i++)
		assert_true(is_same(row->numbers[i], ours_next->numbers[i]));
	ours_next++;
}

static void
compare_phases(struct source *other)
{
	const struct wire_query query = source_query(1u << RECORD_ENTITY);
	struct phase_rows *rows;
	struct err err = { 0 };

	ours_next = now_phases(now, &ours_left);
	rig_good(phase_rows_open(&rows, other, text_of(RIG_PARTITION), &query,
		     PHASES_OF_POOL, &err),
	    &err);
	rig_good(phase_rows_each(rows, compare_phase, NULL, &err), &err);
	assert_int_equal(ours_left, 0);
	phase_rows_close(&rows);
}

/* A sample of a group of the agent that has this metric alone. */
static void
put_metric(const char *node, const char *group, const char *metric,
    double seconds, int64_t number)
{
	const struct metric_group *of = metric_group_find(text_of(group));
	int64_t numbers[64];
	uint32_t i = 0;

	for (; strcmp(of->columns[i].name, metric) != 0; i++)
		numbers[i] = UNKNOWN;
	numbers[i] = number;
	put_sample(node, group, seconds, i + 1, numbers);
}

/* What a node sends at a time: each node's clock is off by hours, some wait and
 * send what they have later, in the order of time. */
enum { NODES = 8 };

static void
send_some(uint64_t *random, int64_t seconds)
{
	static int64_t sent[NODES]; /* up to this time */
	unsigned node = (unsigned)(check_random(random) % NODES);
	double off = 3600.0 * node - 7200;
	char name[8];

	snprintf(name, sizeof(name), "n%u", node);
	if (seconds < 1000)
		memset(sent, 0, sizeof(sent));
	for (; sent[node] < seconds; sent[node] += 600) {
		double at = (double)sent[node] + off;

		if (check_random(random) % 3 == 0)
			put_metric(name, "clock", "poolscope.clock.offset", at,
			    (int64_t)(-off * 1e9) +
				(int64_t)(check_random(random) % 1000));
		if (check_random(random) % 3 == 0)
			put_metric(name, "self",
			    "poolscope.agent.spool.unacked", at + 1,
			    (int64_t)(check_random(random) % 40000000));
		if (check_random(random) % 3 == 0)
			put_job(name, at + 2,
			    check_random(random) % 2 == 0 ? "start" : "stop",
			    "1");
	}
}

static void
it_is_the_same_as_for_a_new_reader(void **state)
{
	uint64_t random = check_seed();
	struct source *other = open_source();
	static const char *const groups[] = { "clock", "self" };
	unsigned known = 0;

	for (unsigned i = 0; i < 2; i++)
		assert_true(metric_group_define(&rig.batch,
		    metric_group_find(text_of(groups[i])), text_of(groups[i])));
	for (int64_t seconds = 600; seconds < INT64_C(3) * 86400;
	     seconds += 600 * (1 + (int64_t)(check_random(&random) % 48))) {
		for (unsigned i = 0; i < check_random(&random) % 4; i++)
			send_some(&random, seconds);
		store();
		poll_all(AT(seconds));
		compare_nodes(other, AT(seconds));
		compare_phases(other);
	}
	for (uint32_t i = 0; i < now_nodes(now)->count; i++)
		known += !isnan(now_nodes(now)->at[i].spool) &&
			 !isnan(now_nodes(now)->at[i].clock_ns);
	assert_true(known > 0);
	source_close(&other);
}

static void
a_source_that_is_away_leaves_the_numbers(void **state)
{
	unsigned changed;
	struct err err = { 0 };

	put_job("n1", 0, "start", "1");
	store();
	poll_all(AT(10));
	query_server_close(&server);
	assert_int_equal(now_poll(now, AT(70), &changed, &err), -1);
	/* Nobody knows whether n1 sent something. */
	assert_int_equal(changed, 0);
	assert_int_equal(condition_of("n1"), NODE_LIVE);
	assert_int_equal(now_known_ns(now), AT(10));
	assert_int_equal(now_nodes(now)->count, 1);
	assert_int_equal(now_partition(now)->records, 1);
	put_job("n2", 71, "start", "1");
	store();
	serve();
	assert_int_equal(
	    poll_all(AT(72)), NOW_PARTITION | NOW_NODES | NOW_PHASES);
	assert_int_equal(now_nodes(now)->count, 2);
}

/* Live, late, silent, gone. */
static void
assert_pool(struct pools_kept *kept, int64_t now_ns, uint32_t live,
    uint32_t late, uint32_t silent, uint32_t gone, uint32_t stopped)
{
	const uint32_t wanted[NODE_CONDITIONS] = { live, late, silent, gone,
		stopped };
	struct text all = { NULL, 0 };
	struct pools pools;
	struct err err = { 0 };

	rig_good(pools_read(&pools, source, kept, all, now_ns, &err), &err);
	assert_int_equal(pools.count, 1);
	assert_memory_equal(pools.at[0].conditions, wanted, sizeof(wanted));
	pools_clear(&pools);
}

/* n1 was heard at 0 and n2 at 30, then n3 at 100: who asks again gets the same
 * as who asks first, also at an earlier time. */
static void
kept_pools_age(void **state)
{
	struct pools_kept *kept = pools_kept_new();

	put_job("n1", 0, "start", "1");
	put_job("n2", 30, "start", "1");
	store();
	for (int again = 0; again < 2; again++) {
		struct pools_kept *some = again == 0 ? kept : NULL;

		assert_pool(some, AT(30), 2, 0, 0, 0, 0);
		assert_pool(some, AT(59), 2, 0, 0, 0, 0);
		assert_pool(some, AT(60), 1, 1, 0, 0, 0);
		assert_pool(some, AT(3600), 0, 0, 1, 1, 0);
		assert_pool(some, AT(86401), 0, 0, 0, 2, 0);
		assert_pool(some, AT(30 * 86400), 0, 0, 0, 0, 2);
		assert_pool(some, AT(40), 2, 0, 0, 0, 0);
	}
	put_job("n3", 100, "start", "1");
	store();
	assert_pool(kept, AT(100), 1, 2, 0, 0, 0);
	assert_pool(kept, AT(160), 0, 3, 0, 0, 0);
	pools_kept_free(&kept);
}

/* Twelve steps took 1 s each, so longer than usual is more than 30 s.  The next
 * one begins at 100, and nothing comes any more.  Jobs are not judged. */
static void
what_hangs_is_seen_although_nothing_comes(void **state)
{
	static const int64_t polls[] = { 101, 130, 131, 400 };
	struct pools_kept *kept = pools_kept_new();
	struct text all = { NULL, 0 };
	struct pools pools;
	struct err err = { 0 };
	char job[12];

	for (int i = 0; i < 12; i++) {
		snprintf(job, sizeof(job), "%d", i);
		put_job("n1", 2 * i, "begin", job);
		put_job("n1", 2 * i + 1, "done", job);
		put_job("n2", 2 * i, "start", job);
		put_job("n2", 2 * i + 1, "stop", job);
	}
	put_job("n1", 100, "begin", "12");
	put_job("n2", 100, "start", "12");
	store();
	for (unsigned i = 0; i < 4; i++) {
		unsigned hangs = polls[i] > 130;

		poll_all(AT(polls[i]));
		assert_int_equal(
		    now_nodes(now)->attention[ATTENTION_PHASE], hangs);
		assert_int_equal(now_nodes(now)->attended, hangs);
		rig_good(
		    pools_read(&pools, source, kept, all, AT(polls[i]), &err),
		    &err);
		assert_int_equal(pools.count, 1);
		assert_int_equal(pools.at[0].attention[ATTENTION_PHASE], hangs);
		pools_clear(&pools);
	}
	pools_kept_free(&kept);
}

#undef CASE
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_poll_says_what_changed),
		CASE(nodes_age_without_a_record),
		CASE(what_is_not_read_is_no_silence),
		CASE(it_is_the_same_as_for_a_new_reader),
		CASE(a_source_that_is_away_leaves_the_numbers),
		CASE(kept_pools_age),
		CASE(what_hangs_is_seen_although_nothing_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

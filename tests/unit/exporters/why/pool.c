/*
 * why_pool - the sentences of a pool, of rows as questions give them.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/why/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "tests/unit/check.h"

#define S INT64_C(1000000000)

static struct why_facts f;
static struct why_pool pool = { .facts = &f };

/* ---- rows ---- */

static void
take(const char *table, uint32_t count, const char *const *names,
    const struct answer_cell *cells)
{
	struct answer_column columns[12];
	const struct answer_taken row = { table, columns, count, cells };

	for (uint32_t i = 0; i < count; i++)
		columns[i] = (struct answer_column){ .key = names[i] };
	why_take(&f, &row);
}
#define KEYS(...)                                                              \
	(const char *const[])                                                  \
	{                                                                      \
		__VA_ARGS__                                                    \
	}
#define CELLS(...)                                                             \
	(const struct answer_cell[])                                           \
	{                                                                      \
		__VA_ARGS__                                                    \
	}

static void
head(const char *key, struct answer_cell cell)
{
	take("head", 1, KEYS(key), &cell);
}

static void
nodes(uint64_t live, uint64_t gone, uint64_t stopped, uint64_t attention)
{
	head("question", answer_string("nodes"));
	head("live", answer_count(live));
	head("gone", answer_count(gone));
	head("stopped", answer_count(stopped));
	head("attention", answer_count(attention));
}

static void
node(const char *name, bool attention)
{
	take("nodes", 6,
	    KEYS("node", "state", "wrong", "attention", "phase", "phase_open"),
	    CELLS(answer_string(name), answer_string("gone"),
		answer_string("not heard"), answer_flag(attention),
		answer_string(attention ? "work:pull" : NULL),
		answer_duration(ANSWER_NO_NS)));
}

static void
records(uint64_t count)
{
	take("pools", 4, KEYS("records", "oldest", "newest", "age"),
	    CELLS(answer_count(count), answer_time(1700000000 * S),
		answer_time(1700000090 * S), answer_duration(90 * S)));
}

static void
start(
    const char *state, uint64_t count, uint64_t ready, double last, double all)
{
	take("starts", 6,
	    KEYS("start", "state", "nodes", "ready", "last_ready", "duration"),
	    CELLS(answer_time(1700000000 * S), answer_string(state),
		answer_count(count), answer_count(ready), answer_number(last),
		answer_number(all)));
}

static void
piece(const char *kind, const char *name, const char *phase, const char *key,
    double seconds)
{
	take("critical", 5, KEYS("kind", "node", "phase", "key", "duration"),
	    CELLS(answer_string(kind), answer_string(name),
		answer_string(phase), answer_string(key),
		answer_duration((int64_t)(seconds * 1e9))));
}

static void
slow(const char *name, int64_t time, int64_t usual, bool is_open)
{
	take("slow", 7,
	    KEYS("node", "phase", "key", "time", "usual", "above", "open"),
	    CELLS(answer_string(name), answer_string("work:pull"),
		answer_string(NULL), answer_duration(time),
		answer_duration(usual), answer_duration(time - usual),
		answer_flag(is_open)));
}

static void
straggler(const char *name, const char *cause, const char *why, double share,
    int64_t drag_ns, const char *usual_of)
{
	take("stragglers", 10,
	    KEYS("node", "phase", "key", "cause", "why", "time", "usual",
		"drag", "usual_of", "share"),
	    CELLS(answer_string(name), answer_string("work:pull"),
		answer_string("redis"), answer_string(cause),
		answer_string(why), answer_duration(60 * S),
		answer_duration(22 * S), answer_duration(drag_ns),
		answer_string(usual_of), answer_number(share)));
}

static void
group(uint64_t runs, uint64_t finished, uint64_t errors)
{
	take("groups", 5,
	    KEYS("runs", "queued", "ongoing", "finished", "errors"),
	    CELLS(answer_count(runs), answer_count(0),
		answer_count(runs - finished - errors), answer_count(finished),
		answer_count(errors)));
}

/* ---- sentences ---- */

/* Those about this, a line each. */
static void
says(enum why_about about, const char *wanted)
{
	struct why_sentences all = {
		.partition = text_of("acct$pool"), .options = "", .time = ""
	};
	char text[4000] = "";

	why_say_pool(&all, &pool);
	for (uint32_t i = 0; i < all.count; i++)
		if (all.at[i].about == about) {
			strcat(text, *text == '\0' ? "" : "\n");
			strcat(text, all.at[i].text);
		}
	why_clear(&all);
	assert_string_equal(text, wanted);
}

static int
clear(void **state)
{
	why_facts_clear(&f);
	pool = (struct why_pool){ .facts = &f };
	return 0;
}

/* ---- cases ---- */

static void
nothing_is_said_of_what_is_not_known(void **state)
{
	says(WHY_RECORDS, "The pool has no records.");
	says(WHY_START, "");
	says(WHY_PATH, "");
	says(WHY_NODES, "");
	says(WHY_SLOW, "");
	says(WHY_RUNS, "");
	says(WHY_HELP, "");
	says(WHY_UNTOLD, "");
	says(WHY_LOST, "No records were lost.");
}

static void
one_node_is_no_nodes(void **state)
{
	nodes(1, 0, 0, 0);
	records(1);
	says(WHY_RECORDS,
	    "1 record of 1 node from 2023-11-14T22:13:20Z to "
	    "2023-11-14T22:14:50Z; no start of the pool is known.");
	clear(state);
	nodes(1, 0, 0, 0);
	says(WHY_NODES, "The node needs no attention.");
	clear(state);
	head("question", answer_string("nodes"));
	head("late", answer_count(1));
	records(5);
	says(WHY_NODES, "The node needs no attention.");
	start("ready", 1, 1, 20, 20);
	start("ready", 1, 1, 0.34, 0.34);
	says(WHY_START,
	    "The node is ready since 2023-11-14T22:13:40Z, 20.0 s after it "
	    "began. The start before took 340.0 ms.");
}

/* 30 of 60 are enough, by the model, after 50 s. */
static void
a_pool_is_ready_when_its_share_is(void **state)
{
	start("ready", 60, 60, 90, 90);
	says(WHY_START,
	    "All 60 nodes are ready since 2023-11-14T22:14:50Z, 90.0 s after "
	    "the first began.");
	clear(state);
	start("ready", 60, 60, 90, 50);
	says(WHY_START,
	    "The pool is ready since 2023-11-14T22:14:10Z, 50.0 s after the "
	    "first began.");
	clear(state);
	start("ready", 60, 40, 90, 90);
	says(WHY_START,
	    "The pool is ready since 2023-11-14T22:14:50Z, 90.0 s after the "
	    "first began.");
}

static void
a_start_comes_with_those_before(void **state)
{
	start("starting", 3, 1, 30, NAN);
	start("incomplete", 3, 2, 40, NAN); /* how long is not known */
	start("ready", 3, 3, 720, 720);
	start("ready", 3, 3, 90, 90);
	says(WHY_START,
	    "Starting since 2023-11-14T22:13:20Z: 1 of 3 nodes is ready, the "
	    "last of them after 30.0 s. The 2 starts before took 90.0 s to "
	    "12.0 min.");
	pool.from_ns = 1700000001 * S;
	nodes(3, 0, 0, 0);
	records(12);
	says(WHY_START, "");
	says(WHY_RECORDS, "12 records of 3 nodes from 2023-11-14T22:13:20Z to "
			  "2023-11-14T22:14:50Z; no start of the pool began in "
			  "this time, the "
			  "newest began at 2023-11-14T22:13:20Z.");
	clear(state);
	start("incomplete", 4, 0, NAN, NAN);
	start("ready", 4, 4, 90, 90);
	start("ready", 4, 4, 90, 90);
	says(WHY_START,
	    "The start of 2023-11-14T22:13:20Z is incomplete: 0 of 4 nodes "
	    "became ready. The 2 starts before took 90.0 s.");
	for (int i = 0; i < 2 * WHY_STARTS; i++)
		start("ready", 4, 4, 90, 90);
	says(WHY_START,
	    "The start of 2023-11-14T22:13:20Z is incomplete: 0 of 4 nodes "
	    "became ready. The 20 starts before took 90.0 s.");
}

/* 3 + 50 + 20 + 30 + 4 + 2 + 1 = 110; the two pulls are one, of 80. */
static void
a_path_has_its_longest_parts_first(void **state)
{
	start("ready", 3, 3, 110, 110);
	piece("began", "n3", NULL, NULL, 3);
	says(WHY_PATH, "");
	piece("place", "n1", "work:pull", "redis", 50);
	piece("in", "n3", "work:prep", NULL, 20);
	piece("place", "n2", "work:pull", "redis", 30);
	piece("wait", "n3", "work:pull", "big", 4);
	says(WHY_PATH,
	    "107.0 s until n3 was ready: 80.0 s for a place of pull of redis, "
	    "which others had, 20.0 s prep, 4.0 s until pull of big began, 3.0 "
	    "s until n3 began.");
	piece("end", "n3", "work:res", NULL, 2);
	piece("in", "n4", "work:load", NULL, 1);
	says(WHY_PATH,
	    "110.0 s until n4 was ready: 80.0 s for a place of pull of redis, "
	    "which others had, 20.0 s prep, 4.0 s until pull of big began, 3.0 "
	    "s until n3 began, 3.0 s in what is shorter.");
	for (int i = 0; i < 2 * WHY_PIECES; i++) {
		char name[20];

		snprintf(name, sizeof(name), "work:%d", i);
		piece("in", "n4", name, NULL, 1);
	}
	assert_int_equal(f.piece_count, WHY_PIECES);
	assert_int_equal(f.path_ns / S, 110 + 2 * WHY_PIECES);
}

static void
only_those_that_need_attention_are_named(void **state)
{
	nodes(8, 1, 0, 1);
	node("a", true);
	node("b", false);
	says(WHY_NODES, "1 of 9 nodes needs attention: a (not heard).");
	clear(state);
	nodes(0, 5, 0, 5);
	records(10);
	node("a", true);
	node("b", true);
	node("c", true);
	node("d", true);
	says(WHY_NODES,
	    "Nothing was heard since 2023-11-14T22:14:50Z, 90.0 s before this "
	    "answer. 5 of 5 nodes need attention: a (not heard), b (not "
	    "heard), c (not heard) and 2 more.");
	clear(state);
	nodes(0, 0, 3, 0);
	records(10);
	says(WHY_NODES,
	    "Nothing was heard since 2023-11-14T22:14:50Z, 90.0 s before this "
	    "answer.");
}

static void
two_are_both(void **state)
{
	start("ready", 2, 2, 90, 90);
	says(WHY_START,
	    "Both nodes are ready since 2023-11-14T22:14:50Z, 90.0 s after the "
	    "first began.");
}

/* A pool of nothing but results of benchmarks. */
static void
records_without_a_time_have_none(void **state)
{
	nodes(0, 0, 1, 0);
	take("pools", 4, KEYS("records", "oldest", "newest", "age"),
	    CELLS(answer_count(290), answer_time(ANSWER_NO_NS),
		answer_time(ANSWER_NO_NS), answer_duration(ANSWER_NO_NS)));
	says(WHY_RECORDS, "290 records without a time of a node, such as "
			  "results of benchmarks.");
	says(WHY_NODES, "");
}

static void
one_node_that_is_not_ready_is_no_share(void **state)
{
	start("starting", 1, 0, NAN, NAN);
	says(WHY_START,
	    "Starting since 2023-11-14T22:13:20Z: the node is not ready.");
	clear(state);
	start("incomplete", 1, 0, NAN, NAN);
	says(WHY_START, "The start of 2023-11-14T22:13:20Z is incomplete: the "
			"node did not become ready.");
}

/* 3 ms are in the sum, and in no part. */
static void
what_rounds_to_nothing_is_no_part(void **state)
{
	start("ready", 1, 1, 4.4, 4.4);
	piece("in", "n1", "work:prep", NULL, 2);
	piece("wait", "n1", "work:load", NULL, 0.003);
	piece("in", "n1", "work:load", NULL, 2.4);
	says(WHY_PATH, "4.4 s until n1 was ready: 2.4 s load, 2.0 s prep.");
}

/* Nodes that only imports brought are never heard. */
static void
imported_nodes_have_records(void **state)
{
	head("question", answer_string("nodes"));
	head("imported", answer_count(2));
	records(7);
	says(WHY_RECORDS,
	    "7 records of 2 nodes from 2023-11-14T22:13:20Z to "
	    "2023-11-14T22:14:50Z; no start of the pool is known.");
	says(WHY_NODES, "");
}

/* Above by a second, and by a quarter: 12.5 s of 10 s are, 1.9 s of 1 s are
 * not, 104 s of 100 s neither. */
static void
slow_is_by_a_second_and_a_quarter(void **state)
{
	slow("a", 104 * S, 100 * S, false);
	slow("b", 19 * S / 10, S, false);
	says(WHY_SLOW, "No node was much slower than usual.");
	f.only = text_of("a");
	says(WHY_SLOW, "Nothing of it was much slower than usual.");
	f.only = text_of("");
	slow("c", 25 * S / 2, 10 * S, false);
	slow("d", 2 * S, S, true);
	says(WHY_SLOW,
	    "c lost most: pull took 12.5 s, usually 10.0 s.\n"
	    "d: pull had taken 2.00 s at its last record, usually 1.00 s.");
	slow("e", 2 * S, S, false);
	slow("g", 2 * S, S, false);
	says(WHY_SLOW,
	    "c lost most: pull took 12.5 s, usually 10.0 s.\n"
	    "d: pull had taken 2.00 s at its last record, usually 1.00 s.\n"
	    "e: pull took 2.00 s, usually 1.00 s; 1 other node was slower, "
	    "too.");
	f.only = text_of("e");
	says(WHY_SLOW,
	    "c lost most: pull took 12.5 s, usually 10.0 s.\n"
	    "d: pull had taken 2.00 s at its last record, usually 1.00 s.\n"
	    "e: pull took 2.00 s, usually 1.00 s; 1 other phase was slower, "
	    "too.");
}

/* How long until now is part of the node's state: not to its last record, too.
 */
static void
an_open_phase_that_needs_attention_is_said_once(void **state)
{
	(void)state;
	nodes(2, 0, 0, 1);
	node("a", true);
	slow("a", 60 * S, S, true);
	slow("b", S, S, false);
	says(WHY_SLOW, "");
	slow("a", 60 * S, S, false);
	slow("c", 60 * S, S, true);
	says(WHY_SLOW, "a lost most: pull took 60.0 s, usually 1.00 s.\n"
		       "c: pull had taken 60.0 s at its last record, usually "
		       "1.00 s.");
}

/* Of too few pulls of redis: the usual time is that of pulls of anything. */
static void
what_is_usual_of_any_key_is_not_of_this_one(void **state)
{
	take("slow", 7,
	    KEYS("node", "phase", "key", "time", "usual", "above", "usual_of"),
	    CELLS(answer_string("a"), answer_string("work:pull"),
		answer_string("redis"), answer_duration(23 * S),
		answer_duration(S), answer_duration(22 * S),
		answer_string("phase")));
	says(WHY_SLOW,
	    "a lost most: pull of redis took 23.0 s, usually 1.00 s, whatever "
	    "is its key.");
}

/* One sentence a node, with what cost most; who is no straggler is not slow. */
static void
a_cause_is_what_its_clause_says(void **state)
{
	straggler(
	    "n9", "disk", "tasks waited for a disk", 0.947, 36 * S, "peers");
	straggler("n9", "cpu", "a second one of it", 1, 9 * S, "peers");
	straggler("n8", "unknown", "nothing that is measured differs", NAN,
	    ANSWER_NO_NS, "node");
	slow("n9", 60 * S, 22 * S, false);
	slow("c", 60 * S, 22 * S, false);
	says(WHY_SLOW,
	    "n9: pull of redis took 60.0 s, on its peers 22.0 s: tasks waited "
	    "for a disk (95 % of what it lost). That cost the pool 36.0 s.\n"
	    "n8: pull of redis took 60.0 s, in its earlier starts 22.0 s: "
	    "nothing that is measured differs.");
	straggler("n7", "began", "it began 100 s after the start, others 0 s",
	    1, 0, "peers");
	straggler("n6", "cpu", "a fourth one", 1, 0, "peers");
	straggler("n8", "cpu", "a second one of it", 1, 0, "peers");
	straggler("n6", "cpu", "a second one of it", 1, 0, "peers");
	says(WHY_SLOW,
	    "n9: pull of redis took 60.0 s, on its peers 22.0 s: tasks waited "
	    "for a disk (95 % of what it lost). That cost the pool 36.0 s.\n"
	    "n8: pull of redis took 60.0 s, in its earlier starts 22.0 s: "
	    "nothing that is measured differs.\n"
	    "n7: it began 100 s after the start, others 0 s. 2 more phases "
	    "were slow on other nodes.");
	clear(state);
	straggler(
	    "n9", "disk", "tasks waited for a disk", 0.947, 36 * S, "peers");
	take("notes", 1, KEYS("key"), CELLS(answer_string("not_judged")));
	slow("n9", 60 * S, 22 * S, false);
	slow("c", 60 * S, 22 * S, false);
	says(WHY_SLOW,
	    "n9: pull of redis took 60.0 s, on its peers 22.0 s: tasks waited "
	    "for a disk (95 % of what it lost). That cost the pool 36.0 s.\n"
	    "c: pull took 60.0 s, usually 22.0 s.");
}

/* Of the one that is asked for all phases are. */
static void
all_phases_of_one_node_are_there(void **state)
{
	f.only = text_of("n9");
	for (int i = 0; i < WHY_NAMED + 1; i++)
		straggler("n9", "began", "it began late", 1, 0, "peers");
	says(WHY_SLOW, "n9: it began late.\nn9: it began late.\nn9: it began "
		       "late. 1 more phase was slow.");
}

static void
what_helps_most_at_worst_is_said(void **state)
{
	struct why_help helps[] = {
		{ "places", (char *)(uintptr_t) "redis=+2",
		    (char *)(uintptr_t) "with 2 more places", 92 * S, 41 * S },
		{ "length", (char *)(uintptr_t) "pull=0.5",
		    (char *)(uintptr_t) "had pull taken half as long", 45 * S,
		    45 * S },
	};

	pool.helps = helps;
	pool.help_count = 1;
	says(WHY_HELP,
	    "It would have been ready 41.0 s to 92.0 s earlier with 2 more "
	    "places, all else being as it was.");
	pool.help_count = 2;
	says(WHY_HELP,
	    "It would have been ready 45.0 s earlier had pull taken half as "
	    "long, all else being as it was.");
	helps[0].worst_ns = -S;
	helps[1].best_ns = helps[1].worst_ns = 0;
	says(WHY_HELP,
	    "Alone, it would not surely have been ready earlier with 2 more "
	    "places or had pull taken half as long.");
	pool.no_help = "the replay differs";
	says(
	    WHY_UNTOLD, "It is not known what would help: the replay differs.");
}

/* A tenth of the path at least: of 100 s 10, but not 9. */
static void
what_is_worth_it_is_asked(void **state)
{
	struct why_help helps[WHY_HELPS];

	piece("in", "n1", "work:prep", NULL, 60);
	assert_int_equal(why_helps_find(helps, &f), 0);
	piece("began", "n[1]", NULL, NULL, 10);
	piece("place", "n2", "work:pull", "redis", 9);
	piece("in", "n1", "work:load", "redis", 21);
	assert_int_equal(why_helps_find(helps, &f), 2);
	assert_string_equal(helps[0].option, "begin");
	assert_string_equal(helps[0].argument, "n\\[1\\]=0");
	assert_string_equal(helps[1].argument, "work:prep,*=0.5");
	for (int i = 0; i < 2; i++) {
		free(helps[i].argument);
		free(helps[i].words);
	}
	clear(state);
	piece("wait", "n1", "work:pull", NULL, 90);
	piece("place", "n2", "work:pull", "redis", 10);
	assert_int_equal(why_helps_find(helps, &f), 1);
	assert_string_equal(helps[0].argument, "redis=+2");
	free(helps[0].argument);
	free(helps[0].words);
}

/* One of the five that ended, of all eight. */
static void
errors_are_a_share_of_the_runs_that_ended(void **state)
{
	group(3, 3, 0);
	says(WHY_RUNS,
	    "3 runs in 1 group: 3 finished, 0 with an error, 0 ongoing, 0 "
	    "queued.");
	group(5, 1, 1);
	says(WHY_RUNS,
	    "8 runs in 2 groups: 4 finished, 1 with an error (20.0 % of those "
	    "that ended), 3 ongoing, 0 queued.");
	says(WHY_RECORDS, "");
}

static void
notes_say_what_is_not_known(void **state)
{
	head("question", answer_string("starts"));
	take("notes", 3, KEYS("key", "count", "text"),
	    CELLS(answer_string("left_out"), answer_count(2),
		answer_string("2 starts are left out")));
	says(WHY_UNTOLD, "");
	nodes(1, 0, 0, 0);
	take("notes", 3, KEYS("key", "count", "text"),
	    CELLS(answer_string("left_out"), answer_count(2),
		answer_string("not known are lost records")));
	says(WHY_UNTOLD, "not known are lost records.");
	take("notes", 3, KEYS("key", "count", "text"),
	    CELLS(answer_string("no_words"), answer_count(ANSWER_NO_COUNT),
		answer_string("the model says nothing")));
	assert_true(f.has_no_words);
	pool.lost = "2 records were lost";
	says(WHY_LOST, "2 records were lost.");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
		    nothing_is_said_of_what_is_not_known, clear),
		cmocka_unit_test_teardown(one_node_is_no_nodes, clear),
		cmocka_unit_test_teardown(
		    a_pool_is_ready_when_its_share_is, clear),
		cmocka_unit_test_teardown(
		    a_start_comes_with_those_before, clear),
		cmocka_unit_test_teardown(
		    a_path_has_its_longest_parts_first, clear),
		cmocka_unit_test_teardown(
		    only_those_that_need_attention_are_named, clear),
		cmocka_unit_test_teardown(imported_nodes_have_records, clear),
		cmocka_unit_test_teardown(
		    slow_is_by_a_second_and_a_quarter, clear),
		cmocka_unit_test_teardown(
		    an_open_phase_that_needs_attention_is_said_once, clear),
		cmocka_unit_test_teardown(
		    what_is_usual_of_any_key_is_not_of_this_one, clear),
		cmocka_unit_test_teardown(
		    a_cause_is_what_its_clause_says, clear),
		cmocka_unit_test_teardown(
		    all_phases_of_one_node_are_there, clear),
		cmocka_unit_test_teardown(two_are_both, clear),
		cmocka_unit_test_teardown(
		    one_node_that_is_not_ready_is_no_share, clear),
		cmocka_unit_test_teardown(
		    what_rounds_to_nothing_is_no_part, clear),
		cmocka_unit_test_teardown(
		    records_without_a_time_have_none, clear),
		cmocka_unit_test_teardown(
		    what_helps_most_at_worst_is_said, clear),
		cmocka_unit_test_teardown(what_is_worth_it_is_asked, clear),
		cmocka_unit_test_teardown(
		    errors_are_a_share_of_the_runs_that_ended, clear),
		cmocka_unit_test_teardown(notes_say_what_is_not_known, clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * report_findings - the sentences of a report, and which metrics it shows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/report/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "tests/unit/check.h"

#define S INT64_C(1000000000)

static struct report_findings f;

/* A row of a table: names and cells. */
static void
take(const char *table, uint32_t count, const char *const *names,
    const struct answer_cell *cells)
{
	struct answer_column columns[8];
	const struct answer_taken row = { table, columns, count, cells };

	for (uint32_t i = 0; i < count; i++)
		columns[i] = (struct answer_column){ .key = names[i] };
	report_findings_take(&f, &row);
}

static void
pool(uint64_t nodes, uint64_t live, uint64_t late, uint64_t records)
{
	take("pools", 7,
	    (const char *const[]){
		"nodes", "live", "late", "records", "oldest", "newest", "age" },
	    (const struct answer_cell[]){ answer_count(nodes),
		answer_count(live), answer_count(late), answer_count(records),
		answer_time(records > 0 ? 1700000000 * S : ANSWER_NO_NS),
		answer_time(records > 0 ? 1700000090 * S : ANSWER_NO_NS),
		answer_duration(records > 0 ? 90 * S : ANSWER_NO_NS) });
}

static void
start(const char *state, uint64_t nodes, uint64_t ready, double last)
{
	take("starts", 6,
	    (const char *const[]){
		"start", "state", "nodes", "ready", "last_ready", "duration" },
	    (const struct answer_cell[]){ answer_time(1700000000 * S),
		answer_string(state), answer_count(nodes), answer_count(ready),
		answer_number(last),
		answer_number(nodes == ready ? last : NAN) });
}

static void
group(uint64_t runs, uint64_t queued, uint64_t ongoing, uint64_t finished,
    uint64_t errors)
{
	take("groups", 5,
	    (const char *const[]){
		"runs", "queued", "ongoing", "finished", "errors" },
	    (const struct answer_cell[]){ answer_count(runs),
		answer_count(queued), answer_count(ongoing),
		answer_count(finished), answer_count(errors) });
}

static void
slow(const char *node, int64_t time, int64_t usual)
{
	take("slow", 7,
	    (const char *const[]){
		"node", "phase", "key", "time", "usual", "above", "open" },
	    (const struct answer_cell[]){ answer_string(node),
		answer_string("work:pull"), answer_string(NULL),
		answer_duration(time), answer_duration(usual),
		answer_duration(time - usual), answer_flag(false) });
}

static void
node(const char *name)
{
	take("nodes", 3, (const char *const[]){ "node", "wrong", "attention" },
	    (const struct answer_cell[]){ answer_string(name),
		answer_string("not heard"), answer_flag(true) });
}

static void
metric(const char *name, double low, double high)
{
	take("samples", 6,
	    (const char *const[]){
		"metric", "group", "unit", "min", "mean", "max" },
	    (const struct answer_cell[]){ answer_string(name),
		answer_string("g"), answer_string("1"), answer_number(low),
		answer_number(low), answer_number(high) });
}

static void
says(enum report_subject of, const char *wanted)
{
	char *sentence = report_sentence(&f, of);

	if (wanted == NULL)
		assert_null(sentence);
	else
		assert_string_equal(sentence, wanted);
	free(sentence);
}

/* The names of those that are shown, with blanks between them. */
static void
shows(const char *wanted)
{
	const struct report_metric *chosen[REPORT_METRICS];
	uint32_t count = report_metrics_choose(&f, chosen);
	char names[400] = "";

	for (uint32_t i = 0; i < count; i++) {
		strcat(names, i > 0 ? " " : "");
		strncat(names, chosen[i]->metric.at, chosen[i]->metric.bytes);
	}
	assert_string_equal(names, wanted);
}

static void
nothing_is_said_of_what_is_not_known(void **state)
{
	(void)state;
	says(REPORT_START, "The pool has no records.");
	says(REPORT_RUNS, NULL);
	says(REPORT_SLOW, NULL);
	says(REPORT_ATTENTION, NULL);
	pool(2, 0, 0, 0);
	says(REPORT_START, "The pool has no records.");
	report_findings_clear(&f);
}

static void
one_node_is_no_nodes(void **state)
{
	(void)state;
	pool(1, 0, 1, 1);
	says(REPORT_START,
	    "1 record of 1 node from 2023-11-14T22:13:20Z to "
	    "2023-11-14T22:14:50Z; no start of the pool is known.");
	says(REPORT_ATTENTION,
	    "The node needs no attention. No records were lost.");
	start("ready", 1, 1, 20);
	start("ready", 1, 1, 0.34);
	says(REPORT_START,
	    "The node is ready since 2023-11-14T22:13:40Z, 20.0 s after it "
	    "began. The start before took 340.0 ms.");
	report_findings_clear(&f);
}

static void
a_start_comes_with_those_before(void **state)
{
	(void)state;
	pool(3, 0, 0, 5);
	start("starting", 3, 1, 30);
	start("incomplete", 3, 2, 40); /* how long is not known */
	start("ready", 3, 3, 720);
	start("ready", 3, 3, 90);
	start("ready", 3, 3, 5); /* more than are reported */
	says(REPORT_START,
	    "Starting since 2023-11-14T22:13:20Z: 1 of 3 nodes is ready, the "
	    "last of them after 30.0 s. The 2 starts before took 90.0 s to "
	    "12.0 min.");
	says(REPORT_ATTENTION,
	    "Nothing was heard since 2023-11-14T22:14:50Z, 90.0 s before this "
	    "report. No node needs attention. No records were lost.");
	f.from_ns = 1700000001 * S;
	says(REPORT_START,
	    "5 records of 3 nodes from 2023-11-14T22:13:20Z to "
	    "2023-11-14T22:14:50Z; no start of the pool is known.");
	report_findings_clear(&f);
	start("incomplete", 4, 0, NAN);
	says(REPORT_START,
	    "The start of 2023-11-14T22:13:20Z is incomplete: 0 of 4 nodes "
	    "became ready.");
	report_findings_clear(&f);
}

/* One of the five that ended, of all eight. */
static void
errors_are_a_share_of_the_runs_that_ended(void **state)
{
	(void)state;
	group(3, 0, 0, 3, 0);
	says(REPORT_RUNS,
	    "3 runs in 1 group: 3 finished, 0 with an error, 0 ongoing, 0 "
	    "queued.");
	group(5, 1, 2, 1, 1);
	says(REPORT_RUNS,
	    "8 runs in 2 groups: 4 finished, 1 with an error (20.0 % of those "
	    "that ended), 2 ongoing, 1 queued.");
	report_findings_clear(&f);
}

/* Above by a second, and by a quarter: 12.5 s of 10 s are, 1.9 s of 1 s are
 * not, 104 s of 100 s neither. */
static void
slow_is_by_a_second_and_a_quarter(void **state)
{
	(void)state;
	slow("a", 104 * S, 100 * S);
	slow("b", 19 * S / 10, S);
	says(REPORT_SLOW, "No node was much slower than usual.");
	slow("c", 25 * S / 2, 10 * S);
	says(REPORT_SLOW, "c lost most: pull took 12.5 s, usually 10.0 s.");
	slow("d", 2 * S, S);
	says(REPORT_SLOW,
	    "c lost most: pull took 12.5 s, usually 10.0 s; 1 other node was "
	    "slower, too.");
	report_findings_clear(&f);
}

static void
only_those_that_need_attention_are_named(void **state)
{
	(void)state;
	pool(9, 8, 0, 5);
	node("a");
	says(REPORT_ATTENTION,
	    "1 of 9 nodes needs attention: a (not heard). No records were "
	    "lost.");
	node("b");
	node("c");
	node("d");
	node("e");
	take("notes", 3, (const char *const[]){ "key", "count", "text" },
	    (const struct answer_cell[]){ answer_string("lost"),
		answer_count(2), answer_string("2 records were lost") });
	says(REPORT_ATTENTION,
	    "5 of 9 nodes need attention: a (not heard), b (not heard), c (not "
	    "heard) and 2 more. 2 records were lost.");
	report_findings_clear(&f);
}

/* In each round the next of each kind; what is idle, free, constant or of the
 * agent is not shown.  flow changed by all of its greatest value, step by a
 * half. */
static void
metrics_that_changed_most_are_shown(void **state)
{
	char *left_out;

	(void)state;
	metric("app.step", 50, 100);
	metric("app.flow", 0, 1);
	metric("app.flat", 7, 7);
	metric("poolscope.agent.records", 0, 9);
	metric("system.cpu.time.idle", 0, 100);
	metric("system.cpu.time.system", 0, 10);
	metric("system.cpu.time.user", 0, 90);
	metric("system.cpu.time.nice", 0, 50);
	metric("system.cpu.time.iowait", NAN, NAN);
	metric("system.memory.usage.used", 1, 2);
	metric("system.disk.io.read", 0, 3);
	shows("system.cpu.time.user system.memory.usage.used "
	      "system.disk.io.read app.flow system.cpu.time.nice app.step "
	      "system.cpu.time.system");
	left_out = report_metrics_left_out(&f, text_of("acct$pool"));
	assert_string_equal(left_out,
	    "4 other metrics (poolscope stats samples -p 'acct$pool')");
	free(left_out);
	report_findings_clear(&f);
	for (int i = 0; i < 30; i++) {
		char name[20];

		snprintf(name, sizeof(name), "app.m%02d", i);
		metric(name, i, 100);
	}
	shows("app.m00 app.m01 app.m02 app.m03 app.m04 app.m05 app.m06 app.m07 "
	      "app.m08 app.m09");
	report_findings_clear(&f);
	for (int i = 30; i-- > 0;) {
		char name[20];

		snprintf(name, sizeof(name), "app.m%02d", i);
		metric(name, i, 100);
	}
	shows("app.m00 app.m01 app.m02 app.m03 app.m04 app.m05 app.m06 app.m07 "
	      "app.m08 app.m09");
	report_findings_clear(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said_of_what_is_not_known),
		cmocka_unit_test(one_node_is_no_nodes),
		cmocka_unit_test(a_start_comes_with_those_before),
		cmocka_unit_test(errors_are_a_share_of_the_runs_that_ended),
		cmocka_unit_test(slow_is_by_a_second_and_a_quarter),
		cmocka_unit_test(only_those_that_need_attention_are_named),
		cmocka_unit_test(metrics_that_changed_most_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

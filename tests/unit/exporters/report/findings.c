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
sentence(const char *about, const char *text)
{
	take("why", 2, (const char *const[]){ "about", "text" },
	    (const struct answer_cell[]){
		answer_string(about), answer_string(text) });
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

/* As many as there is room for, and what was lost in any case: by itself, as
 * nothing that another one links to shows it. */
static void
what_was_lost_is_always_said(void **state)
{
	sentence("nodes", "All are well.");
	for (int i = 0; i < 2 * REPORT_SENTENCES; i++)
		sentence("slow", "One is slow.");
	assert_int_equal(f.sentence_count, REPORT_SENTENCES - 1);
	sentence("lost", "None lost.");
	assert_int_equal(f.sentence_count, REPORT_SENTENCES);
	assert_string_equal(f.sentences[REPORT_SENTENCES - 1], "None lost.");
	sentence("lost", "None lost.");
	assert_int_equal(f.sentence_count, REPORT_SENTENCES);
	report_findings_clear(&f);
}

/* In each round the next of each kind; what is idle, free, constant or of the
 * agent is not shown.  flow changed by all of its greatest value, step by a
 * half. */
static void
metrics_that_changed_most_are_shown(void **state)
{
	char *left_out;

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
		cmocka_unit_test(what_was_lost_is_always_said),
		cmocka_unit_test(metrics_that_changed_most_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * import_perf - reports become samples, to the bit; what is bad is named.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/perf.h"

#include <sys/mman.h>
#include <unistd.h>

#include "proto/metric/metric_groups.h"
#include "proto/record/perf_group.h"
#include "tests/unit/check.h"

#define HEAD                                                                   \
	"{\"cpu_pct_per_cpu_avg\":13.475,\"cpu_pct_per_cpu_min\":0,"           \
	"\"cpu_pct_per_cpu_max\":33.7,\"mem_percent\":50.9,"                   \
	"\"disk_usage_percent\":30.1,\"disk_io_read_mb\":702.2902565002441,"   \
	"\"disk_io_write_mb\":-0.0,\"net_io_lo_sent_mb\":1,"                   \
	"\"net_io_ext_sent_mb\":2,\"net_io_lo_recv_mb\":3,"                    \
	"\"net_io_ext_recv_mb\":4e-320,\"more\":[{\"]\":\"}\\\"\"}],"
#define REPORT HEAD "\"timestamp\":1650000001.004768612}"

static struct import_file file;
static struct import_perf perf;
static struct import_row row;
static struct err err;

static void
open_text(const char *text)
{
	char path[64];
	int fd = memfd_create("reports", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(import_file_open(&file, path, &err), 0);
	close(fd);
	memset(&perf, 0, sizeof(perf));
}

static int
close_text(void **state)
{
	import_file_close(&file);
	import_row_clear(&row);
	return 0;
}

static void
assert_row(enum record_kind kind, const char *node)
{
	assert_int_equal(
	    import_perf_next(&perf, &file, &row, &err), IMPORT_LINE);
	assert_int_equal(row.record.kind, kind);
	assert_true(text_equal(row.record.node, text_of(node)));
	assert_int_equal(record_check(&row.record, &err), 0);
	assert_int_equal(row.aside, kind == RECORD_ENTITY);
}

static void
assert_bad(const char *why)
{
	assert_int_equal(
	    import_perf_next(&perf, &file, &row, &err), IMPORT_TOO_LONG);
	assert_string_equal(err.text, why);
}

static void
assert_end(void)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(
		    import_perf_next(&perf, &file, &row, &err), IMPORT_END);
}

/* The value of the sample in `row` as text that keeps every bit. */
static const char *
number(enum perf_group_column column)
{
	struct text rest = row.record.value_bytes;
	struct value value = { .type = VALUE_TEXT };
	static char text[64];

	for (int i = 0; i <= (int)column; i++)
		assert_true(record_next_value(&rest, &value));
	if (value.type == VALUE_NIL)
		return "nil";
	if (value.type == VALUE_INT)
		snprintf(text, sizeof(text), "%lld", (long long)value.is.i);
	else
		snprintf(text, sizeof(text), "%a", value.is.f);
	return text;
}

static void
a_report_is_a_sample_with_the_numbers_of_the_file(void **state)
{
	char wanted[64];

	open_text("{\"nodes\":[{\"node\":7,\"reports\":[" REPORT "]}]}");
	assert_row(RECORD_ENTITY, "7");
	assert_true(text_equal(row.record.name, text_of("perf")));
	assert_row(RECORD_SAMPLE, "7");
	assert_true(row.record.time_ns == INT64_C(1650000001004768612));
	assert_int_equal(row.record.values, PERF_GROUP_COLUMNS);
	snprintf(wanted, sizeof(wanted), "%a", 702.2902565002441);
	assert_string_equal(number(PERF_GROUP_READ), wanted);
	assert_string_equal(number(PERF_GROUP_CPU_MIN), "0");
	assert_string_equal(number(PERF_GROUP_WRITE), "-0x0p+0");
	assert_string_equal(number(PERF_GROUP_LO_SENT), "1");
	assert_string_equal(number(PERF_GROUP_LO_RECV), "3");
	assert_string_equal(number(PERF_GROUP_EXT_SENT), "2");
	snprintf(wanted, sizeof(wanted), "%a", 4e-320);
	assert_string_equal(number(PERF_GROUP_EXT_RECV), wanted);
	assert_string_equal(number(PERF_GROUP_CPUS), "nil");
	assert_end();
}

static void
both_layouts_and_any_blanks_are_read(void **state)
{
	open_text("\n{ \"0\" : [\r\n" REPORT "\t,\n " REPORT " ] ,\"a b\":["
		  "],\"\\u00e4\":[" REPORT "]\n}\n");
	assert_row(RECORD_ENTITY, "0");
	assert_row(RECORD_SAMPLE, "0");
	assert_row(RECORD_SAMPLE, "0");
	assert_row(RECORD_ENTITY, "a b");
	assert_row(RECORD_SAMPLE, "\xc3\xa4");
	assert_end();
	assert_int_equal(file.line, 6);
}

static void
a_node_without_reports_is_an_entity(void **state)
{
	open_text("{\"nodes\":[{\"node\":\"n\",\"reports\":[]}]}");
	assert_row(RECORD_ENTITY, "n"); /* the set */
	assert_row(RECORD_ENTITY, "n");
	assert_true(text_equal(row.record.source, text_of("node")));
	assert_true(text_equal(row.record.name, text_of("n")));
	assert_end();
}

static void
what_is_bad_is_named_and_the_others_go_on(void **state)
{
	open_text("{\"nodes\":[{\"node\":1,\"reports\":[5,{}," REPORT "," HEAD
		  "\"timestamp\":\"1\"}," HEAD "\"timestamp\":1e300}]},"
		  "{\"node\":2},{\"reports\":[],\"node\":3},8,"
		  "{\"node\":{},\"reports\":[]},{\"node\":6,\"reports\":9},"
		  "{\"node\":\"a\\nb\",\"reports\":[]}]}");
	assert_row(RECORD_ENTITY, "1");
	assert_bad("node 1, report 1: not a JSON object");
	assert_bad("node 1, report 2: \"timestamp\" is missing");
	assert_row(RECORD_SAMPLE, "1");
	assert_bad("node 1, report 4: \"timestamp\" is not a number");
	assert_bad("node 1, report 5: \"timestamp\": time '1e300' is not "
		   "between the years 1900 and 2200");
	assert_bad("node 2: it has no reports");
	assert_bad(
	    "node 3 of the list: the reports are not preceded by a name");
	assert_bad("node 4 of the list: is not an object");
	assert_bad("node 5 of the list: its name is neither a text nor a "
		   "whole number");
	assert_bad(
	    "node 5 of the list: the reports are not preceded by a name");
	assert_bad("node 6: its reports are not a list");
	assert_bad("node 7 of the list: its name contains a control character");
	assert_bad(
	    "node 7 of the list: the reports are not preceded by a name");
	assert_end();
}

static void
behind_what_is_not_json_nothing_is_read(void **state)
{
	static const char *const texts[][2] = {
		{ "", "not JSON: unexpected end; nothing more is read" },
		{ "[]", "not JSON: expected '{' here; nothing more is read" },
		{ "{\"0\":[" REPORT,
		    "node 0, report 2: not JSON: unexpected end; "
		    "nothing more is read" },
		{ "{\"0\":[" REPORT " " REPORT "]}",
		    "node 0, report 2: not JSON: expected ',' here; nothing "
		    "more is read" },
		{ "{\"0\":[" REPORT ",]}",
		    "node 0, report 2: not JSON: expected a value here; "
		    "nothing more is read" },
		{ "{\"0\":[" REPORT "]} {}",
		    "something follows the end of the object" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		enum import_next next;

		open_text(texts[i][0]);
		do
			next = import_perf_next(&perf, &file, &row, &err);
		while (next == IMPORT_LINE);
		assert_int_equal(next, IMPORT_TOO_LONG);
		assert_string_equal(err.text, texts[i][1]);
		assert_end();
		assert_int_equal(close_text(state), 0);
	}
}

static void
a_report_over_the_limit_is_passed_over_whole(void **state)
{
	char *text = malloc(4 << 20), *p = text;

	p = stpcpy(p, "{\"0\":[\"");
	memset(p, 'x', 3 << 20);
	p = stpcpy(p + (3 << 20), "\"," REPORT "]}");
	open_text(text);
	free(text);
	assert_row(RECORD_ENTITY, "0");
	assert_bad("node 0, report 1: is longer than 1048576 bytes");
	assert_row(RECORD_SAMPLE, "0");
	assert_end();
}

static void
the_agents_own_reports_have_the_same_columns(void **state)
{
	assert_int_equal(metric_group_perf.count, PERF_GROUP_COLUMNS);
	for (uint32_t i = 0; i < PERF_GROUP_COLUMNS; i++) {
		assert_string_equal(metric_group_perf.columns[i].name,
		    perf_group_columns[i].name);
		assert_string_equal(metric_group_perf.columns[i].unit,
		    perf_group_columns[i].unit);
		assert_false(metric_group_perf.columns[i].counter);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
		    a_report_is_a_sample_with_the_numbers_of_the_file,
		    close_text),
		cmocka_unit_test_teardown(
		    both_layouts_and_any_blanks_are_read, close_text),
		cmocka_unit_test_teardown(
		    a_node_without_reports_is_an_entity, close_text),
		cmocka_unit_test_teardown(
		    what_is_bad_is_named_and_the_others_go_on, close_text),
		cmocka_unit_test(behind_what_is_not_json_nothing_is_read),
		cmocka_unit_test_teardown(
		    a_report_over_the_limit_is_passed_over_whole, close_text),
		cmocka_unit_test(the_agents_own_reports_have_the_same_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * metric_columns - tests of aggregator/rollup/metric_columns.h, with metric
 * groups that were sent and indexed.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/metric_columns.h"

#include "aggregator/tables/dictionary.h"
#include "proto/record/counter_rate.h"
#include "tests/unit/aggregator/pool.h"

static void
define(const char *group, const char *names, const char *types)
{
	unsigned char bytes[1024];
	struct wire_writer w;
	struct record record = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of(group),
		.attributes = 2 };

	wire_writer_init(&w, bytes, sizeof(bytes));
	wire_put_text_attribute(&w, text_of("names"), text_of(names));
	wire_put_text_attribute(&w, text_of("types"), text_of(types));
	record.pairs = (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	rig_record(&rig, "n", &record);
	rig_send(&rig, 0);
	rig_indexer(&rig);
}

/* What is found, as "columns boot: index name type ...". */
static void
assert_found(const char *group, const char *pattern, const char *want)
{
	struct metric_columns columns = { .columns = 9, .count = 0 };
	struct err err = { 0 };
	struct db_txn *txn;
	uint32_t partition;
	char got[1024];
	size_t at;

	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	partition = dictionary_find(txn, 0, text_of(RIG_PARTITION));
	metric_columns_find(
	    &columns, txn, partition, text_of(group), text_of(pattern));
	at = (size_t)snprintf(got, sizeof(got), "%u %d:", columns.columns,
	    columns.boot == UINT32_MAX ? -1 : (int)columns.boot);
	for (uint32_t i = 0; i < columns.count; i++)
		at += (size_t)snprintf(got + at, sizeof(got) - at,
		    " %u %.*s %s", columns.wanted[i].index,
		    (int)columns.wanted[i].name.bytes,
		    columns.wanted[i].name.at,
		    columns.wanted[i].counter ? "c" : "g");
	assert_string_equal(got, want);
	metric_columns_clear(&columns);
	db_abort(&txn);
}

static void
columns_are_in_the_order_of_their_names(void **state)
{
	define("disk", "reads busy writes", "counter gauge counter");
	assert_found("disk", "", "3 -1: 0 reads c 1 busy g 2 writes c");
	assert_found("disk", "*s", "3 -1: 0 reads c 2 writes c");
	assert_found("disk", "busy", "3 -1: 1 busy g");
	assert_found("disk", " writes b* x ", "3 -1: 1 busy g 2 writes c");
	assert_found("disk", "none", "3 -1:");
}

static void
the_boot_column_is_no_metric(void **state)
{
	define("net", "in " COUNTER_RATE_BOOT_COLUMN " out",
	    "counter gauge counter");
	assert_found("net", "", "3 1: 0 in c 2 out c");
}

static void
a_metric_without_a_type_is_a_gauge(void **state)
{
	define("few", "  a   b c ", "counter");
	assert_found("few", "", "3 -1: 0 a c 1 b g 2 c g");
}

static void
a_group_that_is_not_defined_has_no_columns(void **state)
{
	assert_found("disk", "", "0 -1:");
	define("disk", "reads", "counter");
	assert_found("dis", "", "0 -1:");
	assert_found("disk", "", "1 -1: 0 reads c");
}

static void
a_boot_number_is_a_positive_integer(void **state)
{
	const struct {
		struct value value;
		uint64_t boot;
	} cases[] = {
		{ { VALUE_INT, { .i = 7 } }, 7 },
		{ { VALUE_INT, { .i = -7 } }, 0 },
		{ { VALUE_UINT, { .u = UINT64_MAX } }, UINT64_MAX },
		{ { VALUE_FLOAT, { .f = 7 } }, 0 },
		{ { .type = VALUE_NIL }, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_true(
		    metric_columns_boot(&cases[i].value) == cases[i].boot);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(columns_are_in_the_order_of_their_names),
		CASE(the_boot_column_is_no_metric),
		CASE(a_metric_without_a_type_is_a_gauge),
		CASE(a_group_that_is_not_defined_has_no_columns),
		cmocka_unit_test(a_boot_number_is_a_positive_integer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

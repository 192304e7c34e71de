/*
 * mlflow_system - what curves are called.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/mlflow.h"
#include "exporters/upload/metrics.h"

#include "tests/unit/check.h"

static struct mlflow_keys keys;

static int
begin(void **state)
{
	string_table_init(&keys.keys);
	return 0;
}

static int
end(void **state)
{
	mlflow_keys_clear(&keys);
	return 0;
}

static void
assert_key(uint32_t number, const char *node, const char *set,
    const char *metric, const char *wanted)
{
	const struct series_point point = { .number = number,
		.node = text_of(node),
		.group = text_of(set),
		.metric = text_of(metric) };
	struct text key = mlflow_system_key(&keys, &point);
	char got[MLFLOW_KEY_BYTES_MAX + 1];

	assert_in_range(key.bytes, 1, MLFLOW_KEY_BYTES_MAX);
	snprintf(got, sizeof(got), "%.*s", (int)key.bytes, key.at);
	assert_string_equal(got, wanted);
}

static void
a_curve_keeps_its_name_and_no_two_have_one(void **state)
{
	assert_key(2, "n1", "host", "cpu", "system/n1/cpu");
	assert_key(0, "n1", "perf", "cpu", "system/n1/perf.cpu");
	assert_key(1, "n2", "perf", "cpu", "system/n2/cpu");
	assert_key(2, "n1", "host", "cpu", "system/n1/cpu");
	assert_key(0, "n1", "perf", "cpu", "system/n1/perf.cpu");
	assert_key(5, "n1", "pe:rf", "cpu", "system/n1/pe_rf.cpu");
	assert_key(6, "n1", "pe/rf", "cpu", "system/n1/pe_rf.cpu-2");
}

static void
a_name_is_what_mlflow_takes_as_a_path(void **state)
{
	char name[256], wanted[256];

	assert_key(0, "a/b:c", "s", "\xC3\xA4 %", "system/a_b_c/__ _");
	assert_key(1, "..", "s", "m", "system/_/m");
	assert_key(2, "...", "s", ".", "system/_/_");
	memset(name, 'x', sizeof(name));
	name[255] = '\0';
	snprintf(wanted, sizeof(wanted), "system/%.100s/%.100s", name, name);
	assert_key(3, name, name, name, wanted);
	snprintf(wanted, sizeof(wanted), "system/%.70s/%.70s.%.70s", name, name,
	    name);
	assert_key(4, name, name, name, wanted);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    a_curve_keeps_its_name_and_no_two_have_one, begin, end),
		cmocka_unit_test_setup_teardown(
		    a_name_is_what_mlflow_takes_as_a_path, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

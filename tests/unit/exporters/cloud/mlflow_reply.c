/*
 * mlflow_reply - what a tracking server answers, as its REST API says.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/mlflow_reply.h"

#include "tests/unit/check.h"

#define RUN(id, start)                                                         \
	"{\"info\": {\"run_id\": \"" id "\", \"status\": \"RUNNING\", "        \
	"\"start_time\": " start ", \"lifecycle_stage\": \"active\", "         \
	"\"artifact_uri\": \"mlflow-artifacts:/1/" id "/artifacts\"}, "        \
	"\"data\": {\"tags\": [{\"key\": \"mlflow.user\", \"value\": "         \
	"\"u\"}, {\"key\": \"poolscope.partition\", \"value\": \"p\"}]}}"

static void
a_run_says_where_its_artifacts_are_and_whose_it_is(void **state)
{
	struct mlflow_run run;
	struct err err = { 0 };

	assert_int_equal(mlflow_read_run(&run,
			     text_of("{\"run\": " RUN("ab12", "15") "}"), &err),
	    0);
	assert_string_equal(run.id, "ab12");
	assert_string_equal(
	    run.artifacts, "mlflow-artifacts:/1/ab12/artifacts");
	assert_int_equal(run.start_ms, 15);
	assert_true(run.active && run.running && run.ours);
	assert_int_equal(
	    mlflow_read_run(&run,
		text_of("{\"run\": {\"info\": {\"run_id\": \"x\", "
			"\"start_time\": \"1650000000123\", \"status\": "
			"\"FINISHED\", \"lifecycle_stage\": \"deleted\"}}}"),
		&err),
	    0);
	assert_int_equal(run.start_ms, 1650000000123);
	assert_false(run.active || run.running || run.ours);
	assert_string_equal(run.artifacts, "");
}

static void
of_several_runs_it_is_the_one_that_began_first(void **state)
{
	struct mlflow_run run;
	struct err err = { 0 };
	bool found;

	assert_int_equal(mlflow_read_runs(&run, &found,
			     text_of("{\"runs\": [" RUN("c", "7") ", " RUN(
				 "b", "6") ", " RUN("a", "6") "]}"),
			     &err),
	    0);
	assert_true(found);
	assert_string_equal(run.id, "a");
	assert_int_equal(
	    mlflow_read_runs(&run, &found, text_of("{}"), &err), 0);
	assert_false(found);
	assert_int_equal(
	    mlflow_read_runs(&run, &found, text_of("[]"), &err), -1);
}

static void
an_id_that_is_none_is_not_used(void **state)
{
	struct mlflow_run run;
	struct err err = { 0 };

	assert_int_equal(mlflow_read_run(&run,
			     text_of("{\"run\": " RUN("../x", "1") "}"), &err),
	    -1);
	assert_string_equal(err.text, "the answer has no run_id");
	assert_int_equal(mlflow_read_run(&run, text_of("{}"), &err), -1);
	assert_int_equal(mlflow_read_run(&run, text_of(""), &err), -1);
}

static void
an_experiment_comes_in_two_ways(void **state)
{
	char id[MLFLOW_ID_BYTES_MAX + 1];
	struct err err = { 0 };
	bool active;

	assert_int_equal(
	    mlflow_read_experiment(id, &active,
		text_of("{\"experiment\": {\"experiment_id\": \"3\", "
			"\"lifecycle_stage\": \"deleted\"}}"),
		&err),
	    0);
	assert_string_equal(id, "3");
	assert_false(active);
	assert_int_equal(mlflow_read_experiment(id, &active,
			     text_of("{\"experiment_id\": \"4\"}"), &err),
	    0);
	assert_string_equal(id, "4");
	assert_true(active);
	assert_int_equal(
	    mlflow_read_experiment(id, &active, text_of("{}"), &err), -1);
}

static void
an_error_is_a_code_and_a_sentence(void **state)
{
	static const char error[] = "{\"error_code\": \"INVALID\", "
				    "\"message\": \"no\\u001b[1m\"}";
	struct err err = { 0 };

	assert_true(mlflow_read_error(text_of(error), &err));
	assert_string_equal(err.text, "INVALID: no\\x1B[1m");
	assert_true(mlflow_error_is(text_of(error), "INVALID"));
	assert_false(mlflow_error_is(text_of(error), "OTHER"));
	assert_false(mlflow_read_error(text_of("<html>"), &err));
	assert_false(mlflow_error_is(text_of("<html>"), "INVALID"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_run_says_where_its_artifacts_are_and_whose_it_is),
		cmocka_unit_test(
		    of_several_runs_it_is_the_one_that_began_first),
		cmocka_unit_test(an_id_that_is_none_is_not_used),
		cmocka_unit_test(an_experiment_comes_in_two_ways),
		cmocka_unit_test(an_error_is_a_code_and_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * model - tests of aggregator/model/model.h, and of the installed models.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "aggregator/model/model.h"

static struct model_set set;

static int
tear_down(void **state)
{
	model_set_clear(&set);
	return 0;
}

static int
parse(const char *text, struct err *err)
{
	return model_parse(&set, "m.conf", text_of("m"), text_of(text), err);
}

static void
a_phase_has_all_its_options(void **state)
{
	const struct model_phase *phase;
	struct err err = { 0 };

	assert_int_equal(
	    parse("message = \"kv\"\n"
		  "phase \"a b\" { start = \"x:y\" end = \"x:z\"\n"
		  " scope = \"run\" run = \"id\" key = \"img\"\n"
		  " measured = \"diff\" unmatched = \"ignore\"\n"
		  " required = true }\n"
		  "phase \"c\" { start = \"x:z\" end = \"x:y:z\" }\n"
		  "view \"v\" { sum = { \"a b\", \"c\" } }\n",
		&err),
	    0);
	assert_int_equal(set.phases, 2);
	phase = &set.phase[0];
	assert_true(text_equal(phase->id, text_of("m:a b")));
	assert_true(text_equal(phase->start, text_of("x:y")));
	assert_true(text_equal(phase->end, text_of("x:z")));
	assert_true(text_equal(phase->run, text_of("id")));
	assert_true(text_equal(phase->key, text_of("img")));
	assert_true(text_equal(phase->measured, text_of("diff")));
	assert_true(phase->kv && phase->required && phase->ignore_unmatched);
	phase = &set.phase[1];
	assert_int_equal(phase->run.bytes, 0);
	assert_int_equal(phase->key.bytes, 0);
	assert_true(phase->kv);
	assert_false(phase->required || phase->ignore_unmatched);
	assert_int_equal(set.views, 1);
	assert_true(text_equal(set.view[0].sum[1], text_of("m:c")));
}

static void
errors_have_their_line(void **state)
{
	static const struct {
		const char *text, *sentence;
	} wrong[] = {
		{ "x = 1", "m.conf:1: no such option 'x'" },
		{ "phase \"a\" {\n start = \"x:y\"\n}",
		    "m.conf:3: phase \"a\" needs start and end, each "
		    "\"source:name\"" },
		{ "# one\n// two\n/* three\n */ # \"\nx = 1",
		    "m.conf:5: no such option 'x'" },
		{ "phase \"a#\" {\n start = \"x://y\" // {\n}",
		    "m.conf:3: phase \"a#\" needs start and end, each "
		    "\"source:name\"" },
		{ "phase \"a\" { start = \"x:y\" end = \"x:y\" }",
		    "m.conf:1: phase \"a\" starts and ends with the same "
		    "event" },
		{ "phase \"a\" { start = \"x:y\" end = \"z\" }",
		    "m.conf:1: phase \"a\" needs start and end, each "
		    "\"source:name\"" },
		{ "\n\nphase \"a\" { start = \"x:y\" end = \"x:z\" }\n"
		  "phase \"a\" { start = \"x:y\" end = \"x:z\" }",
		    "m.conf:4: found duplicate title 'a'" },
		{ "phase \"a\" { start = \"x:y\" end = \"x:z\" scope = "
		  "\"pool\" }",
		    "m.conf:1: phase \"a\" has an invalid scope: use "
		    "\"node\" or \"run\"" },
		{ "phase \"a\" { start = \"x:y\" end = \"x:z\" scope = \"run\" "
		  "}",
		    "m.conf:1: phase \"a\" needs run = \"attribute\" with "
		    "scope \"run\", and must not have it otherwise" },
		{ "phase \"a\" { start = \"x:y\" end = \"x:z\" unmatched = "
		  "\"no\" }",
		    "m.conf:1: phase \"a\" has an invalid unmatched: use "
		    "\"incomplete\" or \"ignore\"" },
		{ "message = \"json\"",
		    "m.conf:1: message can only be \"kv\"" },
		{ "view \"v\" { sum = { \"a\" } }",
		    "m.conf:1: view \"v\" sums phase \"a\", which is not "
		    "defined above it" },
		{ "view \"\" { sum = { } }",
		    "m.conf:1: view \"\" is not a name" },
		{ "view \"v\" { sum = { } }",
		    "m.conf:1: view \"v\" sums no phases" },
		{ "phase \"\" { start = \"x:y\" end = \"x:z\" }",
		    "m.conf:1: phase \"\" is not a name" },
		{ "run { }",
		    "m.conf:1: run needs attribute, which names the run of an "
		    "event" },
		{ "run { attribute = \"r\" begun = \"b\" }",
		    "m.conf:1: run has a begun or ended that is not "
		    "\"source:name\"" },
		{ "run { attribute = \"r\" }\nrun { attribute = \"s\" }",
		    "m.conf:2: run comes twice" },
		{ "run { attribute = \"r\" group = \"\" }",
		    "m.conf:1: run has a property that is not a name" },
		{ "\nphase \"p\" {\n start = \"a:b\"\n end = \"a:c\"\n",
		    "m.conf:2: a section is not closed" },
		{ "phase \"p\" {\n start = \"a:b\\",
		    "m.conf:2: a quoted text is not closed" },
	};
	struct err err;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(parse(wrong[i].text, &err), -1);
		assert_string_equal(err.text, wrong[i].sentence);
		assert_int_equal(set.phases, 0);
		assert_int_equal(set.views, 0);
		assert_int_equal(set.runs, 0);
	}
	/* A file that ends in the middle, and bytes that are not text. */
	assert_int_equal(parse("phase \"a\" { start = \"x:y\"", &err), -1);
	assert_int_equal(parse("phase \"a\xff\" { start = \"x:y\" "
			       "end = \"x:z\" }",
			     &err),
	    -1);
	assert_int_equal(model_parse(&set, "m.conf", text_of("m"),
			     (struct text){ "\0", 1 }, &err),
	    -1);
	assert_string_equal(err.text, "m.conf:1: contains a NUL byte");
	assert_int_equal(
	    model_parse(&set, "a:b.conf", text_of("a:b"), text_of(""), &err),
	    -1);
}

static void
steps_of_a_run_are_the_phases_paired_by_it_alone(void **state)
{
	const struct model_run *run;
	struct err err = { 0 };

	if (parse("run { attribute = \"id\" begun = \"x:b\" ended = \"x:d\"\n"
		  " group = \"g\" properties = { \"g\", \"h\" } }\n"
		  "phase \"z\" { start = \"x:a\" end = \"x:b\" "
		  "scope = \"run\" run = \"id\" }\n"
		  "phase \"k\" { start = \"x:a\" end = \"x:b\" "
		  "scope = \"run\" run = \"id\" key = \"k\" }\n"
		  "phase \"o\" { start = \"x:a\" end = \"x:b\" "
		  "scope = \"run\" run = \"other\" }\n"
		  "phase \"n\" { start = \"x:a\" end = \"x:b\" }\n"
		  "phase \"a\" { start = \"x:b\" end = \"x:c\" "
		  "scope = \"run\" run = \"id\" }\n",
		&err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(set.runs, 1);
	run = &set.run[0];
	assert_true(text_equal(run->model, text_of("m")));
	assert_true(text_equal(run->kind, text_of("run")));
	assert_int_equal(run->error.bytes, 0);
	assert_int_equal(run->properties, 2);
	assert_int_equal(run->steps, 2);
	assert_true(text_equal(run->step[0].phase, text_of("m:z")));
	assert_true(text_equal(run->step[1].phase, text_of("m:a")));
	assert_int_equal(run->events, 4);
	assert_int_equal(run->step[1].of.begin, run->step[0].of.end);
	assert_int_equal(run->begun, run->step[0].of.end);
	assert_int_equal(run->ended, model_run_role(run, text_of("x:d")));
	assert_int_equal(model_run_role(run, text_of("x:e")), RUN_ROLES_MAX);
}

static void
an_event_has_a_bounded_number_of_roles(void **state)
{
	char text[2000];
	struct err err;
	int i, at = 0;

	for (i = 0; i < 9; i++) {
		assert_int_equal(set.phases, 0);
		at += snprintf(text + at, sizeof(text) - (size_t)at,
		    "phase \"p%d\" { start = \"x:y\" end = \"x:e%d\" }\n", i,
		    i);
		if (i < MODEL_ROLES_MAX)
			assert_int_equal(parse(text, &err), 0);
		else
			assert_int_equal(parse(text, &err), -1);
		model_set_clear(&set);
	}
}

static void
the_installed_models_are_valid(void **state)
{
	struct err err = { 0 };
	unsigned i, found = 0;

	if (model_load(&set, "deploy/models", &err) != 0)
		fail_msg("%s", err.text);
	for (i = 0; i < set.phases; i++)
		found += set.phase[i].id.bytes > 8 &&
			 memcmp(set.phase[i].id.at, "cascade:", 8) == 0;
	assert_int_equal(found, 9);
	assert_int_equal(model_load(&set, "/nonexistent", &err), -1);
}

static void
an_encoded_phase_decodes_to_itself(void **state)
{
	struct buffer bytes = { NULL, 0, 0 };
	struct model_set copy = { .phases = 0 };
	struct model_phase phase;
	struct err err = { 0 };
	unsigned i;

	assert_int_equal(model_load(&set, "deploy/models", &err), 0);
	set.phase[0].pool = (struct model_pool){ 300000000000, 900000 };
	set.phase[0].bytes = text_of("size");
	for (i = 0; i < set.phases; i++) {
		bytes.bytes = 0;
		model_put_phase(&bytes, &set.phase[i]);
		assert_true(model_get_phase(buffer_text(&bytes), &phase));
		model_set_add(&copy, &phase);
		assert_false(model_get_phase((struct text){ (char *)bytes.at,
						 (uint32_t)bytes.bytes - 1 },
		    &phase));
	}
	/* Decoded phases are in another order; the steps of runs are not. */
	phase = copy.phase[0];
	copy.phase[0] = copy.phase[copy.phases - 1];
	copy.phase[copy.phases - 1] = phase;
	for (i = 0; i < set.runs; i++) {
		bytes.bytes = 0;
		model_put_run(&bytes, &set.run[i]);
		assert_true(model_get_run(&copy, buffer_text(&bytes)));
		assert_false(
		    model_get_run(&copy, (struct text){ (char *)bytes.at,
					     (uint32_t)bytes.bytes - 1 }));
		assert_int_equal(copy.runs, i + 1);
		assert_int_equal(copy.run[i].steps, set.run[i].steps);
		assert_int_equal(copy.run[i].ended, set.run[i].ended);
	}
	assert_true(copy.runs > 0);
	copy.phase[copy.phases - 1] = copy.phase[0];
	copy.phase[0] = phase;
	assert_true(model_set_hash(&set) == model_set_hash(&copy));
	copy.phase[0].required = !copy.phase[0].required;
	assert_true(model_set_hash(&set) != model_set_hash(&copy));
	model_set_clear(&copy);
	buffer_clear(&bytes);
}

#define CASE(name) cmocka_unit_test_teardown(name, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_phase_has_all_its_options),
		CASE(errors_have_their_line),
		CASE(steps_of_a_run_are_the_phases_paired_by_it_alone),
		CASE(an_event_has_a_bounded_number_of_roles),
		CASE(the_installed_models_are_valid),
		CASE(an_encoded_phase_decodes_to_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

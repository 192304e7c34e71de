/*
 * show - tests of aggregator/model/show.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <stdlib.h>

#include "aggregator/model/show.h"

static struct model_set set;
static char *shown;
static size_t shown_bytes;

static int
tear_down(void **state)
{
	model_set_clear(&set);
	free(shown);
	shown = NULL;
	return 0;
}

static void
add(const char *name, const char *text)
{
	struct err err = { 0 };

	if (model_parse(&set, "m.conf", text_of(name), text_of(text), &err) !=
	    0)
		fail_msg("%s", err.text);
}

static void
show(const char *name)
{
	FILE *to = open_memstream(&shown, &shown_bytes);

	assert_non_null(to);
	if (name != NULL)
		model_show(&set, text_of(name), to);
	else
		model_show_all(&set, to);
	assert_int_equal(fclose(to), 0);
}

static void
a_model_is_printed_in_the_order_of_its_file(void **state)
{
	add("arms", "message = \"kv\"\n"
		    "run { attribute = \"job\" kind = \"order\"\n"
		    " group = \"cell\" error = \"fault\"\n"
		    " begun = \"arm:taken\" ended = \"arm:gone\"\n"
		    " properties = { \"cell\", \"fault\" } }\n"
		    "phase \"wait\" { start = \"arm:asked\" "
		    "end = \"arm:taken\" scope = \"run\" run = \"job\" }\n"
		    "phase \"grip\" { start = \"arm:close\" "
		    "end = \"arm:open\" scope = \"run\" run = \"job\" "
		    "key = \"hand\" unmatched = \"ignore\" }\n"
		    "phase \"all\" { start = \"arm:asked\" "
		    "end = \"arm:gone\" scope = \"run\" run = \"job\" }\n"
		    "phase \"boot\" { start = \"arm:on\" "
		    "end = \"arm:ready\" measured = \"took\" "
		    "required = true }\n"
		    "view \"both\" { sum = { \"wait\", \"boot\" } }\n");
	show("arms");
	assert_string_equal(shown,
	    "  runs        by attribute job, described by entities of kind "
	    "order\n"
	    "  group       cell\n"
	    "  error       fault\n"
	    "  states      queued until arm:taken, finished with arm:gone\n"
	    "  properties  cell, fault\n"
	    "  step        wait: arm:asked to arm:taken\n"
	    "  step        all: arm:asked to arm:gone\n"
	    "  phase       grip: arm:close to arm:open, by run job and hand, "
	    "unmatched ignored\n"
	    "  phase       boot: arm:on to arm:ready, by node, measured by "
	    "took, required\n"
	    "  pool        ready when 100 % of its nodes are, a pause of 10 "
	    "min parts two starts\n"
	    "  view        both: wait + boot\n"
	    "  events      arm:asked, arm:taken, arm:gone, arm:close, "
	    "arm:open, arm:on, arm:ready\n"
	    "  the message is searched for attributes too\n");
}

static void
each_of_several_models_prints_its_own(void **state)
{
	add("a", "phase \"p\" { start = \"x:1\" end = \"x:2\" }");
	add("b", "phase \"p\" { start = \"x:2\" end = \"x:3\" }");
	show(NULL);
	assert_string_equal(shown, "model a\n"
				   "  phase       p: x:1 to x:2, by node\n"
				   "  events      x:1, x:2\n"
				   "model b\n"
				   "  phase       p: x:2 to x:3, by node\n"
				   "  events      x:2, x:3\n");
}

static void
a_missing_model_prints_nothing(void **state)
{
	add("a", "phase \"p\" { start = \"x:1\" end = \"x:2\" }");
	show("b");
	assert_string_equal(shown, "");
}

static void
a_model_has_the_name_of_its_file(void **state)
{
	static const struct {
		const char *path, *name;
	} files[] = {
		{ "a.conf", "a" },
		{ "/x.conf/b.c.conf", "b.c" },
		{ "a.conf/", "" },
		{ ".conf", "" },
		{ "x/.a.conf", "" },
		{ "a.con", "" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		assert_true(text_equal(
		    model_file_name(files[i].path), text_of(files[i].name)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(
		    a_model_is_printed_in_the_order_of_its_file, tear_down),
		cmocka_unit_test_teardown(
		    each_of_several_models_prints_its_own, tear_down),
		cmocka_unit_test_teardown(
		    a_missing_model_prints_nothing, tear_down),
		cmocka_unit_test(a_model_has_the_name_of_its_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * definition - which definitions of a metric group may follow each other.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/definition.h"

#include "proto/base/text.h"
#include "proto/metric/metric_groups.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

static struct err err;

static struct definition
lists(const char *names, const char *units, const char *types)
{
	return (struct definition){ text_of(names), text_of(units),
		text_of(types) };
}

static enum definition_change
put(const char *group, struct definition held, struct definition fresh)
{
	enum definition_change change;

	err_clear(&err);
	change = definition_compare(
	    text_of(group), &held, &fresh, DEFINITION_BY_AGENT, &err);
	assert_int_equal(change == DEFINITION_REFUSED, err.text[0] != '\0');
	assert_true(strlen(err.text) <= NAME_BYTES_MAX);
	if (err.text[0] != '\0')
		assert_int_equal(text_check_name(text_of(err.text)), TEXT_OK);
	return change;
}

static void
a_definition_grows_at_its_end(void **state)
{
	struct definition none = lists("", "", "");
	struct definition one = lists("a", "s", "counter");
	struct definition two = lists("a b", "s By", "counter gauge");

	assert_int_equal(put("g", none, one), DEFINITION_GROWN);
	assert_int_equal(put("g", one, one), DEFINITION_KEPT);
	assert_int_equal(put("g", one, two), DEFINITION_GROWN);
	assert_int_equal(put("g", two, one), DEFINITION_KEPT);
	assert_int_equal(put("g", two, none), DEFINITION_KEPT);
	/* Blanks do not count, and a missing type is a gauge. */
	assert_int_equal(
	    put("g", two, lists(" a  b ", "s By", "counter")), DEFINITION_KEPT);
}

static void
each_difference_has_its_sentence(void **state)
{
	static const struct {
		const char *names, *units, *types, *says;
	} bad[] = {
		{ "b a", "By s", "gauge counter",
		    "metric group g: column 1 is b, but is defined as a: "
		    "columns can only be added at the end" },
		{ "a c", "s By", "counter gauge",
		    "metric group g: column 2 is c, but is defined as b: "
		    "columns can only be added at the end" },
		{ "a b c", "s kBy s", "counter gauge gauge",
		    "metric group g: column 2, b, has the unit \"kBy\", but is "
		    "defined with \"By\"" },
		{ "a b", "s", "counter",
		    "metric group g: column 2, b, has the unit \"\", but is "
		    "defined with \"By\"" },
		{ "a b", "s By", "gauge",
		    "metric group g: column 1, a, is a gauge, but is defined "
		    "as a counter" },
		{ "a b a", "s By s", "counter gauge counter",
		    "metric group g: two columns are called a" },
		{ "a", "s By", "counter",
		    "metric group g: there are more units or types than its 1 "
		    "columns" },
	};
	struct definition held = lists("a b", "s By", "counter gauge");

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(
		    put("g", held,
			lists(bad[i].names, bad[i].units, bad[i].types)),
		    DEFINITION_REFUSED);
		assert_string_equal(err.text, bad[i].says);
	}
}

/* Names, units and groups of any length, of any bytes. */
static void
a_sentence_is_short_and_printable(void **state)
{
	char name[300], other[300], unit[300];

	memset(name, '\\', sizeof(name) - 1);
	memset(other, 7, sizeof(other) - 1);
	memset(unit, 0xff, sizeof(unit) - 1);
	name[299] = other[299] = unit[299] = '\0';
	put(name, lists(name, unit, ""), lists(name, other, ""));
	put(name, lists(name, unit, ""), lists(other, unit, ""));
	put(name, lists(name, unit, ""), lists(name, unit, "counter"));
	memset(name, 'x', sizeof(name) - 1);
	put(name, lists(name, unit, ""), lists(name, other, ""));
	put(name, lists(name, unit, ""), lists(other, unit, ""));
}

static void
there_are_no_more_columns_than_values(void **state)
{
	static char names[5 * 4098];
	char *end = names;

	for (int i = 0; i < 4096; i++)
		end += sprintf(end, "%04x ", (unsigned)i);
	assert_int_equal(put("g", lists("", "", ""), lists(names, "", "")),
	    DEFINITION_GROWN);
	strcpy(end, "more");
	assert_int_equal(put("g", lists("", "", ""), lists(names, "", "")),
	    DEFINITION_REFUSED);
	assert_string_equal(err.text,
	    "metric group g: 4097 columns are more than 4096, the limit of a "
	    "sample");
}

static void
built_in_groups_are_the_agents(void **state)
{
	struct definition none = lists("", "", "");
	struct definition begins = lists("system.memory.limit", "By", "gauge");
	struct definition mine = lists("mine", "By", "gauge");
	struct definition longer =
	    lists("process.cpu.utilization process.memory.usage "
		  "process.thread.count process.count more",
		"1 By {thread} {process} 1", "");

	assert_int_equal(put("memory", none, begins), DEFINITION_GROWN);
	assert_int_equal(put("memory", none, mine), DEFINITION_REFUSED);
	assert_int_equal(put("memory/x", none, mine), DEFINITION_GROWN);
	assert_int_equal(put("disk/sda", none, mine), DEFINITION_REFUSED);
	assert_int_equal(put("disk", none, mine), DEFINITION_GROWN);
	/* What nobody could define is no obstacle. */
	assert_int_equal(put("memory", mine, begins), DEFINITION_GROWN);
	assert_int_equal(put("process/sh", none, longer), DEFINITION_GROWN);
	assert_int_equal(definition_compare(text_of("process/sh"), &none,
			     &longer, DEFINITION_BY_USER, &err),
	    DEFINITION_REFUSED);
	assert_string_equal(err.text,
	    "metric group process/sh has 4 columns of the agent's own: only "
	    "the agent's user can add another");
	assert_int_equal(definition_compare(text_of("memory"), &none, &begins,
			     DEFINITION_BY_USER, &err),
	    DEFINITION_GROWN);
}

static void
a_record_with_any_of_the_lists_defines_a_group(void **state)
{
	struct record record = { .kind = RECORD_ENTITY,
		.source = text_of("set"),
		.name = text_of("g"),
		.attributes = 2 };
	struct value number = { .type = VALUE_INT, .is.i = 5 };
	struct definition got;
	unsigned char bytes[100];
	struct wire_writer w;

	wire_writer_init(&w, bytes, sizeof(bytes));
	wire_put_attribute(&w, text_of("names"), &number);
	wire_put_text_attribute(&w, text_of("units"), text_of("s"));
	record.pairs = (struct text){ (const char *)bytes, (uint32_t)w.bytes };
	assert_true(definition_of(&record, &got));
	assert_int_equal(got.names.bytes, 0);
	assert_int_equal(put("g", lists("", "", ""), got), DEFINITION_REFUSED);
	record.source = text_of("node");
	assert_false(definition_of(&record, &got));
	record.source = text_of("set");
	record.attributes = 0;
	record.pairs.bytes = 0;
	assert_false(definition_of(&record, &got));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_definition_grows_at_its_end),
		cmocka_unit_test(each_difference_has_its_sentence),
		cmocka_unit_test(a_sentence_is_short_and_printable),
		cmocka_unit_test(there_are_no_more_columns_than_values),
		cmocka_unit_test(built_in_groups_are_the_agents),
		cmocka_unit_test(
		    a_record_with_any_of_the_lists_defines_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * columns - what the numbers of samples are called.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "exporters/samples/columns.h"
#include "proto/wire/wire.h"

static struct column_groups sets;

static void
take(const char *kind, const char *set, const char *names, const char *units)
{
	unsigned char pairs[1024];
	struct wire_writer w;
	struct record entity = { .kind = RECORD_ENTITY,
		.source = text_of(kind),
		.name = text_of(set),
		.attributes = 2 };

	wire_writer_init(&w, pairs, sizeof(pairs));
	wire_put_text_attribute(&w, text_of("names"), text_of(names));
	wire_put_text_attribute(&w, text_of("units"), text_of(units));
	entity.pairs = (struct text){ (const char *)pairs, (uint32_t)w.bytes };
	columns_take(&sets, &entity);
}

static void
the_longest_definition_of_a_group_is_in_force(void **state)
{
	const struct columns *columns;
	uint64_t before;

	columns_init(&sets);
	assert_int_equal(columns_find(&sets, text_of("cores"))->definition, 0);
	take("set", "cores", "user  idle", "cs %");
	take("set", "disk", "read", "By");
	take("node", "cores", "no such", "x");
	columns = columns_find(&sets, text_of("cores"));
	assert_int_equal(columns->count, 2);
	assert_true(text_equal(columns->names[1], text_of("idle")));
	assert_true(text_equal(columns->units[1], text_of("%")));
	before = columns->definition;
	take("set", "cores", "user  idle", "cs %");
	assert_int_equal(
	    columns_find(&sets, text_of("cores"))->definition, before);
	take("set", "cores", "user", "cs");
	take("set", "cores", "idle user", "% cs");
	take("set", "cores", "user idle wait", "cs s");
	assert_int_equal(
	    columns_find(&sets, text_of("cores"))->definition, before);
	take("set", "cores", "user idle wait", "cs %");
	columns = columns_find(&sets, text_of("cores"));
	assert_true(columns->definition != before);
	assert_int_equal(columns->count, 3);
	assert_true(text_equal(columns->names[2], text_of("wait")));
	assert_int_equal(columns->units[2].bytes, 0);
	columns = columns_find(&sets, text_of("disk"));
	assert_int_equal(columns->count, 1);
	assert_true(text_equal(columns->names[0], text_of("read")));
	take("set", "disk", "", "");
	assert_int_equal(columns_find(&sets, text_of("disk"))->count, 1);
	columns_clear(&sets);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_definition_of_a_group_is_in_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

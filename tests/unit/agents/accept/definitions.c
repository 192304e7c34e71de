/*
 * definitions - what counts as a series.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/definitions.h"

#include "agents/accept/series_limit.h"
#include "tests/unit/check.h"

static const struct wire_header header = { .partition = { "acct$pool", 9 },
	.node = { "n1", 2 } };

static int
define(struct definitions *definitions, int number, const char *names)
{
	static unsigned char body[4096], pairs[1024];
	struct wire_writer w, properties;
	struct record record = {
		.kind = RECORD_ENTITY, .source = text_of("set"), .attributes = 1
	};
	char name[64];
	struct err err;

	snprintf(name, sizeof(name), "many/%d", number);
	record.name = text_of(name);
	wire_writer_init(&properties, pairs, sizeof(pairs));
	wire_put_text_attribute(&properties, text_of("names"), text_of(names));
	record.pairs =
	    (struct text){ (const char *)pairs, (uint32_t)properties.bytes };
	wire_writer_init(&w, body, sizeof(body));
	assert_true(wire_put_record(&w, &record));
	return definitions_check(definitions, 1, &header,
	    (struct text){ (const char *)body, (uint32_t)w.bytes }, &err);
}

/* A boot costs nothing next to its counters; alone it is a series. */
static void
groups_of_a_boot_alone_are_limited(void **state)
{
	static const char *const names[] = { "poolscope.boot n",
		"poolscope.boot" };
	struct definitions *definitions;

	for (int k = 0; k < 2; k++) {
		definitions_new(&definitions);
		for (int i = 0; i < SERIES_LIMIT_ORIGIN; i++)
			assert_int_equal(define(definitions, i, names[k]), 0);
		assert_int_equal(
		    define(definitions, SERIES_LIMIT_ORIGIN, names[k]), -1);
		definitions_free(&definitions);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_a_boot_alone_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

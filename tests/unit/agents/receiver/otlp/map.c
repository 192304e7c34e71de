/*
 * Values of attributes.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/map.h"

#include <stdlib.h>

#include "agents/receiver/otlp/map_private.h"
#include "proto/base/memory.h"
#include "tests/unit/check.h"

/* A list of `count` texts of control characters. */
static void
put_list(struct buffer *to, uint32_t count, struct text text)
{
	size_t list = protobuf_begin(to, OTLP_VALUE_ARRAY), value;

	while (count-- > 0) {
		value = protobuf_begin(to, OTLP_LIST_VALUES);
		protobuf_text(to, OTLP_VALUE_STRING, text);
		protobuf_end(to, value);
	}
	protobuf_end(to, list);
}

static uint32_t
bytes_as_json(uint32_t count, uint32_t bytes)
{
	char *controls = memory_zero(bytes, 1);
	struct buffer message = { 0 };
	struct arena texts = { 0 };
	struct value value;

	put_list(&message, count, (struct text){ controls, bytes });
	value = otlp_map_value(&texts, buffer_text(&message));
	assert_int_equal(value.type, VALUE_TEXT);
	arena_clear(&texts);
	buffer_clear(&message);
	free(controls);
	return value.is.text.bytes;
}

static void
a_list_takes_little_more_than_an_attribute_has(void **state)
{
	assert_int_equal(
	    bytes_as_json(2, 1), strlen("[\"\\u0000\",\"\\u0000\"]"));
	assert_in_range(
	    bytes_as_json(1, 1 << 20), 0, 7 * RECORD_TEXT_BYTES_MAX);
	assert_in_range(
	    bytes_as_json(1 << 16, 16), 0, 7 * RECORD_TEXT_BYTES_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    a_list_takes_little_more_than_an_attribute_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

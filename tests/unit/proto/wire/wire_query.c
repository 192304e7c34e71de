/*
 * Questions of readers.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/clock.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

#define FAULT(call, want)                                                      \
	assert_string_equal(wire_fault_name(call), wire_fault_name(want))

static void
a_question_comes_back_whole(void **state)
{
	struct wire_query query = { .kinds = 1u << RECORD_SPAN,
		.node = text_of("node-*"),
		.name = text_of("casc\xc3\xa4:*"),
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.cursor = text_of("\1\2\3"),
		.page_bytes = 70000,
		.step_ns = INT64_C(60000000000),
		.columns = text_of("system.cpu.*"),
		.per_record = 70001 };
	struct wire_query got;
	unsigned char to[2048];
	struct text body = { (char *)to, 0 };

	body.bytes = (uint32_t)wire_put_query(to, sizeof(to), &query);
	FAULT(wire_get_query(body, &got), WIRE_OK);
	assert_int_equal(got.kinds, query.kinds);
	assert_true(text_equal(got.node, query.node));
	assert_true(text_equal(got.name, query.name));
	assert_true(got.from_ns == query.from_ns && got.to_ns == query.to_ns);
	assert_true(text_equal(got.cursor, query.cursor));
	assert_int_equal(got.page_bytes, query.page_bytes);
	assert_true(got.step_ns == query.step_ns);
	assert_true(text_equal(got.columns, query.columns));
	assert_int_equal(got.per_record, query.per_record);
	for (size_t room = 0; room < body.bytes; room++)
		assert_int_equal(wire_put_query(to, room, &query), 0);
	body.bytes = (uint32_t)wire_put_query(to, sizeof(to), &query);
	for (uint32_t bytes = 0; bytes < body.bytes; bytes++)
		FAULT(wire_get_query((struct text){ body.at, bytes }, &got),
		    WIRE_TRUNCATED);
	body.bytes++;
	FAULT(wire_get_query(body, &got), WIRE_LENGTH);
}

static void
a_question_keeps_to_its_limits(void **state)
{
	static char big[600];
	struct wire_query query = { .kinds = 2 }, got;
	unsigned char to[2048];

#define ASK()                                                                  \
	wire_get_query((struct text){ (char *)to,                              \
			   (uint32_t)wire_put_query(to, sizeof(to), &query) }, \
	    &got)
	memset(big, '*', sizeof(big));
	query.name = (struct text){ big, 511 };
	FAULT(ASK(), WIRE_OK);
	query.name.bytes++;
	FAULT(ASK(), WIRE_NAME);
	query.name = text_of("a\tb");
	FAULT(ASK(), WIRE_NAME);
	query.name = text_of("");
	query.cursor = (struct text){ big, WIRE_CURSOR_BYTES_MAX };
	FAULT(ASK(), WIRE_OK);
	query.cursor.bytes++;
	FAULT(ASK(), WIRE_LIMIT);
	query.cursor.bytes = 0;
	query.to_ns = TIME_MAX_NS + 1;
	FAULT(ASK(), WIRE_LIMIT);
	FAULT(
	    wire_get_query((struct text){ "\x97\xcf\0\0\0\1\0\0\0\0\xa0\xa0\0\0"
					  "\xc4\0\0",
			       17 },
		&got),
	    WIRE_LIMIT);
#undef ASK
}

/* What the readers before knew ends behind page_bytes. */
static void
an_older_question_is_for_plain_records(void **state)
{
	static const char all[] = "\x9a\2\xa0\xa0\0\1\xc4\0\5\xcd\3\xe8\xa1*\7";
	char cut[sizeof(all)];
	struct wire_query got;

	for (unsigned elements = 6; elements <= 10; elements++) {
		static const uint32_t bytes[] = { 8, 9, 12, 14, 15 };

		memcpy(cut, all, sizeof(all));
		cut[0] = (char)(0x90 + elements);
		FAULT(wire_get_query(
			  (struct text){ cut, bytes[elements - 6] }, &got),
		    elements < 7 ? WIRE_RECORD : WIRE_OK);
		if (elements < 7)
			continue;
		assert_int_equal(got.page_bytes, 5);
		assert_int_equal(got.step_ns, elements > 7 ? 1000 : 0);
		assert_int_equal(got.columns.bytes, elements > 8);
		assert_int_equal(got.per_record, elements > 9 ? 7 : 0);
	}
	cut[9] = '\xff'; /* a step of -1 */
	FAULT(wire_get_query((struct text){ cut, 12 }, &got), WIRE_RECORD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_comes_back_whole),
		cmocka_unit_test(a_question_keeps_to_its_limits),
		cmocka_unit_test(an_older_question_is_for_plain_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * table_batch - what a batch may hold, and what its answer says.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/azure_table.h"

#include <sodium.h>

#include "proto/wire/wire.h"
#include "tests/unit/check.h"

static struct record
event(uint32_t index)
{
	return (struct record){ .kind = RECORD_EVENT,
		.node = text_of("n"),
		.id = { .seq = 1, .index = index },
		.time_ns = 1508000063695798123,
		.has_time = true,
		.source = text_of("s"),
		.name = text_of("e") };
}

static int
add(struct table_batch *batch, const char *partition, uint32_t index)
{
	struct record record = event(index);
	struct err err = { 0 };

	return table_batch_add(batch, text_of(partition), &record, &err);
}

static struct text
whole(struct table_batch *batch)
{
	return table_batch_part(batch, 0, table_batch_rows(batch));
}

static unsigned
count(struct text t, const char *what)
{
	unsigned n = 0;
	const char *at = t.at;

	while ((at = memmem(at, (size_t)(t.at + t.bytes - at), what,
		    strlen(what))) != NULL) {
		at += strlen(what);
		n++;
	}
	return n;
}

static void
a_batch_has_a_hundred_rows_of_one_partition(void **state)
{
	struct table_batch *batch = table_batch_new("https://h/acct", "perf");
	struct text all, part;

	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(add(batch, "a$b", i), 1);
	assert_int_equal(add(batch, "a$b", 100), 0);
	assert_int_equal(add(batch, "a$b", 99), 1); /* it is in it */
	assert_int_equal(add(batch, "a$c", 100), 0);
	assert_int_equal(table_batch_rows(batch), 100);
	all = whole(batch);
	assert_int_equal(count(all, "HTTP/1.1\r\n"), 100);
	assert_int_equal(
	    count(all, "PUT https://h/acct/perf(PartitionKey='a%24b',RowKey='"
		       "1508000063.695798123"),
	    100);
	assert_int_equal(count(all, "\r\n--batch_poolscope--\r\n"), 1);
	assert_memory_equal(
	    all.at + all.bytes - 21, "--batch_poolscope--\r\n", 21);
	part = table_batch_part(batch, 7, 9);
	assert_int_equal(count(part, "HTTP/1.1\r\n"), 2);
	assert_int_equal(count(part, "\r\n--batch_poolscope--\r\n"), 1);
	assert_int_equal(table_batch_row(batch, 7).at[0], '{');
	table_batch_clear(batch);
	assert_int_equal(add(batch, "a$c", 1), 1);
	assert_int_equal(count(whole(batch), "HTTP/1.1\r\n"), 1);
	table_batch_free(&batch);
}

static void
a_batch_is_not_larger_than_four_mebibytes(void **state)
{
	static char longer[32 << 10];
	static unsigned char pairs[40 << 10];
	struct table_batch *batch = table_batch_new("https://h/acct", "perf");
	struct value value = { VALUE_TEXT, .is.text = { longer, 30 << 10 } };
	struct record record;
	struct wire_writer w;
	struct err err = { 0 };
	uint32_t i = 0;
	struct text all;

	/* Each of these is six bytes of JSON. */
	memset(longer, '\x01', sizeof(longer));
	wire_writer_init(&w, pairs, sizeof(pairs));
	assert_true(wire_put_attribute(&w, text_of("message"), &value));
	do {
		record = event(i);
		record.attributes = 1;
		record.pairs =
		    (struct text){ (char *)pairs, (uint32_t)w.bytes };
	} while (table_batch_add(batch, text_of("p"), &record, &err) == 1 &&
		 ++i < 100);
	all = whole(batch);
	assert_int_equal(i, table_batch_rows(batch));
	assert_in_range(i, 20, 23); /* of 180 KiB each */
	assert_in_range(all.bytes, 20 * 180 << 10, 4 << 20);
	assert_int_equal(count(all, "HTTP/1.1\r\n"), i);
	assert_int_equal(count(all, "--batch_poolscope--"), 1);
	table_batch_free(&batch);
}

static void
a_quote_in_a_key_is_doubled_and_a_slash_refused(void **state)
{
	struct table_batch *batch = table_batch_new("http://h", "perf");
	struct record record = event(0);
	struct err err = { 0 };
	char quoted[20];

	assert_int_equal(add(batch, "it's", 0), 1);
	assert_int_equal(count(whole(batch), "PartitionKey='it''s'"), 1);
	table_batch_clear(batch);
	assert_int_equal(
	    table_batch_add(batch, text_of("a/b"), &record, &err), -1);
	assert_non_null(strstr(err.text, "'/'"));
	table_batch_free(&batch);
	assert_int_equal(
	    table_quote(quoted, sizeof(quoted), text_of("o'n'e")), 7);
	assert_string_equal(quoted, "o''n''e");
	assert_int_equal(table_quote(quoted, 5, text_of("o'n'e")), 0);
}

static void
names_of_tables_are_letters_and_digits(void **state)
{
	static const char *const bad[] = { "", "ab", "1ab", "a-b", "a/b",
		"a b c",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aa" };
	struct err err = { 0 };

	assert_int_equal(table_check_name("shipyardperf", &err), 0);
	assert_int_equal(table_check_name("A12", &err), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(table_check_name(bad[i], &err), -1);
}

#define ANSWER(parts)                                                          \
	"--batchresponse_1\r\nContent-Type: multipart/mixed; "                 \
	"boundary=changesetresponse_2\r\n\r\n" parts                           \
	"--changesetresponse_2--\r\n--batchresponse_1--\r\n"
#define PART "--changesetresponse_2\r\nContent-Type: application/http\r\n\r\n"

static void
the_answer_says_in_it_what_became_of_the_rows(void **state)
{
	struct service_error service_error;

	assert_int_equal(
	    table_batch_status(
		text_of(ANSWER(PART "HTTP/1.1 204 No Content\r\n\r\n\r\n" PART
				    "HTTP/1.1 204 No Content\r\n\r\n\r\n")),
		2, &service_error),
	    204);
	assert_int_equal(
	    table_batch_status(
		text_of(ANSWER(PART "HTTP/1.1 204 No Content\r\n\r\n\r\n")), 2,
		&service_error),
	    0); /* of two rows */
	assert_int_equal(
	    table_batch_status(
		text_of(ANSWER(
		    PART "HTTP/1.1 404 Not Found\r\nContent-Type: "
			 "application/json\r\n\r\n{\"odata.error\":{\"code\":"
			 "\"TableNotFound\",\"message\":{\"lang\":\"en-US\","
			 "\"value\":\"0:The table specified does not exist.\\n"
			 "RequestId:1\"}}}\r\n")),
		1, &service_error),
	    404);
	assert_string_equal(service_error.code, "TableNotFound");
	assert_string_equal(
	    service_error.message, "0:The table specified does not exist.");
	assert_int_equal(
	    table_batch_status(text_of("HTTP/1.1 x"), 1, &service_error), 0);
	assert_int_equal(
	    table_batch_status(text_of("<html>"), 1, &service_error), 0);
	assert_int_equal(table_batch_status(text_of(""), 1, &service_error), 0);
}

static void
rows_are_printed_as_older_exports_have_them(void **state)
{
	char out[1000] = "";
	FILE *file = fmemopen(out, sizeof(out), "w");
	struct err err = { 0 };
	uint64_t rows = 0;

	assert_int_equal(
	    table_page_write(
		text_of(
		    "{\"odata.metadata\":\"x\",\"value\":[{\"NodeId\":\"n\","
		    "\"Timestamp\":\"2017\",\"PartitionKey\":\"a$p\","
		    "\"RowKey\":\"1508000060.717355\",\"Event\":\"nodeprep:"
		    "start\",\"Message\":\"offer=U,sku=16\"},{\"Message\":null,"
		    "\"PartitionKey\":\"a$p\",\"RowKey\":\"1\",\"Event\":\"a:b"
		    "\",\"NodeId\":\"\xC3\xA9\"}]}"),
		file, &rows, &err),
	    0);
	fclose(file);
	assert_int_equal(rows, 2);
	assert_string_equal(out,
	    "{\"PartitionKey\":\"a$p\",\"RowKey\":\"1508000060.717355\","
	    "\"Event\":\"nodeprep:start\",\"NodeId\":\"n\",\"Message\":"
	    "\"offer=U,sku=16\"}\n"
	    "{\"PartitionKey\":\"a$p\",\"RowKey\":\"1\",\"Event\":\"a:b\","
	    "\"NodeId\":\"\\u00e9\"}\n");
	assert_int_equal(
	    table_page_write(text_of("{\"value\":3}"), stdout, &rows, &err),
	    -1);
	assert_int_equal(
	    table_page_write(text_of("{\"value\":[3]}"), stdout, &rows, &err),
	    -1);
	assert_int_equal(
	    table_page_write(text_of(""), stdout, &rows, &err), -1);
}

static int
begin(void **state)
{
	return sodium_init() < 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_has_a_hundred_rows_of_one_partition),
		cmocka_unit_test(a_batch_is_not_larger_than_four_mebibytes),
		cmocka_unit_test(
		    a_quote_in_a_key_is_doubled_and_a_slash_refused),
		cmocka_unit_test(names_of_tables_are_letters_and_digits),
		cmocka_unit_test(the_answer_says_in_it_what_became_of_the_rows),
		cmocka_unit_test(rows_are_printed_as_older_exports_have_them),
	};

	return cmocka_run_group_tests(tests, begin, NULL);
}

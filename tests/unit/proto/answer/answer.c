/*
 * answer - rows in each format, in the order that was asked for.
 * SPDX-License-Identifier: MIT
 */
#include "proto/answer/answer.h"

#include <fcntl.h>
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "proto/os/clock.h"
#include "tests/unit/check.h"

struct row {
	struct text name;
	uint64_t count;
	double seconds, share, bytes;
	int64_t begin, lasts;
	enum answer_flag ready;
	struct value value;
};

static const struct answer_column columns[] = {
	{ "name", "NAME", ANSWER_AT_TEXT(struct row, name), "a name" },
	{ "count", "COUNT", ANSWER_AT_COUNT(struct row, count), "how many" },
	{ "seconds", "MEAN", ANSWER_AT_NUMBER(struct row, seconds), "how long",
	    "s", .traits = ANSWER_SPARE },
	{ "share", NULL, ANSWER_AT_SHARE(struct row, share), "a part" },
	{ "bytes", NULL, ANSWER_AT_BYTES(struct row, bytes), "a size" },
	{ "begin", NULL, ANSWER_AT_TIME(struct row, begin), "when" },
	{ "lasts", NULL, ANSWER_AT_DURATION(struct row, lasts), "how long" },
	{ "ready", NULL, ANSWER_AT_FLAG(struct row, ready), "is it?" },
	{ "value", NULL, ANSWER_AT_VALUE(struct row, value), "any" },
	ANSWER_FAMILY("step.*", ANSWER_NUMBER, "s", "a step"),
	{ .key = NULL },
};

struct part {
	struct text of;
	uint64_t number;
};

static const struct answer_column part_columns[] = {
	{ "of", "OF", ANSWER_AT_TEXT(struct part, of), "whose" },
	{ "number", "NUMBER", ANSWER_AT_COUNT(struct part, number), "which" },
	{ .key = NULL },
};

static const struct answer_column head_columns[] = {
	{ "from", ANSWER_HEAD(ANSWER_TIME), "since when" },
	{ .key = NULL },
};

static const struct answer_table tables[] = { { "things", columns },
	{ "parts", part_columns }, { "head", head_columns }, { .name = NULL } };

static const struct row full = { { "a", 1 }, 3, 1.5, 0.25, 2048,
	1510678400000000000, 1500000001, ANSWER_YES,
	{ VALUE_INT, { .i = -7 } } };
static const struct row unknown = { { NULL, 0 }, ANSWER_NO_COUNT, NAN, NAN, NAN,
	ANSWER_NO_NS, ANSWER_NO_NS, ANSWER_NO_FLAG, { VALUE_NIL, { 0 } } };

static char text[1 << 16];
static FILE *file;
static struct err err;

static struct answer *
begin(const struct answer_options *options)
{
	memset(text, 0, sizeof(text));
	file = fmemopen(text, sizeof(text), "w");
	assert_non_null(file);
	return answer_new(file, options, tables);
}

static int
end(struct answer *answer, int rc)
{
	err.text[0] = '\0';
	rc = answer_end(answer, rc, &err);
	answer_free(&answer);
	fclose(file);
	return rc;
}

static void
named(struct answer *answer, const char *name, uint64_t count)
{
	struct row row = unknown;

	row.name = text_of(name);
	row.count = count;
	answer_row(answer, &row, NULL);
}

static void
each_type_as_json(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_JSON };
	struct answer *answer = begin(&options);

	answer_head(answer, "partition", answer_string("before"));
	answer_head(answer, "partition", answer_string("a$b"));
	answer_row(answer, &full, NULL);
	answer_row(answer, &unknown, NULL);
	answer_note(answer, "lost", 2, "2 records were lost");
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "{\n"
				  " \"partition\": \"a$b\",\n"
				  " \"rows\": [\n"
				  "  {\n"
				  "   \"name\": \"a\",\n"
				  "   \"count\": 3,\n"
				  "   \"seconds\": 1.5,\n"
				  "   \"share\": 0.25,\n"
				  "   \"bytes\": 2048,\n"
				  "   \"begin\": \"2017-11-14T16:53:20Z\",\n"
				  "   \"lasts\": 1.500000001,\n"
				  "   \"ready\": true,\n"
				  "   \"value\": -7\n"
				  "  },\n"
				  "  {\n"
				  "   \"name\": null,\n"
				  "   \"count\": null,\n"
				  "   \"seconds\": null,\n"
				  "   \"share\": null,\n"
				  "   \"bytes\": null,\n"
				  "   \"begin\": null,\n"
				  "   \"lasts\": null,\n"
				  "   \"ready\": null,\n"
				  "   \"value\": null\n"
				  "  }\n"
				  " ],\n"
				  " \"notes\": [\n"
				  "  {\n"
				  "   \"key\": \"lost\",\n"
				  "   \"count\": 2,\n"
				  "   \"text\": \"2 records were lost\"\n"
				  "  }\n"
				  " ],\n"
				  " \"complete\": true\n"
				  "}\n");
}

static void
lines_have_a_head_and_an_end(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_JSONL,
		.columns = "count,name" };
	struct answer *answer = begin(&options);
	const struct part part = { { "a", 1 }, 5 };

	answer_head(answer, "partition", answer_string("p"));
	answer_row(answer, &full, NULL);
	answer_begin_table(answer, "parts");
	answer_row(answer, &part, NULL);
	err_set(&err, "gone");
	assert_int_equal(answer_end(answer, -1, &err), -1);
	answer_free(&answer);
	fclose(file);
	assert_string_equal(text,
	    "{\"poolscope\": {\"partition\": \"p\"}}\n"
	    "{\"count\": 3, \"name\": \"a\"}\n"
	    "{\"table\": \"parts\", \"of\": \"a\", \"number\": 5}\n"
	    "{\"poolscope\": {\"rows\": 1, \"notes\": [], \"complete\": false, "
	    "\"error\": \"gone\"}}\n");
}

static void
a_text_with_an_escape_stands_between_its_neighbours(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_JSONL,
		.columns = "count,name,share" };
	struct answer *answer = begin(&options);
	struct row row = full;

	row.name = text_of("a\"\xC3\xA9\n");
	answer_row(answer, &row, NULL);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text,
	    "{\"poolscope\": {}}\n"
	    "{\"count\": 3, \"name\": \"a\\\"\\u00e9\\n\", \"share\": 0.25}\n"
	    "{\"poolscope\": {\"rows\": 1, \"notes\": [], "
	    "\"complete\": true}}\n");
}

static ssize_t
count_write(void *cookie, const char *bytes, size_t count)
{
	++*(unsigned *)cookie;
	return (ssize_t)count;
}

/* However many columns it has. */
static void
a_row_is_written_at_once(void **state)
{
	static const int formats[] = { ANSWER_FORMAT_CSV, ANSWER_FORMAT_JSONL };
	enum { ROWS = 10 };

	for (int i = 0; i < 2; i++) {
		const struct answer_options options = { .format = formats[i] };
		unsigned writes = 0, before;
		struct answer *answer;

		file = fopencookie(&writes, "w",
		    (cookie_io_functions_t){ .write = count_write });
		assert_non_null(file);
		setvbuf(file, NULL, _IONBF, 0);
		answer = answer_new(file, &options, tables);
		named(answer, "first", 1);
		before = writes;
		for (int k = 0; k < ROWS; k++)
			named(answer, "next", 2);
		/* A line of JSON ends with a write of its own. */
		assert_int_equal(writes - before, ROWS * (i + 1));
		assert_int_equal(end(answer, 0), 0);
	}
}

static void
what_is_left_out_is_said_in_the_end(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_JSONL,
		.columns = "name" };
	struct answer *answer = begin(&options);

	answer_row(answer, &full, NULL);
	answer_lacks(answer, "1 row was left out");
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text,
	    "{\"poolscope\": {}}\n"
	    "{\"name\": \"a\"}\n"
	    "{\"poolscope\": {\"rows\": 1, \"notes\": [], \"complete\": false, "
	    "\"error\": \"1 row was left out\"}}\n");
}

static void
csv_is_one_table_and_safe_in_a_spreadsheet(void **state)
{
	struct answer_options options = { .format = ANSWER_FORMAT_CSV,
		.columns = "name,ready,lasts,begin" };
	struct answer *answer = begin(&options);
	const struct part part = { { "a", 1 }, 5 };
	struct row row = full;

	answer_row(answer, &unknown, NULL);
	row.name = text_of("=1,\"2\"");
	row.begin++;
	answer_row(answer, &row, NULL);
	answer_begin_table(answer, "parts");
	answer_row(answer, &part, NULL);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "name,ready,lasts,begin\n"
				  ",,,\n"
				  "\"'=1,\"\"2\"\"\",true,1.500000001,"
				  "2017-11-14T16:53:20.000000001Z\n");

	options.table = "parts";
	options.columns = NULL;
	answer = begin(&options);
	answer_row(answer, &full, NULL);
	answer_begin_table(answer, "parts");
	answer_row(answer, &part, NULL);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "of,number\na,5\n");

	answer = begin(&options); /* none of these rows */
	answer_row(answer, &full, NULL);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "of,number\n");
}

static void
the_greatest_number_comes_first_and_unknown_last(void **state)
{
	struct answer_options options = { .format = ANSWER_FORMAT_CSV,
		.columns = "name,count",
		.sort = "count" };
	struct answer *answer = begin(&options);

	named(answer, "n1", 4);
	named(answer, "n2", ANSWER_NO_COUNT);
	named(answer, "n3", 9);
	named(answer, "n10", 4);
	assert_int_equal(answer_rows(answer), 4);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "name,count\nn3,9\nn1,4\nn10,4\nn2,\n");

	options.sort = "name";
	options.top = 2;
	answer = begin(&options);
	named(answer, "n10", 1);
	named(answer, "n2", 2);
	named(answer, "n1", 3);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "name,count\nn1,3\nn2,2\n");
}

/* What a table shows is what people type. */
static void
a_title_names_its_column(void **state)
{
	struct answer_options options = { .format = ANSWER_FORMAT_CSV,
		.columns = "NAME,COUNT",
		.sort = "COUNT" };
	struct answer *answer;

	assert_int_equal(answer_options_check(&options, tables, &err), 0);
	answer = begin(&options);
	named(answer, "n1", 4);
	named(answer, "n2", 9);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "name,count\nn2,9\nn1,4\n");
}

/* The things keep their order, and there are three of them. */
static void
sort_top_and_columns_are_of_the_chosen_table(void **state)
{
	static const struct part parts[] = { { { "a", 1 }, 1 },
		{ { "b", 1 }, 3 }, { { "c", 1 }, 2 } };
	static const char *const texts[] = { "number,of\n3,b\n2,c\n",
		"name,count\nx,1\ny,2\nz,3\n" };
	struct answer_options options = { .format = ANSWER_FORMAT_CSV,
		.table = "parts",
		.columns = "number,of",
		.sort = "number",
		.top = 2 };

	assert_int_equal(answer_options_check(&options, tables, &err), 0);
	for (int i = 0; i < 2; i++) {
		struct answer *answer = begin(&options);

		named(answer, "x", 1);
		named(answer, "y", 2);
		named(answer, "z", 3);
		answer_begin_table(answer, "parts");
		for (int k = 0; k < 3; k++)
			answer_row(answer, &parts[k], NULL);
		assert_int_equal(answer_rows(answer), 3);
		assert_int_equal(end(answer, 0), 0);
		assert_string_equal(text, texts[i]);
		options = (struct answer_options){ .format = ANSWER_FORMAT_CSV,
			.columns = "name,count" };
	}
	options = (struct answer_options){ .table = "parts", .sort = "count" };
	assert_int_equal(answer_options_check(&options, tables, &err), -1);
	assert_non_null(
	    strstr(err.text, "--sort: 'count' is not one of of, number"));
}

static void
each_group_is_sorted_and_counted_apart(void **state)
{
	struct answer_options options = { .format = ANSWER_FORMAT_CSV,
		.columns = "name,count",
		.sort = "count",
		.top = 1 };
	struct answer *answer;

	for (int sorted = 1; sorted >= 0; sorted--) {
		options.sort = sorted ? "count" : NULL;
		answer = begin(&options);
		named(answer, "a", 1);
		named(answer, "b", 2);
		answer_next_group(answer);
		named(answer, "c", 3);
		named(answer, "d", 4);
		assert_int_equal(end(answer, 0), 0);
		assert_string_equal(text, sorted ? "name,count\nb,2\nd,4\n"
						 : "name,count\na,1\nc,3\n");
	}
}

/* More than 2,000 rows of which --top keeps three: the greatest are among the
 * first and the last. */
static void
top_of_many(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_CSV,
		.columns = "count",
		.sort = "count",
		.top = 3 };
	struct answer *answer = begin(&options);

	named(answer, "x", 1000000);
	for (uint64_t i = 0; i < 5000; i++)
		named(answer, "x", i);
	named(answer, "x", 999999);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "count\n1000000\n999999\n4999\n");
}

static void
a_table_is_as_wide_as_what_it_has(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_TABLE };
	struct answer *answer = begin(&options);

	answer_title(answer, "things");
	answer_row(answer, &full, NULL);
	named(answer, "a long name", 12345678901);
	answer_note(answer, "lost", 1, "1 record was lost");
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "things\n\n"
				  "NAME               COUNT  MEAN\n"
				  "a                      3  1.50\n"
				  "a long name  12345678901     -\n"
				  "\n1 record was lost\n");
}

struct clock {
	struct text state;
	double offset;
};

static const struct answer_column clock_columns[] = {
	{ "state", "STATE", ANSWER_AT_TEXT(struct clock, state), "how",
	    .traits = ANSWER_IN_ORDER },
	{ "offset", "OFFSET", ANSWER_AT_NUMBER(struct clock, offset), "how far",
	    "s", .traits = ANSWER_BY_SIZE },
	{ .key = NULL },
};

static const struct answer_table clock_tables[] = { { "clocks", clock_columns },
	{ .name = NULL } };

/* Of 3, -7 and unknown -7 is the furthest off; states come the worst first,
 * which no order of letters knows. */
static void
a_column_says_how_it_is_sorted(void **state)
{
	static const char *const sorts[] = { "offset", "state" };
	static const char *const wanted[] = {
		"state,offset\nlate,-7.0\nwell,3.0\nbad,\n",
		"state,offset\nbad,\nlate,-7.0\nwell,3.0\n"
	};
	const struct clock rows[] = { { { "bad", 3 }, NAN },
		{ { "late", 4 }, -7 }, { { "well", 4 }, 3 } };

	for (int i = 0; i < 2; i++) {
		const struct answer_options options = {
			.format = ANSWER_FORMAT_CSV, .sort = sorts[i]
		};
		struct answer *answer = begin(&options);

		answer_free(&answer);
		answer = answer_new(file, &options, clock_tables);
		for (int k = 0; k < 3; k++)
			answer_row(answer, &rows[k], NULL);
		assert_int_equal(end(answer, 0), 0);
		assert_string_equal(text, wanted[i]);
	}
}

/* First "node-" and ".site.example", which all names have; then the column
 * MEAN (spare) leaves; no digit is cut. */
static void
what_is_too_wide_is_left_out_and_named(void **state)
{
	struct answer_options options = { .format = ANSWER_FORMAT_TABLE,
		.width = 24 };

	for (; options.width >= 14; options.width -= 10) {
		struct answer *answer = begin(&options);

		named(answer, "node-1.site.example", 123456);
		named(answer, "node-22.site.example", 7);
		assert_int_equal(end(answer, 0), 0);
		assert_string_equal(text,
		    options.width == 24
			? "NAME is node-*.site.example\n"
			  "NAME   COUNT  MEAN\n"
			  "1     123456     -\n"
			  "22         7     -\n"
			: "NAME is node-*.site.example\n"
			  "not shown for want of width: seconds (--columns)\n"
			  "NAME   COUNT\n"
			  "1     123456\n"
			  "22         7\n");
	}
}

struct explained {
	struct text name;
	uint64_t count;
	struct text why;
};

static const struct answer_column explained_columns[] = {
	{ "name", "NAME", ANSWER_AT_TEXT(struct explained, name), "a name" },
	{ "count", "COUNT", ANSWER_AT_COUNT(struct explained, count),
	    "how many" },
	{ "why", "WHY", ANSWER_AT_TEXT(struct explained, why), "a clause",
	    .traits = ANSWER_CLAUSE },
	{ .key = NULL },
};
static const struct answer_table explained_tables[] = {
	{ "explained", explained_columns }, { .name = NULL }
};

/* 4 + 2 + 5 + 2 + 13 characters fit into 26, and not into 25. */
static void
a_clause_goes_below_its_row(void **state)
{
	static const char *const wanted[] = {
		"NAME  COUNT  WHY\n"
		"a         1  it was a disk\n"
		"b         2  it was late\n",
		"NAME  COUNT\n"
		"a         1\n"
		"    it was a disk\n"
		"b         2\n"
		"    it was late\n",
	};
	const struct explained rows[] = { { { "a", 1 }, 1,
					      { "it was a disk", 13 } },
		{ { "b", 1 }, 2, { "it was late", 11 } } };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct answer_options options = {
			.format = ANSWER_FORMAT_TABLE, .width = 26 - i
		};
		struct answer *answer = begin(&options);

		answer_free(&answer);
		answer = answer_new(file, &options, explained_tables);
		for (int k = 0; k < 2; k++)
			answer_row(answer, &rows[k], NULL);
		assert_int_equal(end(answer, 0), 0);
		assert_string_equal(text, wanted[i]);
	}
}

/* A name that comes after the widths were chosen, and lacks what they have, is
 * whole. */
static void
a_late_name_is_whole(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_TABLE,
		.width = 20,
		.columns = "name,count" };
	struct answer *answer = begin(&options);
	char name[32];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "node-%d.site.example", i);
		named(answer, name, 1);
	}
	named(answer, "nobody.site.example", 1);
	assert_int_equal(end(answer, 0), 0);
	assert_non_null(strstr(text, "\n999       1\n"));
	assert_non_null(strstr(text, "\nnobody.site.example      1\n"));
}

/* From 1000 rows the parts are taken that all names have; the 1001st, of
 * another site, loses nothing, and the 1002nd has them. */
static void
a_name_without_the_common_parts_is_complete(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_TABLE,
		.width = 20,
		.columns = "name,count" };
	struct answer *answer = begin(&options);

	for (uint64_t i = 0; i < 1000; i++)
		named(answer,
		    i % 2 ? "node-1.site.example" : "node-2.site.example", i);
	named(answer, "visualisation-login9", 7);
	named(answer, "node-3.site.example", 8);
	assert_int_equal(end(answer, 0), 0);
	assert_non_null(strstr(text, "NAME is node-*.site.example\n"));
	assert_non_null(strstr(text, "\n1       999\n"
				     "visualisation-login9      7\n"
				     "3         8\n"));
}

static void
a_name_that_does_not_fit_has_a_line_of_its_own(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_TABLE,
		.width = 16,
		.columns = "name,count" };
	struct answer *answer = begin(&options);

	named(answer, "abcdefghijklmnop", 123456);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "NAME\n"
				  "     COUNT\n"
				  "abcdefghijklmnop\n"
				  "    123456\n");
}

static void
markdown_is_escaped(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_MD,
		.columns = "name,count" };
	struct answer *answer = begin(&options);

	named(answer, "a|b*", 1);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "| NAME | COUNT |\n|---|---:|\n"
				  "| a\\|b\\* | 1 |\n");
}

/* In a table and in Markdown; ESC would be obeyed, and the bar end the cell. */
static void
titles_that_come_with_the_data_are_escaped(void **state)
{
	static const char *const wanted[] = {
		[ANSWER_FORMAT_TABLE] = "NAME  ?[2J|\na      1.00\n",
		[ANSWER_FORMAT_MD] = "| NAME | ?\\[2J\\| |\n|---|---:|\n"
				     "| a | 1.00 |\n",
	};
	struct answer_options options = { .columns = "name,step.*" };
	const struct answer_cell one = answer_number(1);

	for (int i = ANSWER_FORMAT_TABLE; i <= ANSWER_FORMAT_MD; i++) {
		struct answer *answer;

		if (wanted[i] == NULL)
			continue;
		options.format = i;
		answer = begin(&options);
		answer_add_column(
		    answer, text_of("step.a"), "\x1b[2J|", ANSWER_NUMBER, NULL);
		answer_row(answer, &full, &one);
		assert_int_equal(end(answer, 0), 0);
		assert_string_equal(text, wanted[i]);
	}
}

static void
columns_that_come_with_the_data(void **state)
{
	struct answer_options options = { .format = ANSWER_FORMAT_CSV,
		.columns = "name,step.*" };
	struct answer *answer = begin(&options);
	struct answer_cell added[2] = { answer_number(1), answer_number(NAN) };

	assert_int_equal(answer_options_check(&options, tables, &err), 0);
	answer_add_column(answer, text_of("step.b"), "B", ANSWER_NUMBER, "s");
	answer_add_column(answer, text_of("step.a"), "A", ANSWER_NUMBER, "s");
	answer_row(answer, &full, added);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "name,step.b,step.a\na,1.0,\n");

	options.columns = "name,step.c";
	assert_int_equal(answer_options_check(&options, tables, &err), 0);
	answer = begin(&options);
	answer_add_column(answer, text_of("step.b"), "B", ANSWER_NUMBER, "s");
	answer_row(answer, &full, added);
	assert_int_equal(end(answer, 0), -1);
	assert_non_null(strstr(err.text, "no column 'step.c'"));
}

static void
json_by_column(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_JSON,
		.shape = ANSWER_SHAPE_COLUMNS,
		.columns = "count,name,share" };
	struct answer_options lines = { .format = ANSWER_FORMAT_JSONL,
		.shape = ANSWER_SHAPE_COLUMNS };
	struct answer *answer = begin(&options);
	const struct part part = { { "a", 1 }, 1 };

	named(answer, "a\"b", 3);
	named(answer, "c", ANSWER_NO_COUNT);
	answer_begin_table(answer, "parts");
	answer_row(answer, &part, NULL);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "{\n"
				  " \"rows\": {\n"
				  "  \"count\": [3,null],\n"
				  "  \"name\": [\"a\\\"b\",\"c\"],\n"
				  "  \"share\": null\n"
				  " },\n"
				  " \"parts\": {\n"
				  "  \"of\": [\"a\"],\n"
				  "  \"number\": [1]\n"
				  " },\n"
				  " \"notes\": [],\n"
				  " \"complete\": true\n"
				  "}\n");
	assert_int_equal(answer_options_check(&lines, tables, &err), -1);
	assert_string_equal(err.text, "--shape columns is for --format json");
}

static void
wrong_options_name_what_is_near(void **state)
{
	struct answer_options options = { .columns = "name,cuont" };

	assert_int_equal(answer_options_check(&options, tables, &err), -1);
	assert_non_null(strstr(err.text, "--columns: 'cuont' is not one of "
					 "name, count, seconds"));
	assert_non_null(strstr(err.text, "did you mean count?"));
	options = (struct answer_options){ .sort = "nmae" };
	assert_int_equal(answer_options_check(&options, tables, &err), -1);
	assert_non_null(strstr(err.text, "--sort: 'nmae'"));
	options = (struct answer_options){ .table = "part" };
	assert_int_equal(answer_options_check(&options, tables, &err), -1);
	assert_non_null(
	    strstr(err.text, "--table: 'part' is not one of things, parts"));
	assert_null(strstr(err.text, "head"));
	options.table = "head";
	assert_int_equal(answer_options_check(&options, tables, &err), -1);
	/* Only programs explain columns. */
	options = (struct answer_options){ .columns = "help" };
	assert_int_equal(answer_options_check(&options, tables, &err), -1);
	assert_non_null(strstr(err.text, "--columns: 'help' is not one of"));
}

/* Nothing is printed of an answer that failed before its first row. */
static void
a_failure_without_rows_prints_nothing(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_JSON };
	struct answer *answer = begin(&options);

	assert_int_equal(end(answer, -1), -1);
	assert_string_equal(text, "");
}

/* What has been printed when it fails is JSON with its reason. */
static void
a_failure_after_an_empty_table_has_an_end(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_JSON };
	struct answer *answer = begin(&options);

	answer_begin_table(answer, "parts");
	assert_int_equal(end(answer, -1), -1);
	assert_string_equal(text, "{\n \"rows\": [],\n \"parts\": [],\n"
				  " \"notes\": [],\n \"complete\": false,\n"
				  " \"error\": \"\"\n}\n");
}

/* "A" is narrower than the names that come in a later group. */
static void
a_table_of_groups_is_as_wide_as_its_rows(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_TABLE };
	struct answer *answer = begin(&options);

	named(answer, "a", 1);
	answer_next_group(answer);
	named(answer, "a long name", 2);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "NAME         COUNT  MEAN\n"
				  "a                1     -\n"
				  "a long name      2     -\n");
}

/* Both parts of the one thing that --top leaves. */
static void
top_counts_rows_of_the_first_table(void **state)
{
	const struct answer_options options = {
		.format = ANSWER_FORMAT_TABLE, .columns = "name", .top = 1
	};
	struct answer *answer = begin(&options);
	struct part part = { { "a", 1 }, 0 };

	named(answer, "a", 1);
	named(answer, "b", 2);
	answer_begin_table(answer, "parts");
	for (part.number = 1; part.number <= 2; part.number++)
		answer_row(answer, &part, NULL);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "NAME\na\n"
				  "\nparts\n"
				  "OF  NUMBER\n"
				  "a        1\n"
				  "a        2\n");
}

/* Of 3,000 rows the 1,001st and the 2,001st have 7, all others 0. */
static void
equal_rows_of_many_stay_in_their_order(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_CSV,
		.columns = "name,count",
		.sort = "count",
		.top = 2 };
	struct answer *answer = begin(&options);

	for (int i = 0; i < 3000; i++)
		named(answer,
		    i == 1000   ? "early"
		    : i == 2000 ? "late"
				: "x",
		    i == 1000 || i == 2000 ? 7 : 0);
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "name,count\nearly,7\nlate,7\n");
}

static void
values_of_several_types_are_sorted_as_numbers(void **state)
{
	const struct answer_options options = {
		.format = ANSWER_FORMAT_CSV, .columns = "value", .sort = "value"
	};
	static const struct value values[] = { { VALUE_INT, { .i = -7 } },
		{ VALUE_FLOAT, { .f = 1.5 } }, { VALUE_NIL, { 0 } },
		{ VALUE_UINT, { .u = UINT64_MAX } } };
	struct answer *answer = begin(&options);
	struct row row = unknown;

	for (int i = 0; i < 4; i++) {
		row.value = values[i];
		answer_row(answer, &row, NULL);
	}
	assert_int_equal(end(answer, 0), 0);
	assert_string_equal(text, "value\n18446744073709551615\n1.5\n-7\n\n");
}

static const char *
plain(struct answer_cell cell)
{
	static char to[ANSWER_SHOWN_BYTES + 1];
	char room[ANSWER_SHOWN_BYTES];
	struct text t = answer_plain(&cell, room);

	snprintf(to, sizeof(to), "%.*s", (int)t.bytes, t.at);
	return to;
}

/* A double has 53 bits, a second 10^9 ns. */
static void
programs_read_every_digit(void **state)
{
	struct answer_cell bytes = { .type = ANSWER_BYTES,
		.is.number = 3221225472 };

	assert_string_equal(plain(answer_duration(1234567890123456789)),
	    "1234567890.123456789");
	assert_string_equal(plain(answer_duration(-1)), "-0.000000001");
	assert_string_equal(plain(bytes), "3221225472");
	bytes.is.number = 2.5;
	assert_string_equal(plain(bytes), "2.5");
}

static void
people_read_two_digits_at_least(void **state)
{
	static const struct {
		double number;
		const char *shown;
	} numbers[] = { { 12345.678, "12345.68" }, { 99999, "99999.00" },
		{ 123456.7, "123457" }, { -123456.7, "-123457" },
		{ 0.1, "0.10" }, { 0.0123, "0.0123" }, { 0.00012, "0.0001200" },
		{ 0, "0.00" } };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		const struct answer_cell cell =
		    answer_number(numbers[i].number);
		char to[ANSWER_SHOWN_BYTES];

		assert_string_equal(
		    answer_shown(&cell, to).at, numbers[i].shown);
	}
}

static void
the_columns_are_listed(void **state)
{
	memset(text, 0, sizeof(text));
	file = fmemopen(text, sizeof(text), "w");
	assert_non_null(file);
	answer_put_columns(tables, ANSWER_FORMAT_CSV, file);
	fclose(file);
	assert_non_null(
	    strstr(text, "table,column,title,type,unit,with_data,help\n"
			 "things,name,NAME,text,,false,a name\n"
			 "things,count,COUNT,count,,false,how many\n"
			 "things,seconds,MEAN,number,s,false,how long\n"
			 "things,share,,share,,false,a part\n"));
	assert_non_null(strstr(text, "things,step.*,,number,s,true,a step\n"
				     "parts,of,OF,text,,false,whose\n"));
	assert_non_null(strstr(text, "head,from,,time,,false,since when\n"));
}

/* 40 names of 10 characters, of which 320 bytes have room for 26; the near one
 * is among the others. */
static void
a_long_list_is_cut_once(void **state)
{
	static char keys[40][24];
	struct answer_column many[41] = { { .key = NULL } };
	const struct answer_table table[] = { { "many", many },
		{ .name = NULL } };
	const struct answer_options options = { .sort = "column__3xyz" };
	const char *cut;

	for (int i = 0; i < 40; i++) {
		snprintf(keys[i], sizeof(keys[i]), "column__%02d", i);
		many[i] = (struct answer_column){ .key = keys[i] };
	}
	memcpy(keys[39], "column__3xy", 12);
	assert_int_equal(answer_options_check(&options, table, &err), -1);
	cut = strstr(err.text, ", ...");
	assert_non_null(cut);
	assert_memory_equal(cut, ", ...; did you mean", 10);
	assert_null(strstr(cut + 5, "..."));
	assert_non_null(strstr(cut, "column__3xy"));
}

/* Two names of 95 characters. */
static int
give_long_names(void *arg, struct answer *answer, struct err *why)
{
	char name[128];

	for (int i = 1; i <= 2; i++) {
		snprintf(name, sizeof(name), "node-%d.%080d.example", i, 0);
		named(answer, name, (uint64_t)i);
	}
	return *(int *)arg;
}

/* Run it with a terminal of that width as standard output; returns the
 * width that an answer takes it for, and `text` has what was printed. */
static unsigned
run_on_terminal(unsigned short columns_of_it, int given)
{
	const struct answer_options options = { .columns = "name,count" };
	const struct winsize size = { .ws_row = 24, .ws_col = columns_of_it };
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), line, before, rc;
	size_t used = 0;
	unsigned width;
	ssize_t n;

	memset(text, 0, sizeof(text));
	assert_int_equal(grantpt(terminal), 0);
	assert_int_equal(unlockpt(terminal), 0);
	line = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_int_equal(ioctl(line, TIOCSWINSZ, &size), 0);
	fflush(stdout);
	before = dup(STDOUT_FILENO);
	dup2(line, STDOUT_FILENO);
	rc = answer_run(&options, tables, give_long_names, &given, &err);
	width = answer_terminal_width();
	fflush(stdout);
	dup2(before, STDOUT_FILENO);
	close(before);
	close(line);
	while ((n = read(terminal, text + used, sizeof(text) - used - 1)) > 0)
		used += (size_t)n;
	close(terminal);
	assert_int_equal(rc, given);
	return width;
}

/* 95 + 2 + 5 characters fit 200 columns; 40 count as 80, where the names lose
 * what both have. */
static void
a_list_fits_the_terminal(void **state)
{
	assert_int_equal(run_on_terminal(200, 0), 200);
	assert_null(strstr(text, "NAME is"));
	assert_non_null(strstr(text, "\r\nnode-2.0000"));
	assert_int_equal(run_on_terminal(40, 3), 80);
	assert_non_null(strstr(text, "NAME is node-*.0000"));
	assert_non_null(strstr(text, "\r\n2         2\r\n"));
}

/* 1510678400 is 2017-11-14 16:53:20 UTC; 5.5 hours later in India. */
static void
people_read_times_of_their_zone(void **state)
{
	const struct answer_cell time = answer_time(1510678400000000000);
	char to[ANSWER_SHOWN_BYTES];

	assert_int_equal(clock_set_zone("+05:30", &err), 0);
	assert_string_equal(
	    answer_shown(&time, to).at, "2017-11-14T22:23:20+05:30");
	assert_string_equal(plain(time), "2017-11-14T16:53:20Z");
	assert_int_equal(clock_set_zone("UTC", &err), 0);
}

struct taken {
	char text[400];
};

static void
take(void *arg, const struct answer_taken *row)
{
	struct taken *taken = arg;
	const char *const keys[] = { "name", "count", "number", "text" };
	size_t used = strlen(taken->text);

	used += (size_t)snprintf(
	    taken->text + used, sizeof(taken->text) - used, "%s", row->table);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct answer_cell *cell =
		    answer_taken_cell(row, keys[i]);
		char shown[ANSWER_SHOWN_BYTES];
		struct text t;

		if (cell == NULL)
			continue;
		t = answer_plain(cell, shown);
		used += (size_t)snprintf(taken->text + used,
		    sizeof(taken->text) - used, " %s=%.*s", keys[i],
		    (int)t.bytes, t.at);
	}
	snprintf(taken->text + used, sizeof(taken->text) - used, ";");
}

/* The rows as they are printed, with the columns that are not, of each table;
 * the head and the notes. */
static void
what_is_printed_can_be_taken(void **state)
{
	struct taken taken = { "" };
	const struct answer_taker taker = { take, &taken };
	const struct answer_options options = { .format = ANSWER_FORMAT_TABLE,
		.sort = "count",
		.top = 2,
		.columns = "name",
		.taker = &taker };
	struct answer *answer = begin(&options);
	const struct part part = { { "a", 1 }, 5 };

	answer_head(answer, "name", answer_string("h"));
	named(answer, "a", 1);
	named(answer, "b", 3);
	named(answer, "c", 2);
	answer_begin_table(answer, "parts");
	answer_row(answer, &part, NULL);
	answer_note(answer, "k", 7, "a note");
	end(answer, 0);
	assert_string_equal(taken.text,
	    "head name=h;things name=b count=3;things name=c count=2;"
	    "parts number=5;notes count=7 text=a note;");
	assert_string_equal(
	    text, "NAME\nb\nc\n\nparts\nOF  NUMBER\na        5\n\na note\n");
}

/* For people, too, and all are taken. */
static void
one_table_of_several_is_printed(void **state)
{
	struct taken taken = { "" };
	const struct answer_taker taker = { take, &taken };
	const struct answer_options options = {
		.format = ANSWER_FORMAT_TABLE, .table = "parts", .taker = &taker
	};
	struct answer *answer = begin(&options);
	const struct part part = { { "a", 1 }, 5 };

	named(answer, "b", 3);
	answer_begin_table(answer, "parts");
	answer_row(answer, &part, NULL);
	end(answer, 0);
	assert_string_equal(
	    taken.text, "things name=b count=3;parts number=5;");
	assert_string_equal(text, "OF  NUMBER\na        5\n");
}

/* Of 30 columns of seconds some do not fit: none that is there lacks its unit,
 * and the others are counted. */
static void
a_brief_column_has_its_unit(void **state)
{
	const struct answer_options options = { .format = ANSWER_FORMAT_BRIEF,
		.columns = "step.*",
		.room = ANSWER_BRIEF_BYTES_MIN };
	struct answer *answer = begin(&options);
	struct answer_cell cells[30];
	char key[32], left_out[40];
	int shown = 0;

	for (int i = 0; i < 30; i++) {
		snprintf(key, sizeof(key), "step.%d", i + 10);
		answer_add_column(
		    answer, text_of(key), key, ANSWER_NUMBER, "s");
		cells[i] = answer_number(1);
	}
	answer_row(answer, &full, cells);
	assert_int_equal(end(answer, 0), 0);
	for (int i = 10; i < 40; i++) {
		snprintf(key, sizeof(key), "\"step.%d\"", i);
		if (strstr(text, key) == NULL)
			continue;
		shown++;
		snprintf(key, sizeof(key), "\"step.%d\":\"s\"", i);
		assert_non_null(strstr(text, key));
	}
	assert_in_range(shown, 5, 29);
	snprintf(
	    left_out, sizeof(left_out), "\"columns_left_out\":%d}", 30 - shown);
	assert_non_null(strstr(text, left_out));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_as_json),
		cmocka_unit_test(lines_have_a_head_and_an_end),
		cmocka_unit_test(
		    a_text_with_an_escape_stands_between_its_neighbours),
		cmocka_unit_test(a_row_is_written_at_once),
		cmocka_unit_test(what_is_left_out_is_said_in_the_end),
		cmocka_unit_test(csv_is_one_table_and_safe_in_a_spreadsheet),
		cmocka_unit_test(
		    the_greatest_number_comes_first_and_unknown_last),
		cmocka_unit_test(a_title_names_its_column),
		cmocka_unit_test(sort_top_and_columns_are_of_the_chosen_table),
		cmocka_unit_test(each_group_is_sorted_and_counted_apart),
		cmocka_unit_test(top_of_many),
		cmocka_unit_test(a_table_is_as_wide_as_what_it_has),
		cmocka_unit_test(a_column_says_how_it_is_sorted),
		cmocka_unit_test(what_is_too_wide_is_left_out_and_named),
		cmocka_unit_test(a_clause_goes_below_its_row),
		cmocka_unit_test(a_late_name_is_whole),
		cmocka_unit_test(
		    a_name_that_does_not_fit_has_a_line_of_its_own),
		cmocka_unit_test(a_name_without_the_common_parts_is_complete),
		cmocka_unit_test(markdown_is_escaped),
		cmocka_unit_test(titles_that_come_with_the_data_are_escaped),
		cmocka_unit_test(columns_that_come_with_the_data),
		cmocka_unit_test(json_by_column),
		cmocka_unit_test(wrong_options_name_what_is_near),
		cmocka_unit_test(a_failure_without_rows_prints_nothing),
		cmocka_unit_test(a_failure_after_an_empty_table_has_an_end),
		cmocka_unit_test(a_table_of_groups_is_as_wide_as_its_rows),
		cmocka_unit_test(top_counts_rows_of_the_first_table),
		cmocka_unit_test(equal_rows_of_many_stay_in_their_order),
		cmocka_unit_test(values_of_several_types_are_sorted_as_numbers),
		cmocka_unit_test(programs_read_every_digit),
		cmocka_unit_test(people_read_two_digits_at_least),
		cmocka_unit_test(the_columns_are_listed),
		cmocka_unit_test(a_long_list_is_cut_once),
		cmocka_unit_test(a_list_fits_the_terminal),
		cmocka_unit_test(people_read_times_of_their_zone),
		cmocka_unit_test(what_is_printed_can_be_taken),
		cmocka_unit_test(one_table_of_several_is_printed),
		cmocka_unit_test(a_brief_column_has_its_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * dynamic_group - the definition of a metric group and the name that follows
 * from it, worked out by hand and by Python.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/dynamic_group.h"

#include "proto/metric/definition.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

static struct err err;
static unsigned char room[80 << 10];

static struct dynamic_number
number(const char *name, const char *unit, bool counter, double value)
{
	return (struct dynamic_number){ text_of(name), text_of(unit), counter,
		{ .type = VALUE_FLOAT, .is.f = value } };
}

static struct dynamic_label
label(const char *key, const char *value)
{
	return (struct dynamic_label){ text_of(key), text_of(value) };
}

static int
make(struct dynamic_group *group)
{
	err_clear(&err);
	return dynamic_group_make(group, room, sizeof(room), &err);
}

static const char *
property(const struct dynamic_group *group, const char *key)
{
	static char copy[32 << 10];
	struct text text = { "", 0 };

	record_find_text(&group->definition, key, &text);
	snprintf(copy, sizeof(copy), "%.*s", (int)text.bytes, text.at);
	return copy;
}

/* {"a\"b":"é\n","rank":"3"}, and nothing of the empty label. */
static void
a_group_is_defined_as_the_format_says(void **state)
{
	struct dynamic_label labels[] = { label("rank", "3"),
		label("empty", ""), label("a\"b", "\xc3\xa9\n\x01") };
	struct dynamic_number numbers[] = {
		number("queue", "", false, 17),
		number("tokens", "{token}", true, 512),
		number("loss", "1", false, 0.5),
		number("age", "", false, 2),
	};
	struct dynamic_group group = { .origin = text_of("app/train"),
		.label = labels,
		.number = numbers,
		.labels = 3,
		.numbers = 4,
		.time_ns = 1000000007,
		.boot = 42 };
	static const double expected[] = { 42, 0.5, 512, 2, 17 };
	double got[5];
	struct definition definition;

	assert_int_equal(make(&group), 0);
	assert_string_equal(property(&group, "labels"),
	    "{\"a\\\"b\":\"\xc3\xa9\\n\\u0001\",\"rank\":\"3\"}");
	assert_string_equal(
	    property(&group, "names"), "poolscope.boot loss tokens age queue");
	assert_string_equal(property(&group, "units"), "1 1 {token}");
	assert_string_equal(
	    property(&group, "types"), "gauge gauge counter gauge gauge");
	assert_int_equal(group.sample.values, 5);
	assert_true(group.sample.time_ns == 1000000007);
	record_get_numbers(&group.sample, got, 5);
	assert_memory_equal(got, expected, sizeof(got));
	assert_true(definition_of(&group.definition, &definition));
	assert_int_equal(record_check(&group.definition, &err), 0);
	assert_int_equal(record_check(&group.sample, &err), 0);
}

/* Written by somebody who has only read proto/wire.md. */
static void
an_outsider_computes_the_name(void **state)
{
	static const char program[] =
	    "/usr/bin/python3 -c '\n"
	    "import hashlib, json\n"
	    "labels = {\"rank\": \"3\", \"host\": \"\\u00e9\\\"\\\\\\t\"}\n"
	    "texts = [json.dumps(labels, sort_keys=True, ensure_ascii=False,"
	    " separators=(\",\", \":\")), \"loss queue\", \"1\","
	    " \"gauge gauge\"]\n"
	    "data = \"\".join(t + \"\\n\" for t in texts).encode()\n"
	    "print(\"emit/\" + hashlib.blake2b(data, digest_size=16)"
	    ".hexdigest()[:12])\n"
	    "data = b\"\\na\\n\\ngauge\\n\"\n"
	    "print(\"emit/\" + hashlib.blake2b(data, digest_size=16)"
	    ".hexdigest()[:12])'";
	struct dynamic_label labels[] = { label("rank", "3"),
		label("host", "\xc3\xa9\"\\\t") };
	struct dynamic_number numbers[] = { number("queue", "", false, 17),
		number("loss", "1", false, 0.5) };
	struct dynamic_number bare[] = { number("a", "", false, 1) };
	struct dynamic_group group = { .origin = text_of("emit"),
		.label = labels,
		.number = numbers,
		.labels = 2,
		.numbers = 2 };
	char theirs[2][64] = { "", "" };
	FILE *python = popen(program, "r");

	assert_non_null(python);
	assert_int_equal(fscanf(python, "%63s %63s", theirs[0], theirs[1]), 2);
	pclose(python);
	assert_int_equal(make(&group), 0);
	assert_string_equal(group.name, theirs[0]);
	assert_true(text_equal(group.definition.name, text_of(group.name)));
	assert_true(text_equal(group.sample.source, text_of(group.name)));
	group = (struct dynamic_group){
		.origin = text_of("emit"), .number = bare, .numbers = 1
	};
	assert_int_equal(make(&group), 0);
	assert_string_equal(group.name, theirs[1]);
	assert_string_equal(property(&group, "labels"), "");
}

static void
each_fault_has_its_sentence(void **state)
{
	char long_value[] = "12345678901234567890123456789012345678901234567890"
			    "12345678901234567890123456789012345678901234567890"
			    "12345678901234567890123456789";
	const struct {
		struct dynamic_label label[2];
		struct dynamic_number number[2];
		uint32_t labels, numbers;
		const char *says;
	} bad[] = {
		{ .says = "a sample without numbers" },
		{ .number = { number("a b", "", false, 1) },
		    .numbers = 1,
		    .says = "metric 'a b' has a blank" },
		{ .number = { number("a", "x y", false, 1) },
		    .numbers = 1,
		    .says = "unit 'x y' has a blank" },
		{ .number = { number("a", "", false, 1),
		      number("a", "s", false, 1) },
		    .numbers = 2,
		    .says = "metric 'a' is given twice" },
		{ .number = { number("poolscope.boot", "", false, 1) },
		    .numbers = 1,
		    .says = "metric 'poolscope.boot' is poolscope's own" },
		{ .number = { number("a", "", false, 1) },
		    .numbers = 1,
		    .label = { label("k", "1"), label("k", "2") },
		    .labels = 2,
		    .says = "label 'k' is given twice" },
		{ .number = { number("a", "", false, 1) },
		    .numbers = 1,
		    .label = { label("", "1") },
		    .labels = 1,
		    .says = "label '' is empty" },
		{ .number = { number("a", "", false, 1) },
		    .numbers = 1,
		    .label = { label("k", "\xff") },
		    .labels = 1,
		    .says = "label 'k' is not UTF-8" },
		{ .number = { number("a", "", false, 1) },
		    .numbers = 1,
		    .label = { label("k", long_value) },
		    .labels = 1,
		    .says = "label 'k' is longer than 128 bytes" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct dynamic_label labels[2] = { bad[i].label[0],
			bad[i].label[1] };
		struct dynamic_number numbers[2] = { bad[i].number[0],
			bad[i].number[1] };
		struct dynamic_group group = { .origin = text_of("emit"),
			.label = labels,
			.number = numbers,
			.labels = bad[i].labels,
			.numbers = bad[i].numbers };

		assert_int_equal(make(&group), -1);
		assert_string_equal(err.text, bad[i].says);
	}
}

/* Whatever fits is complete, and what does not is refused. */
static void
every_room_is_kept(void **state)
{
	struct dynamic_label labels[DYNAMIC_LABELS_MAX + 1];
	struct dynamic_number numbers[] = { number("a", "s", true, 1) };
	struct dynamic_group group = { .origin = text_of("emit"),
		.label = labels,
		.number = numbers,
		.labels = DYNAMIC_LABELS_MAX,
		.numbers = 1 };
	static char key[DYNAMIC_LABELS_MAX + 1][DYNAMIC_LABEL_BYTES_MAX + 1];
	char value[DYNAMIC_LABEL_BYTES_MAX + 1], name[sizeof(group.name)] = "";
	bool fitted = false;

	memset(value, '\x01', DYNAMIC_LABEL_BYTES_MAX);
	value[DYNAMIC_LABEL_BYTES_MAX] = '\0';
	for (int i = 0; i <= DYNAMIC_LABELS_MAX; i++) {
		memset(key[i], 'a' + i, DYNAMIC_LABEL_BYTES_MAX);
		labels[i] = label(key[i], value);
	}
	for (size_t bytes = 0; bytes <= sizeof(room); bytes += 7) {
		unsigned char *exact = malloc(bytes > 0 ? bytes : 1);
		bool fits = dynamic_group_make(&group, exact, bytes, NULL) == 0;

		assert_true(fits || !fitted);
		if (fits && fitted)
			assert_string_equal(name, group.name);
		if (fits)
			strcpy(name, group.name);
		fitted = fits;
		free(exact);
	}
	assert_true(fitted);
	group.labels++;
	assert_int_equal(make(&group), -1);
	assert_string_equal(err.text, "more than 16 labels");
	group.labels = 0;
	group.origin = text_of(key[0]);
	assert_int_equal(make(&group), 0);
	group.origin = text_of("");
	assert_int_equal(make(&group), -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_group_is_defined_as_the_format_says),
		cmocka_unit_test(an_outsider_computes_the_name),
		cmocka_unit_test(each_fault_has_its_sentence),
		cmocka_unit_test(every_room_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * datastore - results as commits.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/targets/datastore.h"

#include <stdlib.h>

#include "proto/json/json_find.h"
#include "tests/unit/check.h"

static const struct datastore_location place = { "proj", "space" };

/* A file of three kinds of timings. */
static struct result_entry entries[3];

static struct result_file
file_of_three(void)
{
	struct result_file result = { .test = text_of("t\xC3\xA4st"),
		.text = text_of("{\"name\": \"x\"}"),
		.start_us = 1500000000123456,
		.entries = entries,
		.count = 3 };

	for (int i = 0; i < RESULT_DIGEST_BYTES; i++)
		result.digest[i] = (unsigned char)(16 * i + i);
	entries[0] = (struct result_entry){ text_of("a"),
		{ VALUE_FLOAT, .is.f = 1.5e-7 }, text_of("{}") };
	entries[1] = (struct result_entry){ text_of("b"),
		{ VALUE_INT, .is.i = INT64_MAX },
		text_of("{ \"a\":[1,2.50,\"\xC3\xA4\\/\"],\n\"b\":null}") };
	entries[2] = (struct result_entry){ text_of("c"),
		{ VALUE_TEXT, .is.text = text_of("NaN") }, text_of("{}") };
	return result;
}

/* Of an entry, or with NULL of the Test. */
static bool
add(struct json_batch *commit, const struct result_file *result,
    const struct result_entry *entry)
{
	struct json_relayout again;
	struct datastore_item item;
	bool fits;

	json_relayout_init(&again);
	item = datastore_item(&again, result, entry);
	fits = datastore_add(commit, &place, &item);
	json_relayout_clear(&again);
	return fits;
}

static int
check_limits(const struct result_file *result, const struct result_entry *entry,
    struct err *err)
{
	struct json_relayout again;
	struct datastore_item item;
	int rc;

	json_relayout_init(&again);
	item = datastore_item(&again, result, entry);
	rc = datastore_check(&place, &item, err);
	json_relayout_clear(&again);
	return rc;
}

static uint32_t
count_items(struct text list)
{
	struct text item;
	uint32_t count = 0;

	while (json_find_item(&list, &item))
		count++;
	return count;
}

static struct text
item_of(struct text list, size_t i)
{
	struct text item;

	for (size_t at = 0; at <= i; at++)
		assert_true(json_find_item(&list, &item));
	return item;
}

/* A member of the entity of mutation `i`, by its path. */
static struct text
member(struct text root, size_t i, const char *path)
{
	struct text at =
	    json_find(item_of(json_find(root, "mutations"), i), "upsert");
	char copy[100], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((word = strsep(&rest, ".")) != NULL)
		at = word[0] == '0' ? item_of(at, 0) : json_find(at, word);
	return at;
}

static void
assert_member(struct text root, size_t i, const char *path, const char *wanted)
{
	char *got = json_find_string(member(root, i, path));

	assert_non_null(got);
	assert_string_equal(got, wanted);
	free(got);
}

static void
a_file_is_its_entries_and_then_its_test(void **state)
{
	struct result_file result = file_of_three();
	struct json_batch commit = datastore_commit();
	struct text root;

	for (int i = 0; i < 3; i++)
		assert_true(add(&commit, &result, &entries[i]));
	assert_true(add(&commit, &result, NULL));
	root = json_find_root(json_batch_body(&commit));
	assert_true(json_find_is(json_find(root, "mode"), "NON_TRANSACTIONAL"));
	assert_int_equal(count_items(json_find(root, "mutations")), 4);
	assert_member(root, 3, "key.path.0.kind", "Test");
	assert_member(
	    root, 3, "key.path.0.name", "00112233445566778899aabbccddeeff");
	assert_member(root, 3, "key.partitionId.projectId", "proj");
	assert_member(root, 3, "key.partitionId.namespaceId", "space");
	assert_member(
	    root, 3, "properties.info.stringValue", "{\"name\": \"x\"}");
	assert_true(
	    text_equal(member(root, 3, "properties.info.excludeFromIndexes"),
		text_of("true")));
	assert_int_equal(member(root, 3, "properties.timing").bytes, 0);
	assert_member(root, 1, "key.path.0.kind", "Entry");
	assert_member(root, 1, "key.path.0.name",
	    "00112233445566778899aabbccddeeff/00001");
	assert_member(root, 1, "properties.test.stringValue", "t\xC3\xA4st");
	assert_int_equal(
	    member(root, 1, "properties.test.excludeFromIndexes").bytes, 0);
	assert_member(root, 1, "properties.start.timestampValue",
	    "2017-07-14T02:40:00.123456Z");
	assert_member(root, 1, "properties.entry.stringValue", "b");
	assert_member(
	    root, 1, "properties.timing.integerValue", "9223372036854775807");
	/* As json.dumps writes it. */
	assert_member(root, 1, "properties.info.stringValue",
	    "{\"a\": [1, 2.5, \"\\u00e4/\"], \"b\": null}");
	assert_member(root, 2, "properties.timing.stringValue", "NaN");
	assert_true(text_equal(member(root, 0, "properties.timing.doubleValue"),
	    text_of("1.5e-07")));
	json_batch_clear(&commit);
}

static void
a_commit_has_at_most_500_mutations_and_10_mib(void **state)
{
	struct result_file result = file_of_three();
	struct json_batch commit = datastore_commit();
	uint32_t bytes = 1000000, added = 0;
	char *info = malloc(bytes);
	struct text root;

	while (add(&commit, &result, &entries[0]))
		added++;
	assert_int_equal(added, 500);
	json_batch_begin(&commit);
	/* Each byte of it is six in JSON. */
	assert_non_null(info);
	memset(info, 1, bytes);
	entries[0].info = (struct text){ info, bytes };
	assert_true(add(&commit, &result, &entries[0]));
	assert_false(add(&commit, &result, &entries[0]));
	assert_in_range(json_batch_body(&commit).bytes, 6 * bytes,
	    DATASTORE_BODY_BYTES_MAX);
	/* And what was refused is not in it. */
	root = json_find_root(json_batch_body(&commit));
	assert_int_equal(count_items(json_find(root, "mutations")), 1);
	free(info);
	json_batch_clear(&commit);
}

static void
what_the_service_cannot_take_is_reported_before_it_is_asked(void **state)
{
	struct result_file result = file_of_three();
	struct err err = { 0 };
	char *info = malloc(DATASTORE_ENTITY_BYTES_MAX);
	char name[1502];

	assert_non_null(info);
	memset(info, 'x', DATASTORE_ENTITY_BYTES_MAX);
	memset(name, 'n', sizeof(name));
	assert_int_equal(check_limits(&result, NULL, &err), 0);
	result.text = (struct text){ info, 1048487 };
	assert_int_equal(check_limits(&result, NULL, &err), -1);
	assert_non_null(strstr(err.text, "accepts at most 1048572"));
	result.text.bytes = 1048000;
	assert_int_equal(check_limits(&result, NULL, &err), 0);
	entries[0].name = (struct text){ name, 1500 };
	assert_int_equal(check_limits(&result, &entries[0], &err), 0);
	entries[0].name.bytes++;
	assert_int_equal(check_limits(&result, &entries[0], &err), -1);
	assert_non_null(strstr(err.text, "entry's name is longer than 1500"));
	entries[2].timing.is.text = (struct text){ name, 1501 };
	assert_int_equal(check_limits(&result, &entries[2], &err), -1);
	assert_non_null(strstr(err.text, "wallTime is longer than 1500"));
	result.start_us = INT64_MAX / 999;
	assert_int_equal(check_limits(&result, NULL, &err), -1);
	assert_non_null(strstr(err.text, "startTime"));
	free(info);
}

static void
a_place_is_a_project_and_maybe_a_namespace(void **state)
{
	struct datastore_location to;
	struct err err;

	assert_int_equal(datastore_location_read(&to, "a-b", &err), 0);
	assert_string_equal(to.project, "a-b");
	assert_string_equal(to.namespace, "");
	assert_int_equal(datastore_location_read(&to, "x.org:p/n_1", &err), 0);
	assert_string_equal(to.project, "x.org:p");
	assert_string_equal(to.namespace, "n_1");
	assert_int_equal(datastore_location_read(&to, "", &err), -1);
	assert_int_equal(datastore_location_read(&to, "a/", &err), -1);
	assert_int_equal(datastore_location_read(&to, "/a", &err), -1);
	assert_int_equal(datastore_location_read(&to, "a/b/c", &err), -1);
	assert_int_equal(datastore_location_read(&to, "a?b", &err), -1);
}

static void
an_answer_has_a_result_for_each_mutation(void **state)
{
	struct err err = { 0 };

	assert_int_equal(
	    datastore_answer_read(
		text_of("{\"mutationResults\": [{\"version\": \"1\"}, {}], "
			"\"indexUpdates\": 4}"),
		2, &err),
	    0);
	assert_int_equal(datastore_answer_read(
			     text_of("{\"mutationResults\": [{}]}"), 2, &err),
	    -1);
	assert_string_equal(
	    err.text, "the answer has 1 results for 2 mutations");
	assert_int_equal(datastore_answer_read(text_of("{}"), 1, &err), -1);
	assert_int_equal(datastore_answer_read(text_of("[]"), 0, &err), -1);
	assert_int_equal(datastore_answer_read(text_of(""), 0, &err), -1);
}

static void
an_error_is_one_sentence(void **state)
{
	struct err err = { 0 };

	assert_true(datastore_error_read(
	    text_of("{\"error\": {\"code\": 409, \"status\": \"ABORTED\", "
		    "\"message\": \"too much\\ncontention\"}}"),
	    &err));
	assert_string_equal(err.text, "ABORTED: too much\\x0Acontention");
	assert_false(datastore_error_read(text_of("{\"error\": 1}"), &err));
	assert_false(datastore_error_read(text_of("<html>"), &err));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_its_entries_and_then_its_test),
		cmocka_unit_test(a_commit_has_at_most_500_mutations_and_10_mib),
		cmocka_unit_test(
		    what_the_service_cannot_take_is_reported_before_it_is_asked),
		cmocka_unit_test(a_place_is_a_project_and_maybe_a_namespace),
		cmocka_unit_test(an_answer_has_a_result_for_each_mutation),
		cmocka_unit_test(an_error_is_one_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

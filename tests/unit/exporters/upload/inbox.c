/*
 * folder, reported - files are listed, and taken by one at a time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/inbox.h"

#include "exporters/upload/directory.h"
#include "tests/unit/exporters/upload/inbox_help.h"

static void
the_oldest_come_first_and_only_files(void **state)
{
	struct here *here = *state;
	struct inbox_list files;

	write_file(&here->from, "b", "", 200);
	write_file(&here->from, "c", "", 100);
	write_file(&here->from, "a", "", 200);
	write_file(&here->from, ".hidden", "", 300);
	assert_int_equal(symlinkat("b", here->from.fd, "link"), 0);
	assert_int_equal(mkdirat(here->from.fd, "dir", 0700), 0);
	assert_int_equal(mkfifoat(here->from.fd, "pipe", 0600), 0);
	files = list(&here->from, 4);
	assert_string_equal(files.at[0].name, "c");
	assert_string_equal(files.at[1].name, "a");
	assert_string_equal(files.at[2].name, "b");
	assert_string_equal(files.at[3].name, ".hidden");
	inbox_list_clear(&files);
}

static void
what_somebody_has_is_left_alone(void **state)
{
	struct here *here = *state;
	struct inbox_list files;
	struct err err;
	int fd, other;

	write_file(&here->from, "a", "1", 100);
	files = list(&here->from, 1);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &fd, &err), INBOX_TAKEN);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &other, &err), INBOX_LOCKED);
	close(fd);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &other, &err), INBOX_TAKEN);
	close(other);
	assert_int_equal(unlinkat(here->from.fd, "a", 0), 0);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &fd, &err), INBOX_GONE);
	/* In its place something that must not be opened for ever. */
	assert_int_equal(mkfifoat(here->from.fd, "a", 0600), 0);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &fd, &err), INBOX_GONE);
	assert_int_equal(unlinkat(here->from.fd, "a", 0), 0);
	assert_int_equal(symlinkat("b", here->from.fd, "a"), 0);
	assert_int_equal(
	    inbox_take(&here->from, &files.at[0], &fd, &err), INBOX_GONE);
	inbox_list_clear(&files);
}

static void
a_file_of_a_far_year_is_not_the_oldest(void **state)
{
	struct here *here = *state;
	struct inbox_list files;
	time_t far = (time_t)13569465600; /* 2400-01-01 */

	write_file(&here->from, "far", "", far);
	write_file(&here->from, "near", "", 1600000000);
	write_file(&here->from, "old", "", -1);
	files = list(&here->from, 3);
	assert_string_equal(files.at[0].name, "old");
	assert_true(files.at[0].mtime_ns == -1000000000);
	assert_string_equal(files.at[1].name, "near");
	assert_string_equal(files.at[2].name, "far");
	assert_true(files.at[2].mtime_ns == INT64_MAX);
	inbox_list_clear(&files);
}

static void
of_very_many_the_others_are_behind_the_last(void **state)
{
	enum { FILES = INBOX_FILES_MAX + 5 };
	struct here *here = *state;
	struct inbox_list first = { .at = NULL }, rest = { .at = NULL };
	char name[16];
	struct err err;

	/* Many of one time, and not in the order of their names. */
	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "%06d", i * 7919 % FILES);
		write_file(&here->from, name, "", i * 7919 % FILES / 10000);
	}
	assert_int_equal(inbox_list(&here->from, NULL, &first, &err), 0);
	assert_int_equal(first.count, INBOX_FILES_MAX);
	assert_true(first.more);
	assert_string_equal(first.at[0].name, "000000");
	assert_string_equal(first.at[first.count - 1].name, "065535");
	assert_int_equal(
	    inbox_list(&here->from, &first.at[first.count - 1], &rest, &err),
	    0);
	assert_int_equal(rest.count, FILES - INBOX_FILES_MAX);
	assert_false(rest.more);
	assert_string_equal(rest.at[0].name, "065536");
	inbox_list_clear(&first);
	inbox_list_clear(&rest);
}

static void
what_was_reported_of_a_file_is_reported_again_when_it_changes(void **state)
{
	struct reported_files *reported_files = reported_files_new();
	struct inbox_file file = { .ino = 7, .mtime_ns = 1, .bytes = 2 };
	bool bad;

	assert_false(reported_files_has(reported_files, &file, &bad));
	reported_files_add(reported_files, &file, true);
	assert_true(reported_files_has(reported_files, &file, &bad));
	assert_true(bad);
	reported_files_add(reported_files, &file, false);
	assert_true(reported_files_has(reported_files, &file, &bad));
	assert_false(bad);
	file.mtime_ns = 3;
	assert_false(reported_files_has(reported_files, &file, &bad));
	/* Of very many it forgets some, and does not grow. */
	for (uint32_t i = 1; i <= 200000; i++) {
		file.ino = i;
		reported_files_add(reported_files, &file, true);
		assert_true(reported_files_has(reported_files, &file, &bad));
	}
	reported_files_free(&reported_files);
	assert_null(reported_files);
}

int
main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		CASE(the_oldest_come_first_and_only_files),
		CASE(what_somebody_has_is_left_alone),
		CASE(a_file_of_a_far_year_is_not_the_oldest),
		CASE(of_very_many_the_others_are_behind_the_last),
		CASE(
		    what_was_reported_of_a_file_is_reported_again_when_it_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * import_profile - threads, intervals and counters to the last one; what is
 * damaged is named with its offset, and what came before it counts.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/scanner/profile.h"

#include <endian.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/check.h"

#define BASE INT64_C(1546300800123456789)

static unsigned char bytes[200000];
static size_t used;
static struct import_file file;
static struct import_profile profile;
static struct err err;

/* ---- writing files ---- */

static void
put(const void *at, size_t count)
{
	memcpy(bytes + used, at, count);
	used += count;
}

static void
put_number(int64_t number)
{
	uint64_t bits = htole64((uint64_t)number);

	put(&bits, sizeof(bits));
}

static void
put_byte(unsigned char byte)
{
	put(&byte, 1);
}

static void
put_text(const char *text)
{
	put(text, strlen(text) + 1);
}

static void
put_head(const char *type, const char *tag, int64_t number)
{
	put_number(3);
	put_text(type);
	put_text(tag);
	put_number(number);
}

static void
put_interval(unsigned char id, int64_t begin_ns, int64_t end_ns)
{
	put_byte(id);
	put_number(begin_ns);
	put_number(end_ns);
}

/* A thread with the names "a" (id 0) and "b" (9), an interval of each, and a
 * counter. */
static void
put_thread(const char *type, const char *tag, int64_t number)
{
	put_head(type, tag, number);
	put_number(2);
	put_text("a");
	put_byte(0);
	put_text("b");
	put_byte(9);
	put_number(2);
	put_interval(9, 10, 30);
	put_interval(0, -5, 12);
	put_number(1);
	put_text("c");
	put_number(-7);
}

static void
put_worker(void)
{
	used = 0;
	put_number(BASE);
	put_number(BASE + 1000);
	put_thread("process_job", "", 0);
	put_byte(2);
	put_thread("load", "", 0);
	put_thread("load", "", 1);
	put_byte(1);
	put_byte(3);
	put_thread("eval", "pre", 0);
	put_thread("eval", "eval", 0);
	put_thread("eval", "post", 0);
	put_byte(1);
	put_thread("save", "", 0);
}

/* ---- reading them ---- */

static void
open_file(bool is_master)
{
	char path[64];
	int fd = memfd_create("profile", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, used), (ssize_t)used);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(import_file_open(&file, path, &err), 0);
	close(fd);
	import_profile_init(&profile, &file, is_master, BASE);
}

static int
close_file(void **state)
{
	import_file_close(&file);
	return 0;
}

static void
assert_item(enum profile_item wanted)
{
	enum profile_item item = import_profile_next(&profile, &err);

	if (item != wanted && (item == PROFILE_NOTE || item == PROFILE_DAMAGED))
		print_message("%s\n", err.text);
	assert_int_equal(item, wanted);
}

static void
assert_reported(enum profile_item wanted, const char *why)
{
	assert_item(wanted);
	assert_string_equal(err.text, why);
}

static void
assert_end(void)
{
	assert_item(PROFILE_END);
	assert_item(PROFILE_END);
}

static void
assert_thread(const char *track, const char *name)
{
	char got[SCANNER_NAME_BYTES];

	assert_item(PROFILE_THREAD);
	scanner_track(got, &profile.thread, &profile.shape);
	assert_string_equal(got, track);
	scanner_thread_name(got, &profile.thread, &profile.shape);
	assert_string_equal(got, name);
}

static void
assert_interval(const char *name, int64_t begin_ns, int64_t end_ns)
{
	assert_item(PROFILE_INTERVAL);
	assert_true(text_equal(
	    import_name_text(&profile.keys[profile.id]), text_of(name)));
	assert_true(profile.from_ns == BASE + begin_ns);
	assert_true(profile.to_ns == BASE + end_ns);
}

static void
assert_rest_of_thread(void)
{
	assert_interval("b", 10, 30);
	assert_interval("a", -5, 12);
	assert_item(PROFILE_COUNTER);
	assert_true(
	    text_equal(import_name_text(&profile.counter_name), text_of("c")));
	assert_true(profile.value == -7);
	assert_item(PROFILE_THREAD_END);
}

/* ---- what is right ---- */

static void
a_worker_has_its_threads_in_their_order(void **state)
{
	put_worker();
	open_file(false);
	assert_thread("process_job/0", "EventLoop");
	assert_true(profile.begin_ns == BASE && profile.end_ns == BASE + 1000);
	assert_true(profile.node == 3);
	assert_rest_of_thread();
	assert_thread("load/0", "Reader[0]");
	assert_rest_of_thread();
	assert_thread("load/1", "Reader[1]");
	assert_rest_of_thread();
	assert_thread("eval/0/pre", "Pipeline[0]:DecodeVideo");
	assert_rest_of_thread();
	assert_thread("eval/0/eval/0", "Pipeline[0]:Ops[0]");
	assert_rest_of_thread();
	assert_thread("eval/0/post", "Pipeline[0]:EncodeVideo");
	assert_rest_of_thread();
	assert_thread("save/0", "Writer[0]");
	assert_rest_of_thread();
	assert_end();
	assert_int_equal(import_profile_offset(&profile), used);
}

static void
a_master_has_one_thread(void **state)
{
	used = 0;
	put_number(BASE);
	put_number(BASE);
	put_thread("master", "master", 0);
	open_file(true);
	assert_thread("master/0", "EventLoop");
	assert_rest_of_thread();
	assert_end();
}

static void
bytes_behind_the_last_thread_are_passed_over(void **state)
{
	used = 0;
	put_number(BASE);
	put_number(BASE);
	put_thread("master", "master", 0);
	put_text("and more");
	open_file(true);
	assert_thread("master/0", "EventLoop");
	assert_rest_of_thread();
	assert_end();
}

static void
no_pipelines_have_a_number_of_stages_all_the_same(void **state)
{
	used = 0;
	put_number(1000);
	put_number(2500);
	put_thread("process_job", "", 0);
	put_byte(0);
	put_byte(0);
	put_byte(3);
	put_byte(0);
	open_file(false);
	assert_thread("process_job/0", "EventLoop");
	assert_rest_of_thread();
	assert_end();
	assert_int_equal(profile.shape.stages, 3);
	assert_int_equal(import_profile_offset(&profile), used);
}

/* ---- what is not ---- */

/* Everything that can be cut off. */
static void
a_file_that_ends_early_says_so_and_keeps_what_came_before(void **state)
{
	size_t whole;
	uint32_t intervals_before = 0;

	put_worker();
	whole = used;
	for (used = 0; used < whole; used++) {
		uint32_t intervals = 0, damaged = 0;
		int depth = 0;
		enum profile_item item;

		open_file(false);
		while ((item = import_profile_next(&profile, &err)) !=
		       PROFILE_END) {
			intervals += item == PROFILE_INTERVAL;
			damaged += item == PROFILE_DAMAGED;
			depth += item == PROFILE_THREAD;
			depth -= item == PROFILE_THREAD_END;
			assert_int_not_equal(item, PROFILE_FAILED);
			assert_int_not_equal(item, PROFILE_NOTE);
		}
		assert_int_equal(damaged, 1);
		assert_int_equal(depth, 0);
		assert_non_null(strstr(err.text, "offset "));
		assert_in_range(
		    intervals, intervals_before, intervals_before + 1);
		intervals_before = intervals;
		import_file_close(&file);
	}
	assert_int_equal(intervals_before, 14);
	open_file(false);
}

static void
where_it_ends_is_reported_in_words(void **state)
{
	put_worker();
	used = 16 + 8 + 13 + 8 + 8 + 3 + 3 + 8 + 17 + 5;
	open_file(false);
	assert_item(PROFILE_THREAD);
	assert_item(PROFILE_INTERVAL);
	assert_reported(PROFILE_DAMAGED,
	    "offset 84: the file ends, but 1 of 2 intervals of the thread "
	    "are missing");
	assert_item(PROFILE_THREAD_END);
	assert_end();
}

static void
a_thread_of_another_type_is_damage(void **state)
{
	used = 0;
	put_number(BASE);
	put_number(BASE);
	put_thread("process_job", "", 0);
	put_byte(1);
	put_thread("save", "", 0);
	open_file(false);
	assert_item(PROFILE_THREAD);
	assert_rest_of_thread();
	assert_reported(PROFILE_DAMAGED,
	    "offset 128: the type of a thread is 'save', not 'load'");
	assert_end();
}

static void
an_id_of_no_name_is_damage(void **state)
{
	used = 0;
	put_number(BASE);
	put_number(BASE);
	put_head("master", "master", 0);
	put_number(0);
	put_number(1);
	put_interval(4, 1, 2);
	open_file(true);
	assert_item(PROFILE_THREAD);
	assert_reported(PROFILE_DAMAGED,
	    "offset 62: interval 1 of 1 has id 4, which the thread "
	    "does not define");
	assert_item(PROFILE_THREAD_END);
	assert_end();
}

static void
a_time_outside_all_ages_is_damage(void **state)
{
	static const int64_t far[] = { INT64_MAX, INT64_MIN,
		INT64_C(7000000000) * 1000000000 };

	for (size_t i = 0; i < 3; i++) {
		used = 0;
		put_number(BASE);
		put_number(BASE);
		put_head("master", "master", 0);
		put_number(1);
		put_text("x");
		put_byte(0);
		put_number(2);
		put_interval(0, 1, 2);
		put_interval(0, 1, far[i]);
		open_file(true);
		assert_item(PROFILE_THREAD);
		assert_interval("x", 1, 2);
		assert_reported(PROFILE_DAMAGED,
		    "offset 82: interval 2 of 2 is not between 1900-01-01 and "
		    "2200-01-01");
		if (i < 2)
			import_file_close(&file);
	}
	import_file_close(&file);
	used = 0;
	put_number(INT64_MAX);
	put_number(BASE);
	open_file(true);
	assert_reported(PROFILE_DAMAGED,
	    "offset 0: start and end of the job are not between 1900-01-01 "
	    "and 2200-01-01");
	assert_end();
}

/* Two threads: the first promises `counters` and has `there`. */
static void
put_counted(int64_t counters, int there)
{
	used = 0;
	put_number(BASE);
	put_number(BASE);
	put_head("process_job", "", 0);
	put_number(0);
	put_number(0);
	put_number(counters);
	for (int i = 0; i < there; i++) {
		put_text("n");
		put_number(i);
	}
	put_byte(1);
	put_thread("load", "", 0);
	put_byte(0);
	put_byte(0);
	put_byte(0);
}

static void
more_than_a_million_counters_are_none_and_reading_goes_on(void **state)
{
	put_counted(1000001, 0);
	open_file(false);
	assert_item(PROFILE_THREAD);
	assert_reported(PROFILE_NOTE,
	    "offset 61: 1000001 counters of a thread are more than 1000000: "
	    "assuming none");
	assert_item(PROFILE_THREAD_END);
	assert_thread("load/0", "Reader[0]");
	assert_rest_of_thread();
	assert_end();
}

static void
a_million_counters_are_believed(void **state)
{
	put_counted(1000000, 2);
	open_file(false);
	assert_item(PROFILE_THREAD);
	assert_item(PROFILE_COUNTER);
	assert_item(PROFILE_COUNTER);
	/* What follows is taken for counters as far as it goes. */
	while (import_profile_next(&profile, &err) == PROFILE_COUNTER)
		;
	assert_non_null(
	    strstr(err.text, "the thread announces 1000000 counters"));
}

static void
fewer_than_no_counters_are_none(void **state)
{
	put_counted(-3, 0);
	open_file(false);
	assert_item(PROFILE_THREAD);
	assert_item(PROFILE_THREAD_END);
	assert_thread("load/0", "Reader[0]");
	assert_rest_of_thread();
	assert_end();
}

static void
names_that_share_an_id_are_reported(void **state)
{
	char name[16];

	used = 0;
	put_number(BASE);
	put_number(BASE);
	put_head("master", "master", 0);
	put_number(257);
	for (int i = 0; i < 257; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		put_text(name);
		put_byte((unsigned char)i);
	}
	put_number(1);
	put_interval(0, 1, 2);
	put_number(0);
	open_file(true);
	assert_item(PROFILE_THREAD);
	assert_item(PROFILE_NOTE);
	assert_non_null(strstr(err.text,
	    "257 names of intervals are more than their ids can distinguish"));
	assert_interval("n256", 1, 2);
	assert_item(PROFILE_THREAD_END);
	assert_end();
}

/* ---- names ---- */

static void
put_named(const char *name)
{
	used = 0;
	put_number(BASE);
	put_number(BASE);
	put_head("master", "master", 0);
	put_number(1);
	put_text(name);
	put_byte(0);
	put_number(1);
	put_interval(0, 1, 2);
	put_number(0);
}

static void
names_of_utf8_stay_as_they_are(void **state)
{
	put_named("op:\xc3\xbc \xe2\x82\xac \xf0\x9f\x8e\xac");
	open_file(true);
	assert_item(PROFILE_THREAD);
	assert_interval("op:\xc3\xbc \xe2\x82\xac \xf0\x9f\x8e\xac", 1, 2);
	assert_item(PROFILE_THREAD_END);
	assert_end();
}

static void
other_names_are_kept_changed_and_that_is_reported(void **state)
{
	put_named("caf\xe9\n");
	open_file(true);
	assert_item(PROFILE_THREAD);
	assert_interval("caf\xc3\xa9\xef\xbf\xbd", 1, 2);
	assert_item(PROFILE_THREAD_END);
	assert_reported(PROFILE_NOTE,
	    "not every name in it is 1 to 255 bytes of UTF-8 without control "
	    "characters: such names were changed");
	assert_end();
}

static void
a_name_that_is_too_long_is_cut_and_closed_with_a_hash(void **state)
{
	struct import_name name, other;
	char longer[400];

	memset(longer, 'n', sizeof(longer));
	assert_true(import_name_set(&name, (struct text){ longer, 255 }));
	assert_int_equal(name.bytes, 255);
	assert_false(import_name_set(&name, (struct text){ longer, 256 }));
	assert_int_equal(name.bytes, 255);
	assert_int_equal(name.at[255 - 17], '~');
	longer[399] = 'm';
	assert_false(import_name_set(&other, (struct text){ longer, 400 }));
	assert_memory_not_equal(name.at, other.at, 255);
	/* Not in the middle of a character. */
	for (int i = 0; i < 400; i++)
		longer[i] = "\xe2\x82\xac"[i % 3];
	assert_false(import_name_set(&other, (struct text){ longer, 300 }));
	assert_int_equal(text_check_name(import_name_text(&other)), TEXT_OK);
	assert_false(import_name_set(&other, (struct text){ longer, 0 }));
	assert_true(text_equal(import_name_text(&other), text_of("(no name)")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define READS(test) cmocka_unit_test_teardown(test, close_file)
		READS(a_worker_has_its_threads_in_their_order),
		READS(a_master_has_one_thread),
		READS(bytes_behind_the_last_thread_are_passed_over),
		READS(no_pipelines_have_a_number_of_stages_all_the_same),
		READS(
		    a_file_that_ends_early_says_so_and_keeps_what_came_before),
		READS(where_it_ends_is_reported_in_words),
		READS(a_thread_of_another_type_is_damage),
		READS(an_id_of_no_name_is_damage),
		READS(a_time_outside_all_ages_is_damage),
		READS(
		    more_than_a_million_counters_are_none_and_reading_goes_on),
		READS(a_million_counters_are_believed),
		READS(fewer_than_no_counters_are_none),
		READS(names_that_share_an_id_are_reported),
		READS(names_of_utf8_stay_as_they_are),
		READS(other_names_are_kept_changed_and_that_is_reported),
		cmocka_unit_test(
		    a_name_that_is_too_long_is_cut_and_closed_with_a_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

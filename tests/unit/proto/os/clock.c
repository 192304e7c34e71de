/*
 * clock - times as people write them.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/clock.h"

#include "tests/unit/check.h"

static int64_t
seconds(const char *text)
{
	int64_t ns = -1;

	assert_int_equal(clock_parse_seconds(text_of(text), &ns, NULL), 0);
	return ns;
}

static void
seconds_are_exact_to_the_nanosecond(void **state)
{
	assert_int_equal(
	    seconds("1508000063.695798"), INT64_C(1508000063695798000));
	assert_int_equal(
	    seconds("1508000063.123456789"), INT64_C(1508000063123456789));
	assert_int_equal(seconds("0"), 0);
	assert_int_equal(seconds("-1.5"), INT64_C(-1500000000));
	assert_int_equal(seconds("1.5e9"), INT64_C(1500000000000000000));
	assert_int_equal(
	    seconds("15080000000e-1"), INT64_C(1508000000000000000));
	assert_int_equal(seconds(".000000001"), 1);
}

static void
digits_beyond_the_ninth_round_half_to_even(void **state)
{
	assert_int_equal(seconds("1.0000000005"), INT64_C(1000000000));
	assert_int_equal(seconds("1.0000000015"), INT64_C(1000000002));
	assert_int_equal(seconds("1.00000000050001"), INT64_C(1000000001));
	assert_int_equal(seconds("0.0000000004999"), 0);
	assert_int_equal(seconds("0.9999999999"), INT64_C(1000000000));
}

static void
what_is_not_a_time_is_refused_with_a_sentence(void **state)
{
	static const char *const bad[] = { "", "abc", "1.2.3", "1e", "0x10",
		"nan", "inf", " 1", "1 ", "--1", "1e999", "9e18",
		"99999999999999999999999999", "-3000000000" };
	struct err err;
	int64_t ns;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		err.text[0] = '\0';
		if (clock_parse_seconds(text_of(bad[i]), &ns, &err) == 0)
			fail_msg("'%s' was taken", bad[i]);
		assert_true(strlen(err.text) > 10);
	}
}

static void
options_take_all_the_usual_forms(void **state)
{
	const int64_t now = INT64_C(1763632800) * NS_PER_SECOND;
	static const struct {
		const char *text;
		int64_t seconds;
	} good[] = {
		{ "now", 1763632800 },
		{ "-1h", 1763629200 },
		{ "-90s", 1763632710 },
		{ "-2d", 1763460000 },
		{ "2025-11-20T10:00:00Z", 1763632800 },
		{ "2025-11-20T12:00:00+02:00", 1763632800 },
		{ "2025-11-20 04:00:00-0600", 1763632800 },
		{ "2025-11-20", 1763596800 },
		{ "2024-02-29T00:00Z", 1709164800 },
		{ "1508000000", 1508000000 },
		{ "2200-01-01", 7258118400 },
		{ "1899-12-31T20:00:00-04:00", -2208988800 },
		/* The day began at 1763596800, the one before at 1763510400. */
		{ "today", 1763596800 },
		{ "Yesterday", 1763510400 },
		{ "yesterday 04:00", 1763524800 },
		{ "04:00", 1763611200 },
		{ "10:00:00", 1763632800 },
		{ "12:30", 1763555400 },
		{ "2.days.ago", 1763460000 },
		{ "1 hour ago", 1763629200 },
		{ "90 minutes", 1763627400 },
		{ "3h", 1763622000 },
	};
	static const char *const bad[] = { "1900-01-01T00:00:00+14:00",
		"2200-01-01T00:00:01Z", "2025-13-01", "2025-02-29",
		"2025-11-20T25:00", "tomorrow", "-1y", "0000-01-01", "noon",
		"24:00", "12:60", "1:2:3:4", "3 years ago", "yesterday 25:00",
		"ago", "1 hour before", "999999999w", "days ago", "9999-01-01",
		"2025-11-20T10:00:00Zx" };
	int64_t ns;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(
		    clock_parse_time(text_of(good[i].text), now, &ns, NULL), 0);
		assert_int_equal(ns, good[i].seconds * NS_PER_SECOND);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(
		    clock_parse_time(text_of(bad[i]), now, &ns, NULL), -1);
	assert_int_equal(clock_parse_time(text_of("2025-11-20T10:00:00.25Z"),
			     now, &ns, NULL),
	    0);
	assert_int_equal(ns, now + 250000000);
}

static void
durations_have_units(void **state)
{
	int64_t ns;

	assert_int_equal(clock_parse_duration(text_of("250ms"), &ns, NULL), 0);
	assert_int_equal(ns, 250000000);
	assert_int_equal(clock_parse_duration(text_of("1.5h"), &ns, NULL), 0);
	assert_int_equal(ns, 5400 * NS_PER_SECOND);
	assert_int_equal(clock_parse_duration(text_of("7"), &ns, NULL), 0);
	assert_int_equal(ns, 7 * NS_PER_SECOND);
	/* A small unit may stand behind a number of any size. */
	assert_int_equal(
	    clock_parse_duration(text_of("90000000000ns"), &ns, NULL), 0);
	assert_int_equal(ns, 90 * NS_PER_SECOND);
	assert_int_equal(clock_parse_duration(text_of("9e18ns"), &ns, NULL), 0);
	assert_int_equal(ns, INT64_C(9000000000000000000));
	assert_int_equal(clock_parse_duration(text_of("5x"), &ns, NULL), -1);
	assert_int_equal(clock_parse_duration(text_of("9e9w"), &ns, NULL), -1);
	assert_int_equal(clock_parse_duration(text_of(""), &ns, NULL), -1);
}

/* The oracle is the C library's calendar. */
static void
what_is_printed_reads_back(void **state)
{
	uint64_t random = check_seed();
	char text[CLOCK_TEXT_BYTES];

	for (int i = 0; i < 20000; i++) {
		int64_t ns = (int64_t)(check_random(&random) >> 2), back;

		clock_text(text, ns, 9);
		if (ns > TIME_MAX_NS)
			continue;
		assert_int_equal(
		    clock_parse_time(text_of(text), 0, &back, NULL), 0);
		assert_int_equal(ns, back);
	}
	assert_string_equal(
	    clock_text(text, -1, 3), "1969-12-31T23:59:59.999Z");
	assert_string_equal(clock_text(text, 0, 0), "1970-01-01T00:00:00Z");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds_are_exact_to_the_nanosecond),
		cmocka_unit_test(digits_beyond_the_ninth_round_half_to_even),
		cmocka_unit_test(what_is_not_a_time_is_refused_with_a_sentence),
		cmocka_unit_test(options_take_all_the_usual_forms),
		cmocka_unit_test(durations_have_units),
		cmocka_unit_test(what_is_printed_reads_back),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}

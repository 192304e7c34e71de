/*
 * node_list - lists of nodes: which names they stand for, and which of them are
 * refused.  The names of a range are those that `scontrol show hostnames`
 * prints.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/node_list.h"

#include "tests/unit/check.h"

static bool
selects(const char *list, const char *node)
{
	assert_int_equal(node_list_check(text_of(list), NULL), 0);
	return node_list_match(text_of(list), text_of(node));
}

static void
selects_names_and_patterns(void **state)
{
	assert_true(selects("", "anything"));
	assert_true(selects("cn1", "cn1"));
	assert_false(selects("cn1", "cn10"));
	assert_true(selects("cn1,cn7,login*", "cn7"));
	assert_true(selects("cn1, cn7 ,login*", "login-2"));
	assert_false(selects("cn1,cn7,login*", "cn17"));
	assert_true(selects("cn?", "cn\xC3\xA9"));
	assert_true(selects("*[1-3]", "cn2"));
	assert_true(selects("cn[1-3]?", "cn3a"));
	assert_false(selects("cn[1-3]?", "cn3"));
}

static void
selects_ranges_as_slurm_does(void **state)
{
	assert_true(selects("cn[001-031]", "cn001"));
	assert_true(selects("cn[001-031]", "cn031"));
	assert_false(selects("cn[001-031]", "cn032"));
	assert_false(selects("cn[001-031]", "cn1"));
	assert_false(selects("cn[001-031]", "cn0010"));
	assert_true(selects("cn[8-11]", "cn8"));
	assert_true(selects("cn[8-11]", "cn11"));
	assert_false(selects("cn[8-11]", "cn08"));
	assert_true(selects("cn[08-11]", "cn08"));
	assert_true(selects("cn[098-101]", "cn101"));
	assert_true(selects("cn[1-3,7]-ib[0-1]", "cn7-ib0"));
	assert_false(selects("cn[1-3,7]-ib[0-1]", "cn5-ib0"));
	assert_false(selects("cn[1-3,7]-ib[0-1]", "cn7"));
	assert_true(selects("x[1-2][1-20]", "x117"));
	assert_false(selects("x[1-2][1-20]", "x137"));
}

static void
a_backslash_takes_the_meaning_away(void **state)
{
	assert_true(selects("a\\,b", "a,b"));
	assert_false(selects("a\\,b", "a"));
	assert_true(selects("a\\[1\\]", "a[1]"));
	assert_true(selects("a\\*", "a*"));
	assert_false(selects("a\\*", "ab"));
}

static void
counts_and_names_what_an_item_stands_for(void **state)
{
	static const char *const wanted[] = { "cn1-ib0", "cn1-ib1", "cn2-ib0",
		"cn2-ib1", "cn3-ib0", "cn3-ib1", "cn7-ib0", "cn7-ib1" };
	struct text item = text_of("cn[1-3,7]-ib[0-1]");
	char room[NAME_BYTES_MAX];

	assert_int_equal(node_list_count(item), 8);
	for (uint32_t i = 0; i < 8; i++) {
		struct text name = { room, node_list_name(item, i, room) };

		assert_true(text_equal(name, text_of(wanted[i])));
	}
	assert_int_equal(node_list_count(text_of("cn1")), 1);
	assert_int_equal(node_list_count(text_of("cn*")), 0);
	assert_int_equal(node_list_count(text_of("cn[1-2]*")), 0);
}

static void
knows_a_list_that_is_one_name(void **state)
{
	char room[NAME_BYTES_MAX];
	struct text name;

	assert_true(node_list_is_name(text_of("cn1"), room, &name));
	assert_true(text_equal(name, text_of("cn1")));
	assert_true(node_list_is_name(text_of("a\\,b"), room, &name));
	assert_true(text_equal(name, text_of("a,b")));
	assert_false(node_list_is_name(text_of(""), room, &name));
	assert_false(node_list_is_name(text_of("cn1,cn2"), room, &name));
	assert_false(node_list_is_name(text_of("cn*"), room, &name));
	assert_false(node_list_is_name(text_of("cn[1-2]"), room, &name));
}

static void
quotes_names_and_patterns(void **state)
{
	char room[64];

	assert_true(text_equal(node_list_quote(room, text_of("a,b*"), false),
	    text_of("a\\,b\\*")));
	assert_true(text_equal(
	    node_list_quote(room, text_of("a,b*"), true), text_of("a\\,b*")));
	assert_true(text_equal(node_list_quote(room, text_of(" a b "), true),
	    text_of("\\ a b\\ ")));
}

static void
refused(const char *list, const char *sentence)
{
	struct err err;

	assert_int_equal(node_list_check(text_of(list), &err), -1);
	if (strstr(err.text, sentence) == NULL)
		fail_msg("%s", err.text);
}

static void
refuses_what_is_no_list(void **state)
{
	refused("cn[1-3", "between [ and ]");
	refused("cn[]", "between [ and ]");
	refused("cn[a-c]", "between [ and ]");
	refused("cn[3-1]", "between [ and ]");
	refused("cn[1,]", "between [ and ]");
	refused("cn1,,cn2", "a name is empty");
	refused("cn1,", "a name is empty");
	refused(",", "a name is empty");
}

static void
refuses_more_than_65536_names(void **state)
{
	char big[NODE_LIST_BYTES_MAX + 2];

	assert_int_equal(node_list_check(text_of("n[1-65536]"), NULL), 0);
	refused("n[1-65537]", "65536 nodes at most");
	refused("n[1-65536],m", "65536 nodes at most");
	refused("n[1-256][0-256]", "65536 nodes at most");
	refused("n[0-999999999][0-999999999][0-999999999][0-999999999]",
	    "65536 nodes at most");
	memset(big, 'a', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	refused(big, "more than 8192 bytes");
	big[256] = '\0';
	refused(big, "longer than a name");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selects_names_and_patterns),
		cmocka_unit_test(selects_ranges_as_slurm_does),
		cmocka_unit_test(a_backslash_takes_the_meaning_away),
		cmocka_unit_test(counts_and_names_what_an_item_stands_for),
		cmocka_unit_test(knows_a_list_that_is_one_name),
		cmocka_unit_test(quotes_names_and_patterns),
		cmocka_unit_test(refuses_what_is_no_list),
		cmocka_unit_test(refuses_more_than_65536_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

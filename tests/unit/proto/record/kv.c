/*
 * kv - the messages of events.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/kv.h"

#include "tests/unit/check.h"

static void
expect(const char *message, const char *key, const char *value)
{
	struct kv_pair pair;
	char to[256];
	struct text got;

	if (!kv_find(text_of(message), text_of(key), &pair))
		fail_msg("no %s in %s", key, message);
	got = kv_unescape(&pair, to);
	if (!text_equal(got, text_of(value)))
		fail_msg("%s in %s is %.*s, not %s", key, message,
		    (int)got.bytes, got.at, value);
}

static void
the_old_recorders_messages_are_read(void **state)
{
	const char *m = "grtype=docker,img=alfpark/caffe:cpu,size=187.8 MB,"
			"diff=5.9";

	expect(m, "grtype", "docker");
	expect(m, "img", "alfpark/caffe:cpu");
	expect(m, "size", "187.8 MB");
	expect(m, "diff", "5.9");
	expect("offer=UbuntuServer,sku=16.04-LTS", "sku", "16.04-LTS");
}

static void
a_value_may_hold_what_separates(void **state)
{
	expect("k=\"a,b=c\",l=2", "k", "a,b=c");
	expect("k=\"a,b=c\",l=2", "l", "2");
	expect("k=\"say \\\"hi\\\" \\\\\",l=2", "k", "say \"hi\" \\");
	expect("url=http://h/?a=b", "url", "http://h/?a=b");
	expect("k=\"\",l=2", "k", "");
	expect("k=,l=2", "k", "");
	expect("k = v w , l=2", "k", "v w");
}

static void
nothing_is_an_error(void **state)
{
	struct text rest = text_of("alone,,=x,\"q,k=\"open, l=2");
	struct kv_pair pair;
	int pairs = 0;

	while (kv_next(&rest, &pair))
		pairs++;
	assert_int_equal(pairs, 5);
	rest = text_of("");
	assert_false(kv_next(&rest, &pair));
	rest = text_of("k=\"open, l=2");
	assert_true(kv_next(&rest, &pair));
	assert_true(text_equal(pair.value, text_of("open, l=2")));
	assert_false(kv_next(&rest, &pair));
}

static void
the_last_of_two_wins(void **state)
{
	expect("a=1,a=2", "a", "2");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_old_recorders_messages_are_read),
		cmocka_unit_test(a_value_may_hold_what_separates),
		cmocka_unit_test(nothing_is_an_error),
		cmocka_unit_test(the_last_of_two_wins),
	};

	return cmocka_run_group_tests_name("kv", tests, NULL, NULL);
}

/*
 * Tests of proto/net/endpoint.h; claims are tested through zsock_bind
 * (proto/net/zsock.c).
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "proto/net/endpoint.h"

static void
only_ipc_and_tcp_are_endpoints(void **state)
{
	struct err err;

	assert_int_equal(endpoint_check("ipc:///run/x.ipc", &err), 0);
	assert_int_equal(endpoint_check("ipc://relative", &err), 0);
	assert_int_equal(endpoint_check("tcp://head:5570", &err), 0);
	assert_int_equal(endpoint_check("tcp://[::1]:5570", &err), 0);
	assert_int_equal(endpoint_check("inproc://x", &err), -1);
	assert_int_equal(endpoint_check("ws://x:1", &err), -1);
	assert_int_equal(endpoint_check("head:5570", &err), -1);
	assert_int_equal(endpoint_check("", &err), -1);
	assert_int_equal(endpoint_check("ipc://", &err), -1);
	assert_int_equal(endpoint_check("ipc://*", &err), -1);
	assert_int_equal(endpoint_check("ipc://@abstract", &err), -1);
}

static void
a_path_of_107_bytes_fits_and_108_do_not(void **state)
{
	char endpoint[200] = "ipc://";
	struct err err;

	memset(endpoint + 6, 'p', 107);
	assert_int_equal(endpoint_check(endpoint, &err), 0);
	endpoint[6 + 107] = 'p';
	assert_int_equal(endpoint_check(endpoint, &err), -1);
	assert_non_null(strstr(err.text, "107 bytes"));
}

static void
an_endpoint_on_tcp_is_found_among_others(void **state)
{
	static const char *const endpoints[] = { "ipc:///tmp/tcp://a",
		"tcp://a:1" };

	assert_false(endpoint_any_tcp(endpoints, 0));
	assert_false(endpoint_any_tcp(endpoints, 1));
	assert_true(endpoint_any_tcp(endpoints, 2));
}

static void
localhost_is_bound_by_its_number(void **state)
{
	char to[ENDPOINT_BYTES_MAX];
	char text[ENDPOINT_BYTES_MAX] = "tcp://localhost:";
	struct err err;

	assert_int_equal(
	    endpoint_bindable(to, "tcp://localhost:5570", &err), 0);
	assert_string_equal(to, "tcp://127.0.0.1:5570");
	assert_int_equal(
	    endpoint_bindable(to, "tcp://localhost.org:5570", &err), 0);
	assert_string_equal(to, "tcp://localhost.org:5570");
	memset(text + 16, '1', sizeof(text) - 17);
	assert_int_equal(endpoint_bindable(to, text, &err), 0);
	assert_int_equal(strlen(to), strlen(text)); /* the same length */
}

static void
the_path_is_what_follows_ipc(void **state)
{
	assert_string_equal(endpoint_path("ipc:///a/b"), "/a/b");
	assert_null(endpoint_path("tcp://a:1"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_ipc_and_tcp_are_endpoints),
		cmocka_unit_test(a_path_of_107_bytes_fits_and_108_do_not),
		cmocka_unit_test(an_endpoint_on_tcp_is_found_among_others),
		cmocka_unit_test(localhost_is_bound_by_its_number),
		cmocka_unit_test(the_path_is_what_follows_ipc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

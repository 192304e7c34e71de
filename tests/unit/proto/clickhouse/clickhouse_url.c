/*
 * clickhouse_url - addresses of archives, as an operator writes them.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include "proto/clickhouse/url.h"

static struct clickhouse_url url;
static struct err err;

static void
refuses(const char *address, const char *why)
{
	err.text[0] = '\0';
	assert_int_equal(clickhouse_url_parse(&url, address, &err), -1);
	if (strstr(err.text, why) == NULL)
		fail_msg("%s: %s", address, err.text);
}

static void
hosts_have_ports_and_a_user_has_a_name(void **state)
{
	assert_int_equal(
	    clickhouse_url_parse(
		&url, "clickhouse://writer@a-1.b:9123,[::1]:7,c/Pool_1", &err),
	    0);
	assert_false(url.tls);
	assert_string_equal(url.user, "writer");
	assert_string_equal(url.database, "Pool_1");
	assert_int_equal(url.hosts, 3);
	assert_string_equal(url.host[0].name, "a-1.b");
	assert_int_equal(url.host[0].port, 9123);
	assert_string_equal(url.host[1].name, "[::1]");
	assert_int_equal(url.host[1].port, 7);
	assert_string_equal(url.host[2].name, "c");
	assert_int_equal(url.host[2].port, 8123);
}

static void
by_tls_the_port_is_another_one(void **state)
{
	assert_int_equal(
	    clickhouse_url_parse(&url, "clickhouses://[::1]/p", &err), 0);
	assert_true(url.tls);
	assert_string_equal(url.user, "default");
	assert_int_equal(url.host[0].port, 8443);
}

static void
what_is_no_address_is_refused(void **state)
{
	char many[1024] = "clickhouse://a", name[160] = "clickhouse://a/";

	refuses("", "does not begin with");
	refuses("http://a/p", "does not begin with");
	refuses("clickhouse://a", "has no database");
	refuses("clickhouse://a/", "is not a name");
	refuses("clickhouse:///p", "is not a host");
	refuses("clickhouse://a,,b/p", "is not a host");
	refuses("clickhouse://@a/p", "user");
	refuses("clickhouse://a b/p", "is not a host");
	refuses("clickhouse://[::1/p", "is not a host");
	refuses("clickhouse://a%00b/p", "is not a host");
	refuses("clickhouse://a:0/p", "port");
	refuses("clickhouse://a:65536/p", "port");
	refuses("clickhouse://a:/p", "port");
	refuses("clickhouse://a:8123:1/p", "port");
	for (int i = 0; i < 64; i++)
		strcat(many, ",a");
	refuses(strcat(many, "/p"), "more than 64 hosts");
	memset(name + 15, 'x', 65);
	refuses(name, "is not a name");
	name[15 + 64] = '\0';
	assert_int_equal(clickhouse_url_parse(&url, name, &err), 0);
}

static void
a_statement_cannot_come_in_by_a_name(void **state)
{
	refuses("clickhouse://a/p;DROP", "is not a name");
	refuses("clickhouse://a/p.t", "is not a name");
	refuses("clickhouse://a/p?user=x", "is not a name");
	refuses("clickhouse://a/`p`", "is not a name");
	refuses("clickhouse://a/1p", "is not a name");
	refuses("clickhouse://u\r\nX@a/p", "user");
}

static void
a_password_is_refused_and_not_shown(void **state)
{
	refuses("clickhouse://writer:hunter2@a/p", "has a password");
	assert_null(strstr(err.text, "hunter2"));
	refuses("clickhouse://hunter2!@a/p", "user");
	assert_null(strstr(err.text, "hunter2"));
}

static void
only_loopback_is_here(void **state)
{
	static const struct {
		struct clickhouse_host host;
		bool here;
	} cases[] = {
		{ { "localhost", 1 }, true },
		{ { "LocalHost", 1 }, true },
		{ { "127.0.0.1", 1 }, true },
		{ { "127.8.9.10", 1 }, true },
		{ { "[::1]", 1 }, true },
		{ { "127.0.0.1.evil.org", 1 }, false },
		{ { "127.evil.org", 1 }, false },
		{ { "127.0.0.300", 1 }, false },
		{ { "128.0.0.1", 1 }, false },
		{ { "localhost.evil.org", 1 }, false },
		{ { "[::2]", 1 }, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (clickhouse_host_is_here(&cases[i].host) != cases[i].here)
			fail_msg("%s", cases[i].host.name);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_have_ports_and_a_user_has_a_name),
		cmocka_unit_test(by_tls_the_port_is_another_one),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(a_statement_cannot_come_in_by_a_name),
		cmocka_unit_test(a_password_is_refused_and_not_shown),
		cmocka_unit_test(only_loopback_is_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

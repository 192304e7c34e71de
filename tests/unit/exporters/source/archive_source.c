/*
 * archive_source - addresses of archives, and what is wrong with them.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/archive_source.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/source/source.h"
#include "tests/unit/check.h"

/* Nobody listens on the port of tcpmux. */
#define NOWHERE "clickhouse://somebody@127.0.0.1:1/pool"

static char password[] = "/tmp/archive_source.XXXXXX";

static int
make_password(void **state)
{
	int fd = mkstemp(password);

	if (fd < 0 || write(fd, "s3cret\n", 7) != 7 || fchmod(fd, 0600) != 0)
		return -1;
	return close(fd);
}

static int
remove_password(void **state)
{
	return unlink(password);
}

static void
an_archive_is_known_by_its_scheme(void **state)
{
	assert_true(archive_source_is_named("clickhouse://a/b"));
	assert_true(archive_source_is_named("clickhouses://a/b"));
	assert_false(archive_source_is_named("clickhouse:/a/b"));
	assert_false(archive_source_is_named("tcp://clickhouse://a/b"));
	assert_false(archive_source_is_named("ipc://clickhouse"));
	assert_false(archive_source_is_named(""));
}

static void
expect_name(const char *address, const char *name)
{
	char shown[64];

	archive_source_name(shown, sizeof(shown), address);
	assert_string_equal(shown, name);
}

static void
messages_name_the_address_without_its_user(void **state)
{
	expect_name("clickhouse://a/b", "clickhouse://a/b");
	expect_name("clickhouses://me@a:1,b:2/c", "clickhouses://a:1,b:2/c");
	/* Whoever writes a password there all the same. */
	expect_name("clickhouse://me:s3@cret@a/b", "clickhouse://a/b");
}

static void
expect_wrong(const struct archive_source_values *values, const char *address,
    const char *option)
{
	struct err err = { 0 };

	assert_int_equal(archive_source_check(values, address, &err), -1);
	assert_int_equal(err.code, ERR_OPTION);
	assert_string_equal(err.option, option);
	assert_null(strstr(err.text, "s3cret"));
}

static void
what_is_wrong_is_known_before_anything_is_connected(void **state)
{
	const struct archive_source_values none = { NULL, NULL, false };
	const struct archive_source_values lost = { "/nowhere", NULL, false };
	const struct archive_source_values own = { NULL, "/ca.pem", false };

	expect_wrong(&none, "clickhouse://localhost", "connect");
	expect_wrong(&none, "clickhouse://localhost/", "connect");
	expect_wrong(&none, "clickhouse:///pool", "connect");
	expect_wrong(&none, "clickhouse://me:s3cret@localhost/p", "connect");
	expect_wrong(&none, "clickhouse://10.0.0.1/pool", "connect");
	expect_wrong(&lost, "clickhouse://localhost/p", "archive-password");
	expect_wrong(&own, "clickhouse://localhost/p", "archive-cacert");
}

static void
others_on_the_network_may_listen_if_that_is_allowed(void **state)
{
	const struct archive_source_values values = { password, NULL, true };
	struct err err = { 0 };

	if (archive_source_check(&values, "clickhouse://10.0.0.1/pool", &err) !=
	    0)
		fail_msg("%s", err.text);
}

static void
a_password_that_others_can_read_is_refused(void **state)
{
	const struct archive_source_values values = { password, NULL, false };

	assert_int_equal(chmod(password, 0644), 0);
	expect_wrong(&values, "clickhouse://localhost/p", "archive-password");
	assert_int_equal(chmod(password, 0600), 0);
}

/* Twice: the first failure leaves nothing that the second would use. */
static void
an_archive_that_does_not_answer_is_named_without_its_user(void **state)
{
	struct source_options options = { .connect = {
					      .at = { NOWHERE }, .count = 1 } };
	struct source *source = NULL;
	struct err err = { 0 };

	for (int i = 0; i < 2; i++) {
		assert_int_equal(source_open(&source, &options, &err), -1);
		assert_null(source);
		assert_non_null(strstr(err.text, "clickhouse://127.0.0.1:1/"));
		assert_null(strstr(err.text, "somebody"));
	}
}

struct opening {
	char address[64];
	struct source *source;
	struct err err;
	int rc;
	_Atomic bool has_ended;
};

static void *
open_it(void *arg)
{
	struct opening *opening = arg;
	const struct source_options options = {
		.connect = { .at = { opening->address }, .count = 1 }
	};

	opening->rc = source_open(&opening->source, &options, &opening->err);
	opening->has_ended = true;
	return NULL;
}

/* A server that accepts and says nothing, until it is closed. */
static void
an_archive_that_is_silent_does_not_stop_others(void **state)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct opening silent[2] = { 0 }, other = { .address = NOWHERE };
	socklen_t bytes = sizeof(to);
	pthread_t threads[2];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), peer;

	assert_int_equal(bind(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&to, &bytes), 0);
	for (int i = 0; i < 2; i++) {
		snprintf(silent[i].address, sizeof(silent[i].address),
		    "clickhouse://127.0.0.1:%d/pool", ntohs(to.sin_port));
		assert_int_equal(
		    pthread_create(&threads[i], NULL, open_it, &silent[i]), 0);
	}
	peer = accept(fd, NULL, NULL); /* one of them asks */
	assert_true(peer >= 0);
	open_it(&other);
	assert_int_equal(other.rc, -1);
	assert_false(silent[0].has_ended);
	assert_false(silent[1].has_ended);
	/* Nobody listens there any more. */
	close(fd);
	close(peer);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(silent[i].rc, -1);
		assert_null(silent[i].source);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_archive_is_known_by_its_scheme),
		cmocka_unit_test(messages_name_the_address_without_its_user),
		cmocka_unit_test(
		    what_is_wrong_is_known_before_anything_is_connected),
		cmocka_unit_test(
		    others_on_the_network_may_listen_if_that_is_allowed),
		cmocka_unit_test(a_password_that_others_can_read_is_refused),
		cmocka_unit_test(
		    an_archive_that_does_not_answer_is_named_without_its_user),
		cmocka_unit_test(
		    an_archive_that_is_silent_does_not_stop_others),
	};

	return cmocka_run_group_tests(tests, make_password, remove_password);
}

/*
 * Tests of proto/service/notify.h: what a supervisor hears, and what is no
 * supervisor.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <unistd.h>

#include "proto/service/notify.h"
#include "tests/unit/scratch.h"

static char dir[SCRATCH_BYTES];
static struct notify notify;
static struct err err;

/* A supervisor's socket; `name` as NOTIFY_SOCKET has it. */
static int
listen_at(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t bytes = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0 && bytes < sizeof(at.sun_path));
	memcpy(at.sun_path, name, bytes);
	if (name[0] == '@')
		at.sun_path[0] = '\0';
	assert_int_equal(
	    bind(fd, (const struct sockaddr *)&at,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes +
			    (name[0] == '/'))),
	    0);
	return fd;
}

static void
assert_heard(int fd, const char *lines)
{
	char buffer[2048];
	ssize_t n = recv(fd, buffer, sizeof(buffer) - 1, MSG_DONTWAIT);

	assert_true(n >= 0);
	buffer[n] = '\0';
	assert_string_equal(buffer, lines);
}

static void
surround(const char *name, const char *period, const char *pid)
{
	assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
	assert_int_equal(unsetenv("WATCHDOG_USEC"), 0);
	assert_int_equal(unsetenv("WATCHDOG_PID"), 0);
	if (period != NULL)
		assert_int_equal(setenv("WATCHDOG_USEC", period, 1), 0);
	if (pid != NULL)
		assert_int_equal(setenv("WATCHDOG_PID", pid, 1), 0);
}

static void
a_supervisor_hears_what_is_reported(void **state)
{
	char name[160];
	int fd;

	for (int abstract = 0; abstract < 2; abstract++) {
		snprintf(name, sizeof(name), "%s%s/socket", abstract ? "@" : "",
		    dir);
		fd = listen_at(name);
		surround(name, "3000000", NULL);
		assert_int_equal(notify_open(&notify, &err), 0);
		assert_true(notify.watchdog_ns == INT64_C(3000000000));
		notify_send(&notify, "READY=1\nSTATUS=%s", "listening");
		assert_heard(fd, "READY=1\nSTATUS=listening");
		notify_send(&notify, "WATCHDOG=1");
		assert_heard(fd, "WATCHDOG=1");
		close(fd);
		/* It went away: no harm, no signal. */
		notify_send(&notify, "WATCHDOG=1");
		notify_close(&notify);
		notify_send(&notify, "WATCHDOG=1");
	}
}

static void
a_name_as_long_as_can_be_is_taken_and_a_longer_one_refused(void **state)
{
	char name[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	int fd;

	memset(name, 'x', sizeof(name));
	name[0] = '@';
	name[sizeof(name) - 2] = '\0';
	fd = listen_at(name);
	surround(name, NULL, NULL);
	assert_int_equal(notify_open(&notify, &err), 0);
	notify_send(&notify, "READY=1");
	assert_heard(fd, "READY=1");
	notify_close(&notify);
	close(fd);
	name[sizeof(name) - 2] = 'x';
	name[sizeof(name) - 1] = '\0';
	surround(name, NULL, NULL);
	assert_int_equal(notify_open(&notify, &err), -1);
	assert_non_null(strstr(err.text, "is longer than the 107 bytes"));
}

static void
without_a_supervisor_nothing_is_reported(void **state)
{
	for (int empty = 0; empty < 2; empty++) {
		surround("", "1000000", NULL);
		if (!empty)
			unsetenv("NOTIFY_SOCKET");
		assert_int_equal(notify_open(&notify, &err), 0);
		assert_int_equal(notify.fd, -1);
		assert_true(notify.watchdog_ns == 0);
		notify_send(&notify, "READY=1");
	}
}

static void
what_no_supervisor_says_is_refused(void **state)
{
	static const struct {
		const char *name, *period, *pid, *why;
	} hostile[] = {
		{ "socket", NULL, NULL, "neither an absolute path nor @" },
		{ "../socket", NULL, NULL, "neither an absolute path" },
		{ "vsock:2:1234", NULL, NULL, "neither an absolute path" },
		{ "/", NULL, NULL, "neither an absolute path" },
		{ "@", NULL, NULL, "neither an absolute path" },
		{ "\033[2Jx\n", NULL, NULL, "NOTIFY_SOCKET=\\x1B[2Jx\\x0A is" },
		{ "/s", "0", NULL, "WATCHDOG_USEC=0 is not from 1 to" },
		{ "/s", "-1", NULL, "WATCHDOG_USEC=-1" },
		{ "/s", "1s", NULL, "WATCHDOG_USEC=1s" },
		{ "/s", "", NULL, "WATCHDOG_USEC=" },
		{ "/s", "86400000001", NULL, "is not from 1 to 86400000000" },
		{ "/s", "18446744073709551616", NULL, "WATCHDOG_USEC=" },
		{ "/s", "1000000", "me", "WATCHDOG_PID=me" },
	};

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		surround(hostile[i].name, hostile[i].period, hostile[i].pid);
		assert_int_equal(notify_open(&notify, &err), -1);
		if (strstr(err.text, hostile[i].why) == NULL)
			fail_msg("%s: %s", hostile[i].why, err.text);
		assert_int_equal(notify.fd, -1);
		assert_true(notify.watchdog_ns == 0);
		notify_send(&notify, "READY=1");
	}
}

static void
a_watchdog_of_another_process_is_not_ours(void **state)
{
	char pid[32], name[160];

	snprintf(name, sizeof(name), "%s/nobody", dir);
	surround(name, "1000000", "1");
	assert_int_equal(notify_open(&notify, &err), 0);
	assert_true(notify.fd >= 0);
	assert_true(notify.watchdog_ns == 0);
	notify_close(&notify);
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	surround(name, "1000000", pid);
	assert_int_equal(notify_open(&notify, &err), 0);
	assert_true(notify.watchdog_ns == INT64_C(1000000000));
	notify_close(&notify);
}

static void
children_do_not_inherit_the_supervisor(void **state)
{
	for (int good = 0; good < 2; good++) {
		surround(good ? "/s" : "s", "1000000", NULL);
		assert_int_equal(notify_open(&notify, &err), good ? 0 : -1);
		notify_close(&notify);
		assert_null(getenv("NOTIFY_SOCKET"));
		assert_null(getenv("WATCHDOG_USEC"));
		assert_null(getenv("WATCHDOG_PID"));
	}
}

static void
a_supervisor_that_does_not_read_holds_up_for_a_while_only(void **state)
{
	char name[160];
	int fd;

	snprintf(name, sizeof(name), "%s/deaf", dir);
	fd = listen_at(name);
	surround(name, NULL, NULL);
	assert_int_equal(notify_open(&notify, &err), 0);
	/* Until its queue is full. */
	while (sendto(notify.fd, "x", 1, MSG_DONTWAIT,
		   (const struct sockaddr *)&notify.to, notify.to_bytes) == 1)
		;
	assert_int_equal(errno, EAGAIN);
	notify_send(&notify, "READY=1"); /* and it comes back */
	notify_close(&notify);
	close(fd);
}

static int
set_up(void **state)
{
	scratch_make(dir);
	return 0;
}

static int
tear_down(void **state)
{
	scratch_remove(dir);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_supervisor_hears_what_is_reported),
		cmocka_unit_test(
		    a_name_as_long_as_can_be_is_taken_and_a_longer_one_refused),
		cmocka_unit_test(without_a_supervisor_nothing_is_reported),
		cmocka_unit_test(what_no_supervisor_says_is_refused),
		cmocka_unit_test(a_watchdog_of_another_process_is_not_ours),
		cmocka_unit_test(children_do_not_inherit_the_supervisor),
		cmocka_unit_test(
		    a_supervisor_that_does_not_read_holds_up_for_a_while_only),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * Tests of proto/service/service.h: each runs a small daemon in a child.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/service/service.h"
#include "tests/unit/scratch.h"

/* ---- the daemon: reports what happens, a letter each, on `report_fd` ---- */

static int report_fd;
static int start_result, renew_result, clings, hangs, stalls;
static bool nothing;

static void
say(char what)
{
	while (write(report_fd, &what, 1) < 0)
		;
}

/* Hangs until the other side sends CONT. */
static struct loop_timer tired;

static void
on_tired(void *arg, struct loop_timer *timer)
{
	say('h');
	raise(SIGSTOP);
	say('g');
}

/* A thread that has work and does not get on, until a reload. */
static sem_t going_on;

static void *
stall(void *arg)
{
	struct heartbeat heartbeat;

	heartbeat_begin(&heartbeat, arg);
	heartbeat_beat();
	while (sem_wait(&going_on) != 0)
		;
	heartbeat_end(&heartbeat);
	say('e');
	return NULL;
}

static void
start_stalled(void)
{
	static char name[] = "a worker";
	pthread_t thread;

	sem_init(&going_on, 0, 0);
	if (pthread_create(&thread, NULL, stall, name) != 0 ||
	    pthread_detach(thread) != 0)
		say('?');
}

static int
start(void *arg, struct loop *loop, struct err *err)
{
	struct stat st;
	int fd;

	if (arg != &hangs)
		say('?'); /* not what the service was given */
	for (fd = 0; fd < 3; fd++)
		if (fstat(fd, &st) != 0)
			say('?'); /* a standard file is closed */
	say('s');
	if (hangs) {
		tired.on_timer = on_tired;
		loop_set_timer(
		    loop, &tired, clock_monotonic_ns() + NS_PER_SECOND / 10, 0);
	}
	if (stalls)
		start_stalled();
	return start_result == 0 ? 0 : err_set(err, "no such luck");
}

static void
stop(void *arg, struct loop *loop)
{
	if (arg != &hangs)
		say('?');
	say('t');
	if (!clings)
		loop_quit(loop, 0);
}

static int
renew(void *arg, struct loop *loop, struct err *err)
{
	if (arg != &hangs)
		say('?');
	say('n');
	return renew_result == 0 ? 0 : err_set(err, "no such key");
}

static int
reload(void *arg, struct loop *loop, struct err *err)
{
	if (arg != &hangs)
		say('?');
	say('r');
	if (stalls)
		sem_post(&going_on);
	return 0;
}

static void
clear(void *arg)
{
	if (arg != &hangs)
		say('?');
	say('c');
}

static const struct opt options[] = {
	{ "nothing", 0, OPT_FLAG, .to = &nothing, NULL, "does nothing" },
	{ .name = NULL },
};

static const struct service_renewal renewals[] = { { "keys", renew },
	{ .what = NULL } };

static const struct service service = { .name = "poolscope-test",
	.summary = "be tested",
	.options = options,
	.arg = &hangs,
	.start = start,
	.stop = stop,
	.renewals = renewals,
	.reload = reload,
	.clear = clear };

/* ---- the other side ---- */

struct child {
	pid_t pid;
	int reported; /* what the daemon says */
	int ready;    /* what it writes to --ready-fd */
	int errors;   /* its standard error */
};

enum { READY_FD = 20, REPORT_FD = 21, ARGUMENTS = 12 };

static void
run_child(char **arguments, const int pipes[3][2], int close_standard)
{
	char *argv[ARGUMENTS] = { (char *)(uintptr_t) "poolscope-test" };
	int argc = 1;

	dup2(pipes[0][1], REPORT_FD);
	dup2(pipes[1][1], READY_FD);
	dup2(pipes[2][1], STDERR_FILENO);
	if (close_standard) {
		close(0);
		close(1);
	}
	for (int i = 0; i < 3; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
	}
	report_fd = REPORT_FD;
	while (*arguments != NULL)
		argv[argc++] = *arguments++;
	_exit(service_main(&service, argc, argv));
}

static struct child
begin(int close_standard, char **arguments)
{
	struct child child;
	int pipes[3][2];

	for (int i = 0; i < 3; i++)
		assert_int_equal(pipe2(pipes[i], O_CLOEXEC), 0);
	fflush(NULL);
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0)
		run_child(arguments, (const int(*)[2])pipes, close_standard);
	for (int i = 0; i < 3; i++)
		close(pipes[i][1]);
	child.reported = pipes[0][0];
	child.ready = pipes[1][0];
	child.errors = pipes[2][0];
	return child;
}

#define BEGIN(...) begin(0, (char *[]){ __VA_ARGS__, NULL })

static void
assert_ready(const struct child *child)
{
	char c = 0;

	assert_int_equal(read(child->ready, &c, 1), 1);
	assert_int_equal(c, '\n');
	assert_int_equal(read(child->ready, &c, 1), 0); /* closed */
}

static void
assert_reported(const struct child *child, char what)
{
	char c = 0;

	assert_int_equal(read(child->reported, &c, 1), 1);
	assert_int_equal(c, what);
}

static size_t
read_all(int fd, char *to, size_t room)
{
	size_t bytes = 0;
	ssize_t n;

	while ((n = read(fd, to + bytes, room - 1 - bytes)) > 0)
		bytes += (size_t)n;
	to[bytes] = '\0';
	return bytes;
}

/* Wait for the end: its status, and its last message. */
static void
assert_end(
    struct child *child, int status, const char *reported, const char *error)
{
	char text[4096];
	int got;

	read_all(child->reported, text, sizeof(text));
	assert_string_equal(text, reported);
	read_all(child->errors, text, sizeof(text));
	if (strstr(text, error) == NULL)
		fail_msg("\"%s\" is not in: %s", error, text);
	assert_int_equal(waitpid(child->pid, &got, 0), child->pid);
	if (!WIFEXITED(got) || WEXITSTATUS(got) != status)
		fail_msg("ended with %d: %s", got, text);
	close(child->reported);
	close(child->ready);
	close(child->errors);
}

static void
term_stops_it_and_it_ends_with_0(void **state)
{
	struct child child = BEGIN("--ready-fd", "20");

	assert_reported(&child, 's');
	assert_ready(&child);
	kill(child.pid, SIGTERM);
	assert_end(&child, 0, "tc", "ready");
}

static void
hup_reloads_it(void **state)
{
	struct child child = BEGIN("--ready-fd=20");

	assert_reported(&child, 's');
	assert_ready(&child);
	kill(child.pid, SIGHUP);
	assert_reported(&child, 'n');
	assert_reported(&child, 'r');
	kill(child.pid, SIGHUP);
	assert_reported(&child, 'n');
	assert_reported(&child, 'r');
	kill(child.pid, SIGINT);
	assert_end(&child, 0, "tc", "stopping");
}

/* Whoever was taken off the list must be out, whatever stands in another
 * file. */
static void
keys_are_renewed_whatever_the_configuration_says(void **state)
{
	char path[] = "/tmp/service-XXXXXX";
	int fd = mkstemp(path);
	struct child child;
	char text[4096];

	assert_true(fd >= 0);
	child = BEGIN("--ready-fd=20", "--config", path);
	assert_reported(&child, 's');
	assert_ready(&child);
	assert_int_equal(write(fd, "nonsense\n", 9), 9);
	close(fd);
	kill(child.pid, SIGHUP);
	assert_reported(&child, 'n');
	kill(child.pid, SIGTERM);
	read_all(child.errors, text, sizeof(text));
	assert_non_null(strstr(text, "keys reloaded\n"));
	assert_non_null(strstr(text, "configuration unchanged: /tmp/service-"));
	assert_end(&child, 0, "tc", "");
	unlink(path);
}

static void
the_configuration_is_reloaded_whatever_the_keys_are(void **state)
{
	char text[4096];
	struct child child;

	renew_result = -1;
	child = BEGIN("--ready-fd=20");
	renew_result = 0;
	assert_reported(&child, 's');
	assert_ready(&child);
	kill(child.pid, SIGHUP);
	assert_reported(&child, 'n');
	assert_reported(&child, 'r');
	kill(child.pid, SIGTERM);
	read_all(child.errors, text, sizeof(text));
	assert_non_null(strstr(text, "keys unchanged: no such key\n"));
	assert_non_null(strstr(text, "configuration reloaded\n"));
	assert_end(&child, 0, "tc", "");
}

static void
a_second_signal_ends_it_at_once(void **state)
{
	struct child child;

	clings = 1;
	child = BEGIN("--ready-fd", "20");
	clings = 0;
	assert_reported(&child, 's');
	assert_ready(&child);
	kill(child.pid, SIGTERM);
	assert_reported(&child, 't');
	kill(child.pid, SIGTERM);
	assert_end(&child, 1, "c", "exiting now");
}

static void
the_stop_timeout_ends_it(void **state)
{
	struct child child;

	clings = 1;
	child = BEGIN("--ready-fd", "20", "--stop-timeout", "20ms");
	clings = 0;
	assert_reported(&child, 's');
	assert_ready(&child);
	kill(child.pid, SIGTERM);
	assert_end(&child, 1, "tc", "--stop-timeout");
}

static void
a_start_that_fails_is_a_sentence_and_1(void **state)
{
	struct child child;
	char c;

	start_result = -1;
	child = BEGIN("--ready-fd", "20");
	start_result = 0;
	assert_int_equal(read(child.ready, &c, 1), 0);
	assert_end(&child, 1, "sc", "poolscope-test: no such luck\n");
}

static void
wrong_usage_is_2(void **state)
{
	struct child child = BEGIN("--ready-fd", "77");

	assert_end(&child, 2, "", "--ready-fd 77");
	child = BEGIN("--stop-timeout", "soon");
	assert_end(&child, 2, "", "stop-timeout");
	child = BEGIN("operand");
	assert_end(&child, 2, "", "operand");
}

static void
closed_standard_files_are_opened(void **state)
{
	struct child child =
	    begin(1, (char *[]){ (char *)(uintptr_t) "--ready-fd=20", NULL });

	assert_reported(&child, 's'); /* and no '?' before it */
	assert_ready(&child);
	kill(child.pid, SIGTERM);
	assert_end(&child, 0, "tc", "");
}

static void
a_dead_pipe_does_not_end_it(void **state)
{
	struct child child = BEGIN("--ready-fd", "20");

	assert_reported(&child, 's');
	assert_ready(&child);
	kill(child.pid, SIGPIPE);
	kill(child.pid, SIGTERM);
	assert_end(&child, 0, "tc", "");
}

static void
one_process_holds_the_pid_file(void **state)
{
	char dir[SCRATCH_BYTES], path[SCRATCH_BYTES + 8], text[64];
	char wanted[SCRATCH_BYTES + 128];
	struct child first, second;
	struct stat st;
	FILE *file;

	snprintf(path, sizeof(path), "%s/pid", scratch_make(dir));
	/* What a dead process left is no obstacle. */
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("1\n a long left-over text\n", file);
	fclose(file);
	first = BEGIN("--ready-fd", "20", "--pid-file", path);
	assert_reported(&first, 's');
	assert_ready(&first);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text), file) < sizeof(text));
	fclose(file);
	snprintf(wanted, sizeof(wanted), "%d\n", (int)first.pid);
	assert_memory_equal(text, wanted, strlen(wanted));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, strlen(wanted));

	second = BEGIN("--pid-file", path);
	snprintf(wanted, sizeof(wanted),
	    "poolscope-test: already running as process %d (%s)\n",
	    (int)first.pid, path);
	assert_end(&second, 1, "c", wanted);
	assert_int_equal(stat(path, &st), 0);

	kill(first.pid, SIGKILL);
	assert_int_equal(waitpid(first.pid, NULL, 0), first.pid);
	close(first.reported);
	close(first.ready);
	close(first.errors);
	first = BEGIN("--ready-fd", "20", "--pid-file", path);
	assert_reported(&first, 's');
	assert_ready(&first);
	kill(first.pid, SIGTERM);
	assert_end(&first, 0, "tc", "stopped");
	assert_int_equal(stat(path, &st), -1);
	scratch_remove(dir);
}

/* ---- the supervisor ---- */

static void
assert_hears(int fd, const char *wanted)
{
	char lines[1024];
	ssize_t n;

	/* The watchdog's come whenever they come. */
	do {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

		assert_int_equal(poll(&poll_fd, 1, 60000), 1);
		n = recv(fd, lines, sizeof(lines) - 1, 0);
		assert_true(n > 0);
		lines[n] = '\0';
	} while (
	    strcmp(lines, wanted) != 0 && strcmp(lines, "WATCHDOG=1") == 0);
	if (strncmp(lines, wanted, strlen(wanted)) != 0)
		fail_msg("heard %s, not %s", lines, wanted);
}

static int
supervise(const char *dir, const char *watchdog_us)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/notify", dir);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	setenv("NOTIFY_SOCKET", at.sun_path, 1);
	setenv("WATCHDOG_USEC", watchdog_us, 1);
	return fd;
}

static void
a_supervisor_is_reported_of_its_life(void **state)
{
	char dir[SCRATCH_BYTES];
	struct child child;
	int fd;

	scratch_make(dir);
	fd = supervise(dir, "20000");
	child = BEGIN("--ready-fd", "20");
	assert_reported(&child, 's');
	assert_ready(&child);
	assert_hears(fd, "READY=1\nSTATUS=ready");
	for (int i = 0; i < 3; i++)
		assert_hears(fd, "WATCHDOG=1");
	kill(child.pid, SIGHUP);
	assert_reported(&child, 'n');
	assert_reported(&child, 'r');
	assert_hears(fd, "RELOADING=1\nMONOTONIC_USEC=");
	assert_hears(fd, "READY=1\nSTATUS=ready, reconfigured");
	kill(child.pid, SIGTERM);
	assert_hears(fd, "STOPPING=1\nSTATUS=stopping (Terminated)");
	assert_end(&child, 0, "tc", "ready");
	unsetenv("NOTIFY_SOCKET");
	close(fd);
	scratch_remove(dir);
}

static void
a_loop_that_hangs_is_silent(void **state)
{
	char dir[SCRATCH_BYTES];
	char some[64];
	struct child child;
	int fd, status;

	scratch_make(dir);
	fd = supervise(dir, "20000");
	hangs = 1;
	child = BEGIN("--ready-fd", "20");
	hangs = 0;
	assert_reported(&child, 's');
	assert_hears(fd, "READY=1");
	assert_hears(fd, "WATCHDOG=1");
	assert_reported(&child, 'h');
	assert_int_equal(waitpid(child.pid, &status, WUNTRACED), child.pid);
	assert_true(WIFSTOPPED(status));
	while (recv(fd, some, sizeof(some), MSG_DONTWAIT) > 0)
		;
	/* Ten times what a supervisor would wait. */
	poll(NULL, 0, 200);
	assert_true(recv(fd, some, sizeof(some), MSG_DONTWAIT) < 0);
	kill(child.pid, SIGCONT);
	assert_reported(&child, 'g');
	assert_hears(fd, "WATCHDOG=1");
	kill(child.pid, SIGTERM);
	assert_end(&child, 0, "tc", "ready");
	unsetenv("NOTIFY_SOCKET");
	close(fd);
	scratch_remove(dir);
}

static void
a_thread_that_hangs_silences_the_loop(void **state)
{
	char dir[SCRATCH_BYTES];
	char some[64];
	struct child child;
	int fd;

	scratch_make(dir);
	fd = supervise(dir, "20000");
	stalls = 1;
	child = BEGIN("--ready-fd", "20");
	stalls = 0;
	assert_reported(&child, 's');
	assert_hears(fd, "READY=1");
	assert_hears(fd, "STATUS=thread \"a worker\" is stuck");
	/* Ten times what a supervisor would wait. */
	poll(NULL, 0, 200);
	assert_true(recv(fd, some, sizeof(some), MSG_DONTWAIT) < 0);
	kill(child.pid, SIGHUP);
	assert_reported(&child, 'n');
	assert_reported(&child, 'r');
	assert_reported(&child, 'e');
	assert_hears(fd, "RELOADING=1\nMONOTONIC_USEC=");
	assert_hears(fd, "READY=1\nSTATUS=ready, reconfigured");
	assert_hears(fd, "WATCHDOG=1");
	kill(child.pid, SIGTERM);
	assert_end(
	    &child, 0, "tc", "thread \"a worker\" is stuck: it has work");
	unsetenv("NOTIFY_SOCKET");
	close(fd);
	scratch_remove(dir);
}

static void
a_start_that_fails_is_reported(void **state)
{
	char dir[SCRATCH_BYTES];
	struct child child;
	int fd;

	scratch_make(dir);
	fd = supervise(dir, "20000");
	start_result = -1;
	child = BEGIN("--ready-fd", "20");
	start_result = 0;
	assert_hears(fd, "STATUS=not started: no such luck");
	assert_end(&child, 1, "sc", "no such luck");
	unsetenv("NOTIFY_SOCKET");
	close(fd);
	scratch_remove(dir);
}

static void
a_hostile_supervisor_is_refused_and_the_service_runs(void **state)
{
	struct child child;

	setenv("NOTIFY_SOCKET", "../socket", 1);
	child = BEGIN("--ready-fd", "20");
	unsetenv("NOTIFY_SOCKET");
	assert_reported(&child, 's');
	assert_ready(&child);
	kill(child.pid, SIGTERM);
	assert_end(&child, 0, "tc",
	    "cannot notify the supervisor: NOTIFY_SOCKET=../socket is neither");
}

static void
it_leaves_no_core_file(void **state)
{
	struct child child = BEGIN("--ready-fd", "20");
	struct rlimit limit;
	int status;

	assert_reported(&child, 's');
	assert_ready(&child);
	assert_int_equal(prlimit(child.pid, RLIMIT_CORE, NULL, &limit), 0);
	assert_true(limit.rlim_cur == 0 && limit.rlim_max == 0);
	kill(child.pid, SIGQUIT);
	assert_int_equal(waitpid(child.pid, &status, 0), child.pid);
	assert_true(WIFSIGNALED(status) && !WCOREDUMP(status));
	close(child.reported);
	close(child.ready);
	close(child.errors);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(term_stops_it_and_it_ends_with_0),
		cmocka_unit_test(hup_reloads_it),
		cmocka_unit_test(
		    keys_are_renewed_whatever_the_configuration_says),
		cmocka_unit_test(
		    the_configuration_is_reloaded_whatever_the_keys_are),
		cmocka_unit_test(a_second_signal_ends_it_at_once),
		cmocka_unit_test(the_stop_timeout_ends_it),
		cmocka_unit_test(a_start_that_fails_is_a_sentence_and_1),
		cmocka_unit_test(wrong_usage_is_2),
		cmocka_unit_test(closed_standard_files_are_opened),
		cmocka_unit_test(a_dead_pipe_does_not_end_it),
		cmocka_unit_test(one_process_holds_the_pid_file),
		cmocka_unit_test(a_supervisor_is_reported_of_its_life),
		cmocka_unit_test(a_loop_that_hangs_is_silent),
		cmocka_unit_test(a_thread_that_hangs_silences_the_loop),
		cmocka_unit_test(a_start_that_fails_is_reported),
		cmocka_unit_test(
		    a_hostile_supervisor_is_refused_and_the_service_runs),
		cmocka_unit_test(it_leaves_no_core_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

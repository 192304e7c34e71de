/*
 * Tests of proto/service/sandbox.h: each puts a child into a sandbox, which
 * then tries.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/os/log.h"
#include "proto/service/sandbox.h"
#include "tests/unit/scratch.h"

/* Instruments may write below /tmp. */
static char root[] = "/var/tmp/poolscope.XXXXXX";
static char instance[64];
static pid_t outside;

#define WANT(what)                                                             \
	do {                                                                   \
		if (!(what)) {                                                 \
			fprintf(stderr, "line %d: not %s (errno %d)\n",        \
			    __LINE__, #what, errno);                           \
			return 1;                                              \
		}                                                              \
	} while (0)

static const char *
path(const char *name)
{
	static char at[4][128];
	static unsigned next;
	char *to = at[next++ % 4];

	snprintf(to, sizeof(at[0]), "%s/%s", root, name);
	return to;
}

/* 0, or why not. */
static int
opens_at(const char *at, int flags)
{
	int fd = open(at, flags | O_CLOEXEC, 0600);
	int why = errno;

	if (fd < 0)
		return why;
	close(fd);
	return 0;
}

static int
opens(const char *name, int flags)
{
	return opens_at(path(name), flags);
}

static int
reads(const char *at)
{
	return opens_at(at, O_RDONLY);
}

static int
listens(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), why;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/%s", root, name);
	why =
	    bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0 ? 0 : errno;
	close(fd);
	return why;
}

static void
make(const char *name)
{
	assert_int_equal(opens(name, O_WRONLY | O_CREAT | O_EXCL), 0);
}

static int
make_root(void **state)
{
	if (mkdtemp(root) == NULL)
		return -1;
	outside = getpid();
	log_init("sandbox", LOG_INFO);
	snprintf(instance, sizeof(instance), "%s/i", root);
	opt_common_values.dir = instance;
	for (int i = 0; i < 4; i++) {
		static const char *const folders[] = { "i", "i/store", "alien",
			"keys" };

		assert_int_equal(mkdir(path(folders[i]), 0700), 0);
	}
	make("i/store/data");
	make("i/poolscope.conf");
	make("alien/file");
	make("keys/a.key");
	assert_int_equal(symlink("/etc/passwd", path("i/store/left")), 0);
	return 0;
}

static int
remove_root(void **state)
{
	scratch_remove(root);
	return 0;
}

static bool
has_landlock(void)
{
	struct confine confine;
	bool has;

	assert_int_equal(confine_begin(&confine, CONFINE_SERVICE), 0);
	has = confine.fd >= 0;
	if (has)
		close(confine.fd);
	else
		printf("SKIPPED: this kernel, or valgrind, has no Landlock\n");
	return has;
}

/* The sandbox of a service: its store, its socket, a key of elsewhere. */
static void
enter_sandbox(void)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	sandbox_write_or(&sandbox, NULL, "store");
	sandbox_socket_or(&sandbox, NULL, "run/door");
	sandbox_read_folder_of(&sandbox, path("keys/a.key"));
	sandbox_close(&sandbox, true);
}

static void
in_child(int (*tries)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		enter_sandbox();
		_exit(tries());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static int
uses_its_own(void)
{
	WANT(opens("i/store/data", O_RDWR) == 0);
	WANT(opens("i/store/data", O_RDWR | O_TRUNC) == 0);
	WANT(opens("i/store/new", O_RDWR | O_CREAT | O_EXCL) == 0);
	WANT(mkdir(path("i/store/later"), 0700) == 0);
	WANT(opens("i/store/later/x", O_RDWR | O_CREAT | O_EXCL) == 0);
	WANT(rename(path("i/store/new"), path("i/store/later/new")) == 0);
	WANT(link(path("i/store/later/x"), path("i/store/x")) == 0);
	WANT(rename(path("i/store/left"), path("i/store/later/left")) == 0);
	WANT(unlink(path("i/store/later/left")) == 0);
	WANT(unlink(path("i/store/later/x")) == 0);
	WANT(unlink(path("i/store/later/new")) == 0);
	WANT(rmdir(path("i/store/later")) == 0);
	WANT(listens("i/run/door") == 0);
	WANT(opens("i/run/door.lock", O_RDWR | O_CREAT) == 0);
	WANT(unlink(path("i/run/door")) == 0);
	WANT(opens("i/poolscope.conf", O_RDONLY) == 0);
	WANT(opens("keys/a.key", O_RDONLY) == 0);
	WANT(reads("/etc/passwd") == 0);
	WANT(reads("/proc/self/maps") == 0);
	return 0;
}

static void
what_was_reported_can_be_used(void **state)
{
	in_child(uses_its_own);
}

static int
uses_what_is_not_its_own(void)
{
	WANT(opens("alien/file", O_RDONLY) == EACCES);
	WANT(opens("alien/file", O_WRONLY) == EACCES);
	WANT(opens("alien/new", O_WRONLY | O_CREAT) == EACCES);
	WANT(opens("alien", O_RDONLY | O_DIRECTORY) == EACCES);
	WANT(unlink(path("alien/file")) == -1 && errno == EACCES);
	WANT(mkdir(path("alien/d"), 0700) == -1 && errno == EACCES);
	/* The kernel says of which kind it is. */
	WANT(rename(path("i/store/data"), path("alien/data")) == -1);
	WANT(link(path("alien/file"), path("i/store/file")) == -1);
	WANT(listens("alien/door") == EACCES);
	WANT(opens("i/poolscope.conf", O_WRONLY) == EACCES);
	WANT(opens("i/new", O_WRONLY | O_CREAT) == EACCES);
	WANT(opens("keys/a.key", O_WRONLY) == EACCES);
	WANT(reads("/root") == EACCES || reads("/root") == ENOENT);
	WANT(reads("/dev") == EACCES);
	return 0;
}

static void
nothing_else_can_be_read_written_made_or_removed(void **state)
{
	if (has_landlock())
		in_child(uses_what_is_not_its_own);
}

static int
looks_at_others(void)
{
	char at[64], to[128];

	snprintf(at, sizeof(at), "/proc/%d/stat", (int)outside);
	WANT(reads(at) == 0);
	snprintf(at, sizeof(at), "/proc/%d/cwd", (int)outside);
	WANT(readlink(at, to, sizeof(to)) == -1 && errno == EACCES);
	snprintf(at, sizeof(at), "/proc/%d/fd/0", (int)outside);
	WANT(readlink(at, to, sizeof(to)) == -1 && errno == EACCES);
	return 0;
}

static void
the_files_of_other_processes_are_not_seen(void **state)
{
	if (has_landlock())
		in_child(looks_at_others);
}

/* What a shell calls /dev/fd/N lies in no folder. */
static void
a_pipe_that_is_named_by_its_number_takes_no_fence_away(void **state)
{
	struct sandbox sandbox;
	char at[64];
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	snprintf(at, sizeof(at), "/dev/fd/%d", ends[0]);
	sandbox_begin(&sandbox);
	sandbox_read(&sandbox, at);
	assert_string_equal(sandbox.failed, "");
	sandbox_drop(&sandbox);
	close(ends[0]);
	close(ends[1]);
}

static int
executes(void)
{
	char *const argv[] = { strdup("true"), NULL };

	WANT(execv("/bin/true", argv) == -1 && errno == EPERM);
	WANT(execv("/lib64/ld-linux-x86-64.so.2", argv) == -1);
	WANT(fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), argv, environ) ==
		 -1 &&
	     errno == EPERM);
	free(argv[0]);
	return 0;
}

static void
nothing_is_executed(void **state)
{
	/* Valgrind dies of it. */
	if (has_landlock())
		in_child(executes);
}

/* All of which root could do. */
static int
calls_what_it_never_needs(void)
{
	WANT(mount("none", "/mnt", "tmpfs", 0, NULL) == -1 && errno == EPERM);
	WANT(symlink("/etc", path("i/store/link")) == -1 && errno == EPERM);
	WANT(mkfifo(path("i/store/fifo"), 0600) == -1 && errno == EPERM);
	WANT(chroot("/tmp") == -1 && errno == EPERM);
	WANT(unshare(CLONE_NEWNS) == -1 && errno == EPERM);
	/* libc's would ask threads of instruments, too. */
	WANT(syscall(SYS_setgid, 1) == -1 && errno == EPERM);
	WANT(sethostname("x", 1) == -1 && errno == EPERM);
	return 0;
}

static void
calls_that_no_service_makes_are_refused(void **state)
{
	in_child(calls_what_it_never_needs);
}

static void *
in_thread(void *arg)
{
	*(int *)arg = opens("alien/file", O_RDONLY);
	return NULL;
}

static int
makes_a_thread(void)
{
	pthread_t thread;
	int why = 0;

	WANT(pthread_create(&thread, NULL, in_thread, &why) == 0);
	WANT(pthread_join(thread, NULL) == 0);
	WANT(why == EACCES);
	return 0;
}

static void
threads_are_inside_too(void **state)
{
	if (has_landlock())
		in_child(makes_a_thread);
}

/* Keys of an instance that had none, a configuration and a key that were
 * replaced; a link to elsewhere gives nothing away. */
static int
waits_for_what_comes(void)
{
	char go;

	WANT(read(STDIN_FILENO, &go, 1) == 1);
	WANT(opens("i/keys/allow", O_RDONLY) == 0);
	WANT(opens("i/poolscope.conf", O_RDONLY) == 0);
	WANT(opens("keys/a.key", O_RDONLY) == 0);
	if (go == 'L')
		WANT(opens("i/link.conf", O_RDONLY) == EACCES);
	return 0;
}

static void
what_comes_later_and_what_is_replaced_can_be_read(void **state)
{
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(ends[0], STDIN_FILENO);
		enter_sandbox();
		_exit(waits_for_what_comes());
	}
	assert_int_equal(mkdir(path("i/keys"), 0700), 0);
	make("i/keys/allow");
	make("i/fresh");
	assert_int_equal(rename(path("i/fresh"), path("i/poolscope.conf")), 0);
	make("keys/fresh");
	assert_int_equal(rename(path("keys/fresh"), path("keys/a.key")), 0);
	assert_int_equal(symlink(path("alien/file"), path("i/link.conf")), 0);
	assert_int_equal(write(ends[1], has_landlock() ? "L" : "-", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	close(ends[0]);
	close(ends[1]);
}

static void
a_fence_that_is_dropped_closes_nothing(void **state)
{
	struct sandbox sandbox;

	sandbox_begin(&sandbox);
	sandbox_write(&sandbox, path("i/store"));
	sandbox_drop(&sandbox);
	assert_int_equal(sandbox.failed[0], '\0');
	assert_int_equal(opens("alien/file", O_RDONLY), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_reported_can_be_used),
		cmocka_unit_test(
		    nothing_else_can_be_read_written_made_or_removed),
		cmocka_unit_test(the_files_of_other_processes_are_not_seen),
		cmocka_unit_test(
		    a_pipe_that_is_named_by_its_number_takes_no_fence_away),
		cmocka_unit_test(nothing_is_executed),
		cmocka_unit_test(calls_that_no_service_makes_are_refused),
		cmocka_unit_test(threads_are_inside_too),
		cmocka_unit_test(
		    what_comes_later_and_what_is_replaced_can_be_read),
		cmocka_unit_test(a_fence_that_is_dropped_closes_nothing),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}

/*
 * script_run - runs a script once, to its end and to that of all it started.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/script_run.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/receiver/script_file.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum {
	KILL_AFTER_MS = 2000,    /* TERM */
	GIVE_UP_AFTER_MS = 2000, /* KILL */
	SWEEP_MS = 10,
};

enum { NAMES = 5 }; /* of the environment */

int
script_run_prepare(struct err *err)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ||
	    sigprocmask(SIG_SETMASK, &set, NULL) != 0)
		return err_set(err, "%s", strerror(errno));
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_set(err, "signalfd: %s", strerror(errno));
	return fd;
}

static void
wait_for_children(int children, int ms)
{
	struct pollfd fd = { .fd = children, .events = POLLIN };
	struct signalfd_siginfo info;

	if (poll(&fd, 1, ms) > 0)
		while (read(children, &info, sizeof(info)) > 0)
			;
}

/* ---- what a script left behind ---- */

/* Kill all children of this process; those that have ended stay until they are
 * waited for, so that no number means another process meanwhile. */
static uint32_t
kill_children(void)
{
	FILE *file = fopen("/proc/thread-self/children", "re");
	uint32_t count = 0;
	int pid;

	if (file == NULL)
		return 0;
	for (; fscanf(file, "%d", &pid) == 1; count++)
		kill(pid, SIGKILL);
	fclose(file);
	return count;
}

/* End all that is there, including what is orphaned by that.  Returns how many
 * still live; `*killed` grows by the others. */
static uint32_t
sweep(int children, uint32_t *killed)
{
	int64_t until_ns =
	    clock_monotonic_ns() + GIVE_UP_AFTER_MS * INT64_C(1000000);
	uint32_t alive = 0;
	int status;

	for (;;) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid < 0 && errno != EINTR)
			return 0;
		if (pid > 0)
			*killed +=
			    WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		if (pid != 0)
			continue;
		if (clock_monotonic_ns() > until_ns)
			return alive > 0 ? alive : 1;
		alive = kill_children();
		wait_for_children(children, SWEEP_MS);
	}
}

/* ---- start ---- */

struct pipes {
	int output[2], errors[2], failed[2];
};

static void
close_pipe(int fd[static 2])
{
	for (int i = 0; i < 2; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = -1;
	}
}

static void
close_pipes(struct pipes *pipes)
{
	close_pipe(pipes->output);
	close_pipe(pipes->errors);
	close_pipe(pipes->failed);
}

static int
open_pipes(struct pipes *pipes, struct err *err)
{
	*pipes = (struct pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (pipe2(pipes->output, O_CLOEXEC) == 0 &&
	    pipe2(pipes->errors, O_CLOEXEC) == 0 &&
	    pipe2(pipes->failed, O_CLOEXEC) == 0 &&
	    fcntl(pipes->output[0], F_SETFL, O_NONBLOCK) == 0 &&
	    fcntl(pipes->errors[0], F_SETFL, O_NONBLOCK) == 0)
		return 0;
	err_set(err, "pipe: %s", strerror(errno));
	close_pipes(pipes);
	return -1;
}

static int
become_user(const struct script_command *command)
{
	if (command->user == NULL || geteuid() != 0)
		return 0;
	if (initgroups(command->user, command->gid) != 0 ||
	    setresgid(command->gid, command->gid, command->gid) != 0)
		return -1;
	return setresuid(command->uid, command->uid, command->uid);
}

/* In the child. */
static int
become(const struct script_command *command, char **word, char **environment,
    const struct pipes *pipes)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)sigaction(
		    i, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	sigemptyset(&none);
	if (null < 0 || setpgid(0, 0) != 0 || dup2(null, 0) < 0 ||
	    dup2(pipes->output[1], 1) < 0 || dup2(pipes->errors[1], 2) < 0 ||
	    sigprocmask(SIG_SETMASK, &none, NULL) != 0 || chdir("/") != 0 ||
	    become_user(command) != 0)
		return errno;
	/* Without its parent nobody would measure its time: it ends, too. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		return errno;
	umask(022);
	execve(word[0], word, environment);
	return errno;
}

static void
make_environment(
    char *to[static NAMES + 1], const struct script_command *command)
{
	uint32_t n = 0;

	to[n++] = memory_string("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:"
				"/usr/bin:/sbin:/bin");
	to[n++] = memory_string("LANG=C.UTF-8");
	to[n++] = memory_format("HOME=%s", command->home);
	to[n++] = memory_format(
	    "USER=%s", command->user != NULL ? command->user : "");
	to[n++] = memory_format("POOLSCOPE_SCRIPT=%s", command->name);
	to[n] = NULL;
}

/* The process of the script, or -1. */
static pid_t
start(const struct script_command *command, char **word, struct pipes *pipes,
    struct err *err)
{
	char *environment[NAMES + 1];
	int why = 0;
	pid_t pid;

	make_environment(environment, command);
	pid = fork();
	if (pid == 0) {
		why = become(command, word, environment, pipes);
		if (write(pipes->failed[1], &why, sizeof(why)) < 0) {
			/* Nobody reads the error. */
		}
		_exit(127);
	}
	if (pid < 0)
		err_set(err, "fork: %s", strerror(errno));
	for (uint32_t i = 0; i < NAMES; i++)
		free(environment[i]);
	close(pipes->output[1]);
	close(pipes->errors[1]);
	close(pipes->failed[1]);
	pipes->output[1] = pipes->errors[1] = pipes->failed[1] = -1;
	if (pid < 0 || read(pipes->failed[0], &why, sizeof(why)) <= 0)
		return pid;
	err_set(err, "%.200s: %s", word[0], strerror(why));
	waitpid(pid, NULL, 0);
	return -1;
}

/* ---- from start to end ---- */

enum stage { RUNNING, TERMINATED, KILLED };

struct run {
	struct script_result *result;
	pid_t pid; /* and that of its group */
	int output, errors, children, stop;
	int64_t until_ns; /* of the stage */
	enum stage stage;
	bool ended;
};

static void
signal_group(struct run *run, enum stage stage, int signal, int ms)
{
	/* A stopped process would not hear TERM. */
	kill(-run->pid, signal);
	kill(-run->pid, SIGCONT);
	run->stage = stage;
	run->until_ns = clock_monotonic_ns() + ms * INT64_C(1000000);
}

/* The script must end; the first reason counts. */
static void
end(struct run *run, enum script_end why)
{
	if (run->stage != RUNNING)
		return;
	run->result->end = why;
	signal_group(run, TERMINATED, SIGTERM, KILL_AFTER_MS);
	close(run->output);
	close(run->errors);
	run->output = run->errors = -1;
}

/* Read what is there; false at the end, or if there is no room. */
static bool
take(int *fd, char *to, uint32_t *bytes, uint32_t room)
{
	char more[4096];

	while (*fd >= 0) {
		uint32_t left = room - *bytes;
		ssize_t n = left > 0 ? read(*fd, to + *bytes, left)
				     : read(*fd, more, sizeof(more));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n > 0 && left == 0)
			return false;
		if (n > 0) {
			*bytes += (uint32_t)n;
			continue;
		}
		close(*fd);
		*fd = -1;
	}
	return true;
}

static void
take_output(struct run *run)
{
	struct script_result *result = run->result;

	if (!take(&run->output, result->output, &result->output_bytes,
		SCRIPT_OUTPUT_BYTES))
		end(run, SCRIPT_TOO_LONG);
	/* More than the first errors is dropped, a piece at a time. */
	(void)take(&run->errors, result->errors, &result->errors_bytes,
	    SCRIPT_ERRORS_BYTES);
}

/* Has the script ended?  It is not waited for yet: its number must stay that of
 * its group. */
static bool
has_ended(struct run *run)
{
	siginfo_t info;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
		    info.si_pid == 0)
			return false;
		if (info.si_pid == run->pid)
			return true;
		waitpid(info.si_pid, NULL, WNOHANG); /* adopted */
	}
}

/* The time of the stage is over; false: KILL did not help. */
static bool
is_late(struct run *run)
{
	switch (run->stage) {
	case RUNNING: end(run, SCRIPT_TIMED_OUT); return true;
	case TERMINATED:
		signal_group(run, KILLED, SIGKILL, GIVE_UP_AFTER_MS);
		return true;
	default: return false;
	}
}

static void
watch(struct run *run)
{
	while (!(run->ended = has_ended(run))) {
		int64_t left_ns = run->until_ns - clock_monotonic_ns();
		struct pollfd fd[] = {
			{ .fd = run->children, .events = POLLIN },
			{ .fd = run->output, .events = POLLIN },
			{ .fd = run->errors, .events = POLLIN },
			{ .fd = run->stage == RUNNING ? run->stop : -1,
			    .events = POLLRDHUP },
		};
		struct signalfd_siginfo info;

		if (left_ns <= 0 && !is_late(run))
			return;
		if (left_ns <= 0)
			continue;
		if (poll(fd, 4, (int)(left_ns / 1000000) + 1) < 0)
			continue;
		while (read(run->children, &info, sizeof(info)) > 0)
			;
		take_output(run);
		if (fd[3].revents != 0)
			end(run, SCRIPT_STOPPED);
	}
}

/* Wait for the script, and end what it left. */
static void
finish(struct run *run)
{
	struct script_result *result = run->result;
	int status = 0;

	kill(-run->pid, SIGKILL);
	if (run->ended && run->stage == RUNNING)
		take_output(run);
	if (run->ended) {
		waitpid(run->pid, &status, 0);
		result->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						     : WEXITSTATUS(status);
	} else {
		result->status = 128 + SIGKILL; /* it still has to end */
	}
	if (run->stage == RUNNING)
		result->end =
		    WIFSIGNALED(status) ? SCRIPT_SIGNALLED : SCRIPT_EXITED;
	result->unkillable = sweep(run->children, &result->left);
}

static int
check(const struct script_command *command, char **word, char **room,
    int children, struct err *err)
{
	uint32_t before = 0;

	if (script_file_words(word, room, command->command, err) != 0 ||
	    script_file_check(word[0], command->uid, err) != 0)
		return -1;
	if (sweep(children, &before) > 0)
		return err_set(err,
		    "a process of an earlier turn cannot be killed, so the "
		    "script is not started again");
	return 0;
}

void
script_run(const struct script_command *command, int children, int stop,
    struct script_result *result)
{
	int64_t begin_ns = clock_monotonic_ns();
	struct run run = {
		.result = result,
		.children = children,
		.stop = stop,
		.until_ns = begin_ns + command->timeout_ns,
		.pid = -1,
	};
	char *word[SCRIPT_WORDS_MAX + 1], *room = NULL;
	struct pipes pipes;

	memset(result, 0, offsetof(struct script_result, errors));
	result->end = SCRIPT_REFUSED;
	if (check(command, word, &room, children, &result->why) == 0 &&
	    open_pipes(&pipes, &result->why) == 0) {
		run.pid = start(command, word, &pipes, &result->why);
		run.output = pipes.output[0];
		run.errors = pipes.errors[0];
		pipes.output[0] = pipes.errors[0] = -1;
		if (run.pid > 0) {
			watch(&run);
			result->ns = clock_monotonic_ns() - begin_ns;
			finish(&run);
		}
		close_pipes(&pipes);
		if (run.output >= 0)
			close(run.output);
		if (run.errors >= 0)
			close(run.errors);
	}
	free(room);
}

/*
 * service - the skeleton of a daemon.
 * SPDX-License-Identifier: MIT
 */
#include "proto/service/service.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/confine.h"
#include "proto/os/lockfile.h"
#include "proto/os/log.h"
#include "proto/os/owner/socket_file.h"
#include "proto/service/notify.h"

/* A thread that works on one thing for this many watchdog periods is stuck. */
enum { STUCK_PERIODS = 4 };

const struct service_values service_default = { .stop_timeout_ns =
						    10 * NS_PER_SECOND };

const struct opt service_options[] = {
	{ "ready-fd", 0, OPT_COUNT, OPT_TO(struct service_values, ready_fd),
	    "N", "write a newline to this file descriptor when ready",
	    .flags = OPT_COMMAND },
	{ "pid-file", 0, OPT_TEXT, OPT_TO(struct service_values, pid_file),
	    "FILE",
	    "write the pid to FILE and lock it; refuse to start when another "
	    "process holds it" },
	{ "socket-group", 0, OPT_TEXT,
	    OPT_TO(struct service_values, socket_group), "GROUP",
	    "let members of GROUP use the Unix sockets, not this user only" },
	{ "stop-timeout", 0, OPT_DURATION,
	    OPT_TO(struct service_values, stop_timeout_ns), "TIME",
	    "exit at once when stopping takes longer than this (default: 10s)",
	    .flags = OPT_RELOAD },
	{ 0 },
};

/* One per process, like the signals that it handles. */
struct process {
	const struct service *service;
	struct service_values values;
	/* A reload reads the tables again. */
	struct opt_table tables[5];
	struct opt_program program;
	struct loop *loop;
	struct lockfile pid_lock;
	struct loop_timer stop_timer, watchdog, held_files;
	struct notify notify;
	bool stopping, stuck;
};

/* A socket or store must never get descriptor 0, 1 or 2: a message of another
 * library would be written into it. */
static void
open_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

void
service_begin_process(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	open_standard_files();
	sigaction(SIGPIPE, &ignore, NULL);
	umask(077);
	confine_memory();
}

/* True: the command line was a command, which is done. */
static bool
parse(struct process *process, int argc, char **argv, int *status)
{
	const struct service *service = process->service;
	struct opt_operands operands;
	struct err err = { 0 };

	process->values = service_default;
	process->tables[0] =
	    (struct opt_table){ service->options, service->values };
	process->tables[1] =
	    (struct opt_table){ service_options, &process->values };
	process->tables[2] = (struct opt_table){ opt_common, NULL };
	/* Without them the table ends here. */
	process->tables[3] =
	    (struct opt_table){ service->more_options, service->more_values };
	process->program = (struct opt_program){ .name = service->name,
		.synopsis = "[options]",
		.summary = service->summary,
		.examples = service->examples,
		.tables = process->tables,
		.operands_max = service->run_command != NULL ? UINT32_MAX : 0,
		.check = service->check,
		.values = service->values };
	opt_parse(&process->program, argc, argv, &operands);
	if (service->run_command != NULL) {
		if (service->run_command(service->arg, &operands, status))
			return true;
		if (operands.count > 0)
			opt_usage(
			    "unexpected argument '%.64s'", operands.at[0]);
	}
	log_put_times();
	if (process->values.socket_group != NULL &&
	    socket_file_set_group(process->values.socket_group, &err) != 0)
		opt_usage("--socket-group: %s", err.text);
	if (process->values.ready_fd == 0)
		return false;
	if (process->values.ready_fd > INT_MAX ||
	    fcntl((int)process->values.ready_fd, F_SETFD, FD_CLOEXEC) != 0)
		opt_usage("--ready-fd %llu is not an open file descriptor",
		    (unsigned long long)process->values.ready_fd);
	return false;
}

static int
take_pid_file(struct process *process, struct err *err)
{
	long holder;

	if (process->values.pid_file == NULL ||
	    lockfile_take(&process->pid_lock, process->values.pid_file, &holder,
		err) == 0)
		return 0;
	if (holder > 0)
		err_set(err, "already running as process %ld (%s)", holder,
		    process->values.pid_file);
	return -1;
}

static void
on_stop_timeout(void *arg, struct loop_timer *timer)
{
	struct process *process = arg;

	(void)timer;
	log_warn("stopping took longer than --stop-timeout; exiting now");
	loop_quit(process->loop, EXIT_FAILURE);
}

static void
on_stop_signal(void *arg, int signo)
{
	struct process *process = arg;

	if (process->stopping) {
		log_warn("second signal %s; exiting now", strsignal(signo));
		loop_quit(process->loop, EXIT_FAILURE);
		return;
	}
	process->stopping = true;
	loop_stop_timer(process->loop, &process->held_files);
	log_info("stopping (%s)", strsignal(signo));
	notify_send(&process->notify, "STOPPING=1\nSTATUS=stopping (%s)",
	    strsignal(signo));
	loop_set_timer(process->loop, &process->stop_timer,
	    clock_monotonic_ns() + process->values.stop_timeout_ns, 0);
	if (process->service->stop != NULL)
		process->service->stop(process->service->arg, process->loop);
	else
		loop_quit(process->loop, EXIT_SUCCESS);
}

/* Log what became of a part; keep the first failure, for the supervisor. */
static void
note_reload(struct err *first, const char *what, int rc, const struct err *err)
{
	if (rc == 0) {
		log_info("%s reloaded", what);
		return;
	}
	log_error("%s unchanged: %s", what, err->text);
	if (first->code == ERR_NONE)
		err_set(first, "%s unchanged: %s", what, err->text);
}

static void
renew_all(struct process *process, struct err *first)
{
	const struct service_renewal *r = process->service->renewals;

	for (; r != NULL && r->what != NULL; r++) {
		struct err err = { 0 };
		int rc = r->renew(process->service->arg, process->loop, &err);

		note_reload(first, r->what, rc, &err);
	}
	if (first->code == ERR_NONE)
		lockfile_touch(&process->pid_lock);
}

static int
reload(struct process *process, struct err *err)
{
	if (opt_reload(&process->program, err) != 0)
		return -1;
	if (process->service->reload != NULL &&
	    process->service->reload(
		process->service->arg, process->loop, err) != 0) {
		opt_reload_undo();
		return -1;
	}
	opt_set_log_level();
	opt_reload_keep();
	return 0;
}

static void
on_reload_signal(void *arg, int signo)
{
	struct process *process = arg;
	struct err err = { 0 }, first = { 0 };

	(void)signo;
	if (process->stopping)
		return;
	notify_send(&process->notify, "RELOADING=1\nMONOTONIC_USEC=%lld",
	    (long long)clock_monotonic_ns() / 1000);
	renew_all(process, &first);
	note_reload(&first, "configuration", reload(process, &err), &err);
	if (first.code == ERR_NONE)
		notify_send(
		    &process->notify, "READY=1\nSTATUS=ready, reconfigured");
	else
		notify_send(
		    &process->notify, "READY=1\nSTATUS=ready; %s", first.text);
}

static int
add_signals(struct process *process, struct err *err)
{
	if (loop_add_signal(
		process->loop, SIGTERM, on_stop_signal, process, err) != 0 ||
	    loop_add_signal(
		process->loop, SIGINT, on_stop_signal, process, err) != 0)
		return -1;
	return loop_add_signal(
	    process->loop, SIGHUP, on_reload_signal, process, err);
}

/* The loop calls this, so a stuck loop feeds no watchdog.  Other threads have a
 * heartbeat, with a generous limit: a transaction waits for the disk. */
static void
on_watchdog(void *arg, struct loop_timer *timer)
{
	struct process *process = arg;
	const char *stuck = heartbeat_stuck(
	    clock_monotonic_ns(), STUCK_PERIODS * process->notify.watchdog_ns);

	(void)timer;
	if (stuck == NULL)
		notify_send(&process->notify, "WATCHDOG=1");
	else if (!process->stuck) {
		log_error(
		    "thread \"%s\" is stuck: it has work but makes no progress",
		    stuck);
		notify_send(
		    &process->notify, "STATUS=thread \"%s\" is stuck", stuck);
	}
	process->stuck = stuck != NULL;
}

static void
start_watchdog(struct process *process)
{
	int64_t period_ns = process->notify.watchdog_ns / 2;

	if (period_ns == 0)
		return;
	process->watchdog.on_timer = on_watchdog;
	process->watchdog.arg = process;
	loop_set_timer(
	    process->loop, &process->watchdog, clock_monotonic_ns(), period_ns);
}

/* Somebody has removed what this process has open: nothing that it accepts
 * from now on would be there after its end.  Files of these names may be those
 * of another process: end without the clean-up that removes them. */
static void
on_held_files(void *arg, struct loop_timer *timer)
{
	struct process *process = arg;
	struct err err = { 0 };

	(void)timer;
	if (held_file_check(&err) == 0)
		return;
	log_error("critical: %s; exiting", err.text);
	notify_send(&process->notify, "STATUS=exiting: %s", err.text);
	_exit(EXIT_FAILURE);
}

static void
watch_held_files(struct process *process)
{
	process->held_files.on_timer = on_held_files;
	process->held_files.arg = process;
	loop_set_timer(process->loop, &process->held_files,
	    clock_monotonic_ns() + HELD_FILE_PERIOD_NS, HELD_FILE_PERIOD_NS);
}

static void
report_ready(struct process *process)
{
	int fd = (int)process->values.ready_fd;

	log_info("ready");
	notify_send(&process->notify, "READY=1\nSTATUS=ready");
	start_watchdog(process);
	watch_held_files(process);
	if (fd == 0)
		return;
	while (write(fd, "\n", 1) < 0 && errno == EINTR)
		;
	if (fd > STDERR_FILENO)
		close(fd);
}

static int
start(struct process *process, struct err *err)
{
	if (take_pid_file(process, err) != 0 ||
	    loop_new(&process->loop, err) != 0 ||
	    add_signals(process, err) != 0)
		return -1;
	return process->service->start(
	    process->service->arg, process->loop, err);
}

static void
enter_sandbox(const struct process *process)
{
	const struct service *service = process->service;
	struct sandbox sandbox;

	if (service->declare_files == NULL)
		return;
	sandbox_begin(&sandbox);
	sandbox_write_parent(&sandbox, process->values.pid_file);
	if (service->declare_files(service->values, &sandbox))
		sandbox_close(&sandbox, true);
	else
		sandbox_drop(&sandbox);
}

int
service_main(const struct service *service, int argc, char **argv)
{
	struct process process = { .service = service };
	struct err err = { 0 };
	int status = EXIT_FAILURE;

	service_begin_process();
	if (parse(&process, argc, argv, &status))
		return status;
	/* If the notification fails, the supervisor finds out by other
	 * means. */
	if (notify_open(&process.notify, &err) != 0)
		log_warn("cannot notify the supervisor: %s", err.text);
	if (service->prepare != NULL &&
	    service->prepare(service->arg, &err) != 0)
		return log_fail(&err);
	enter_sandbox(&process);
	process.stop_timer.on_timer = on_stop_timeout;
	process.stop_timer.arg = &process;
	if (start(&process, &err) == 0) {
		report_ready(&process);
		status = loop_run(process.loop);
		log_info("stopped");
	} else {
		log_fail(&err);
		notify_send(
		    &process.notify, "STATUS=not started: %s", err.text);
	}
	if (service->clear != NULL)
		service->clear(service->arg);
	loop_free(&process.loop);
	lockfile_release(&process.pid_lock);
	notify_close(&process.notify);
	return status;
}

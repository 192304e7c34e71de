/*
 * service - the skeleton of a daemon: options, configuration, log, pid file,
 * readiness, signals, loop, exit code.  A daemon is a table of options, a
 * struct service and a few callbacks.
 *
 * TERM or INT calls `stop`, which drains and calls loop_quit.  A second signal,
 * or the end of --stop-timeout (default 10 s), ends the process at once.  That
 * is safe: a crash and a stop give the same guarantees.
 *
 * HUP reads the keys again, then the configuration.  If all of that is valid,
 * the options with OPT_RELOAD get their new values and `reload` applies them;
 * otherwise all options keep their values.  The log says of each part whether
 * it was reloaded or is unchanged.
 *
 * The supervisor gets state changes ($NOTIFY_SOCKET; notify.h), and a sign of
 * life for its watchdog ($WATCHDOG_USEC) unless a thread is stuck
 * (os/heartbeat.h).  No service leaves a core file, and each gives up access
 * that it does not need (sandbox.h).
 *
 * Every service has the options --stop-timeout, --ready-fd N (write a newline
 * to N when `start` has returned, then close it) and --pid-file FILE.  The file
 * contains the pid and is locked while the process lives; a second process
 * refuses to start.  Its time is that of the start, or of the last HUP with
 * valid keys.  --socket-group GROUP lets a group use its Unix sockets
 * (os/owner/socket_file.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_SERVICE_SERVICE_H
#define PROTO_SERVICE_SERVICE_H

#include <stdbool.h>

#include "proto/base/err.h"
#include "proto/config/opt.h"
#include "proto/net/loop/loop.h"
#include "proto/service/sandbox.h"

/* A part that HUP reads again whatever the configuration contains, because it
 * must take effect at once: keys. */
struct service_renewal {
	const char *what; /* "authorized keys", for the log; NULL: the end */
	/* -1: unchanged, and `err` says why. */
	int (*renew)(void *arg, struct loop *loop, struct err *err);
};

struct service {
	const char *name;          /* "poolscope-broker" */
	const char *summary;       /* for --help */
	const char *examples;      /* same */
	const struct opt *options; /* its own options */
	void *values; /* the struct that they are bound to, or NULL */
	/* Options of a module, and the struct of these; or NULL. */
	const struct opt *more_options;
	void *more_values;
	void *arg; /* passed to start and the callbacks after it */
	/* Check the values beyond their types (err_set_option).  Called before
	 * start, and before a reload; may be NULL. */
	int (*check)(const void *values, struct err *err);
	/* Before the sandbox, and before any thread: make what it would hinder.
	 * May be NULL. */
	int (*prepare)(void *arg, struct err *err);
	/* Declare the files that it needs from now on (sandbox.h), apart from
	 * those that every service needs.  False: this is a command of the
	 * operator, without a sandbox.  NULL: never a sandbox. */
	bool (*declare_files)(const void *values, struct sandbox *sandbox);
	/* Called with the operands when the options are read.  True: it was a
	 * command, which is done; `status` is that of the process.  NULL: there
	 * is none, and no operand. */
	bool (*run_command)(
	    void *arg, const struct opt_operands *operands, int *status);
	/* Bind the sockets. */
	int (*start)(void *arg, struct loop *loop, struct err *err);
	void (*stop)(void *arg, struct loop *loop); /* drain, then loop_quit */
	/* In this order; NULL: none.  When all have succeeded, the pid file
	 * gets the current time. */
	const struct service_renewal *renewals;
	/* On HUP, after the options with OPT_RELOAD have their new values.
	 * Check everything first, then apply it; or change nothing and return
	 * -1: then the options get their old values again, and the sentence in
	 * `err` is logged.  May be NULL. */
	int (*reload)(void *arg, struct loop *loop, struct err *err);
	/* Free everything, after the loop, or after `start` failed half-way.
	 */
	void (*clear)(void *arg);
};

/* The options of every daemon, also in its section of the configuration. */
struct service_values {
	uint64_t ready_fd; /* 0: none; standard input is never valid here */
	const char *pid_file, *socket_group;
	int64_t stop_timeout_ns;
};
extern const struct service_values service_default;
extern const struct opt service_options[];

/* service_main does this for daemons; every other program that opens a store or
 * sockets calls it first.  No descriptor can then become 0, 1 or 2, new files
 * are private, and SIGPIPE becomes an error of write. */
void service_begin_process(void);

/* The body of main(). */
int service_main(const struct service *service, int argc, char **argv);

#endif

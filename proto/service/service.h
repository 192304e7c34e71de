/*
 * service - the skeleton of a daemon: options, configuration, log, pid file,
 * readiness, signals, loop, exit code.  A daemon is a table of options, a
 * struct service and a few callbacks.
 *
 * TERM or INT: on_stop, which drains and calls loop_quit; a second one, or
 * --stop-timeout (default 10 s), ends at once, which is safe: the
 * crash path and the stop path promise the same.  HUP: the configuration is
 * read again; when all of it is good the options with OPT_RELOAD get their new
 * values and `reload` applies them, otherwise everything stays as it was.
 * A supervisor that wants to know ($NOTIFY_SOCKET, $WATCHDOG_USEC) is reported
 * (notify.h), and no longer once a thread hangs (os/heartbeat.h).  No service
 * leaves a core file, and none keeps open to itself what it does not need
 * (sandbox.h). Besides its own, every service has --ready-fd N (one newline is
 * written when start returned, then it is closed), --pid-file FILE (holds the
 * pid and a lock for as long as the process lives; a second process refuses;
 * its time is that of the start, or of the last HUP whose keys were good) and
 * --stop-timeout.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_SERVICE_SERVICE_H
#define PROTO_SERVICE_SERVICE_H

#include <stdbool.h>

#include "proto/base/err.h"
#include "proto/config/opt.h"
#include "proto/net/loop.h"
#include "proto/service/sandbox.h"

struct service {
	const char *name;          /* "poolscope-broker" */
	const char *summary;       /* for --help */
	const struct opt *options; /* its own table */
	void *values;              /* ... and what it is bound to, or NULL */
	void *arg;                 /* of start and the callbacks after it */
	/* What is wrong with the values, beyond their types
	 * (err_set_option).  Before start, and before a reload; may be NULL.
	 */
	int (*check)(const void *values, struct err *err);
	/* Says what it needs from here on (sandbox.h), besides what every
	 * service does; false: this run is the command of an operator, who may
	 * send it anywhere.  NULL: there is no fence. */
	bool (*fence)(const void *values, struct sandbox *fence);
	/* Sockets are bound. */
	int (*start)(void *arg, struct loop *loop, struct err *err);
	void (*stop)(void *arg, struct loop *loop); /* drain, then loop_quit */
	/* HUP, before all else, whatever the configuration says: take over
	 * what must hold at once (keys), or leave it as it was and return -1.
	 * The pid file's time is then that.  May be NULL. */
	int (*renew)(void *arg, struct loop *loop, struct err *err);
	/* HUP, after the options that may change (OPT_RELOAD) have their new
	 * values.  Check everything first, then take it over; or leave all as
	 * it was and return -1: then the options get their old values back,
	 * and what `err` says is logged.  May be NULL. */
	int (*reload)(void *arg, struct loop *loop, struct err *err);
	/* Free all; after the loop, and after a start that failed half-way. */
	void (*clear)(void *arg);
};

/* Options that every daemon has besides its own; part of its section of the
 * configuration.  They are bound to a struct service_values. */
struct service_values {
	uint64_t ready_fd; /* 0: none; standard input is never valid here */
	const char *pid_file;
	int64_t stop_timeout_ns;
};
extern const struct service_values service_default;
extern const struct opt service_options[];

/* What every process that holds a store or sockets does before it opens
 * anything: no descriptor becomes 0, 1 or 2, files are private, SIGPIPE is an
 * error of write.  For programs that are no daemons. */
void service_begin_process(void);

/* The whole of main(). */
int service_main(const struct service *service, int argc, char **argv);

#endif

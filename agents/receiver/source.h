/*
 * source - a way in which the programs of others hand numbers to the receiver.
 *
 * Each source has a thread and a struct submit of its own, and shares nothing
 * with the others but counters.  A line, a page or a request that is
 * wrong costs itself alone, and is counted.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_SOURCE_H
#define AGENTS_RECEIVER_SOURCE_H

#include "agents/receiver/report.h"
#include "proto/base/err.h"

struct receiver;

struct receiver_source {
	const char *name; /* "statsd", "script NAME": of label `source` */
	/* In the sandbox, before any thread: sockets, folders.  NULL: nothing
	 * to open. */
	int (*open)(struct receiver_source *source, struct err *err);
	/* The body of the thread: returns soon once receiver_is_stopping. */
	void (*run)(struct receiver_source *source);
	/* After the thread's end, or when nothing was opened; frees `arg`. */
	void (*close)(struct receiver_source *source);
	void *arg;

	/* Set by receiver_add. */
	const struct receiver *receiver;
	struct receiver_report report;
};

#endif

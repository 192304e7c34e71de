/*
 * tool - what the programs that read have in common: all between their options
 * and their exit status.
 *
 * The partition is chosen, the sandbox entered, the output and the source
 * opened, the names of nodes checked and the window of --start found; then the
 * program does its work.  A file of output appears whole, or not at all.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TOOL_TOOL_H
#define EXPORTERS_TOOL_TOOL_H

#include <stdio.h>

#include "exporters/samples/time_window.h"
#include "exporters/source/pool.h"
#include "exporters/source/source.h"
#include "exporters/source/starts.h"

/* What the work gets. */
struct tool_open {
	struct text partition; /* "": the program has none */
	struct source *source; /* NULL: the program has none */
	struct err silent;     /* takes_silence: why it has none */
	FILE *file;            /* NULL: the program opens its own */
	unsigned width;        /* of the terminal that `file` is; 0: none */
	int status;            /* exit status after good work; 0 at first */
	struct starts_chosen start; /* with `starts` */
};

/* NULL and zero: the program has none of it. */
struct tool {
	const struct pool_options *pool;
	const struct source_options *source;
	bool takes_silence; /* works without a source that does not open */
	const char *output;
	bool is_for_timers; /* it does not log that it wrote the output */
	/* Begun, with what else the program needs. */
	struct sandbox *sandbox;
	bool is_unconfined; /* gnuplot cannot run in a sandbox */

	/* Its nodes and times are checked, and after work that met no record
	 * whether the partition exists (known.h). */
	struct time_window_options *window;
	/* Set the window to that of --start; is_of_start: to that of the newest
	 * start if nothing is given. */
	const struct starts_options *starts;
	bool is_of_start;
	const char *model; /* NULL: the first that fits */

	/* 0, or -1 and the sentence. */
	int (*work)(void *arg, struct tool_open *open, struct err *err);
	void *arg;
};

/* The option --output. */
#define TOOL_OUTPUT(type, member)                                              \
	{                                                                      \
		"output", 'o', OPT_TEXT, OPT_TO(type, member), "FILE",         \
		    "write to FILE instead of standard output"                 \
	}

/* Ends the process on wrong usage.  Returns the exit status: 1 if the work, or
 * what comes before it, failed. */
int tool_main(const struct tool *tool);

#endif

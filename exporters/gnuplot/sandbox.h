/*
 * gnuplot_sandbox - restrict what gnuplot can access: it can read its script's
 * directory, its libraries and fonts, write nothing, and execute only itself.
 * It draws into a descriptor that is already open.
 *
 * This is the second line of defence after the quoting of gnuplot.h: a script
 * that succeeds in running a command finds no shell, no files of the user and
 * no network.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_SANDBOX_H
#define EXPORTERS_GNUPLOT_SANDBOX_H

#include <limits.h>
#include <stdbool.h>

#include "proto/base/err.h"
#include "proto/os/confine.h"
#include "proto/service/sandbox.h"

struct gnuplot_sandbox {
	char program[PATH_MAX]; /* the first match in $PATH */
	struct confine confine;
};

/* Find gnuplot in $PATH and prepare its sandbox for scripts in `dir`; -1 if
 * gnuplot is not installed.  If gnuplot is itself a script, only resource
 * limits apply, because the files it needs are unknown. */
int gnuplot_sandbox_make(
    struct gnuplot_sandbox *gnuplot_sandbox, const char *dir, struct err *err);
/* List what the process that starts gnuplot must be able to access; false if
 * that is unknown, because gnuplot is a script. */
bool gnuplot_sandbox_allow(struct sandbox *sandbox);
void gnuplot_sandbox_clear(struct gnuplot_sandbox *gnuplot_sandbox);

/* Call in the child just before exec; -1 if the sandbox cannot be applied. */
int gnuplot_sandbox_enter(struct gnuplot_sandbox *gnuplot_sandbox);

#endif

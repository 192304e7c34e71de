/*
 * gnuplot_sandbox - what gnuplot may touch: its script's folder, its libraries
 * and fonts to read, nothing to write, nothing but itself to execute.  What it
 * draws goes to a descriptor that is open already.
 *
 * The second line of defence, behind the quoting of gnuplot.h: a script that
 * did get a command past it finds no shell, no file of the user's, no network.
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
	char program[PATH_MAX]; /* what $PATH has first */
	struct confine confine;
};

/* Look for gnuplot in $PATH and make its cage, for scripts in `dir`; -1 when
 * there is none.  A gnuplot that is itself a script has limits only: what it
 * needs cannot be known. */
int gnuplot_sandbox_make(
    struct gnuplot_sandbox *cage, const char *dir, struct err *err);
/* What the process that starts gnuplot needs for it; false: that cannot be
 * known, for it is a script. */
bool gnuplot_sandbox_allow(struct sandbox *sandbox);
void gnuplot_sandbox_clear(struct gnuplot_sandbox *cage);

/* In the child, just before exec; -1 when it cannot be closed. */
int gnuplot_sandbox_enter(struct gnuplot_sandbox *cage);

#endif

/*
 * picture - a table, the script that draws it, and the picture, in one
 * directory: BASE.dat, BASE.plot, and BASE.png, .svg or .pdf.  Pictures for a
 * terminal (dumb, sixel) go to standard output, with or without files.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_PICTURE_H
#define EXPORTERS_GNUPLOT_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "exporters/gnuplot/gnuplot.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/service/sandbox.h"

struct picture {
	const char *dir; /* NULL: no files, only the picture for a terminal */
	struct text
	    base; /* base of the file names; untrusted, encoded before use */
	enum gnuplot_terminal terminal;
	bool drawn; /* false: only the table and the script */

	const void *what; /* argument of the two callbacks */
	void (*put_table)(const void *what, FILE *file);
	/* `dat` is the name of the table's file, in the script's directory. */
	void (*put_script)(const void *what, FILE *file, const char *dat,
	    enum gnuplot_terminal terminal);
};

/* What drawing into `dir` and the file `more` (each may be NULL) needs of the
 * sandbox.  False: gnuplot cannot run in one (sandbox_drop). */
bool picture_sandbox(
    struct sandbox *sandbox, const char *dir, const char *more);

/* Create the directory for pictures; it may exist, or be NULL. */
int picture_make_dir(const char *dir, struct err *err);
int picture_make(const struct picture *picture, struct err *err);

/* Calls output_commit and logs that the file was written, unless --quiet. */
struct output;
int picture_commit(struct output *output, struct err *err);

#endif

/*
 * picture - a table, the script that draws it, and what gnuplot makes of it,
 * beside each other: BASE.dat, BASE.plot, and BASE.png or BASE.svg; what is
 * for a terminal (dumb, sixel) goes to standard output, with or without files.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_PICTURE_H
#define EXPORTERS_GNUPLOT_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "exporters/gnuplot/gnuplot.h"
#include "proto/base/err.h"
#include "proto/base/text.h"

struct picture {
	const char *dir;  /* NULL: only what is for a terminal, and no file */
	struct text base; /* of the file names: data, encoded for them */
	enum gnuplot_terminal terminal;
	bool drawn; /* else only the table and the script */

	const void *what; /* handed to these two */
	void (*put_table)(const void *what, FILE *file);
	/* `dat` is the name of the table's file beside the script. */
	void (*put_script)(const void *what, FILE *file, const char *dat,
	    enum gnuplot_terminal terminal);
};

/* Before the source is opened: all is closed to this process but the source,
 * gnuplot, `dir` and the file `more` (each may be NULL). */
struct source_options;
void picture_sandbox(
    const struct source_options *source, const char *dir, const char *more);

/* The directory for pictures; no harm when it is there, or NULL. */
int picture_make_dir(const char *dir, struct err *err);
int picture_make(const struct picture *picture, struct err *err);

/* output_commit, and a word that it was written unless --quiet. */
struct output;
int picture_commit(struct output *output, struct err *err);

#endif

/*
 * gnuplot - runs it, and says things to it that others have chosen.
 *
 * gnuplot executes what stands in backquotes of a double-quoted string, takes
 * "< command" for a file name, and gives meaning to _ ^ { } @ & ~ in text.
 * Whatever comes from outside goes through gnuplot_put_text or _put_file.
 * The program is started by argv, never through a shell, without HOME, with
 * UTC and UTF-8, in the directory of its files, and ends when we end; it may
 * write nothing and execute nothing (sandbox.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_GNUPLOT_H
#define EXPORTERS_GNUPLOT_GNUPLOT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

/* May `t` stand in double quotes as it is?  Letters, digits, blanks and a few
 * signs, none of which means anything there. */
bool gnuplot_is_plain(struct text t);

/* `t` as a string of gnuplot: in double quotes, what is not plain as octal
 * escapes, so that nothing in it can end or execute.  (Single quotes will not
 * do: 5.4 ends 'it''s' where doubled quotes begin a string or follow each
 * other.)  Control characters are left out. */
void gnuplot_put_text(FILE *file, struct text t);

/* The same for the label of a tic, in which '%' begins a format. */
void gnuplot_put_tic(FILE *file, struct text t);

/* A file of the script's directory as the argument of plot: "name.dat", or
 * "./name.dat" so that its first character means nothing. */
void gnuplot_put_file(FILE *file, const char *name);

/* A name as one column of a table: blank, ", # and % become %XX. */
void gnuplot_put_word(FILE *file, struct text word);

enum gnuplot_terminal {
	GNUPLOT_PNG,
	GNUPLOT_SVG,
	GNUPLOT_DUMB,  /* letters */
	GNUPLOT_SIXEL, /* pixels in a terminal that knows DEC's sixels */
};

/* Does what it draws go to standard output? */
bool gnuplot_is_said(enum gnuplot_terminal terminal);

/* The line that chooses it, for a picture of so many pixels, or so many lines
 * of 79 letters. */
void gnuplot_put_terminal(FILE *file, enum gnuplot_terminal terminal,
    unsigned width, unsigned height, unsigned rows);
enum { GNUPLOT_DUMB_WIDTH = 79 };

/* A line of words over the picture, the first (0) or the second, from the left
 * edge: there it has all of the width, while gnuplot's own title is centred
 * over the axes and cut.  `height` and `rows` are those of the terminal. */
void gnuplot_put_heading(FILE *file, enum gnuplot_terminal terminal,
    unsigned height, unsigned rows, unsigned line, const char *text);

/* Draw `script`, a file name in `dir`, into the open descriptor `to`.  -1 when
 * gnuplot is not there, fails (its first words are in the sentence), draws
 * nothing, or takes longer than `limit_ns`; it is then ended. */
int gnuplot_run(const char *dir, const char *script, int to, int64_t limit_ns,
    struct err *err);

#endif

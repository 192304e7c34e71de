/*
 * gnuplot - run gnuplot and quote untrusted text for it.
 *
 * gnuplot executes backquoted parts of double-quoted strings, takes "<
 * command" as a file name, and interprets _ ^ { } @ & ~ in text.  All external
 * text therefore goes through gnuplot_put_text or _put_file.  The program is
 * started with an argument vector, never through a shell, without HOME, with
 * UTC and UTF-8, in the directory of its files, and ends with this process; it
 * can neither write files nor execute programs.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PLOT_GNUPLOT_H
#define EXPORTERS_PLOT_GNUPLOT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "exporters/plot/gnuplot.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/os/confine.h"
#include "proto/service/sandbox.h"

/* Can `t` be written unescaped in double quotes?  True for letters, digits,
 * blanks and a few characters without special meaning. */
bool gnuplot_is_plain(struct text t);

/* Write `t`, which is shown, as a gnuplot string: in double quotes, with octal
 * escapes for all special characters, so that nothing in it ends the string or
 * is executed. (Single quotes do not work: gnuplot 5.4 ends 'it''s' at doubled
 * quotes that begin a string or follow each other.)  A character that fonts may
 * lack, one that combines with others, a control character and an invalid byte
 * become a question mark. */
void gnuplot_put_text(FILE *file, struct text t);

/* Like gnuplot_put_text, for the label of a tic, in which '%' begins a
 * format. */
void gnuplot_put_tic(FILE *file, struct text t);

/* The tic of a row, counted from 0, in the list of "set ytics (": rows stand at
 * 1, 2, 3 ... */
void gnuplot_put_row_tic(FILE *file, uint32_t row, const char *label);

/* Write a file of the script's directory as an argument of plot: "name.dat",
 * or "./name.dat" to keep its first character from having a special meaning. */
void gnuplot_put_file(FILE *file, const char *name);

/* A name as one column of a table: blank, ", # and % become %XX. */
void gnuplot_put_word(FILE *file, struct text word);

enum gnuplot_terminal {
	GNUPLOT_PNG,
	GNUPLOT_SVG,
	GNUPLOT_DUMB,  /* text characters */
	GNUPLOT_SIXEL, /* pixels in a terminal that supports DEC sixels */
	GNUPLOT_PDF,
};

/* Does the terminal draw on standard output? */
bool gnuplot_is_stdout(enum gnuplot_terminal terminal);

/* Write the line that selects the terminal, for a picture of `width` by
 * `height` pixels, or of `rows` lines of 79 characters, unless --size is given.
 */
void gnuplot_put_terminal(FILE *file, enum gnuplot_terminal terminal,
    unsigned width, unsigned height, unsigned rows);
enum { GNUPLOT_DUMB_WIDTH = 79 };

/* Write the first (0) or second (1) line of text above the picture.  It begins
 * at the left edge to have the full width; gnuplot centres its own title over
 * the axes and truncates it.  `height` and `rows` are those of the terminal.
 * --title is the first line of all pictures. */
void gnuplot_put_heading(FILE *file, enum gnuplot_terminal terminal,
    unsigned height, unsigned rows, unsigned line, const char *text);

/* Draw `script`, a file name in `dir`, into the open descriptor `to`.  Returns
 * -1 if gnuplot is not installed, fails (`err` quotes the beginning of its
 * output), draws nothing, or takes longer than `limit_ns`; it is then killed.
 */
int gnuplot_run(const char *dir, const char *script, int to, int64_t limit_ns,
    struct err *err);

/*
 * What gnuplot can access is restricted: it can read its script's directory,
 * its libraries and fonts, write nothing, and execute only itself.  It draws
 * into a descriptor that is already open.
 *
 * This is the second line of defence after the quoting: a script that succeeds
 * in running a command finds no shell, no files of the user and no network.
 */

/* List what the process that starts gnuplot must be able to access; false if
 * that is unknown, because gnuplot is a script. */
bool gnuplot_sandbox_allow(struct sandbox *sandbox);

/*
 * picture - a table, the script that draws it, and the picture, in one
 * directory: BASE.dat, BASE.plot, and BASE.png, .svg or .pdf.  Pictures for a
 * terminal (dumb, sixel) go to standard output, with or without files.
 */

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

#endif

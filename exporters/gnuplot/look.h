/*
 * gnuplot_look - colours, size and title of all pictures of this process:
 * --style, --size, --title.
 *
 * Scripts are written for paper that is white, in the colours of colours.h.
 * For another style they are translated line by line: untrusted text in them
 * has neither a line end nor a '#' (gnuplot_put_text).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_LOOK_H
#define EXPORTERS_GNUPLOT_LOOK_H

#include <stdbool.h>
#include <stdio.h>

#include "proto/base/text.h"
#include "proto/config/opt_table.h"

enum {
	LOOK_TITLE_BYTES = 200,
	LOOK_WIDTH_MIN = 320, /* pixels */
	LOOK_HEIGHT_MIN = 200,
	LOOK_PIXELS_MAX = 8000,
	LOOK_COLUMNS_MIN = 40, /* characters */
	LOOK_ROWS_MIN = 12,
	LOOK_CHARACTERS_MAX = 500,
};

enum look_style { LOOK_LIGHT, LOOK_DARK, LOOK_PRINT };

struct look {
	int style;
	const char *size, *title; /* NULL: each picture's own */
	unsigned width, height;   /* 0: each picture's own */
};
extern struct look gnuplot_look;
extern const struct opt gnuplot_look_options[];

/* Check the options and take them; wrong usage ends the process.  `dumb`:
 * pictures are made of characters. */
void gnuplot_look_check(bool dumb);

/* Has any of the options been given? */
bool gnuplot_look_is_given(void);

/* Write the script in the colours of the style. */
void gnuplot_look_put(FILE *file, struct text script);

#endif

/*
 * gnuplot_look - colours, size and title of all pictures of this process:
 * --style, --size, --title.
 *
 * Scripts are written for paper that is white, in the colours below.
 * For another style they are translated line by line: untrusted text in them
 * has neither a line end nor a '#' (gnuplot_put_text).
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_PLOT_LOOK_H
#define EXPORTERS_PLOT_LOOK_H

#include <stdbool.h>
#include <stdint.h>
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

/*
 * palette - the colour of a phase, or of a line: the same in pictures and on
 * the page.
 *
 * The first eight places differ enough to be seen apart with each kind of
 * colour blindness; from there on the colours come again, with a pattern.
 */

enum {
	PALETTE_PLACES = 8,
	PALETTE_NONE = UINT8_MAX - 1, /* the time in no phase */
	PALETTE_OTHER = UINT8_MAX,    /* the phases that share a band */
	PALETTE_PHASES_MAX = 128, /* of a model; more share the last place */
};

/* On light ground, with what the others are there instead. */
struct palette_colour {
	const char *light, *dark, *print;
};
/* The places, then NONE and OTHER. */
enum { PALETTE_COLOURS = PALETTE_PLACES + 2 };
extern const struct palette_colour palette_colours[PALETTE_COLOURS];

/* The place of each phase.  They are in the order of their models, whose names
 * they may begin with; each model has places of its own. */
void palette_place(const struct text *phases, uint32_t count, uint8_t *places);

/* Its colour on light ground, a literal for scripts. */
const char *palette_light(unsigned place);

/* Write ` fs pattern 4 lc rgb "#3257a0"`, without the pattern for the first
 * eight. */
void palette_put_fill(FILE *file, unsigned place);
/* Write ` dt 2 lc rgb "#3257a0"`, likewise. */
void palette_put_line(FILE *file, unsigned place);

/*
 * colours - the colours of the pictures but those of phases and lines
 * and those of cascade/plot.c, which are gnuplot's.
 *
 * String literals, for scripts.
 */

#define COLOUR_BLUE      "#4e79a7"
#define COLOUR_ORANGE    "#f28e2b"
#define COLOUR_RED       "#e15759"
#define COLOUR_DARK_GREY "#79706e"

#define COLOUR_LIGHT_BLUE "#a0cbe8"
#define COLOUR_DARK_BLUE  "#1f4e79"
#define COLOUR_LIGHT_RED  "#fb9a99"
#define COLOUR_LIGHT_GREY "#dddddd"
#define COLOUR_GREY       "#9d9690"
#define COLOUR_TEXT       "#444444"
#define COLOUR_PAPER      "#ffffff"

/* Results: a change for the worse, for the better. */
#define COLOUR_WORSE  "#c0392b"
#define COLOUR_BETTER "#27803b"

/* Bands behind a line: least to greatest, and the middle half. */
#define COLOUR_BAND_WIDE  "#c6d8e8"
#define COLOUR_BAND_LIGHT "#dbe6f1"
#define COLOUR_BAND       "#9ebcd9"

/* Heat maps, by the share of the greatest value in percent. */
#define COLOUR_HEAT_0   "#f7fbff"
#define COLOUR_HEAT_2   "#e4eef7"
#define COLOUR_HEAT_25  "#9ecae1"
#define COLOUR_HEAT_50  "#4292c6"
#define COLOUR_HEAT_100 "#b30000"

#endif

/*
 * colours - the colours of the pictures but those of phases and lines
 * (palette.h), and those of cascade/plot.c, which are gnuplot's.
 *
 * String literals, for scripts.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_COLOURS_H
#define EXPORTERS_GNUPLOT_COLOURS_H

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

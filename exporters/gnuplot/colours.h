/*
 * colours - the colours of the pictures, but those of cascade_script.c, which
 * are gnuplot's.
 *
 * String literals, for scripts.  Lines of a picture take colours_series in
 * order.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_COLOURS_H
#define EXPORTERS_GNUPLOT_COLOURS_H

#define COLOUR_BLUE       "#4e79a7"
#define COLOUR_ORANGE     "#f28e2b"
#define COLOUR_GREEN      "#59a14f"
#define COLOUR_RED        "#e15759"
#define COLOUR_PURPLE     "#b07aa1"
#define COLOUR_TEAL       "#76b7b2"
#define COLOUR_BROWN      "#9c755f"
#define COLOUR_PINK       "#ff9da7"
#define COLOUR_YELLOW     "#edc948"
#define COLOUR_DARK_GREEN "#3b5b2e"
#define COLOUR_DARK_GREY  "#79706e"
#define COLOUR_NAVY       "#1f1f6e"

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

/* Steps of test runs: the colours of the older test-farm monitor. */
#define COLOUR_RUN_LIGHT_BLUE "#a5cee3"
#define COLOUR_RUN_BLUE       "#1f78b3"
#define COLOUR_RUN_GREEN      "#b2de89"
#define COLOUR_RUN_ORANGE     "#fcbf6f"
#define COLOUR_RUN_PURPLE     "#693d9a"

enum { COLOURS_SERIES = 12 };
extern const char *const colours_series[COLOURS_SERIES];

#endif

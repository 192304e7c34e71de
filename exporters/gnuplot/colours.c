/*
 * colours - the colours of all pictures.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/gnuplot/colours.h"

const char *const colours_series[COLOURS_SERIES] = { COLOUR_BLUE, COLOUR_ORANGE,
	COLOUR_GREEN, COLOUR_RED, COLOUR_PURPLE, COLOUR_TEAL, COLOUR_BROWN,
	COLOUR_PINK, COLOUR_YELLOW, COLOUR_DARK_GREEN, COLOUR_DARK_GREY,
	COLOUR_NAVY };

/*
 * palette - the colour of a phase, or of a line: the same in pictures and on
 * the page.
 *
 * The first eight places differ enough to be seen apart with each kind of
 * colour blindness; from there on the colours come again, with a pattern.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_GNUPLOT_PALETTE_H
#define EXPORTERS_GNUPLOT_PALETTE_H

#include <stdint.h>
#include <stdio.h>

#include "proto/base/text.h"

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

#endif

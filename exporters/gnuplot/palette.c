/*
 * palette - the colour of a phase, or of a line.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/gnuplot/palette.h"

#include <stdbool.h>

const struct palette_colour palette_colours[PALETTE_COLOURS] = {
#define PLACE(light, dark, print)      { light, dark, print },
#define REST(name, light, dark, print) { light, dark, print },
#define PHASE(name, place)
#include "exporters/gnuplot/palette.def"
};

static const struct known {
	const char *name;
	uint8_t place;
} known[] = {
#define PLACE(light, dark, print)
#define REST(name, light, dark, print)
#define PHASE(name, place) { name, place },
#include "exporters/gnuplot/palette.def"
};

static const struct known *
find(struct text phase)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (text_equal(text_after(phase, ':'), text_of(known[i].name)))
			return &known[i];
	return NULL;
}

/* Also of names without one. */
static bool
same_model(struct text a, struct text b)
{
	a.bytes -= text_after(a, ':').bytes;
	b.bytes -= text_after(b, ':').bytes;
	return text_equal(a, b);
}

/* The first place that no known phase of the model has, nor one before. */
static uint8_t
free_place(const struct text *phases, uint32_t count, const uint8_t *places,
    uint32_t phase)
{
	bool taken[PALETTE_PHASES_MAX] = { false };
	uint8_t place = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct known *at = find(phases[i]);

		if (!same_model(phases[i], phases[phase]))
			continue;
		if (at != NULL)
			taken[at->place] = true;
		else if (i < phase)
			taken[places[i]] = true;
	}
	while (place + 1 < PALETTE_PHASES_MAX && taken[place])
		place++;
	return place;
}

void
palette_place(const struct text *phases, uint32_t count, uint8_t *places)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct known *at = find(phases[i]);

		places[i] = at != NULL ? at->place
				       : free_place(phases, count, places, i);
	}
}

static const struct palette_colour *
colour_of(unsigned place)
{
	return place == PALETTE_NONE ? &palette_colours[PALETTE_PLACES]
	       : place == PALETTE_OTHER
		   ? &palette_colours[PALETTE_PLACES + 1]
		   : &palette_colours[place % PALETTE_PLACES];
}

const char *
palette_light(unsigned place)
{
	return colour_of(place)->light;
}

/* How often the colours have been there. */
static unsigned
round_of(unsigned place)
{
	return place >= PALETTE_NONE ? 0 : place / PALETTE_PLACES;
}

void
palette_put_fill(FILE *file, unsigned place)
{
	/* gnuplot's patterns that are neither empty nor full. */
	static const unsigned patterns[] = { 4, 2, 5, 1, 6 };
	unsigned round = round_of(place);

	if (round > 0)
		fprintf(file, " fs pattern %u", patterns[(round - 1) % 5]);
	fprintf(file, " lc rgb \"%s\"", palette_light(place));
}

void
palette_put_line(FILE *file, unsigned place)
{
	unsigned round = round_of(place);

	if (round > 0)
		fprintf(file, " dt %u", 1 + round % 5);
	fprintf(file, " lc rgb \"%s\"", palette_light(place));
}

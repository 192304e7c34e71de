/*
 * gnuplot_look - colours, size and title of all pictures of this process.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/plot/look.h"

#include <stdbool.h>
#include <string.h>

#include "proto/base/number.h"
#include "proto/config/opt.h"

/* ---- the colours of phases and lines ---- */

const struct palette_colour palette_colours[PALETTE_COLOURS] = {
#define PLACE(light, dark, print)      { light, dark, print },
#define REST(name, light, dark, print) { light, dark, print },
#define PHASE(name, place)
#include "exporters/plot/palette.def"
};

static const struct known {
	const char *name;
	uint8_t place;
} known[] = {
#define PLACE(light, dark, print)
#define REST(name, light, dark, print)
#define PHASE(name, place) { name, place },
#include "exporters/plot/palette.def"
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
colour_at(unsigned place)
{
	return place == PALETTE_NONE ? &palette_colours[PALETTE_PLACES]
	       : place == PALETTE_OTHER
		   ? &palette_colours[PALETTE_PLACES + 1]
		   : &palette_colours[place % PALETTE_PLACES];
}

const char *
palette_light(unsigned place)
{
	return colour_at(place)->light;
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

struct look gnuplot_look;

const struct opt gnuplot_look_options[] = {
	{ "style", 0, OPT_CHOICE, .to = &gnuplot_look.style, "STYLE",
	    "choose the colours: light (default), dark, or print, which differ "
	    "in brightness",
	    "light|dark|print" },
	{ "size", 0, OPT_TEXT, .to = &gnuplot_look.size, "WIDTHxHEIGHT",
	    "make each picture this large, in pixels (dumb: characters)" },
	{ "title", 0, OPT_TEXT, .to = &gnuplot_look.title, "TEXT",
	    "write this above each picture, in place of its own title" },
	{ .name = NULL },
};

/* ---- options ---- */

static bool
take_size(unsigned *width, unsigned *height)
{
	const char *x = strchr(gnuplot_look.size, 'x');
	uint64_t w, h;

	if (x == NULL ||
	    number_parse_u64((struct text){ gnuplot_look.size,
				 (uint32_t)(x - gnuplot_look.size) },
		&w, NULL) != 0 ||
	    number_parse_u64(text_of(x + 1), &h, NULL) != 0)
		return false;
	*width = w > UINT32_MAX ? UINT32_MAX : (unsigned)w;
	*height = h > UINT32_MAX ? UINT32_MAX : (unsigned)h;
	return true;
}

static void
check_size(bool dumb)
{
	unsigned width, height;
	unsigned width_min = dumb ? LOOK_COLUMNS_MIN : LOOK_WIDTH_MIN;
	unsigned height_min = dumb ? LOOK_ROWS_MIN : LOOK_HEIGHT_MIN;
	unsigned max = dumb ? LOOK_CHARACTERS_MAX : LOOK_PIXELS_MAX;

	if (!take_size(&width, &height))
		opt_usage("--size: '%.64s' is not WIDTHxHEIGHT, such as %s",
		    gnuplot_look.size, dumb ? "120x40" : "1600x900");
	if (width < width_min || width > max || height < height_min ||
	    height > max)
		opt_usage("--size: '%.64s': the width is %u to %u %s, the "
			  "height %u to %u",
		    gnuplot_look.size, width_min, max,
		    dumb ? "characters" : "pixels", height_min, max);
	gnuplot_look.width = width;
	gnuplot_look.height = height;
}

void
gnuplot_look_check(bool dumb)
{
	size_t bytes =
	    gnuplot_look.title != NULL ? strlen(gnuplot_look.title) : 1;

	if (gnuplot_look.size != NULL)
		check_size(dumb);
	if (bytes == 0 || bytes > LOOK_TITLE_BYTES)
		opt_usage("--title needs TEXT of 1 to %d bytes; this one has "
			  "%zu",
		    LOOK_TITLE_BYTES, bytes);
}

bool
gnuplot_look_is_given(void)
{
	return gnuplot_look.style != LOOK_LIGHT || gnuplot_look.width > 0 ||
	       gnuplot_look.title != NULL;
}

/* ---- colours ---- */

enum { COLOUR_BYTES = 7 };

/* Dark paper: pale fills become dim, dark lines bright.  Print: colours that
 * stay next to each other in bars differ in brightness. */
static const struct {
	const char *light, *dark, *print;
} colours[] = {
	{ COLOUR_PAPER, "#171b20", NULL },
	{ COLOUR_TEXT, "#d0d4da", "#000000" },
	{ COLOUR_DARK_BLUE, "#9ecae1", "#08306b" },
	{ COLOUR_DARK_GREY, "#b0a8a6", "#404040" },
	{ COLOUR_LIGHT_GREY, "#3f454d", "#eeeeee" },
	{ COLOUR_GREY, "#7a7f87", "#9d9d9d" },
	{ COLOUR_BAND_WIDE, "#2b4258", "#dddddd" },
	{ COLOUR_BAND_LIGHT, "#26384a", "#e6e6e6" },
	{ COLOUR_BAND, "#3d6186", "#bbbbbb" },
	{ COLOUR_WORSE, "#ff7b6b", NULL },
	{ COLOUR_BETTER, "#6fcf7f", NULL },
	{ COLOUR_HEAT_0, "#23282f", "#ffffff" },
	{ COLOUR_HEAT_2, "#28323d", "#f0f0f0" },
	{ COLOUR_HEAT_25, "#2c5678", "#c4c4c4" },
	{ COLOUR_HEAT_50, "#4292c6", "#8c8c8c" },
	{ COLOUR_HEAT_100, "#ff4d3d", "#000000" },
	{ COLOUR_BLUE, NULL, "#08306b" },
	{ COLOUR_LIGHT_BLUE, "#7fb2d6", "#9ecae1" },
	{ COLOUR_ORANGE, NULL, "#d95f0e" },
	{ COLOUR_RED, NULL, "#99000d" },
};

static const char *
colour_of(const char *at)
{
	for (size_t i = 0; i < sizeof(colours) / sizeof(*colours); i++) {
		const char *to = gnuplot_look.style == LOOK_DARK
				     ? colours[i].dark
				     : colours[i].print;

		if (memcmp(at, colours[i].light, COLOUR_BYTES) == 0)
			return to;
	}
	for (int i = 0; i < PALETTE_COLOURS; i++)
		if (memcmp(at, palette_colours[i].light, COLOUR_BYTES) == 0)
			return gnuplot_look.style == LOOK_DARK
				   ? palette_colours[i].dark
				   : palette_colours[i].print;
	return NULL;
}

/* What gnuplot draws in black by itself. */
static void
put_settings(FILE *file)
{
	static const char *const of[] = { "title", "tics", "key", "xlabel",
		"ylabel" };
	bool dark = gnuplot_look.style == LOOK_DARK;
	const char *text = colour_of(COLOUR_TEXT);

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
		fprintf(file, "set %s textcolor rgb \"%s\"\n", of[i], text);
	fprintf(file,
	    "set border lc rgb \"%s\"\nset grid lc rgb \"%s\"\nunset grid\n",
	    text, dark ? "#7a7f87" : "#a0a0a0");
}

static bool
begins(struct text line, const char *with)
{
	size_t bytes = strlen(with);

	return line.bytes >= bytes && memcmp(line.at, with, bytes) == 0;
}

static void
put_line(FILE *file, struct text line)
{
	static const char terminal[] = "set terminal ", label[] = "set label ";

	for (uint32_t i = 0; i < line.bytes; i++) {
		const char *to =
		    line.at[i] == '#' && line.bytes - i >= COLOUR_BYTES
			? colour_of(line.at + i)
			: NULL;

		if (to != NULL) {
			fputs(to, file);
			i += COLOUR_BYTES - 1;
		} else {
			putc(line.at[i], file);
		}
	}
	if (begins(line, label))
		fprintf(file, " textcolor rgb \"%s\"", colour_of(COLOUR_TEXT));
	putc('\n', file);
	if (begins(line, terminal))
		put_settings(file);
}

void
gnuplot_look_put(FILE *file, struct text script)
{
	struct text line;

	if (gnuplot_look.style == LOOK_LIGHT) {
		fwrite(script.at, 1, script.bytes, file);
		return;
	}
	while (text_next_line(&script, &line))
		put_line(file, line);
}

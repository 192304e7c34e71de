/*
 * phases_colours - the bands of the picture of --view phases: the name of the
 * column of each, its title and its colour.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/phases_plot_private.h"
#include "exporters/gnuplot/colours.h"

const struct phases_band phases_bands[PHASES_PARTS] = {
	{ PHASES_PREPARATION, "Preparation", "node preparation", COLOUR_BLUE },
	{ PHASES_HELPER, "HelperPull", "helper image", COLOUR_LIGHT_BLUE },
	{ PHASES_REGISTRY, "Registry", "private registry", COLOUR_PURPLE },
	{ PHASES_WAIT, "Wait", "waiting", COLOUR_LIGHT_GREY },
	{ PHASES_PULL, "Pull", "image pull", COLOUR_ORANGE },
	{ PHASES_TORRENT, "Torrent", "image from peers", COLOUR_GREEN },
	{ PHASES_LOAD, "Load", "image load", COLOUR_YELLOW },
	{ PHASES_SAVE, "Save", "image save", COLOUR_RED },
	{ PHASES_OTHER, "Other", "rest of the global resources", COLOUR_GREY },
};

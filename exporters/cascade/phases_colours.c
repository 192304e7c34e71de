/*
 * phases_colours - the bands of the picture of --view phases: the name of the
 * column of each, its title and its colour.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/phases_plot_private.h"

const struct phases_band phases_bands[PHASES_PARTS] = {
	{ PHASES_PREPARATION, "Preparation", "node preparation", "#4e79a7" },
	{ PHASES_HELPER, "HelperPull", "helper image", "#a0cbe8" },
	{ PHASES_REGISTRY, "Registry", "private registry", "#b07aa1" },
	{ PHASES_WAIT, "Wait", "waiting", "#dddddd" },
	{ PHASES_PULL, "Pull", "image pull", "#f28e2b" },
	{ PHASES_TORRENT, "Torrent", "image from peers", "#59a14f" },
	{ PHASES_LOAD, "Load", "image load", "#edc948" },
	{ PHASES_SAVE, "Save", "image save", "#e15759" },
	{ PHASES_OTHER, "Other", "rest of the global resources", "#9d9690" },
};

/*
 * cascade_plot - the pictures of the startup of a pool's nodes.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_PLOT_H
#define EXPORTERS_CASCADE_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "exporters/cascade/cascade.h"
#include "exporters/plot/bands.h"
#include "exporters/plot/gnuplot.h"
#include "exporters/source/source.h"
#include "proto/base/err.h"

/* Which nodes lack events, or have some without a partner. */

/* Is any node incomplete? */
bool cascade_has_missing(const struct cascade *cascade);

/* The error of --strict: -1 and the number of incomplete nodes. */
int cascade_refuse(const struct cascade *cascade, struct err *err);

/* The events that a node lacks, separated by blanks, cut at the size of
 * `to`. */
const char *cascade_missing_words(const struct cascade *cascade,
    const struct cascade_node *node, char *to, size_t room);

struct plot_cascade_views {
	bool reference, phases, distribution;
};

struct plot_cascade_options {
	bool numbers; /* written next to the pictures */
	bool strict;
};
extern const struct opt plot_cascade_options[]; /* bound to the struct */

/* `picture` has the output options. */
int plot_cascade(struct source *source, struct text partition,
    const struct cascade_window *window,
    const struct plot_cascade_options *options,
    const struct plot_cascade_views *views, const struct picture *picture,
    struct err *err);

/*
 * The picture of --view reference and its table, byte for byte as the older
 * tool writes them (but always in UTC).
 *
 * The table has one line for each complete node, sorted by start: start, node,
 * docker_install, private_registry_setup, docker_shipyard_container_pull,
 * global_resources_loaded, and the totals of pull, save, load and torrent;
 * seconds.  In the name of a node, blank, ", # and % become %XX, because they
 * would break the columns.
 */

void cascade_plot_dat(const struct cascade *cascade, FILE *file);

/* `dat` is the file name of the table, which is in the same directory as the
 * script. */
void cascade_plot_script(const struct cascade *cascade, FILE *file,
    struct text pool, const char *dat, enum gnuplot_terminal terminal);

/* "acct$gpupool (UbuntuServer 16.04-LTS)", with the parts that are known. */
void cascade_put_title(
    const struct cascade *cascade, struct text pool, char *to, size_t room);

/*
 * Where the time of the nodes went: a bar for each node, divided between its
 * phases.
 *
 * From nodeprep:start to cascade:gr-done every moment belongs to exactly one
 * band, so that the bands of a node add up to the time it took.  Where phases
 * overlap, the moment belongs to the later one of the enumeration: the pull of
 * an image before a concurrent download, the private registry before the rest
 * of the preparation.  Time outside of all phases is waiting.
 */

enum cascade_part {
	PHASES_WAIT,  /* between phases, mostly from preparation to start */
	PHASES_OTHER, /* loading of global resources, while no image is pulled
			 or loaded */
	PHASES_PREPARATION, /* of the node, without the next two */
	PHASES_HELPER,      /* pull of the helper image */
	PHASES_REGISTRY,    /* private registry */
	PHASES_TORRENT,
	PHASES_SAVE,
	PHASES_LOAD,
	PHASES_PULL,
	PHASES_PARTS,
};

struct phases_times {
	double seconds[PHASES_PARTS];
	double total; /* their sum: gr-done - nodeprep:start */
};

/* The node must be complete. */
struct phases_times phases_times_of(
    const struct cascade *cascade, const struct cascade_node *node);

enum { PHASES_TITLE_BYTES = 4096 };

struct phases_plot {
	struct bands bands;
	char title[PHASES_TITLE_BYTES], note[SOURCE_CLOCK_WORDS + 256];
};

/* Returns a new picture; there must be at least one complete node. */
struct phases_plot *phases_plot_new(
    const struct cascade *cascade, struct text partition);
void phases_plot_free(struct phases_plot **plot);

#endif

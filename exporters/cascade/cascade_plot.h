/*
 * cascade_plot - the picture of --view reference and its table, byte for byte
 * as the older tool writes them (but always in UTC).
 *
 * The table has one line for each complete node, sorted by start: start, node,
 * docker_install, private_registry_setup, docker_shipyard_container_pull,
 * global_resources_loaded, and the totals of pull, save, load and torrent;
 * seconds.  In the name of a node, blank, ", # and % become %XX, because they
 * would break the columns.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_CASCADE_PLOT_H
#define EXPORTERS_CASCADE_CASCADE_PLOT_H

#include <stdio.h>

#include "exporters/cascade/cascade.h"
#include "exporters/gnuplot/gnuplot.h"

void cascade_plot_dat(const struct cascade *cascade, FILE *file);

/* `dat` is the file name of the table, which is in the same directory as the
 * script. */
void cascade_plot_script(const struct cascade *cascade, FILE *file,
    struct text pool, const char *dat, enum gnuplot_terminal terminal);

/* "gpupool (UbuntuServer 16.04-LTS)", with the parts that are known. */
void cascade_put_title(
    const struct cascade *cascade, struct text pool, char *to, size_t room);

#endif

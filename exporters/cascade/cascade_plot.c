/*
 * cascade_plot - the table of the picture of --view reference.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/cascade_plot.h"

#include <time.h>

#include "proto/base/number.h"

static void
put_time(FILE *file, int64_t us)
{
	time_t seconds = (time_t)(us / 1000000);
	int64_t rest = us % 1000000;
	char text[40];
	struct tm tm;

	if (rest < 0) {
		seconds--;
		rest += 1000000;
	}
	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%d-%H:%M:%S", &tm);
	fprintf(file, "%s.%06d", text, (int)rest);
}

static void
put_node(
    const struct cascade *cascade, const struct cascade_node *node, FILE *file)
{
	static const enum cascade_phase once[] = { CASCADE_DOCKER,
		CASCADE_REGISTRY, CASCADE_SHIPYARD, CASCADE_GLOBAL };
	static const enum cascade_phase images[] = { CASCADE_PULL, CASCADE_SAVE,
		CASCADE_LOAD, CASCADE_TORRENT };
	int64_t us = 0;

	cascade_start_us(node, &us);
	put_time(file, us);
	putc(' ', file);
	gnuplot_put_word(file, node->name);
	for (size_t i = 0; i < 4; i++) {
		char text[NUMBER_BYTES];
		double seconds;
		bool absent;

		cascade_once(node, once[i], &seconds, &absent);
		number_repr(text, seconds);
		fprintf(file, " %s", absent ? "0" : text);
	}
	for (size_t i = 0; i < 4; i++)
		fprintf(file, " %.5f",
		    cascade_images_total(cascade, node, images[i]));
	putc('\n', file);
}

void
cascade_plot_dat(const struct cascade *cascade, FILE *file)
{
	fputs("NodePrepStartTime NodeId NodePrep+DockerInstall "
	      "PrivateRegistrySetup ShipyardContainerPull "
	      "GlobalResourcesLoad TotalPull TotalSave TotalLoad "
	      "TotalTorrent\n",
	    file);
	for (uint32_t i = 0; i < cascade->node_count; i++)
		if (cascade->nodes[i].missing == 0)
			put_node(cascade, &cascade->nodes[i], file);
}

void
cascade_put_title(
    const struct cascade *cascade, struct text pool, char *to, size_t room)
{
	struct text offer = cascade->offer, sku = cascade->sku;
	bool both = offer.bytes > 0 && sku.bytes > 0;
	bool any = offer.bytes > 0 || sku.bytes > 0;

	snprintf(to, room, "%.*s%s%.*s%s%.*s%s", (int)pool.bytes, pool.at,
	    any ? " (" : "", (int)offer.bytes, offer.bytes ? offer.at : "",
	    both ? " " : "", (int)sku.bytes, sku.bytes ? sku.at : "",
	    any ? ")" : "");
}

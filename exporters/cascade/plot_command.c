/*
 * cascade_plot_command - pictures of the startup of a pool's nodes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/plot_command.h"

#include <stdio.h>
#include <stdlib.h>

#include "exporters/cascade/cascade_plot.h"
#include "exporters/cascade/missing.h"
#include "exporters/cascade/phases_plot.h"
#include "exporters/gnuplot/boxes.h"
#include "exporters/source/pool.h"
#include "proto/base/memory.h"
#include "proto/config/opt.h"

/*
 * How long the phases of the startup took: a row for each phase
 * (exporters/gnuplot/boxes.h) of the complete nodes, an image that a node
 * pulled twice counted once, as in poolscope-stats cascade.
 */

struct cascade_distribution {
	struct boxes boxes; /* clear it at the end */
	char title[256];
};

/* The durations of a phase on a node, appended. */
static void
take(const struct cascade *cascade, const struct cascade_node *node,
    enum cascade_phase phase, double *seconds, uint64_t *count)
{
	uint32_t pairs;
	const struct cascade_pair *pair;
	bool absent;

	if (phase < CASCADE_ONCE) {
		if (cascade_once(node, phase, &seconds[*count], &absent) &&
		    !absent)
			++*count;
		return;
	}
	pair = cascade_run(cascade, node, phase, &pairs);
	for (; pairs > 0; pairs--, pair++)
		if (pair->has_begin && pair->has_end && !pair->repeated)
			seconds[(*count)++] = pair->seconds;
}

/* There must be at least one complete node. */
static void
cascade_distribution_init(struct cascade_distribution *distribution,
    const struct cascade *cascade, struct text pool)
{
	double *seconds =
	    memory_zero((size_t)cascade->node_count + cascade->pair_count + 1,
		sizeof(*seconds));
	struct boxes *boxes = &distribution->boxes;

	snprintf(distribution->title, sizeof(distribution->title),
	    "Durations of the startup of pool %.*s",
	    pool.bytes < 200 ? (int)pool.bytes : 200, pool.at);
	*boxes =
	    (struct boxes){ .title = distribution->title, .note = BOXES_NOTE };
	for (int phase = 0; phase < CASCADE_PHASES; phase++) {
		uint64_t count = 0;

		for (uint32_t i = 0; i < cascade->node_count; i++)
			if (cascade->nodes[i].missing == 0)
				take(cascade, &cascade->nodes[i],
				    (enum cascade_phase)phase, seconds, &count);
		boxes_add(
		    boxes, text_of(cascade_names[phase].name), seconds, count);
	}
	free(seconds);
}

const struct opt plot_cascade_options[] = {
	{ "numbers", 0, OPT_FLAG, OPT_TO(struct plot_cascade_options, numbers),
	    NULL, "also write the output of poolscope-stats cascade, as JSON",
	    NULL, false },
	{ "strict", 0, OPT_FLAG, OPT_TO(struct plot_cascade_options, strict),
	    NULL, "write nothing and fail when a node is incomplete", NULL,
	    false },
	{ .name = NULL },
};

struct start_up {
	struct text pool;
	const struct cascade *cascade;
};

static void
put_cascade_table(const void *what, FILE *file)
{
	const struct start_up *start_up = what;

	cascade_plot_dat(start_up->cascade, file);
}

static void
put_cascade_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	const struct start_up *start_up = what;

	cascade_plot_script(
	    start_up->cascade, file, start_up->pool, dat, terminal);
}

static void
put_phases_table(const void *what, FILE *file)
{
	bands_table(what, file);
}

static void
put_phases_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	bands_script(what, file, dat, terminal);
}

static int
draw_phases(const struct cascade *cascade, struct text partition,
    struct picture *picture, struct err *err)
{
	struct phases_plot *plot = phases_plot_new(cascade, pool_id(partition));
	int rc;

	picture->what = &plot->bands;
	picture->put_table = put_phases_table;
	picture->put_script = put_phases_script;
	rc = picture_make(picture, err);
	phases_plot_free(&plot);
	return rc;
}

static int
draw_distribution(const struct cascade *cascade, struct text partition,
    struct picture *picture, struct err *err)
{
	struct cascade_distribution distribution;
	int rc;

	cascade_distribution_init(&distribution, cascade, pool_id(partition));
	picture->what = &distribution.boxes;
	picture->put_table = boxes_table;
	picture->put_script = boxes_script;
	rc = picture_make(picture, err);
	boxes_clear(&distribution.boxes);
	return rc;
}

static int
make_pictures(const struct cascade *cascade, struct text partition,
    const struct plot_cascade_views *views, const struct picture *where,
    struct err *err)
{
	char base[INSTANCE_PATH_BYTES], longer[INSTANCE_PATH_BYTES + 16];
	struct start_up start_up = { pool_id(partition), cascade };
	struct picture picture = *where;
	int rc = 0;

	picture.base = pool_base(base, partition);
	picture.what = &start_up;
	picture.put_table = put_cascade_table;
	picture.put_script = put_cascade_script;
	if (picture_make_dir(picture.dir, err) != 0)
		return -1;
	if (views->reference && picture_make(&picture, err) != 0)
		return -1;
	if (views->phases) {
		snprintf(longer, sizeof(longer), "%s-phases", base);
		picture.base = text_of(longer);
		rc = draw_phases(cascade, partition, &picture, err);
	}
	if (rc == 0 && views->distribution) {
		snprintf(longer, sizeof(longer), "%s-distribution", base);
		picture.base = text_of(longer);
		rc = draw_distribution(cascade, partition, &picture, err);
	}
	return rc;
}

int
plot_cascade(struct source *source, struct text partition,
    const struct cascade_window *window,
    const struct plot_cascade_options *options,
    const struct plot_cascade_views *views, const struct picture *picture,
    struct err *err)
{
	struct cascade cascade;
	int rc;

	cascade_init(&cascade);
	rc = cascade_read(&cascade, source, partition, window, err);
	if (rc == 0) {
		uint32_t nodes = cascade.node_count;

		cascade_warn_missing(&cascade);
		if (cascade.complete == 0)
			rc = err_set(err,
			    "none of the %u nodes is complete: nothing to draw",
			    nodes);
		else if (options->strict && cascade_has_missing(&cascade))
			rc = cascade_refuse(&cascade, err);
		else
			rc = make_pictures(
			    &cascade, partition, views, picture, err);
	}
	cascade_clear(&cascade);
	return rc;
}

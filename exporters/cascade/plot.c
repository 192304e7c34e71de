/*
 * cascade_plot - the pictures of the startup of a pool's nodes.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exporters/plot/boxes.h"
#include "exporters/plot/look.h"
#include "exporters/source/pool.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/config/opt.h"
#include "proto/os/log.h"

enum {
	WORDS_BYTES = 4096,
	NAMED = 2, /* of the nodes that are not drawn, in a title */
	NAMED_BYTES = 48,
	WARNINGS_MAX = 10, /* more lines would push the rest off the screen */
};

struct words {
	char *to;
	size_t used, room;
};

static void
add_word(void *arg, const char *event, struct text image)
{
	struct words *words = arg;
	char shown[300] = "";
	int n;

	if (image.at != NULL)
		text_quote(shown, sizeof(shown), image);
	n = snprintf(words->to + words->used, words->room - words->used,
	    "%s%s%s%s", words->used ? " " : "", event,
	    image.at != NULL ? ":" : "", shown);
	words->used += (size_t)n;
	if (words->used >= words->room)
		words->used = words->room - 1;
}

const char *
cascade_missing_words(const struct cascade *cascade,
    const struct cascade_node *node, char *to, size_t room)
{
	struct words words = { to, 0, room };

	to[0] = '\0';
	cascade_each_missing(cascade, node, add_word, &words);
	return to;
}

static bool
lacks(const struct cascade_node *node)
{
	return node->missing != 0 || node->unmatched != 0;
}

static uint32_t
count_lacking(const struct cascade *cascade)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < cascade->node_count; i++)
		count += lacks(&cascade->nodes[i]);
	return count;
}

bool
cascade_has_missing(const struct cascade *cascade)
{
	return count_lacking(cascade) > 0;
}

int
cascade_refuse(const struct cascade *cascade, struct err *err)
{
	return err_set(err,
	    "%u of %u nodes lack events or have unmatched ones (--strict); "
	    "poolscope stats cascade lists them",
	    count_lacking(cascade), cascade->node_count);
}

/* Log a warning for each incomplete node, and one for unreadable sizes. */
static void
warn_missing(const struct cascade *cascade)
{
	char words[WORDS_BYTES / 8], name[300];
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < cascade->node_count; i++) {
		const struct cascade_node *node = &cascade->nodes[i];

		if (!lacks(node))
			continue;
		if (++nodes > WARNINGS_MAX)
			continue;
		text_quote(name, sizeof(name), node->name);
		cascade_missing_words(cascade, node, words, sizeof(words));
		log_warn("node %s %s: %s", name,
		    node->missing
			? "is incomplete (missing or unmatched events)"
			: "has unmatched events",
		    words);
	}
	if (nodes > WARNINGS_MAX)
		log_warn("and %u more such nodes; poolscope-stats cascade "
			 "lists them all",
		    nodes - WARNINGS_MAX);
	if (cascade->unread_sizes > 0)
		log_warn("unreadable image sizes: %u; they count as unknown",
		    cascade->unread_sizes);
}

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

/*
 * The gnuplot script of the picture of --view reference.
 *
 * It is the one of the older tool: its colours are the defaults of gnuplot.
 */

/* The older tool's line, in which gnuplot interprets _.  If the name has other
 * special characters, all of them are quoted. */
static void
put_title_line(const struct cascade *cascade, FILE *file, struct text pool)
{
	char what[4096] = "Shipyard Performance for ";
	size_t used = strlen(what);

	if (gnuplot_look.title != NULL)
		snprintf(what, sizeof(what), "%s", gnuplot_look.title);
	else
		cascade_put_title(
		    cascade, pool, what + used, sizeof(what) - used);
	used = strlen(what);
	if (gnuplot_look.title == NULL && cascade->start[0] != '\0')
		snprintf(
		    what + used, sizeof(what) - used, "; %s", cascade->start);
	fputs("set title ", file);
	gnuplot_put_text(file, text_of(what));
	if (!gnuplot_is_plain(text_of(what)))
		fputs(" noenhanced", file);
	fputs(" font \", 10\" \n", file);
}

void
cascade_plot_script(const struct cascade *cascade, FILE *file, struct text pool,
    const char *dat, enum gnuplot_terminal terminal)
{
	static const char *const terminals[] = {
		[GNUPLOT_PNG] = "pngcairo enhanced transparent crop",
		[GNUPLOT_SVG] = "svg enhanced background rgb \"white\"",
		[GNUPLOT_DUMB] = "dumb noenhanced 79 32",
		[GNUPLOT_SIXEL] = "sixelgd enhanced transparent",
		[GNUPLOT_PDF] = "pdfcairo enhanced",
	};

	if (gnuplot_look_is_given())
		gnuplot_put_terminal(file, terminal, 640, 480, 32);
	else
		fprintf(file, "set terminal %s\n", terminals[terminal]);
	put_title_line(cascade, file, pool);
	fputs("set key top right horizontal autotitle columnhead "
	      "font \", 7\"\n"
	      "set xtics rotate by 45 right font \", 7\"\n"
	      "set ytics font \", 8\"\n"
	      "set xlabel \"Node Prep Start Time\" font \", 8\"\n"
	      "set ylabel \"Seconds\" font \", 8\"\n"
	      "set format x \"%H:%M:%.3S\"\n"
	      "set xdata time\n"
	      "set timefmt \"%Y-%m-%d-%H:%M:%S\"\n"
	      "set style fill solid\n",
	    file);
	fprintf(
	    file, "set boxwidth %.5f absolute\n", cascade->start_spread / 100);
	fputs("plot ", file);
	gnuplot_put_file(file, dat);
	fputs(" using 1:($3+$4+$5+$6) with boxes, \\\n"
	      "\t\"\" using 1:($3+$4+$5) with boxes, \\\n"
	      "\t\"\" using 1:($3+$4) with boxes, \\\n"
	      "\t\"\" using 1:3 with boxes\n",
	    file);
}

struct edge {
	int64_t at_ns;
	int8_t band;
	int8_t step; /* +1: a begin, -1: an end */
};

enum { EDGES_MANY = 64 };

static const struct {
	enum cascade_phase phase;
	enum cascade_part band;
} once[] = {
	{ CASCADE_NODEPREP, PHASES_PREPARATION },
	{ CASCADE_SHIPYARD, PHASES_HELPER },
	{ CASCADE_REGISTRY, PHASES_REGISTRY },
	{ CASCADE_GLOBAL, PHASES_OTHER },
}, images[] = {
	{ CASCADE_PULL, PHASES_PULL },
	{ CASCADE_LOAD, PHASES_LOAD },
	{ CASCADE_SAVE, PHASES_SAVE },
	{ CASCADE_TORRENT, PHASES_TORRENT },
};

static int
by_time(const void *a, const void *b)
{
	const struct edge *p = a, *q = b;

	return p->at_ns < q->at_ns ? -1 : p->at_ns > q->at_ns;
}

/* Add the part between `from_ns` and `to_ns`. */
static uint32_t
put_edges(struct edge *edges, const struct cascade_pair *pair,
    enum cascade_part part, int64_t from_ns, int64_t to_ns)
{
	int64_t begin = pair->begin_ns, end;

	if (!pair->has_begin || !pair->has_end)
		return 0;
	if (__builtin_add_overflow(begin, pair->duration_ns, &end))
		end = INT64_MAX;
	begin = begin < from_ns ? from_ns : begin;
	end = end > to_ns ? to_ns : end;
	if (begin >= end)
		return 0;
	edges[0] = (struct edge){ begin, (int8_t)part, 1 };
	edges[1] = (struct edge){ end, (int8_t)part, -1 };
	return 2;
}

static uint32_t
collect(const struct cascade *cascade, const struct cascade_node *node,
    struct edge *edges, int64_t from_ns, int64_t to_ns)
{
	uint32_t used = 0;

	for (size_t i = 0; i < sizeof(once) / sizeof(*once); i++)
		used += put_edges(edges + used, &node->once[once[i].phase],
		    once[i].band, from_ns, to_ns);
	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++) {
		uint32_t count;
		const struct cascade_pair *p =
		    cascade_run(cascade, node, images[i].phase, &count);

		for (; count > 0; count--, p++)
			used += put_edges(
			    edges + used, p, images[i].band, from_ns, to_ns);
	}
	return used;
}

static void
sweep(struct edge *edges, uint32_t count, int64_t from_ns, int64_t to_ns,
    struct phases_times *times)
{
	int64_t spent_ns[PHASES_PARTS] = { 0 }, at_ns = from_ns;
	uint32_t active[PHASES_PARTS] = { 0 };

	qsort(edges, count, sizeof(*edges), by_time);
	for (uint32_t i = 0; i <= count; i++) {
		int64_t next_ns = i < count ? edges[i].at_ns : to_ns;
		int band = PHASES_PARTS - 1;

		while (band > PHASES_WAIT && active[band] == 0)
			band--;
		spent_ns[band] += next_ns - at_ns;
		at_ns = next_ns;
		if (i < count)
			active[edges[i].band] += (uint32_t)edges[i].step;
	}
	for (int band = 0; band < PHASES_PARTS; band++)
		times->seconds[band] = (double)spent_ns[band] / 1e9;
}

struct phases_times
phases_times_of(const struct cascade *cascade, const struct cascade_node *node)
{
	struct phases_times times = { .total = 0 };
	int64_t from_ns = node->once[CASCADE_NODEPREP].begin_ns;
	int64_t to_ns = node->once[CASCADE_GLOBAL].end_ns;
	struct edge few[EDGES_MANY], *edges = few;
	uint32_t most = sizeof(once) / sizeof(*once);

	if (to_ns <= from_ns)
		return times;
	for (int i = 0; i < CASCADE_PER_IMAGE; i++)
		most += node->run[i].count;
	if (2 * (size_t)most > EDGES_MANY)
		edges = memory_zero(2 * (size_t)most, sizeof(*edges));
	sweep(edges, collect(cascade, node, edges, from_ns, to_ns), from_ns,
	    to_ns, &times);
	if (edges != few)
		free(edges);
	times.total = (double)(to_ns - from_ns) / 1e9;
	return times;
}

/* The bands from the bottom up, in the order in which they usually happen. */
static const struct {
	enum cascade_part part;
	enum cascade_phase phase; /* whose name it has */
} parts[PHASES_PARTS] = {
	{ PHASES_PREPARATION, CASCADE_NODEPREP },
	{ PHASES_HELPER, CASCADE_SHIPYARD },
	{ PHASES_REGISTRY, CASCADE_REGISTRY },
	{ PHASES_WAIT, CASCADE_PHASES },
	{ PHASES_PULL, CASCADE_PULL },
	{ PHASES_TORRENT, CASCADE_TORRENT },
	{ PHASES_LOAD, CASCADE_LOAD },
	{ PHASES_SAVE, CASCADE_SAVE },
	{ PHASES_OTHER, CASCADE_GLOBAL },
};

/* As in every picture of the model. */
static struct band
band_of(int part)
{
	struct band band = { .title = text_of("no phase"),
		.column = text_of("no_phase"),
		.place = PALETTE_NONE };

	if (parts[part].phase == CASCADE_PHASES)
		return band;
	band.title = band.column =
	    text_of(cascade_names[parts[part].phase].name);
	palette_place(&band.title, 1, &band.place);
	return band;
}

static struct bands_row
row_of(const struct cascade *cascade, const struct cascade_node *node)
{
	struct phases_times times = phases_times_of(cascade, node);
	struct bands_row row = { .node = node->name, .total_s = times.total };
	int64_t us = 0;

	cascade_start_us(node, &us);
	row.start_s = (double)(us - cascade->first_us) / 1e6;
	for (int i = 0; i < PHASES_PARTS; i++)
		row.seconds[i] = times.seconds[parts[i].part];
	return row;
}

/* Only the bands in which at least one node spent time. */
static void
set_bands(struct bands *bands)
{
	bool has[PHASES_PARTS] = { false };
	uint32_t to = 0;

	_Static_assert(
	    (int)PHASES_PARTS <= (int)BANDS_MAX, "enlarge BANDS_MAX");
	for (uint32_t i = 0; i < bands->count; i++)
		for (int part = 0; part < PHASES_PARTS; part++)
			has[part] |= bands->rows[i].seconds[part] > 0;
	for (int part = 0; part < PHASES_PARTS; part++) {
		/* If a clock jumped, gr-done can precede nodeprep:start and no
		 * band has a length: draw an empty picture. */
		if (!has[part] && (to > 0 || part + 1 < PHASES_PARTS))
			continue;
		bands->band[to] = band_of(part);
		for (uint32_t i = 0; i < bands->count; i++)
			bands->rows[i].seconds[to] =
			    bands->rows[i].seconds[part];
		to++;
	}
	bands->band_count = to;
}

/* Of the first line: the nodes that have no length, because an event is
 * missing.  Somebody who looks for the node that hangs looks here. */
static void
add_not_drawn(const struct cascade *cascade, char *title, size_t room)
{
	uint32_t missing = cascade->node_count - cascade->complete, named = 0;
	size_t used = strlen(title);

	if (missing == 0)
		return;
	used += (size_t)snprintf(title + used, room - used,
	    "; %" PRIu32 " incomplete node%s not drawn: ", missing,
	    missing == 1 ? " is" : "s are");
	for (uint32_t i = 0; named < NAMED && used < room; i++) {
		char name[NAMED_BYTES];

		if (cascade->nodes[i].missing == 0)
			continue;
		text_quote(name, sizeof(name), cascade->nodes[i].name);
		used += (size_t)snprintf(title + used, room - used, "%s%s",
		    named == 0 ? "" : ", ", name);
		if (++named == missing)
			return;
	}
	if (used < room)
		snprintf(title + used, room - used, " ...");
}

struct phases_plot *
phases_plot_new(const struct cascade *cascade, struct text partition)
{
	struct phases_plot *plot = memory_zero(1, sizeof(*plot));
	struct bands *bands = &plot->bands;
	size_t used;

	strcpy(plot->title, "Startup of ");
	used = strlen(plot->title);
	cascade_put_title(
	    cascade, partition, plot->title + used, sizeof(plot->title) - used);
	add_not_drawn(cascade, plot->title, sizeof(plot->title));
	if (cascade->clock[0] != '\0')
		snprintf(plot->note, sizeof(plot->note), " Times: %s.",
		    cascade->clock);
	used = strlen(plot->note);
	if (cascade->start[0] != '\0')
		snprintf(plot->note + used, sizeof(plot->note) - used,
		    " Shown: %s.", cascade->start);
	*bands = (struct bands){
		.title = plot->title,
		.note = plot->note,
		.subject = "Startup time",
		.zero = "the node's preparation began",
		.total = "the time from the start of preparation to all global "
			 "resources",
	};
	bands->rows = memory_zero(cascade->complete + 1, sizeof(*bands->rows));
	for (uint32_t i = 0; i < cascade->node_count; i++)
		if (cascade->nodes[i].missing == 0)
			bands->rows[bands->count++] =
			    row_of(cascade, &cascade->nodes[i]);
	set_bands(bands);
	bands_sort(bands);
	return plot;
}

void
phases_plot_free(struct phases_plot **plot)
{
	if (*plot == NULL)
		return;
	free((*plot)->bands.rows);
	free(*plot);
	*plot = NULL;
}

/*
 * How long the phases of the startup took: a row for each phase
 * (exporters/plot/boxes.h) of the complete nodes, an image that a node
 * pulled twice counted once, as in poolscope-stats cascade.
 */

struct cascade_distribution {
	struct boxes boxes; /* clear it at the end */
	char title[512], note[256];
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
    const struct cascade *cascade, struct text partition)
{
	double *seconds =
	    memory_zero((size_t)cascade->node_count + cascade->pair_count + 1,
		sizeof(*seconds));
	struct boxes *boxes = &distribution->boxes;

	snprintf(distribution->title, sizeof(distribution->title),
	    "Durations of the startup of %.*s",
	    partition.bytes < 200 ? (int)partition.bytes : 200, partition.at);
	boxes_put_note(
	    distribution->note, sizeof(distribution->note), cascade->start);
	add_not_drawn(
	    cascade, distribution->title, sizeof(distribution->title));
	*boxes = (struct boxes){ .title = distribution->title,
		.note = distribution->note };
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
	    NULL, "also write the output of poolscope-stats cascade, as JSON" },
	{ "strict", 0, OPT_FLAG, OPT_TO(struct plot_cascade_options, strict),
	    NULL, "write nothing and fail when a node is incomplete" },
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

static int
draw_phases(const struct cascade *cascade, struct text partition,
    struct picture *picture, struct err *err)
{
	struct phases_plot *plot = phases_plot_new(cascade, partition);
	int rc;

	picture->what = &plot->bands;
	picture->put_table = bands_table;
	picture->put_script = bands_script;
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

	cascade_distribution_init(&distribution, cascade, partition);
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

		warn_missing(&cascade);
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

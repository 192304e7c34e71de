/*
 * cascade_table - a pool's startup as a table for terminals.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "exporters/cascade/cascade_plot.h"
#include "exporters/source/pool.h"
#include "proto/base/memory.h"
#include "proto/format/table.h"

enum { NODE_COLUMNS = 16, LINE_COLUMNS = 79, IMAGE_COLUMNS = 50 };

static const struct table_column columns[] = {
	{ "NODE", NODE_COLUMNS, false },
	{ "START", 6, true },
	{ "DOCKER", 6, true },
	{ "REGSTR", 6, true },
	{ "HELPER", 6, true },
	{ "GLOBAL", 6, true },
	{ "PULL", 6, true },
	{ "SAVE", 6, true },
	{ "LOAD", 6, true },
	{ "TORRNT", 6, true },
	{ .title = NULL },
};

const char *const cascade_columns[] = { "node", "start", "docker", "registry",
	"helper", "global", "pull", "save", "load", "torrent", NULL };

/* Is any number of the phase known? */
static bool
has_image(const struct cascade *cascade, const struct cascade_node *node,
    enum cascade_phase phase)
{
	uint32_t count;
	const struct cascade_pair *p =
	    cascade_run(cascade, node, phase, &count);

	for (; count > 0; count--, p++)
		if (p->has_begin && p->has_end)
			return true;
	return false;
}

/* What a row has in a column of numbers; NaN: nothing. */
static double
seconds_of(
    const struct cascade *cascade, const struct cascade_node *node, int column)
{
	enum cascade_phase phase =
	    (enum cascade_phase)(CASCADE_DOCKER + column - 2);
	int64_t us, first_us = 0;
	double seconds;
	bool absent;

	if (column == 1) {
		/* Nodes are sorted by start: the first one started first. */
		cascade_start_us(&cascade->nodes[0], &first_us);
		return cascade_start_us(node, &us)
			   ? (double)(us - first_us) / 1e6
			   : NAN;
	}
	if (phase < CASCADE_ONCE)
		return cascade_once(node, phase, &seconds, &absent) && !absent
			   ? seconds
			   : NAN;
	return has_image(cascade, node, phase)
		   ? cascade_images_total(cascade, node, phase)
		   : NAN;
}

static void
put_row(struct table *table, const struct cascade *cascade,
    const struct cascade_node *node, struct text name)
{
	table_text(table, name);
	for (int column = 1; cascade_columns[column] != NULL; column++) {
		double seconds = seconds_of(cascade, node, column);

		if (isnan(seconds))
			table_none(table);
		else
			table_number(table, seconds);
	}
}

static struct order_key
key_of(const void *arg, const void *row, int column)
{
	const struct cascade *cascade = arg;
	const struct cascade_node *node =
	    &cascade->nodes[*(const uint32_t *)row];

	return (struct order_key){ .is_text = column == 0,
		.text = node->name,
		.number = column == 0 ? 0 : seconds_of(cascade, node, column) };
}

static void
put_heading(const struct cascade *cascade, FILE *file, struct text partition,
    const struct table_names *names)
{
	char title[512], pattern[600];

	cascade_put_title(cascade, partition, title, sizeof(title));
	fprintf(file, "startup of ");
	table_put_elided(file, text_of(title), LINE_COLUMNS - 12);
	fprintf(file,
	    "\n%" PRIu32 " nodes, %" PRIu32
	    " complete; seconds, START after the first node's\n",
	    cascade->node_count, cascade->complete);
	table_names_pattern(names, pattern, sizeof(pattern));
	if (pattern[0] != '\0') {
		fputs("nodes are ", file);
		table_put_elided(file, text_of(pattern), LINE_COLUMNS - 10);
		putc('\n', file);
	}
	putc('\n', file);
}

static void
put_totals(const struct cascade *cascade, FILE *file)
{
	uint32_t n = cascade->complete;

	if (n == 0)
		return;
	fprintf(
	    file, "\nfirst to last start   %12.3f s\n", cascade->start_spread);
	fprintf(file, "global resources      %12.3f s, mean %.3f s per node\n",
	    cascade->total_global, cascade->total_global / n);
	fprintf(file, "pull + torrent + load %12.3f s, mean %.3f s per node\n",
	    cascade->total_acquisition, cascade->total_acquisition / n);
}

static void
put_sizes(const struct cascade *cascade, FILE *file)
{
	bool first = true;

	for (uint32_t i = 0; i < cascade->images.count; i++) {
		if (cascade->image_bytes[i] == CASCADE_NO_SIZE)
			continue;
		fprintf(file, "%s%14.1f MiB  ", first ? "\nimages\n" : "",
		    (double)cascade->image_bytes[i] / (1 << 20));
		table_put_elided(file, cascade->images.names[i], IMAGE_COLUMNS);
		putc('\n', file);
		first = false;
	}
}

static void
put_incomplete(
    const struct cascade *cascade, FILE *file, const struct table_names *names)
{
	bool first = true;

	for (uint32_t i = 0; i < cascade->node_count; i++) {
		const struct cascade_node *node = &cascade->nodes[i];
		char words[512];

		if (node->missing == 0 && node->unmatched == 0)
			continue;
		fputs(
		    first ? "\nincomplete (missing or unmatched events)\n" : "",
		    file);
		table_put_elided(
		    file, table_names_rest(names, node->name), NODE_COLUMNS);
		fputs("  ", file);
		cascade_missing_words(cascade, node, words, sizeof(words));
		table_put_elided(
		    file, text_of(words), LINE_COLUMNS - NODE_COLUMNS - 2);
		putc('\n', file);
		first = false;
	}
}

static void
put_rows(const struct cascade *cascade, FILE *file,
    const struct table_names *names, const struct order *order)
{
	uint32_t *rows =
	    memory_alloc((cascade->node_count + 1) * sizeof(*rows));
	struct table table;
	uint32_t shown;

	for (uint32_t i = 0; i < cascade->node_count; i++)
		rows[i] = i;
	shown = order_rows(
	    order, rows, cascade->node_count, sizeof(*rows), key_of, cascade);
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < shown; i++) {
		const struct cascade_node *node = &cascade->nodes[rows[i]];

		put_row(
		    &table, cascade, node, table_names_rest(names, node->name));
	}
	free(rows);
}

void
cascade_report_table(const struct cascade *cascade, FILE *file,
    struct text partition, const struct order *order)
{
	struct table_names names = { .count = 0 };

	for (uint32_t i = 0; i < cascade->node_count; i++)
		table_names_add(&names, cascade->nodes[i].name);
	table_names_fit(&names, NODE_COLUMNS);
	put_heading(cascade, file, partition, &names);
	if (cascade->clock[0] != '\0')
		fprintf(file, "%s\n", cascade->clock);
	put_rows(cascade, file, &names, order);
	put_totals(cascade, file);
	put_sizes(cascade, file);
	put_incomplete(cascade, file, &names);
}

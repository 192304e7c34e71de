/*
 * cascade_table - a pool's startup as a table for terminals.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/report.h"

#include <inttypes.h>

#include "exporters/cascade/cascade_plot.h"
#include "exporters/source/pool.h"
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

static void
put_row(struct table *table, const struct cascade *cascade,
    const struct cascade_node *node, struct text name)
{
	int64_t us, first_us = 0;

	/* Nodes are sorted by start: the first one started first. */
	cascade_start_us(&cascade->nodes[0], &first_us);
	table_text(table, name);
	if (cascade_start_us(node, &us))
		table_number(table, (double)(us - first_us) / 1e6);
	else
		table_none(table);
	for (int phase = CASCADE_DOCKER; phase < CASCADE_ONCE; phase++) {
		double seconds;
		bool absent;

		if (cascade_once(
			node, (enum cascade_phase)phase, &seconds, &absent) &&
		    !absent)
			table_number(table, seconds);
		else
			table_none(table);
	}
	for (int phase = CASCADE_ONCE; phase < CASCADE_PHASES; phase++) {
		if (!has_image(cascade, node, (enum cascade_phase)phase))
			table_none(table);
		else
			table_number(table, cascade_images_total(cascade, node,
						(enum cascade_phase)phase));
	}
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

		if (node->missing == 0 && node->lone_ends == 0)
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

void
cascade_report_table(
    const struct cascade *cascade, FILE *file, struct text partition)
{
	struct table_names names = { .count = 0 };
	struct table table;

	for (uint32_t i = 0; i < cascade->node_count; i++)
		table_names_add(&names, cascade->nodes[i].name);
	table_names_fit(&names, NODE_COLUMNS);
	put_heading(cascade, file, partition, &names);
	if (cascade->clock[0] != '\0')
		fprintf(file, "%s\n", cascade->clock);
	table_begin(&table, file, columns);
	for (uint32_t i = 0; i < cascade->node_count; i++) {
		const struct cascade_node *node = &cascade->nodes[i];

		put_row(&table, cascade, node,
		    table_names_rest(&names, node->name));
	}
	put_totals(cascade, file);
	put_sizes(cascade, file);
	put_incomplete(cascade, file, &names);
}

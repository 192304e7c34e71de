/*
 * tracks_order - the order in which a viewer shows the rows.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/tracks_order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"

enum { PROCESS_NAME_BYTES = 2 * NAME_BYTES_MAX + 8 };

/* ---- processes ---- */

struct sorted_process {
	const struct tracks_process *process;
	uint32_t rank; /* position of its node */
	uint32_t number;
};

static int
by_node(const void *left, const void *right)
{
	const struct sorted_process *a = left, *b = right;
	int order;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	order = text_compare_natural(a->process->node, b->process->node);
	if (order != 0)
		return order;
	return text_compare_natural(a->process->group, b->process->group);
}

static struct sorted_process *
sort_processes(const struct tracks *tracks, const struct string_table *first)
{
	uint32_t count = tracks->process_keys.count;
	struct sorted_process *sorted = memory_zero(count + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < count; i++) {
		sorted[i].process = &tracks->processes[i];
		sorted[i].number = i;
		if (first == NULL ||
		    !string_table_find(
			first, tracks->processes[i].node, &sorted[i].rank))
			sorted[i].rank = UINT32_MAX;
	}
	qsort(sorted, count, sizeof(*sorted), by_node);
	return sorted;
}

/* NODE, or NODE: GROUP. */
static struct text
name_process(
    char to[static PROCESS_NAME_BYTES], const struct tracks_process *process)
{
	int n;

	if (process->group.bytes == 0 ||
	    text_equal(process->group, process->node))
		return process->node;
	n = snprintf(to, PROCESS_NAME_BYTES, "%.*s: %.*s",
	    (int)process->node.bytes, process->node.at,
	    (int)process->group.bytes, process->group.at);
	return (struct text){ to, (uint32_t)n };
}

/* ---- rows ---- */

struct sorted_row {
	const struct tracks_row *row;
	int64_t begin_ns; /* first begin of its track on any node */
	uint32_t process; /* position of its process */
};

static int
by_position(const void *left, const void *right)
{
	const struct sorted_row *a = left, *b = right;
	int order;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->row->section != b->row->section)
		return a->row->section < b->row->section ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->row->sort != b->row->sort)
		return a->row->sort < b->row->sort ? -1 : 1;
	order = text_compare_natural(a->row->name, b->row->name);
	if (order != 0)
		return order;
	return text_compare(a->row->track, b->row->track);
}

/* A phase has the same position in every node, for comparison: phases are
 * sorted by their first begin on any node. */
static void
set_begins(const struct tracks *tracks, struct sorted_row *sorted)
{
	uint32_t count = tracks->row_keys.count, number;
	int64_t *begins = memory_zero(tracks->texts.count + 1, sizeof(*begins));

	for (uint32_t i = 0; i < tracks->texts.count; i++)
		begins[i] = INT64_MAX;
	for (uint32_t i = 0; i < count; i++)
		if (tracks->rows[i].section <= TRACKS_PHASES &&
		    string_table_find(
			&tracks->texts, tracks->rows[i].track, &number) &&
		    tracks->rows[i].begin_ns < begins[number])
			begins[number] = tracks->rows[i].begin_ns;
	for (uint32_t i = 0; i < count; i++) {
		const struct tracks_row *tracks_row = sorted[i].row;

		sorted[i].begin_ns = 0;
		if (tracks_row->section <= TRACKS_PHASES &&
		    string_table_find(
			&tracks->texts, tracks_row->track, &number))
			sorted[i].begin_ns = begins[number];
	}
	free(begins);
}

static struct sorted_row *
sort_rows(const struct tracks *tracks, const uint32_t *positions)
{
	uint32_t count = tracks->row_keys.count;
	struct sorted_row *sorted = memory_zero(count + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < count; i++)
		sorted[i] = (struct sorted_row){ &tracks->rows[i], 0,
			positions[tracks->rows[i].process] };
	set_begins(tracks, sorted);
	qsort(sorted, count, sizeof(*sorted), by_position);
	return sorted;
}

static void
describe_threads(const struct tracks *tracks,
    const struct tracks_row *tracks_row, int64_t *position,
    const struct tracks_names *names)
{
	int64_t pid = tracks->processes[tracks_row->process].id;
	char text[TRACKS_NAME_BYTES];

	for (uint32_t i = 0; i < tracks_row->threads; i++) {
		struct text name = tracks_row->name;

		if (i > 0) {
			int n =
			    snprintf(text, sizeof(text), "%.*s (%" PRIu32 ")",
				(int)name.bytes, name.at, i + 1);

			name = (struct text){ text, (uint32_t)n };
		}
		names->on_thread(
		    names->arg, pid, tracks_row->tids[i], name, ++*position);
	}
}

void
tracks_describe(const struct tracks *tracks, const struct string_table *first,
    const struct tracks_names *names)
{
	uint32_t count = tracks->process_keys.count, row = 0;
	struct sorted_process *processes = sort_processes(tracks, first);
	uint32_t *positions = memory_zero(count + 1, sizeof(*positions));
	struct sorted_row *sorted;

	for (uint32_t i = 0; i < count; i++)
		positions[processes[i].number] = i;
	sorted = sort_rows(tracks, positions);
	for (uint32_t i = 0; i < count; i++) {
		char text[PROCESS_NAME_BYTES];
		int64_t position = 0;

		names->on_process(names->arg, processes[i].process->node,
		    processes[i].process->id,
		    name_process(text, processes[i].process), (int64_t)i + 1);
		for (; row < tracks->row_keys.count && sorted[row].process == i;
		     row++)
			describe_threads(
			    tracks, sorted[row].row, &position, names);
	}
	free(sorted);
	free(positions);
	free(processes);
}

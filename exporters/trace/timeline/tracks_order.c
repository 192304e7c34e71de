/*
 * rows - the order in which a viewer shows them.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/timeline/tracks_order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROCESS_NAME_BYTES = 2 * NAME_BYTES_MAX + 8 };

/* ---- names ---- */

static bool
is_digit(struct text t, uint32_t i)
{
	return i < t.bytes && t.at[i] >= '0' && t.at[i] <= '9';
}

/* The digits at `i` without zeros in front; `i` is behind them then. */
static struct text
number_at(struct text t, uint32_t *i)
{
	struct text number;

	while (is_digit(t, *i) && t.at[*i] == '0')
		(*i)++;
	number = (struct text){ t.at + *i, 0 };
	while (is_digit(t, *i)) {
		(*i)++;
		number.bytes++;
	}
	return number;
}

int
rows_compare_names(struct text a, struct text b)
{
	uint32_t i = 0, k = 0;

	while (i < a.bytes && k < b.bytes) {
		if (is_digit(a, i) && is_digit(b, k)) {
			struct text x = number_at(a, &i);
			struct text y = number_at(b, &k);
			int order = text_compare(x, y);

			if (x.bytes != y.bytes)
				return x.bytes < y.bytes ? -1 : 1;
			if (order != 0)
				return order;
		} else {
			unsigned char x = (unsigned char)a.at[i++];
			unsigned char y = (unsigned char)b.at[k++];

			if (x != y)
				return x < y ? -1 : 1;
		}
	}
	if (i < a.bytes || k < b.bytes)
		return i < a.bytes ? 1 : -1;
	return text_compare(a, b);
}

/* ---- processes ---- */

struct sorted_process {
	const struct row_process *process;
	uint32_t rank; /* of its node */
	uint32_t number;
};

static int
by_node(const void *left, const void *right)
{
	const struct sorted_process *a = left, *b = right;
	int order;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	order = rows_compare_names(a->process->node, b->process->node);
	if (order != 0)
		return order;
	return rows_compare_names(a->process->group, b->process->group);
}

static struct sorted_process *
sort_processes(const struct rows *rows, const struct intern *first)
{
	uint32_t count = rows->process_keys.count;
	struct sorted_process *sorted = calloc(count + 1, sizeof(*sorted));

	if (sorted == NULL)
		abort(); /* out of memory */
	for (uint32_t i = 0; i < count; i++) {
		sorted[i].process = &rows->processes[i];
		sorted[i].number = i;
		if (first == NULL ||
		    !intern_find(
			first, rows->processes[i].node, &sorted[i].rank))
			sorted[i].rank = UINT32_MAX;
	}
	qsort(sorted, count, sizeof(*sorted), by_node);
	return sorted;
}

/* NODE, or NODE: GROUP. */
static struct text
name_process(
    char to[static PROCESS_NAME_BYTES], const struct row_process *process)
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
	const struct row *row;
	int64_t begin_ns; /* of its track in any node */
	uint32_t process; /* its place */
};

static int
by_place(const void *left, const void *right)
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
	order = rows_compare_names(a->row->name, b->row->name);
	if (order != 0)
		return order;
	return text_compare(a->row->track, b->row->track);
}

/* A phase stands at the same place in every node, so that they can be
 * compared: in the order in which phases began, wherever that was. */
static void
set_begins(const struct rows *rows, struct sorted_row *sorted)
{
	uint32_t count = rows->row_keys.count, number;
	int64_t *begins = calloc(rows->texts.count + 1, sizeof(*begins));

	if (begins == NULL)
		abort(); /* out of memory */
	for (uint32_t i = 0; i < rows->texts.count; i++)
		begins[i] = INT64_MAX;
	for (uint32_t i = 0; i < count; i++)
		if (rows->rows[i].section <= ROW_PHASES &&
		    intern_find(&rows->texts, rows->rows[i].track, &number) &&
		    rows->rows[i].begin_ns < begins[number])
			begins[number] = rows->rows[i].begin_ns;
	for (uint32_t i = 0; i < count; i++) {
		const struct row *row = sorted[i].row;

		sorted[i].begin_ns = 0;
		if (row->section <= ROW_PHASES &&
		    intern_find(&rows->texts, row->track, &number))
			sorted[i].begin_ns = begins[number];
	}
	free(begins);
}

static struct sorted_row *
sort_rows(const struct rows *rows, const uint32_t *places)
{
	uint32_t count = rows->row_keys.count;
	struct sorted_row *sorted = calloc(count + 1, sizeof(*sorted));

	if (sorted == NULL)
		abort(); /* out of memory */
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = (struct sorted_row){ &rows->rows[i], 0,
			places[rows->rows[i].process] };
	set_begins(rows, sorted);
	qsort(sorted, count, sizeof(*sorted), by_place);
	return sorted;
}

static void
describe_threads(const struct rows *rows, const struct row *row, int64_t *place,
    const struct row_names *names)
{
	int64_t pid = rows->processes[row->process].id;
	char text[ROW_NAME_BYTES];

	for (uint32_t i = 0; i < row->threads; i++) {
		struct text name = row->name;

		if (i > 0) {
			int n =
			    snprintf(text, sizeof(text), "%.*s (%" PRIu32 ")",
				(int)name.bytes, name.at, i + 1);

			name = (struct text){ text, (uint32_t)n };
		}
		names->on_thread(names->arg, pid, row->tids[i], name, ++*place);
	}
}

void
rows_describe(const struct rows *rows, const struct intern *first,
    const struct row_names *names)
{
	uint32_t count = rows->process_keys.count, row = 0;
	struct sorted_process *processes = sort_processes(rows, first);
	uint32_t *places = calloc(count + 1, sizeof(*places));
	struct sorted_row *sorted;

	if (places == NULL)
		abort(); /* out of memory */
	for (uint32_t i = 0; i < count; i++)
		places[processes[i].number] = i;
	sorted = sort_rows(rows, places);
	for (uint32_t i = 0; i < count; i++) {
		char text[PROCESS_NAME_BYTES];
		int64_t place = 0;

		names->on_process(names->arg, processes[i].process->id,
		    name_process(text, processes[i].process), (int64_t)i + 1);
		for (; row < rows->row_keys.count && sorted[row].process == i;
		     row++)
			describe_threads(rows, sorted[row].row, &place, names);
	}
	free(sorted);
	free(places);
	free(processes);
}

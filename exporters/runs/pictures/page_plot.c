/*
 * runs_page_plot - the runs of a model, newest first, twenty on each page.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/pictures/page_plot.h"

#include <assert.h>
#include <stdlib.h>

#include "proto/base/memory.h"

static_assert(RUN_STEPS_MAX <= 64, "one bit for each series");

enum { ROOM_BEGIN = 1024 };

void
runs_pages_begin(struct runs_pages *pages, struct runs *runs, struct text group,
    enum run_clock clock)
{
	*pages = (struct runs_pages){ .runs = runs,
		.group = group,
		.clock = clock,
		.window = RUNS_WINDOW };
	for (uint32_t i = 0; i < runs->step_count; i++)
		if (!runs->steps[i].spans)
			pages->series[pages->series_count++] = &runs->steps[i];
	pages->row_bytes =
	    sizeof(struct runs_bar) + pages->series_count * sizeof(int64_t);
	string_table_init(&pages->texts);
}

void
runs_pages_end(struct runs_pages *pages)
{
	free(pages->rows);
	free(pages->ordered);
	string_table_clear(&pages->texts);
	*pages = (struct runs_pages){ .runs = NULL };
}

static struct runs_bar *
row_of(const struct runs_pages *pages, uint32_t i)
{
	void *row = pages->rows + i * pages->row_bytes;

	return row;
}

static int
by_age(const void *left, const void *right)
{
	const struct runs_bar *const *l = left, *const *r = right;
	const struct runs_bar *a = *l, *b = *r;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? -1 : 1;
	return a->position > b->position ? -1 : a->position < b->position;
}

static void
order(struct runs_pages *pages)
{
	pages->ordered = memory_resize_array(
	    pages->ordered, pages->count + 1, sizeof(*pages->ordered));
	for (uint32_t i = 0; i < pages->count; i++)
		pages->ordered[i] = row_of(pages, i);
	qsort(pages->ordered, pages->count, sizeof(*pages->ordered), by_age);
}

/* Hold the newest runs; another pass reads the others. */
static void
cut(struct runs_pages *pages)
{
	struct runs_bar oldest, *kept = &oldest;
	struct string_table texts;
	uint32_t count = 0;

	order(pages);
	oldest = *pages->ordered[pages->window - 1];
	string_table_init(&texts);
	for (uint32_t i = 0; i < pages->count; i++) {
		struct runs_bar *row = row_of(pages, i);

		if (by_age(&row, &kept) > 0)
			continue;
		row->id = string_table_keep(&texts, row->id);
		memmove(row_of(pages, count++), row, pages->row_bytes);
	}
	assert(count == pages->window);
	pages->count = count;
	string_table_clear(&pages->texts);
	pages->texts = texts;
}

static bool
is_given(const struct runs_pages *pages, int64_t time_ns, uint64_t position)
{
	if (pages->given == 0)
		return false;
	if (time_ns != pages->last_time_ns)
		return time_ns > pages->last_time_ns;
	return position >= pages->last_position;
}

static void
take(struct runs_pages *pages, const struct runs_run *run, uint64_t position)
{
	struct runs_bar *row;

	if (pages->count == pages->room) {
		pages->room = pages->room ? 2 * pages->room : ROOM_BEGIN;
		if (pages->room > 2 * pages->window)
			pages->room = 2 * pages->window;
		pages->rows =
		    memory_resize(pages->rows, pages->room * pages->row_bytes);
	}
	row = row_of(pages, pages->count++);
	*row =
	    (struct runs_bar){ .id = string_table_keep(&pages->texts, run->id),
		    .time_ns = run->time_ns,
		    .position = position,
		    .state = run->state,
		    .known = run->known,
		    .error = run->error };
	for (uint32_t i = 0; i < pages->series_count; i++)
		if (runs_total(
			run, pages->series[i], pages->clock, &row->ns[i]))
			row->has |= UINT64_C(1) << i;
}

static void
count(struct runs_pages *pages, const struct runs_run *run)
{
	pages->total++;
	for (uint32_t i = 0;
	     pages->clock == RUN_RECEIVE && i < pages->series_count; i++)
		runs_doubt_add(&pages->doubt, run, pages->series[i]);
}

/* The newest runs that were not returned yet. */
static int
fill(struct runs_pages *pages, struct err *err)
{
	struct text all = { NULL, 0 };
	struct runs_run run;
	uint64_t position = 0;
	bool was_cut = false;
	int rc;

	pages->count = pages->at = 0;
	string_table_clear(&pages->texts);
	string_table_init(&pages->texts);
	if (runs_select(pages->runs, all, pages->group, err) != 0)
		return -1;
	while ((rc = runs_next(pages->runs, &run, err)) > 0) {
		position++;
		if (!run.has_time || is_given(pages, run.time_ns, position))
			continue;
		if (!pages->began)
			count(pages, &run);
		if (pages->count == 2 * pages->window) {
			cut(pages);
			was_cut = true;
		}
		take(pages, &run, position);
	}
	pages->began = true;
	order(pages);
	pages->usable = was_cut ? pages->window : pages->count;
	pages->ended = !was_cut;
	return rc;
}

int
runs_pages_next(
    struct runs_pages *pages, struct runs_page *page, struct err *err)
{
	const struct runs_bar *last;

	if (pages->at == pages->usable) {
		if (pages->began && pages->ended)
			return 0;
		if (fill(pages, err) != 0)
			return -1;
		if (pages->usable == 0)
			return 0;
	}
	*page = (struct runs_page){
		.number = pages->given / RUNS_PAGE + 1,
		.first = pages->given + 1,
		.bars = pages->ordered + pages->at,
		.count = pages->usable - pages->at,
	};
	if (page->count > RUNS_PAGE)
		page->count = RUNS_PAGE;
	pages->at += page->count;
	pages->given += page->count;
	last = page->bars[page->count - 1];
	pages->last_time_ns = last->time_ns;
	pages->last_position = last->position;
	return 1;
}

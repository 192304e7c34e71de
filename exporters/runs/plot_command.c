/*
 * runs_plot_command - the pictures of poolscope-plot testrun.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/plot_command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/plot/boxes.h"
#include "exporters/runs/charts.h"
#include "exporters/runs/page_picture.h"
#include "exporters/source/pool.h"
#include "proto/base/memory.h"
#include "proto/format/output.h"
#include "proto/format/table.h"
#include "proto/os/log.h"
#include "proto/stream/byte_stream.h"

/*
 * How long the steps of test runs took: a row for each step
 * (exporters/plot/boxes.h), in the order of the model.
 *
 * Covers all iterations of the step in runs with events, as runs_days does.
 */

struct runs_distribution {
	struct boxes boxes;
	char title[256];
};

static void
add(struct boxes *boxes, const struct runs_days *days)
{
	double *seconds = memory_zero(days->value_count + 1, sizeof(*seconds));

	for (uint32_t i = 0; i < days->value_count; i++)
		seconds[i] = (double)days->values[i].ns / NS_PER_SECOND;
	boxes_add(boxes, days->step->name, seconds, days->value_count);
	free(seconds);
}

static void
put_words(struct runs_distribution *distribution, const struct runs *runs,
    enum run_clock clock)
{
	static const char *const clocks[] = { "emitted", "received" };
	size_t used, room = sizeof(distribution->title);
	struct boxes *boxes = &distribution->boxes;

	used = (size_t)snprintf(
	    distribution->title, room, "Durations of the steps of runs, ");
	used += table_elide(
	    distribution->title + used, room - used, runs->partition, 30);
	snprintf(
	    distribution->title + used, room - used, ", as %s", clocks[clock]);
	boxes->title = distribution->title;
	boxes->note = BOXES_NOTE;
}

/* Of the groups that match `group` (a pattern, or empty); there may be no rows.
 * Clear it in any case. */
static int
runs_distribution_read(struct runs_distribution *distribution,
    struct runs *runs, struct text group, enum run_clock clock, struct err *err)
{
	struct runs_days days = {
		.runs = runs, .group = group, .clock = clock
	};
	struct boxes *boxes = &distribution->boxes;
	int rc = 0;

	*boxes = (struct boxes){ .rows = NULL };
	for (uint32_t i = 0; rc == 0 && i < runs->step_count; i++) {
		days.step = &runs->steps[i];
		rc = runs_days_read(&days, err);
		if (rc == 0)
			add(boxes, &days);
	}
	put_words(distribution, runs, clock);
	runs_doubt_warn(&days.doubt, "durations");
	runs_days_clear(&days);
	return rc;
}

static void
runs_distribution_clear(struct runs_distribution *distribution)
{
	boxes_clear(&distribution->boxes);
}

enum { PAGES = 3 }; /* are drawn without --pages */
enum { BASE_BYTES = INSTANCE_PATH_BYTES + 4 * NAME_BYTES_MAX + 64 };

const struct opt plot_testrun_options[] = {
	{ "pages", 0, OPT_TEXT, OPT_TO(struct plot_testrun_options, pages),
	    "A..B",
	    "testrun: draw these pages (A.., ..B or A; default: ..3); page 1 "
	    "has the newest runs" },
	{ "series", 0, OPT_TEXT, OPT_TO(struct plot_testrun_options, series),
	    "FILE", "testrun: write the numbers of all pages to FILE as JSON" },
	{ .name = NULL },
};

/* ---- usage errors ---- */

/* Parse digits from `*at` on; `otherwise` if there are none. */
static bool
take_number(const char **at, uint64_t otherwise, uint64_t *value)
{
	char *end;

	*value = otherwise;
	if (**at < '0' || **at > '9')
		return true;
	errno = 0;
	*value = strtoull(*at, &end, 10);
	*at = end;
	return errno == 0 && *value > 0;
}

static bool
take_pages(struct plot_testrun_options *options)
{
	const char *at = options->pages;
	const char *begin = at;
	bool good = take_number(&at, 1, &options->first);

	if (*at == '\0') {
		options->last = options->first;
		return good && at != begin;
	}
	if (strncmp(at, "..", 2) != 0)
		return false;
	at += 2;
	return good && take_number(&at, UINT64_MAX, &options->last) &&
	       *at == '\0' && options->first <= options->last;
}

void
plot_testrun_check(
    struct plot_testrun_options *options, const struct runs_options *runs)
{
	if (options->pages != NULL && !take_pages(options))
		opt_usage("--pages: '%.64s' is not A..B with A at least 1 and "
			  "B at least A",
		    options->pages);
	if (options->series != NULL && options->series[0] == '\0')
		opt_usage("--series needs FILE");
	if (runs->model[0] == '\0')
		opt_usage("--model needs NAME");
}

/* ---- pages ---- */

/* BASE-testrun[-GROUP]-WHAT */
static struct text
make_base(char to[static BASE_BYTES], const struct plot_testrun_how *how,
    struct text partition, const char *what)
{
	char pool[INSTANCE_PATH_BYTES];
	struct text base = pool_base(pool, partition);
	const char *group = how->runs->group;

	snprintf(to, BASE_BYTES, "%.*s-%s%s%s-%s", (int)base.bytes, base.at,
	    how->runs->model, group != NULL ? "-" : "",
	    group != NULL ? group : "", what);
	return text_of(to);
}

static int
draw_page(const struct runs_pages *pages, const struct runs_page *page,
    const struct plot_testrun_how *how, struct err *err)
{
	const struct runs_picture drawn = { pages, page };
	char base[BASE_BYTES], number[24];
	struct picture picture = *how->picture;

	snprintf(number, sizeof(number), "%04" PRIu64, page->number);
	picture.base = make_base(base, how, pages->runs->partition, number);
	picture.what = &drawn;
	picture.put_table = runs_picture_table;
	picture.put_script = runs_picture_script;
	return picture_make(&picture, err);
}

/* Called for each page. */
struct page_sink {
	int (*put)(const struct page_sink *sink, const struct runs_pages *pages,
	    const struct runs_page *page, struct err *err);
	const struct plot_testrun_how *how;
	struct byte_stream *byte_stream; /* of the series */
	uint64_t last;                   /* page */
};

static int
put_picture(const struct page_sink *sink, const struct runs_pages *pages,
    const struct runs_page *page, struct err *err)
{
	return draw_page(pages, page, sink->how, err);
}

static int
put_series(const struct page_sink *sink, const struct runs_pages *pages,
    const struct runs_page *page, struct err *err)
{
	const struct runs_picture picture = { pages, page };
	bool first = page->number == sink->how->options->first;

	(void)err;
	byte_stream_put(sink->byte_stream, first ? "[" : ",\n", first ? 1 : 2);
	runs_picture_series(&picture, sink->byte_stream);
	return 0;
}

static int
each_page(struct runs *runs, const struct page_sink *sink, struct err *err)
{
	struct runs_pages pages;
	struct runs_page page;
	const struct plot_testrun_options *options = sink->how->options;
	const struct runs_options *of = sink->how->runs;
	uint64_t count = 0, last = 0, left = 0;
	int rc = 0;

	if (runs->step_count == 0)
		return err_set(err, "the model has no steps to draw");
	runs_pages_begin(
	    &pages, runs, text_of(of->group), (enum run_clock)of->time);
	while (rc == 0 && last < sink->last &&
	       (rc = runs_pages_next(&pages, &page, err)) > 0) {
		last = page.number;
		rc = 0;
		if (last < options->first)
			continue;
		rc = sink->put(sink, &pages, &page, err);
		count++;
		left = pages.total - (page.first + page.count - 1);
	}
	if (rc == 0 && left > 0 && options->pages == NULL &&
	    !opt_common_values.quiet)
		log_info("%" PRIu64 " older runs are on further pages; "
			 "--pages 1.. draws them",
		    left);
	if (rc == 0 && count == 0 && last > 0)
		rc = err_set(err, "the last page is %" PRIu64, last);
	else if (rc == 0 && count == 0)
		rc = err_set(err, "no runs with events%s%s",
		    of->group != NULL ? " in a matching group" : "",
		    runs_has_window(of->from_ns, of->to_ns) ? " in that time"
							    : "");
	runs_doubt_warn(&pages.doubt, "durations");
	runs_pages_end(&pages);
	return rc;
}

static int
write_series(
    struct runs *runs, const struct plot_testrun_how *how, struct err *err)
{
	struct byte_stream byte_stream;
	const struct page_sink sink = { put_series, how, &byte_stream,
		how->options->last };
	struct output output;
	int rc;

	if (output_open(&output, how->options->series, err) != 0)
		return -1;
	rc = byte_stream_begin(&byte_stream, output.file, BYTE_STREAM_PLAIN,
	    (struct text){ NULL, 0 }, err);
	if (rc == 0) {
		struct err ignored;

		rc = each_page(runs, &sink, err);
		byte_stream_put(&byte_stream, "]\n", 2);
		if (byte_stream_end(&byte_stream, rc == 0 ? err : &ignored) !=
		    0)
			rc = -1;
	}
	if (rc == 0)
		return output_commit_logged(&output, "", err);
	output_abort(&output);
	return -1;
}

/* ---- all views ---- */

static int
draw_days(
    struct runs *runs, const struct plot_testrun_how *how, struct err *err)
{
	struct runs_days days = { .runs = runs,
		.group = text_of(how->runs->group),
		.clock = (enum run_clock)how->runs->time };
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < runs->step_count; i++) {
		char base[BASE_BYTES], what[NAME_BYTES_MAX + 32];
		struct picture picture = *how->picture;

		days.step = &runs->steps[i];
		rc = runs_days_read(&days, err);
		if (rc == 0 && days.count > 0) {
			snprintf(what, sizeof(what), "days-%.*s",
			    (int)days.step->name.bytes, days.step->name.at);
			picture.base =
			    make_base(base, how, runs->partition, what);
			picture.what = &days;
			picture.put_table = runs_days_table;
			picture.put_script = runs_days_script;
			rc = picture_make(&picture, err);
		}
	}
	runs_doubt_warn(&days.doubt, "durations");
	runs_days_clear(&days);
	return rc;
}

static int
draw_distribution(
    struct runs *runs, const struct plot_testrun_how *how, struct err *err)
{
	struct runs_distribution distribution;
	struct picture picture = *how->picture;
	char base[BASE_BYTES];
	int rc = runs_distribution_read(&distribution, runs,
	    text_of(how->runs->group), (enum run_clock)how->runs->time, err);

	picture.base = make_base(base, how, runs->partition, "distribution");
	picture.what = &distribution.boxes;
	picture.put_table = boxes_table;
	picture.put_script = boxes_script;
	if (rc == 0 && distribution.boxes.count > 0)
		rc = picture_make(&picture, err);
	else if (rc == 0 && how->view == RUNS_VIEW_DISTRIBUTION)
		rc = err_set(err, "no run has a complete step");
	runs_distribution_clear(&distribution);
	return rc;
}

static int
draw_errors(
    struct runs *runs, const struct plot_testrun_how *how, struct err *err)
{
	struct runs_errors errors;
	struct picture picture = *how->picture;
	char base[BASE_BYTES];
	int rc =
	    runs_errors_read(&errors, runs, text_of(how->runs->group), err);

	picture.base = make_base(base, how, runs->partition, "errors");
	picture.what = &errors;
	picture.put_table = runs_errors_table;
	picture.put_script = runs_errors_script;
	if (rc == 0)
		rc = picture_make(&picture, err);
	runs_errors_clear(&errors);
	return rc;
}

static int
draw_all(struct runs *runs, const struct plot_testrun_how *how, struct err *err)
{
	enum runs_view view = how->view;
	const struct page_sink sink = { put_picture, how, NULL,
		how->options->pages != NULL ? how->options->last : PAGES };

	if (picture_make_dir(how->picture->dir, err) != 0)
		return -1;
	/* Draw the single pictures first: there may be many pages. */
	if ((view == RUNS_VIEW_ERRORS || view == RUNS_VIEW_ALL) &&
	    draw_errors(runs, how, err) != 0)
		return -1;
	if ((view == RUNS_VIEW_DISTRIBUTION || view == RUNS_VIEW_ALL) &&
	    draw_distribution(runs, how, err) != 0)
		return -1;
	if ((view == RUNS_VIEW_DAYS || view == RUNS_VIEW_ALL) &&
	    draw_days(runs, how, err) != 0)
		return -1;
	if (view == RUNS_VIEW_PAGES || view == RUNS_VIEW_ALL)
		return each_page(runs, &sink, err);
	return 0;
}

int
plot_testrun(struct source *source, struct text partition,
    const struct plot_testrun_how *how, struct err *err)
{
	struct runs runs;
	int rc = runs_open(&runs, source, partition, how->runs, err);

	if (rc == 0 && how->options->series != NULL)
		rc = write_series(&runs, how, err);
	if (rc == 0 && how->view != RUNS_VIEW_NONE)
		rc = draw_all(&runs, how, err);
	runs_clear(&runs);
	return rc;
}

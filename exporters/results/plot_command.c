/*
 * result_plot_command - plot the timings of the entries of a test.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/plot_command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exporters/results/plot.h"
#include "exporters/results/query.h"
#include "exporters/results/result_file.h"
#include "exporters/source/pool.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	PICTURES_MAX = 100, /* limit for one test */
	BASE_BYTES = 180,   /* longer names are truncated and end in a hash */
	BASE_ROOM = INSTANCE_PATH_BYTES + 2 * RESULT_NAME_BYTES_MAX + 32,
};

struct plotter {
	struct source *source;
	struct text partition;
	const struct plot_results *what;
	const struct picture *picture;
};

static struct result_query
query_of(const struct plotter *p, struct text entry)
{
	return (struct result_query){ .source = p->source,
		.partition = p->partition,
		.test = p->what->test,
		.entry = entry,
		.window = result_window(p->what->from_ns, p->what->to_ns) };
}

/* "acct-pool-test-entry" */
static struct text
make_base(const struct plotter *p, struct text entry, char *base)
{
	struct text test = p->what->test;
	struct text made = pool_base(base, p->partition);
	int bytes = snprintf(base + made.bytes, BASE_ROOM - made.bytes,
	    "-%.*s-%.*s", (int)test.bytes, test.at, (int)entry.bytes, entry.at);

	made.bytes += (uint32_t)bytes;
	if (made.bytes > BASE_BYTES) {
		base[BASE_BYTES - 25] = '-';
		result_id_name(base + BASE_BYTES - 24, test, entry);
		made.bytes = BASE_BYTES;
	}
	return made;
}

static int
draw(const struct plotter *p, struct text entry, struct result_points *points,
    struct err *err)
{
	struct picture picture = *p->picture;
	struct result_plot *plot = memory_alloc(sizeof(*plot));
	char base[BASE_ROOM];
	int rc;

	result_plot_init(plot, points->at, points->count);
	plot->pool = pool_id(p->partition);
	plot->test = p->what->test;
	plot->entry = entry;
	plot->left_out = points->left_out;
	plot->cut = points->cut;
	picture.base = make_base(p, entry, base);
	picture.what = plot;
	picture.put_table = result_plot_table;
	picture.put_script = result_plot_script;
	rc = picture_make(&picture, err);
	result_plot_clear(plot);
	free(plot);
	return rc;
}

/* Returns 1 if drawn, 0 if there is nothing to draw (`err` says why), or -1. */
static int
plot_entry(const struct plotter *p, struct text entry, struct err *err)
{
	struct result_query query = query_of(p, entry);
	struct result_points points = { .at = NULL };
	char shown[128];
	int rc = result_query_points(&query, &points, err);

	if (rc == 0 && points.count > 0) {
		rc = draw(p, entry, &points, err) == 0 ? 1 : -1;
	} else if (rc == 0) {
		rc = result_query_explain(&query, err);
		if (rc == 0)
			err_set(err,
			    "'%s' has no timing in this time range: nothing to "
			    "draw",
			    text_quote(shown, sizeof(shown), entry));
		rc = rc < 0 ? -1 : 0;
	}
	free(points.at);
	return rc;
}

/* The entries of the latest run; their names point into `copy`. */
static int
read_entries(const struct plotter *p, struct result_file *file, char **copy,
    struct err *err)
{
	struct result_query query = query_of(p, (struct text){ NULL, 0 });
	struct result_range range = result_query_range(&query);
	struct result_row row;
	int rc;

	range.window = result_window_all;
	if (result_range_runs(&range, query.test, 1, err) != 0)
		return -1;
	rc = result_range_next(&range, &row, err);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return result_query_explain(&query, err) == 0
			   ? err_set(err, "nothing to draw")
			   : -1;
	*copy = memory_alloc(row.info.bytes + 1);
	memcpy(*copy, row.info.at, row.info.bytes);
	return result_file_read(
	    file, (struct text){ *copy, row.info.bytes }, false, err);
}

/* Draw one picture per name, even if a run repeats the name. */
static bool
is_first(const struct result_file *file, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (text_equal(file->entries[k].name, file->entries[i].name))
			return false;
	return true;
}

/* Draw one picture for each entry that has timings. */
static int
draw_entries(
    const struct plotter *p, const struct result_file *file, struct err *err)
{
	uint32_t drawn = 0, failed = 0, i = 0;
	char shown[128];

	for (; i < file->count && drawn < PICTURES_MAX; i++) {
		int rc;

		if (!is_first(file, i))
			continue;
		rc = plot_entry(p, file->entries[i].name, err);
		if (rc < 0 && err->code == ERR_INTERRUPTED)
			return -1;
		if (rc < 0) {
			log_error("'%s' is not drawn: %s",
			    text_quote(
				shown, sizeof(shown), file->entries[i].name),
			    err->text);
			failed++;
		} else if (rc == 0) {
			log_warn("%s", err->text);
		}
		err_clear(err);
		drawn += rc > 0;
	}
	if (failed > 0)
		return err_set(err, "%u pictures could not be drawn", failed);
	if (drawn == 0)
		return err_set(err, file->count > 0
					? "no entry of the test's latest run "
					  "has timings: nothing to draw"
					: "the test's latest run has no "
					  "entries: nothing to draw");
	if (i < file->count)
		log_warn("%u entries are not drawn; name an entry to draw it",
		    file->count - i);
	return 0;
}

static int
plot_entries(const struct plotter *p, struct err *err)
{
	struct result_file file;
	char *copy = NULL;
	int rc = read_entries(p, &file, &copy, err);

	if (rc == 0) {
		rc = draw_entries(p, &file, err);
		result_file_clear(&file);
	}
	free(copy);
	return rc;
}

int
plot_results(struct source *source, struct text partition,
    const struct plot_results *what, const struct picture *picture,
    struct err *err)
{
	const struct plotter plotter = { source, partition, what, picture };

	if (picture_make_dir(picture->dir, err) != 0)
		return -1;
	if (what->entry.bytes > 0)
		return plot_entry(&plotter, what->entry, err) > 0 ? 0 : -1;
	return plot_entries(&plotter, err);
}

/*
 * runs_errors_plot - the number of runs with an error in each group.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/errors_plot.h"

#include <inttypes.h>
#include <stdlib.h>

#include "exporters/gnuplot/axis.h"
#include "exporters/gnuplot/colours.h"
#include "exporters/gnuplot/labels.h"
#include "proto/base/memory.h"
#include "proto/format/table.h"

enum { RUNS_ERRORS_BARS = 60 }; /* in the picture; the table has all */

enum {
	WIDTH = 1200,
	BAR_HEIGHT = 22,
	SLOTS_MIN = 6,
	MARGINS = 150,
	DUMB_MARGINS = 12,
	NAME_COLUMNS = 30,
	WORDS_BYTES = 512,
};

static int
take(void *arg, const struct runs_group *group, struct err *err)
{
	struct runs_errors *errors = arg;

	(void)err;
	/* Nobody reported whether runs without a description failed. */
	if (!group->known)
		return 0;
	errors->rows = memory_grow(
	    errors->rows, &errors->room, errors->count, sizeof(*errors->rows));
	errors->rows[errors->count++] = (struct runs_error){
		.group = string_table_keep(&errors->texts, group->name),
		.runs = group->runs,
		.ended = group->state[RUN_FINISHED] + group->errors,
		.errors = group->errors,
		.of_ended = runs_errors_of_ended(group),
		.of_all = runs_errors_of_all(group),
	};
	return 0;
}

static int
by_share(const void *left, const void *right)
{
	const struct runs_error *a = left, *b = right;

	if (a->of_ended != b->of_ended)
		return a->of_ended > b->of_ended ? -1 : 1;
	return text_compare_natural(a->group, b->group);
}

int
runs_errors_read(struct runs_errors *errors, struct runs *runs,
    struct text pattern, struct err *err)
{
	uint32_t count;

	*errors = (struct runs_errors){ .runs = runs };
	string_table_init(&errors->texts);
	if (runs_groups_each(runs, pattern, take, errors, &count, err) != 0)
		return -1;
	if (errors->count == 0)
		return err_set(err, "no described runs in a matching group");
	qsort(errors->rows, errors->count, sizeof(*errors->rows), by_share);
	return 0;
}

void
runs_errors_clear(struct runs_errors *errors)
{
	free(errors->rows);
	string_table_clear(&errors->texts);
	*errors = (struct runs_errors){ .rows = NULL };
}

/* ---- the picture ---- */

void
runs_errors_table(const void *what, FILE *file)
{
	const struct runs_errors *errors = what;

	fputs("Group Runs Ended Errors PercentOfEnded PercentOfAll\n", file);
	for (uint32_t i = 0; i < errors->count; i++) {
		const struct runs_error *row = &errors->rows[i];

		if (row->group.bytes > 0)
			gnuplot_put_word(file, row->group);
		else
			putc('-', file);
		fprintf(file,
		    " %" PRId64 " %" PRId64 " %" PRId64 " %.6f %.6f\n",
		    row->runs, row->ended, row->errors, row->of_ended,
		    row->of_all);
	}
}

static uint32_t
bars_of(const struct runs_errors *errors)
{
	return errors->count < RUNS_ERRORS_BARS ? errors->count
						: RUNS_ERRORS_BARS;
}

static struct text
name_of(const void *arg, uint32_t row, char after[static LABELS_AFTER_BYTES])
{
	const struct runs_error *error =
	    &((const struct runs_errors *)arg)->rows[row];

	snprintf(after, LABELS_AFTER_BYTES, "  %" PRId64 " of %" PRId64,
	    error->errors, error->ended);
	return error->group.bytes > 0 ? error->group : text_of("(no group)");
}

static void
put_headings(const struct runs_errors *errors, FILE *file,
    enum gnuplot_terminal terminal, unsigned height, unsigned rows)
{
	char words[WORDS_BYTES];
	size_t used =
	    table_elide(words, sizeof(words), errors->runs->partition, 30);

	gnuplot_put_heading(
	    file, terminal, height, rows, 0, "Runs that ended with an error");
	if (errors->count > RUNS_ERRORS_BARS)
		snprintf(words + used, sizeof(words) - used,
		    ", the first %d of %u groups", RUNS_ERRORS_BARS,
		    errors->count);
	else
		snprintf(words + used, sizeof(words) - used, ", %u group%s",
		    errors->count, errors->count == 1 ? "" : "s");
	gnuplot_put_heading(file, terminal, height, rows, 1, words);
}

void
runs_errors_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	const struct runs_errors *errors = what;
	unsigned slots =
	    bars_of(errors) < SLOTS_MIN ? SLOTS_MIN : bars_of(errors);
	unsigned height = MARGINS + BAR_HEIGHT * slots;
	unsigned rows = DUMB_MARGINS + 2 * slots;
	double greatest = errors->rows[0].of_ended;

	gnuplot_put_terminal(file, terminal, WIDTH, height, rows);
	put_headings(errors, file, terminal, height, rows);
	gnuplot_put_frame(file, terminal);
	fprintf(file,
	    "set xlabel \"percent\"\nset xrange [0:%.9g]\n"
	    "set yrange [%u.5:0.5]\nset grid xtics front\n"
	    "set style fill solid 1.0 noborder\n",
	    greatest > 0 ? 1.02 * greatest : 1.0, slots);
	labels_put_rows(
	    file, bars_of(errors), 1, NAME_COLUMNS, name_of, errors);
	fputs("plot ", file);
	gnuplot_put_file(file, dat);
	fprintf(file,
	    " skip 1 every ::0::%u using (0):($0+1):(0):5:($0+1-0.38):"
	    "($0+1+0.38) with boxxyerror lc rgb \"" COLOUR_LIGHT_RED "\" "
	    "title \"of the ended runs\", \\\n"
	    "\t\"\" skip 1 every ::0::%u using (0):($0+1):(0):6:($0+1-0.18):"
	    "($0+1+0.18) with boxxyerror lc rgb \"" COLOUR_RED "\" "
	    "title \"of all\"\n",
	    bars_of(errors) - 1, bars_of(errors) - 1);
}

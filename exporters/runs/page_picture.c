/*
 * runs_page_picture - the runs of a model, newest first, twenty on each page,
 * as stacked bars.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/runs/page_picture.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/plot/axis.h"
#include "exporters/plot/look.h"
#include "proto/base/memory.h"
#include "proto/format/table.h"
#include "proto/json/json_bytes.h"
#include "proto/os/clock.h"

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

enum {
	WIDTH = 1200, /* pixels */
	BAR_HEIGHT = 22,
	SLOTS_MIN = 9,
	MARGINS = 150, /* title and axis */
	NAME_COLUMNS = 36,
	DUMB_NAME_COLUMNS = 20,
	DUMB_MARGINS = 12,
	SERIES_COLUMN =
	    4, /* the first column of the table with a step, from 1 */
	WORDS_BYTES = 512,
};

/* ---- the table ---- */

/* Exact seconds. */
static void
runs_put_seconds(FILE *file, int64_t ns)
{
	unsigned char text[JSON_DECIMAL_BYTES];
	unsigned char *end = json_put_decimal(text, ns, NS_PER_SECOND);

	fwrite(text, 1, (size_t)(end - text), file);
}

/* "ongoing", "error"; "" for a run that has ended normally. */
static const char *
runs_bar_words(const struct runs_bar *bar)
{
	static const char *const words[RUN_STATES] = { "queued", "ongoing",
		"" };

	return bar->error ? "error" : words[bar->state];
}

void
runs_picture_table(const void *what, FILE *file)
{
	const struct runs_picture *picture = what;
	const struct runs_pages *pages = picture->pages;
	const struct runs_page *page = picture->page;

	fputs("Rank Run State", file);
	for (uint32_t i = 0; i < pages->series_count; i++) {
		putc(' ', file);
		gnuplot_put_word(file, pages->series[i]->name);
	}
	putc('\n', file);
	for (uint32_t row = 0; row < page->count; row++) {
		const struct runs_bar *bar = page->bars[row];
		const char *words = runs_bar_words(bar);

		fprintf(file, "%llu ", (unsigned long long)(page->first + row));
		gnuplot_put_word(file, bar->id);
		fprintf(file, " %s", words[0] != '\0' ? words : "finished");
		for (uint32_t i = 0; i < pages->series_count; i++) {
			putc(' ', file);
			if (runs_bar_has(bar, i))
				runs_put_seconds(file, bar->ns[i]);
			else
				putc('-', file);
		}
		putc('\n', file);
	}
}

/* ---- JSON ---- */

void
runs_picture_series(
    const struct runs_picture *picture, struct byte_stream *byte_stream)
{
	const struct runs_pages *pages = picture->pages;
	const struct runs_page *page = picture->page;

	byte_stream_put(byte_stream, "{\"labels\":[", 11);
	for (uint32_t row = 0; row < page->count; row++) {
		byte_stream_put(byte_stream, ",", row > 0);
		json_put_text(byte_stream, page->bars[row]->id);
	}
	byte_stream_put(byte_stream, "],\"series\":{", 12);
	for (uint32_t i = 0; i < pages->series_count; i++) {
		byte_stream_put(byte_stream, ",", i > 0);
		json_put_text(byte_stream, pages->series[i]->name);
		byte_stream_put(byte_stream, ":[", 2);
		for (uint32_t row = page->count; row-- > 0;) {
			const struct runs_bar *bar = page->bars[row];
			unsigned char *to = byte_stream_room(
			    byte_stream, JSON_DECIMAL_BYTES + 2);

			if (row + 1 < page->count)
				*to++ = ',';
			to = runs_bar_has(bar, i)
				 ? json_put_decimal(
				       to, bar->ns[i], NS_PER_SECOND)
				 : JSON_PUT(to, "null");
			byte_stream_filled(byte_stream, to);
		}
		byte_stream_put(byte_stream, "]", 1);
	}
	byte_stream_put(byte_stream, "}}", 2);
}

/* ---- the script ---- */

static unsigned
slots_of(const struct runs_page *page)
{
	return page->count < SLOTS_MIN ? SLOTS_MIN : page->count;
}

static void
put_headings(const struct runs_picture *picture, FILE *file,
    enum gnuplot_terminal terminal, unsigned height, unsigned rows)
{
	static const char *const clocks[] = { "emitted", "received" };
	const struct runs_pages *pages = picture->pages;
	const struct runs_page *page = picture->page;
	char words[WORDS_BYTES];
	size_t used =
	    table_elide(words, sizeof(words), pages->runs->partition, 30);

	gnuplot_put_heading(file, terminal, height, rows, 0,
	    "Testrun Time and Motion Analysis");
	snprintf(words + used, sizeof(words) - used,
	    ", runs %llu to %llu of %llu, newest first, as %s",
	    (unsigned long long)page->first,
	    (unsigned long long)(page->first + page->count - 1),
	    (unsigned long long)pages->total, clocks[pages->clock]);
	gnuplot_put_heading(file, terminal, height, rows, 1, words);
}

/* Run, state, */
static struct text
name_of(const void *arg, uint32_t row, char after[static LABELS_AFTER_BYTES])
{
	const struct runs_page *page = arg;
	const char *state = runs_bar_words(page->bars[row]);

	if (state[0] != '\0')
		snprintf(after, LABELS_AFTER_BYTES, " (%s)", state);
	return page->bars[row]->id;
}

/* and when it began: "  2017-03-08 04:12". */
static struct text
name_and_date_of(
    const void *arg, uint32_t row, char after[static LABELS_AFTER_BYTES])
{
	const struct runs_page *page = arg;
	struct text name = name_of(arg, row, after);
	size_t used = strlen(after);
	char date[CLOCK_TEXT_BYTES];

	clock_text(date, page->bars[row]->time_ns, 0);
	snprintf(after + used, LABELS_AFTER_BYTES - used, "  %.10s %.5s", date,
	    date + 11);
	return name;
}

/* The extent of the longest bar to either side, in a unit that suits. */
static void
put_range(const struct runs_picture *picture, FILE *file)
{
	const struct runs_page *page = picture->page;
	double least = 0, greatest = 0;
	struct duration_unit unit;

	for (uint32_t row = 0; row < page->count; row++) {
		double left = 0, right = 0;

		for (uint32_t i = 0; i < picture->pages->series_count; i++) {
			double ns = (double)page->bars[row]->ns[i];

			*(ns < 0 ? &left : &right) += ns;
		}
		least = fmin(least, left);
		greatest = fmax(greatest, right);
	}
	unit = duration_unit_of_runs(
	    fmax(-least, greatest) / (double)NS_PER_SECOND);
	least /= unit.seconds * NS_PER_SECOND;
	greatest /= unit.seconds * NS_PER_SECOND;
	if (greatest - least <= 0)
		greatest = 1;
	/* What goes on leads out of the picture. */
	fprintf(file,
	    "set xlabel \"Time / %s\"\n"
	    "m(c) = valid(c) ? column(c)/%.9g : 0\n"
	    "set xrange [%.9g:%.9g]\nopen = %.9g\n",
	    unit.sign, unit.seconds, 1.02 * least, 1.02 * greatest,
	    1.02 * greatest - least);
}

/* The end of the bars of the columns before this one, on its side of zero. */
static void
put_base(FILE *file, uint32_t series, const char *side)
{
	fputs("(0", file);
	for (uint32_t i = 0; i < series; i++)
		fprintf(file, "+%s(%u)", side, SERIES_COLUMN + i);
	putc(')', file);
}

static void
put_series(const struct runs_picture *picture, FILE *file, const char *dat,
    uint32_t series, uint8_t place)
{
	const struct runs_pages *pages = picture->pages;
	unsigned column = SERIES_COLUMN + series;

	if (series == 0)
		gnuplot_put_file(file, dat);
	else
		fputs("\"\"", file);
	/* Append it to the right of the bars before it; negative values to the
	 * left. */
	fprintf(
	    file, " skip 1 using (0):($0+1):(m(%u)<0 ? m(%u)+", column, column);
	put_base(file, series, "l");
	fputs(" : ", file);
	put_base(file, series, "r");
	fprintf(file, "):(m(%u)<0 ? ", column);
	put_base(file, series, "l");
	fprintf(file, " : m(%u)+", column);
	put_base(file, series, "r");
	fputs("):($0+1-0.38):($0+1+0.38) with boxxyerror", file);
	palette_put_fill(file, place);
	fputs(" title ", file);
	gnuplot_put_text(file, pages->series[series]->name);
}

static void
put_all_series(const struct runs_picture *picture, FILE *file, const char *dat)
{
	const struct runs_pages *pages = picture->pages;
	struct text names[RUN_STEPS_MAX];
	uint8_t places[RUN_STEPS_MAX];

	for (uint32_t i = 0; i < pages->series_count; i++)
		names[i] = pages->series[i]->name;
	palette_place(names, pages->series_count, places);
	for (uint32_t i = 0; i < pages->series_count; i++) {
		fputs(i > 0 ? ", \\\n\t" : "", file);
		put_series(picture, file, dat, i, places[i]);
	}
}

static bool
has_state(const struct runs_page *page, const char *state)
{
	for (uint32_t i = 0; i < page->count; i++)
		if (strcmp(runs_bar_words(page->bars[i]), state) == 0)
			return true;
	return false;
}

/* A frame around the bar of a run with an error; a line that leads on from the
 * bar of a run that goes on. */
static void
put_states(const struct runs_picture *picture, FILE *file, bool dumb)
{
	uint32_t count = picture->pages->series_count;

	if (has_state(picture->page, "error") && !dumb) {
		fputs(", \\\n\t\"\" skip 1 using (strcol(3) eq \"error\" ? 0 : "
		      "NaN):($0+1):",
		    file);
		put_base(file, count, "l");
		putc(':', file);
		put_base(file, count, "r");
		fputs(":($0+1-0.44):($0+1+0.44) with boxxyerror fs empty "
		      "border lc rgb \"" COLOUR_WORSE "\" lw 2 title \"error\"",
		    file);
	}
	if (has_state(picture->page, "ongoing")) {
		fputs(", \\\n\t\"\" skip 1 using (strcol(3) eq \"ongoing\" ? ",
		    file);
		put_base(file, count, "r");
		fputs(" : NaN):($0+1):(open):(0) with vectors nohead dt 2 lw 3 "
		      "lc rgb \"" COLOUR_DARK_GREY "\" title \"ongoing\"",
		    file);
	}
}

void
runs_picture_script(const void *what, FILE *file, const char *dat,
    enum gnuplot_terminal terminal)
{
	const struct runs_picture *picture = what;
	const struct runs_page *page = picture->page;
	bool dumb = terminal == GNUPLOT_DUMB;
	unsigned height = MARGINS + BAR_HEIGHT * slots_of(page);
	unsigned rows = DUMB_MARGINS + 2 * slots_of(page);

	gnuplot_put_terminal(file, terminal, WIDTH, height, rows);
	gnuplot_put_frame(file, terminal);
	put_headings(picture, file, terminal, height, rows);
	fprintf(file,
	    "set yrange [%u.5:0.5]\n"
	    "set grid xtics front\nset style fill solid 1.0 noborder\n"
	    "r(c) = m(c) > 0 ? m(c) : 0\n"
	    "l(c) = m(c) < 0 ? m(c) : 0\n",
	    slots_of(page));
	put_range(picture, file);
	labels_put_rows(file, page->count, 1,
	    dumb ? DUMB_NAME_COLUMNS : NAME_COLUMNS,
	    dumb ? name_of : name_and_date_of, page);
	fputs("plot ", file);
	put_all_series(picture, file, dat);
	put_states(picture, file, dumb);
	putc('\n', file);
}
